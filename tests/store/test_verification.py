"""A store that was changed behind jurat's back says so, each change in a sentence; one that was not is found sound."""

from __future__ import annotations

from dataclasses import replace

import pytest
from run_samples import (
    ENDED,
    RUBRIC,
    SUITE,
    a_run,
    a_trial,
    assessed,
    begun,
    case_snapshot,
    every_trial,
    some_cases,
    unanswered,
)
from store_samples import INVALID, SPENT, execute, key_of, replies, reply

from jurat.engine import trial_status
from jurat.report.record import RunStatus
from jurat.store import Store, StoreFault
from jurat.store.statements import both
from jurat.vocabulary import Status

RUN = "20261130-a"


async def told(store: Store) -> list[str]:
    """What verifying says."""
    return [fault.message async for fault in store.verify(trial_status)]


async def finished(store: Store) -> None:
    """A completed run of two cases with two trials each, one of them failed."""
    await begun(store, samples=2)
    fails = a_trial(1, 1, Status.FAIL)
    await store.runs.commit_trials(RUN, [*every_trial(2, 2)[:3], fails])
    await store.runs.finish(RUN, RunStatus.COMPLETED, ENDED, [Status.PASS, Status.FAIL], {"passed": False})


@pytest.fixture
async def sound(runs: Store) -> Store:
    """A store with a completed run that is sound."""
    await finished(runs)
    assert await told(runs) == []
    return runs


async def test_an_empty_store_is_sound(runs: Store) -> None:
    assert await told(runs) == []


async def test_runs_of_every_kind_are_sound(runs: Store) -> None:
    statuses = [Status.PASS, Status.FAIL, Status.UNVERIFIED, Status.ERROR]
    await begun(runs, cases=7)
    several = [assessed(Status.FAIL, name="a"), assessed(Status.ERROR, name="b"), assessed(name="c")]
    odd = replace(assessed(), result={**assessed().result, "metadata": {"rubric": "The same long words. " * 40}})
    await runs.runs.commit_trials(
        RUN,
        [
            *(a_trial(case, status=status) for case, status in enumerate(statuses)),
            unanswered(4),
            a_trial(5, status=Status.FAIL, assessments=several),
            a_trial(6, assessments=[odd]),
        ],
    )
    await begun(runs, "interrupted")
    await runs.runs.commit_trials("interrupted", [a_trial(0, assessments=[], status=Status.UNVERIFIED)])
    await runs.runs.interrupt("interrupted", ENDED)
    await runs.responses.commit(replies("a", 3))
    await runs.runs.journal(RUN).commit(replies("b", 3))
    await runs.runs.journal(RUN).withhold([(key_of("b-1"), INVALID, SPENT)])
    assert await told(runs) == []


async def test_a_pass_threshold_is_found_in_the_case_s_snapshot(runs: Store) -> None:
    lenient = case_snapshot("case 0", 0.5)
    cases = [replace(some_cases(1)[0], case_hash=lenient.hash)]
    await runs.runs.begin(a_run(cases=1), cases, [SUITE, RUBRIC, lenient])
    mixed = [assessed(Status.FAIL, name="a"), assessed(name="b")]  # 12 and 92 of 100, of equal weight
    await runs.runs.commit_trials(RUN, [a_trial(0, status=Status.PASS, assessments=mixed)])
    assert await told(runs) == []


UNSEALED = "what is stored of it is not what its seal was made of"
BEYOND = "expected amounts from 0 on (tokens, cost, duration, attempts), found another"
SQL = "UPDATE assessments SET {} WHERE run = 1 AND case_index = 1 AND trial_index = 1"


