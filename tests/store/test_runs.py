"""What the store of runs promises, on both databases alike."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from run_samples import (
    BEGUN,
    ENDED,
    RUBRIC,
    SUITE,
    a_run,
    a_trial,
    assessed,
    begun,
    every_trial,
    some_cases,
    trials_of,
    unanswered,
)
from store_samples import INVALID, SPENT, execute, key_of, query, reply

from jurat.errors import AuthoringError, StoreError
from jurat.report.record import CaseRecord, RunStatus, Snapshot, SubjectRecord
from jurat.store import Store
from jurat.vocabulary import Status

RUN = "20261130-a"


# --- a run from its beginning to its end ---------------------------------------------------------------------------


async def test_a_run_reads_back_as_it_was_begun(runs: Store) -> None:
    await runs.runs.begin(a_run(), some_cases(), [SUITE, RUBRIC])
    assert await runs.runs.get(RUN) == a_run()
    assert [case async for case in runs.runs.cases(RUN)] == some_cases()
    assert await runs.runs.keys(RUN) == set()
    assert await trials_of(runs, RUN) == []


async def test_snapshots_read_back_under_their_hash_and_are_kept_once(runs: Store, place: str) -> None:
    await runs.runs.begin(a_run("one"), some_cases(), [SUITE, RUBRIC, SUITE])
    await runs.runs.begin(a_run("two"), some_cases(), [RUBRIC])
    assert await runs.runs.snapshot(SUITE.hash) == SUITE
    assert await runs.runs.snapshot(RUBRIC.hash) == RUBRIC
    assert await query(place, "SELECT count(*) FROM snapshots") == [(2,)]


async def test_a_snapshot_that_is_not_there_is_named(runs: Store) -> None:
    with pytest.raises(StoreError, match="the snapshot sha256:0123 is not there"):
        await runs.runs.snapshot("sha256:0123")


async def test_the_outcome_of_a_run_and_its_cases_is_kept(runs: Store) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, every_trial())
    gate = {"passed": False, "rules": [{"type": "overall_pass_rate", "actual": 0.5}]}
    await runs.runs.finish(RUN, RunStatus.COMPLETED, ENDED, [Status.PASS, Status.FAIL], gate)
    assert await runs.runs.get(RUN) == replace(a_run(), status=RunStatus.COMPLETED, finished_at=ENDED, gate=gate)
    assert [case.status async for case in runs.runs.cases(RUN)] == [Status.PASS, Status.FAIL]


async def test_a_run_is_not_completed_while_trials_are_missing(runs: Store) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, [a_trial(0)])
    with pytest.raises(StoreError, match="expected 2 trials before it is completed, found 1; resume it"):
        await runs.runs.finish(RUN, RunStatus.COMPLETED, ENDED, [Status.PASS, Status.PASS], None)
    assert (await runs.runs.get(RUN)).status is RunStatus.RUNNING


async def test_outcomes_of_another_number_of_cases_are_refused(runs: Store) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, every_trial())
    with pytest.raises(StoreError, match="expected the outcomes of 2 cases, found 1"):
        await runs.runs.finish(RUN, RunStatus.COMPLETED, ENDED, [Status.PASS], None)


async def test_an_interrupted_run_keeps_what_it_has(runs: Store) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, [a_trial(1)])
    await runs.runs.interrupt(RUN, ENDED)
    found = await runs.runs.get(RUN)
    assert (found.status, found.finished_at) == (RunStatus.INTERRUPTED, ENDED)
    assert await trials_of(runs, RUN) == [a_trial(1)]


async def test_a_second_run_of_the_same_id_is_refused_whole(runs: Store) -> None:
    await begun(runs)
    with pytest.raises(StoreError, match="a run of this id is in the store already"):
        await runs.runs.begin(a_run(), some_cases(), [Snapshot(hash="sha256:new", kind="suite", body=1)])
    with pytest.raises(StoreError, match="is not there"):
        await runs.runs.snapshot("sha256:new")


async def test_two_cases_of_one_number_are_refused_whole(runs: Store) -> None:
    with pytest.raises(StoreError, match="a run has two cases of one number"):
        await runs.runs.begin(a_run(), [*some_cases(), *some_cases(1)], [])
    assert await runs.runs.runs() == []


# --- trials --------------------------------------------------------------------------------------------------------


async def test_trials_read_back_equal_and_in_the_plan_s_order_whatever_order_they_came_in(runs: Store) -> None:
    await begun(runs, cases=3, samples=4)
    wanted = every_trial(3, 4)
    for start in (7, 0, 9, 4, 3, 1, 2, 11, 5, 6, 8, 10):
        await runs.runs.commit_trials(RUN, [wanted[start]])
    for page in (1, 5, 256):
        assert await trials_of(runs, RUN, page=page) == wanted
    assert await trials_of(runs, RUN, 1, page=3) == wanted[4:8]
    assert await runs.runs.keys(RUN) == {(case, trial) for case in range(3) for trial in range(4)}


async def test_every_kind_of_trial_reads_back_equal(runs: Store) -> None:
    await begun(runs, cases=7)
    bare = SubjectRecord(output="", recorded=True)
    several = [assessed(status, name=f"a {status}", required=True) for status in Status]
    wanted = [
        a_trial(0, assessments=[]),
        a_trial(1, assessments=several),
        unanswered(2),
        replace(a_trial(3), subject=bare),
        replace(a_trial(4), subject=replace(bare, output="x" * 200_000)),
        a_trial(5, status=Status.UNVERIFIED, assessments=[replace(assessed(), spending=replace(SPENT, cached=True))]),
        replace(a_trial(6), subject=replace(bare, rendered_input="", messages=({},), execution={"a": None})),
    ]
    await runs.runs.commit_trials(RUN, wanted)
    assert await trials_of(runs, RUN) == wanted
    assert await runs.runs.statuses(RUN) == {(trial.case_index, 0): trial.status for trial in wanted}


async def test_a_trial_that_is_written_twice_is_one_trial(runs: Store, place: str) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, [a_trial(0), a_trial(0)])
    await runs.runs.commit_trials(RUN, [a_trial(0)])
    assert await trials_of(runs, RUN) == [a_trial(0)]
    for table in ("trials", "answers", "assessments"):
        assert await query(place, f"SELECT count(*) FROM {table}") == [(1,)]


@pytest.mark.parametrize("second", [
    a_trial(0, status=Status.FAIL, output="Lyon", assessments=[assessed(Status.FAIL), assessed(name="more")]),
    a_trial(0, assessments=[]),
    unanswered(0),
])  # fmt: skip
async def test_of_two_different_writes_of_a_trial_the_first_stays_whole(runs: Store, second: object) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, [a_trial(0)])
    await runs.runs.commit_trials(RUN, [second])  # type: ignore[list-item]
    assert await trials_of(runs, RUN) == [a_trial(0)]


async def test_a_trial_of_a_case_that_the_run_does_not_have_is_refused_with_its_neighbours(runs: Store) -> None:
    await begun(runs)
    with pytest.raises(StoreError, match="a trial belongs to a case that its run does not have"):
        await runs.runs.commit_trials(RUN, [a_trial(0), a_trial(2)])
    assert await runs.runs.keys(RUN) == set()


async def test_one_caller_s_fault_is_not_that_of_those_who_write_at_the_same_moment(runs: Store) -> None:
    await begun(runs, cases=4)
    found = await asyncio.gather(
        *(runs.runs.commit_trials(RUN, [a_trial(case)]) for case in (0, 1, 9, 2, 3)), return_exceptions=True
    )
    assert [type(one) for one in found] == [type(None), type(None), StoreError, type(None), type(None)]
    assert await trials_of(runs, RUN) == every_trial(4)


async def test_a_cancelled_commit_leaves_no_trial_half_written(runs: Store) -> None:
    await begun(runs, cases=300)
    commit = asyncio.create_task(runs.runs.commit_trials(RUN, every_trial(300)))
    await asyncio.sleep(0)
    commit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await commit
    await runs.runs.commit_trials(RUN, [a_trial(0)])
    assert len(await trials_of(runs, RUN)) in (1, 300)


@pytest.mark.parametrize("value", [float("nan"), b"bytes", {1, 2}])
async def test_a_value_without_a_json_form_is_refused_and_nothing_is_written(runs: Store, value: object) -> None:
    await begun(runs)
    odd = a_trial(1)
    odd = replace(odd, subject=replace(odd.subject, execution={"value": value}))
    with pytest.raises(StoreError, match="a trial holds a value that has no JSON form"):
        await runs.runs.commit_trials(RUN, [a_trial(0), odd])
    assert await runs.runs.keys(RUN) == set()


async def test_any_text_survives_everywhere(runs: Store) -> None:
    text = "é 🦊 \x00 \ud83d\ude00 \\packed: \\u0041 \r\n\x7f"
    case = CaseRecord(case_index=0, name=text, case_hash="h", labels=(text,), metadata={text: [text]}, file=text)
    run = replace(a_run(text, cases=1), suite=text, options={text: text}, parent=text)
    one = replace(assessed(name=text), type=text, result={text: text})
    trial = a_trial(0, output=text, assessments=[one])
    trial = replace(trial, subject=replace(trial.subject, messages=({text: text},), rendered_input=text))
    await runs.runs.begin(run, [case], [])
    await runs.runs.commit_trials(text, [trial])
    assert await runs.runs.get(text) == run
    assert await runs.runs.find(text[:9]) == run
    assert await runs.runs.runs(suite=text) == [run]
    assert [found async for found in runs.runs.cases(text)] == [case]
    assert await trials_of(runs, text) == [trial]


async def test_a_long_rubric_is_stored_once_and_read_back_everywhere(runs: Store, place: str) -> None:
    rubric = "The answer names the page that it relies on. " * 50
    named = {"jurat_text": "sha256:" + "0" * 64}
    results = [{"metadata": {"rubric": one, "threshold": 80}} for one in (rubric, rubric, "short", named, named, None)]
    wanted = [a_trial(index, assessments=[replace(assessed(), result=one)]) for index, one in enumerate(results)]
    await begun(runs, cases=6)
    await runs.runs.commit_trials(RUN, wanted)
    assert await trials_of(runs, RUN) == wanted
    assert await query(place, "SELECT count(*) FROM snapshots WHERE kind = 'text'") == [(2,)]
    ((size,),) = await query(place, "SELECT sum(length(result)) FROM assessments")
    assert size < len(rubric)


async def test_what_another_process_writes_is_seen_at_once(runs: Store, place: str) -> None:
    await begun(runs)
    other = await Store.open(place)
    await other.runs.commit_trials(RUN, [a_trial(1)])
    await other.aclose()
    assert await trials_of(runs, RUN) == [a_trial(1)]


async def test_while_trials_are_read_others_may_be_written(runs: Store) -> None:
    await begun(runs, cases=20)
    await runs.runs.commit_trials(RUN, every_trial(10))
    seen = []
    async for trial in runs.runs.trials(RUN, page=2):
        seen.append(trial.case_index)
        if trial.case_index < 10:
            await runs.runs.commit_trials(RUN, [a_trial(10 + trial.case_index)])
    assert seen == list(range(20))


# --- errors taken out, to be asked anew ----------------------------------------------------------------------------


async def test_errors_are_taken_out_and_the_rest_stays(runs: Store, place: str) -> None:
    await begun(runs, cases=3)
    await runs.runs.commit_trials(RUN, [a_trial(0), unanswered(1), a_trial(2, status=Status.ERROR)])
    assert await runs.runs.delete_errors(RUN) == 2
    assert await trials_of(runs, RUN) == [a_trial(0)]
    for table in ("trials", "answers", "assessments"):
        assert await query(place, f"SELECT count(*) FROM {table}") == [(1,)]
    await runs.runs.commit_trials(RUN, [a_trial(1)])
    assert await trials_of(runs, RUN) == [a_trial(0), a_trial(1)]


async def test_with_the_errors_the_replies_that_were_no_answers_are_forgotten_and_no_others(runs: Store) -> None:
    await begun(runs)
    await begun(runs, "other")
    journal, other = runs.runs.journal(RUN), runs.runs.journal("other")
    await other.commit([reply("bad")])
    await journal.commit([reply("good"), reply("bad"), reply("bad too")])
    await journal.withhold([(key_of("bad"), INVALID, SPENT), (key_of("bad too"), INVALID, SPENT)])
    await runs.runs.delete_errors(RUN)
    keys = [key_of("good"), key_of("bad"), key_of("bad too")]
    assert await journal.recall(keys) == dict([reply("good")])
    assert set(await other.recall(keys)) == {key_of("bad")}


# --- finding runs --------------------------------------------------------------------------------------------------


async def test_runs_are_listed_the_newest_first_and_a_page_at_a_time(runs: Store) -> None:
    for number in range(5):
        await runs.runs.begin(replace(a_run(f"run-{number}"), suite=f"suite {number % 2}"), some_cases(), [])
    listed = await runs.runs.runs(3)
    assert [run.id for run in listed] == ["run-4", "run-3", "run-2"]
    assert [run.id for run in await runs.runs.runs(3, before="run-2")] == ["run-1", "run-0"]
    assert [run.id for run in await runs.runs.runs(suite="suite 1")] == ["run-3", "run-1"]
    assert await runs.runs.runs(suite="nobody's") == []


async def test_a_run_is_found_by_its_id_by_a_beginning_of_it_and_as_the_latest(runs: Store) -> None:
    for name in ("20261129-abc", "20261130-abc", "20261130-abcd"):
        await begun(runs, name)
    assert (await runs.runs.find("20261130-abc")).id == "20261130-abc"  # though another begins so
    assert (await runs.runs.find("20261129")).id == "20261129-abc"
    assert (await runs.runs.find("latest")).id == "20261130-abcd"


@pytest.mark.parametrize(("text", "told"), [
    ("2026113", "found several that begin so: 20261130-b, 20261130-a"),
    ("20261180-a", "Did you mean 20261130-a?"),
    ("", "`jurat runs` lists them"),
    ("zzz", "found none that begins so. `jurat runs` lists them"),
    ("2026%", "found none that begins so"),
    ("20261130_a", "found none that begins so. Did you mean 20261130-a?"),
])  # fmt: skip
async def test_a_run_that_cannot_be_told_is_the_author_s_fault_and_those_near_are_named(
    runs: Store, text: str, told: str
) -> None:
    await begun(runs, "20261130-a")
    await begun(runs, "20261130-b")
    with pytest.raises(AuthoringError) as caught:
        await runs.runs.find(text)
    assert told in str(caught.value)


async def test_in_an_empty_store_there_is_no_latest_run(runs: Store) -> None:
    with pytest.raises(AuthoringError, match="found none: the store holds no runs"):
        await runs.runs.find("latest")


async def test_whatever_is_asked_of_a_run_that_is_not_there_says_so(runs: Store) -> None:
    for use in (
        runs.runs.get("x"),
        runs.runs.keys("x"),
        runs.runs.commit_trials("x", [a_trial()]),
        runs.runs.finish("x", RunStatus.COMPLETED, ENDED, []),
        runs.runs.interrupt("x", ENDED),
        runs.runs.claim("x"),
        trials_of(runs, "x"),
    ):
        with pytest.raises(StoreError, match="there is no run x"):
            await use


# --- SQL -----------------------------------------------------------------------------------------------------------


async def test_results_are_open_to_sql_by_the_names_that_people_know(runs: Store, place: str) -> None:
    await begun(runs, samples=2)
    await runs.runs.commit_trials(RUN, [a_trial(0), a_trial(1, 1, Status.FAIL, output="Lyon"), unanswered(1)])
    columns = "run_id, suite, case_name, trial_index, assertion, type, status, score, input_tokens, cost_usd"
    assert await query(place, f"SELECT {columns} FROM run_results ORDER BY case_index, trial_index") == [
        (RUN, "capitals", "case 0", 0, "right", "rubric_judge", "pass", 92.0, 120, 0.00042),
        (RUN, "capitals", "case 1", 0, "right", "rubric_judge", "skipped", None, 120, 0.00042),
        (RUN, "capitals", "case 1", 1, "right", "rubric_judge", "fail", 12.0, 120, 0.00042),
    ]
    columns = "run_id, case_name, trial_index, status, error_category, output, cost_usd"
    assert await query(place, f"SELECT {columns} FROM run_trials ORDER BY case_index, trial_index") == [
        (RUN, "case 0", 0, "pass", None, "Paris", 0.00042),
        (RUN, "case 1", 0, "error", "timeout", None, None),
        (RUN, "case 1", 1, "fail", None, "Lyon", 0.00042),
    ]
    ((result,),) = await query(place, "SELECT result FROM run_results WHERE score = 12.0")
    assert json.loads(result) == dict(assessed(Status.FAIL).result)


async def test_times_are_kept_to_the_letter(runs: Store, place: str) -> None:
    await begun(runs)
    await runs.runs.interrupt(RUN, ENDED)
    assert await query(place, "SELECT created_at, finished_at FROM runs") == [(BEGUN, ENDED)]


async def test_a_word_that_only_a_newer_jurat_knows_is_said_to_be_one(runs: Store, place: str) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, [a_trial()])
    await execute(place, "UPDATE trials SET status = 'abstained'")
    with pytest.raises(StoreError, match="written by a newer one; upgrade jurat"):
        await trials_of(runs, RUN)
