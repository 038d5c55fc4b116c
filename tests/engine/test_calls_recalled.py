"""Calls that were paid for before: a resumed run repeats none of its own, and a cache serves those of others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from runs import (
    BROKEN,
    CONTAINS,
    COST,
    JUDGED,
    PASS,
    POOR,
    AwaitedRecorder,
    answerer,
    assertions,
    cases,
    costs,
    job,
    judging_model,
    plan,
    run,
    says,
    statuses,
)

from jurat.engine import MemoryJournal, MemoryRecorder
from jurat.errors import ErrorCategory, StoreError
from jurat.provider import ScriptedReply

# --- Resuming --------------------------------------------------------------------------------------------------------


def mixed(user: str) -> ScriptedReply:
    """Verdicts of all kinds, by the question's number."""
    number = int(user.split('"text":"q')[1].split(";")[0])
    return (PASS, BROKEN, POOR)[number % 3]


async def half_run(journal: MemoryJournal, recorder: AwaitedRecorder) -> None:
    """A run that is cancelled when four trials are finished, two wait for their judge and six for their subject."""
    subject = answerer(hold=[f"q{number};" for number in range(6, 12)])
    judge = judging_model(mixed, hold=["q4;", "q5;"])
    checks = assertions(CONTAINS, JUDGED, model=judge)
    made = job(plan(cases(12, checks)), subject, journal, recorder, limits={"concurrency": 12})
    running = asyncio.create_task(made.run())
    await subject.until(lambda: subject.answered == 6 and len(subject.asked) == 12)
    await judge.until(lambda: judge.answered == 4 and len(judge.asked) == 6)
    await recorder.until(4)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_cancelled_run_keeps_what_it_reached_and_its_resumption_repeats_no_call() -> None:
    journal, recorder = MemoryJournal(), AwaitedRecorder()
    await half_run(journal, recorder)
    early = dict(recorder.trials)

    subject, judge = answerer(), judging_model(mixed)
    checks = assertions(CONTAINS, JUDGED, model=judge)
    paid = [key for trial in early.values() for key in trial.paid]
    await job(plan(cases(12, checks)), subject, journal, recorder, done=set(early), resumed=True, borne=paid).run()
    undisturbed = await run(plan(cases(12, assertions(CONTAINS, JUDGED, model=judging_model(mixed)))), answerer())

    assert sorted(early) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert sorted(subject.asked) == sorted(f"q{number};" for number in range(6, 12))
    assert len(judge.asked) == 8
    assert recorder.in_order() == undisturbed
    assert costs(recorder.in_order()) == [2] * 12


async def test_a_shared_reply_that_a_finished_trial_bears_is_not_borne_again_after_a_kill() -> None:
    async def begin() -> tuple[MemoryJournal, MemoryRecorder]:
        journal, recorder = MemoryJournal(), MemoryRecorder()
        planned = cases(1, assertions(JUDGED, model=judging_model()), output="good")
        await run(plan(planned, samples=4), None, journal, recorder=recorder, limits={"concurrency": 1})
        return journal, recorder

    bearer_kept, bearer_lost = await begin(), await begin()
    del bearer_kept[1].trials[0, 2]
    del bearer_lost[1].trials[0, 0]
    for journal, recorder in (bearer_kept, bearer_lost):
        judge = judging_model()
        planned = cases(1, assertions(JUDGED, model=judge), output="good")
        paid = [key for trial in recorder.trials.values() for key in trial.paid]
        await job(
            plan(planned, samples=4), None, journal, recorder, done=set(recorder.trials), resumed=True, borne=paid
        ).run()

        assert judge.asked == []
        assert costs(recorder.in_order()) == [1, 0, 0, 0]


async def test_errors_are_made_anew_when_their_trials_were_taken_out() -> None:
    journal, recorder = MemoryJournal(), MemoryRecorder()
    failing = answerer(lambda q: ScriptedReply(error=ErrorCategory.OVERLOADED) if q == "q1;" else says("good"))
    await run(plan(cases(3, assertions(CONTAINS))), failing, journal, recorder=recorder)
    del recorder.trials[1, 0]

    subject = answerer()
    await job(
        plan(cases(3, assertions(CONTAINS))), subject, journal, recorder, done=set(recorder.trials), resumed=True
    ).run()

    assert subject.asked == ["q1;"]
    assert statuses(recorder.in_order()) == ["pass"] * 3


# --- The cache -------------------------------------------------------------------------------------------------------


async def test_replies_of_other_runs_are_used_where_the_cache_is_read_and_cost_nothing_again() -> None:
    first = MemoryJournal()
    await run(plan(cases(3, assertions(JUDGED, model=judging_model()))), answerer(), first)
    subject, judge = answerer(), judging_model()

    trials = await run(
        plan(cases(3, assertions(JUDGED, model=judge))), subject, MemoryJournal(others=first.kept), cache_read=True
    )

    assert (subject.asked, judge.asked) == ([], [])
    assert costs(trials) == [0, 0, 0]
    assert all(trial.subject.spending.cached and trial.assessments[0].spending.cached for trial in trials)
    assert [trial.subject.execution["cost_usd"] for trial in trials] == [COST] * 3, "what the answer once cost"
    assert [trial.paid for trial in trials] == [()] * 3


async def test_without_the_cache_other_runs_are_not_looked_at() -> None:
    first = MemoryJournal()
    await run(plan(cases(3)), answerer(), first)
    subject = answerer()

    await run(plan(cases(3)), subject, MemoryJournal(others=first.kept))

    assert len(subject.asked) == 3


async def test_an_invalid_reply_of_another_run_is_asked_for_anew() -> None:
    first = MemoryJournal()
    await run(plan(cases(1, assertions(JUDGED, model=judging_model(BROKEN)), output="good")), None, first)
    judge = judging_model()

    trials = await run(
        plan(cases(1, assertions(JUDGED, model=judge), output="good")),
        None,
        MemoryJournal(others=first.kept),
        cache_read=True,
    )

    assert (len(judge.asked), statuses(trials)) == (1, ["pass"])


async def test_a_journal_that_cannot_be_read_ends_the_run() -> None:
    class Torn(MemoryJournal):
        async def recall_any(self, keys: Sequence[str]) -> Any:
            raise StoreError("the store cannot be read")

    with pytest.raises(StoreError, match="cannot be read"):
        await run(plan(cases(5)), answerer(), Torn(), cache_read=True)

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_keys_that_are_looked_up_at_once_are_one_question_to_the_journal() -> None:
    class Counting(MemoryJournal):
        asked: list[int] = []  # noqa: RUF012

        async def recall_any(self, keys: Sequence[str]) -> Any:
            self.asked.append(len(keys))
            return await super().recall_any(keys)

    journal = Counting()
    await run(plan(cases(40)), answerer(), journal, cache_read=True, limits={"concurrency": 8})

    assert sum(journal.asked) == 40
    assert len(journal.asked) < 10