@pytest.mark.parametrize(("change", "sentences"), [
    ("UPDATE snapshots SET body = '{}' WHERE kind = 'rubric'",
     [f"snapshot {RUBRIC.hash} (rubric): its content is not what its hash names"]),
    ("DELETE FROM snapshots WHERE kind = 'rubric'",
     [f"run {RUN}: the snapshot {RUBRIC.hash} that it rests on is not there"]),
    ("DELETE FROM snapshots WHERE kind = 'case' AND body LIKE '%case 1%'",
     [f"run {RUN}, case 1: its snapshot {case_snapshot('case 1').hash} is not there"]),
    ("UPDATE runs SET cases = 3",
     [f"run {RUN}: expected 3 cases, found 2, the last of number 1",
      f"run {RUN}: expected 6 trials in a completed run, found 4"]),
    ("UPDATE runs SET samples = 1",
     [f"run {RUN}, case 0: expected trials below number 1, found one beyond",
      f"run {RUN}, case 1: expected trials below number 1, found one beyond",
      f"run {RUN}: expected 2 trials in a completed run, found 4"]),
    ("UPDATE runs SET reducer = '\"any\"'",
     [f"run {RUN}, case 1: expected the outcome pass by its trials, found fail"]),
    ("UPDATE cases SET status = NULL WHERE case_index = 0",
     [f"run {RUN}, case 0: expected an outcome in a completed run, found none"]),
    ("UPDATE cases SET status = 'pass'",
     [f"run {RUN}, case 1: expected the outcome fail by its trials, found pass"]),
    ("UPDATE trials SET status = 'error' WHERE case_index = 0 AND trial_index = 1",
     [f"run {RUN}, case 0: expected the outcome error by its trials, found pass",
      f"run {RUN}, case 0, trial 1: expected the status pass by its assessments, found error"]),
    ("UPDATE trials SET error_category = 'timeout', error_message = '' WHERE case_index = 0 AND trial_index = 1",
     [f"run {RUN}, case 0, trial 1: expected the status error, since the subject gave no answer, found pass"]),
    ("UPDATE trials SET assessments = 2 WHERE case_index = 1 AND trial_index = 0",
     [f"run {RUN}, case 1, trial 0: expected 2 assessments, found 1"]),
    ("DELETE FROM assessments WHERE case_index = 1 AND trial_index = 0",
     [f"run {RUN}, case 1, trial 0: expected 1 assessments, found 0"]),
    ("DELETE FROM trials WHERE case_index = 0 AND trial_index = 0",
     [f"run {RUN}: expected 4 trials in a completed run, found 3"]),
    (SQL.format("type = 'regex'"),
     [f"run {RUN}, case 1, trial 1, assessment 0: the column type differs from the result's"]),
    (SQL.format("score = 13"),
     [f"run {RUN}, case 1, trial 1, assessment 0: the column score differs from the result's"]),
    (SQL.format("score = NULL, result = replace(result, '12.0', 'null')"),
     [f"run {RUN}, case 1, trial 1, assessment 0: expected a score exactly with pass or fail"]),
    (SQL.format("error_category = 'timeout'"),
     [f"run {RUN}, case 1, trial 1, assessment 0: the column error_category differs from the result's"]),
    (SQL.format("result = '[]'"),
     [f"run {RUN}, case 1, trial 1, assessment 0: expected a result map, found something else"]),
    (SQL.format("result = 'no json'"),
     [f"run {RUN}, case 1, trial 1, assessment 0: expected a result map, found something else"]),
    (SQL.format("result = replace(result, 'completed', 'complete')"),
     [f"run {RUN}, case 1, trial 1: {UNSEALED}"]),
    (SQL.format("name = 'wrong'"), [f"run {RUN}, case 1, trial 1: {UNSEALED}"]),
    (SQL.format("weight = 3"), [f"run {RUN}, case 1, trial 1: {UNSEALED}"]),
    (SQL.format("cost_usd = cost_usd + 1"), [f"run {RUN}, case 1, trial 1: {UNSEALED}"]),
    (SQL.format("cost_usd = -1"),
     [f"run {RUN}, case 1, trial 1, assessment 0: {BEYOND}", f"run {RUN}, case 1, trial 1: {UNSEALED}"]),
    ("UPDATE trials SET input_tokens = -1 WHERE case_index = 0 AND trial_index = 1",
     [f"run {RUN}, case 0, trial 1: {BEYOND}", f"run {RUN}, case 0, trial 1: {UNSEALED}"]),
    ("UPDATE trials SET duration_ms = 1e300 WHERE case_index = 0 AND trial_index = 1",
     [f"run {RUN}, case 0, trial 1: {BEYOND}", f"run {RUN}, case 0, trial 1: {UNSEALED}"]),
    ("UPDATE answers SET output = 'Lyon' WHERE case_index = 0 AND trial_index = 0",
     [f"run {RUN}, case 0, trial 0: {UNSEALED}"]),
    ("UPDATE answers SET messages = NULL WHERE case_index = 0 AND trial_index = 0",
     [f"run {RUN}, case 0, trial 0: {UNSEALED}"]),
    ("DELETE FROM answers WHERE case_index = 0 AND trial_index = 0", [f"run {RUN}, case 0, trial 0: {UNSEALED}"]),
    ("UPDATE trials SET status = 'splendid'", [f"run {RUN}: holds what was never written by jurat (ValueError)"]),
    ("UPDATE runs SET snapshots = '[]'", [f"run {RUN}: holds what was never written by jurat (AttributeError)"]),
    ("UPDATE trials SET seal = NULL", []),  # as an older version left it
    (SQL.format("status = 'pass'"),
     [f"run {RUN}, case 1, trial 1, assessment 0: the column status differs from the result's",
      f"run {RUN}, case 1, trial 1: expected the status pass by its assessments, found fail"]),
])  # fmt: skip
async def test_a_change_of_a_run_is_told(sound: Store, place: str, change: str, sentences: list[str]) -> None:
    if place.startswith("postgresql") or not change.startswith("DELETE FROM trials"):
        await execute(place, change)
    else:  # SQLite cascades on our own connections only
        await sound._database.write(((both(change), [()]),))
    assert await told(sound) == sentences


async def test_rows_that_lost_what_they_belong_to_are_told(sqlite_place: str) -> None:
    store = await Store.open(sqlite_place)
    await finished(store)
    await execute(sqlite_place, "DELETE FROM cases WHERE case_index = 0")
    await execute(sqlite_place, "DELETE FROM trials WHERE case_index = 1 AND trial_index = 1")
    found = await told(store)
    await store.aclose()
    assert [line for line in found if "belongs to no" in line] == [
        "case 0, trial 0: a trial belongs to no case (run number 1)",
        "case 0, trial 1: a trial belongs to no case (run number 1)",
        "case 1, trial 1: an assessment belongs to no trial (run number 1)",
        "case 1, trial 1: an answer belongs to no trial (run number 1)",
    ]


async def test_a_text_that_results_share_is_missed(runs: Store, place: str) -> None:
    await begun(runs)
    long = replace(assessed(), result={**assessed().result, "metadata": {"rubric": "The same long words. " * 40}})
    await runs.runs.commit_trials(RUN, [a_trial(0, assessments=[long])])
    await execute(place, "DELETE FROM snapshots WHERE kind = 'text'")
    (sentence,) = await told(runs)
    assert sentence.startswith(f"run {RUN}: the text sha256:")
    assert sentence.endswith("that a result names is not there")


async def test_replies_are_verified_too_and_faults_name_what_they_are_of(sound: Store, place: str) -> None:
    await sound.responses.commit([reply("a")])
    await execute(place, "UPDATE responses SET body_bytes = 1")
    await execute(place, "UPDATE cases SET status = 'pass'")
    size = len(reply("a")[1].body)
    assert [fault async for fault in sound.verify(trial_status)] == [
        StoreFault(key=key_of("a"), message=f"expected 1 bytes, found {size}"),
        StoreFault(key=RUN, message=f"run {RUN}, case 1: expected the outcome fail by its trials, found pass"),
    ]


async def test_without_the_rule_only_the_seal_speaks_against_a_changed_status(sound: Store, place: str) -> None:
    await execute(place, "UPDATE trials SET status = 'fail' WHERE case_index = 1")
    assert [fault.message async for fault in sound.verify()] == [f"run {RUN}, case 1, trial 0: {UNSEALED}"]
    assert await told(sound) == [f"run {RUN}, case 1, trial 0: expected the status pass by its assessments, found fail"]


async def test_stats_count_what_there_is(sound: Store) -> None:
    await sound.responses.commit(replies("a", 2))
    stats = await sound.stats()
    assert (stats.runs, stats.cases, stats.trials, stats.assessments, stats.snapshots) == (1, 2, 4, 4, 4)
    assert (stats.replies.kept, stats.replies.withheld) == (2, 0)
    assert stats.bytes > 0


async def test_a_withheld_reply_has_no_negative_cost(sound: Store, place: str) -> None:
    await sound.responses.commit([reply("a")])
    await sound.responses.withhold([(key_of("a"), INVALID, SPENT)])
    assert await told(sound) == []
    await execute(place, "UPDATE withheld SET cost_usd = -1")
    assert [fault async for fault in sound.verify()] == [StoreFault(key=key_of("a"), message=BEYOND)]
