"""The record of a run: kept while it goes on, whole when it ends, and no trial in it that is not durable."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runs import (
    CONTAINS,
    JUDGED,
    AwaitedRecorder,
    answerer,
    assertions,
    cases,
    job,
    judging_model,
    plan,
    run,
    says,
    statuses,
)

from jurat.assertions import build_assertions
from jurat.engine import MemoryJournal, MemoryRecorder, PlannedCase
from jurat.errors import ErrorCategory, StoreError
from jurat.provider import ScriptedReply
from jurat.report.record import TrialRecord


async def test_a_trial_is_committed_when_its_last_assessment_is_done_whatever_the_others_do() -> None:
    subject, recorder = answerer(hold=["q0;"]), AwaitedRecorder()
    running = asyncio.create_task(
        job(plan(cases(3, assertions(CONTAINS))), subject, recorder=recorder, limits={"concurrency": 3}).run()
    )

    await recorder.until(2)
    early = sorted(recorder.trials)
    subject.release()
    await running

    assert early == [(1, 0), (2, 0)]
    assert sorted(recorder.trials) == [(0, 0), (1, 0), (2, 0)]


async def test_few_dozen_trials_are_written_together_and_one_write_at_a_time() -> None:
    class Counting(MemoryRecorder):
        writes: list[int] = []  # noqa: RUF012
        busy = False

        async def commit_trials(self, trials: Any) -> None:
            assert not self.busy
            self.busy = True
            self.writes.append(len(trials))
            await asyncio.sleep(0)
            await super().commit_trials(trials)
            self.busy = False

    recorder = Counting()
    await job(plan(cases(640, assertions(CONTAINS))), answerer(), recorder=recorder).run()

    assert len(recorder.trials) == 640
    assert sum(recorder.writes) == 640
    assert len(recorder.writes) <= 40


async def test_a_record_that_cannot_be_kept_ends_the_run_with_its_own_error_and_no_task_is_left() -> None:
    class Full(MemoryRecorder):
        async def commit_trials(self, trials: Any) -> None:
            raise StoreError("no space is left on the device")

    with pytest.raises(StoreError, match="no space"):
        await run(plan(cases(50, assertions(CONTAINS))), answerer(), recorder=Full())

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_reply_that_cannot_be_kept_ends_the_run_and_no_trial_stands_on_it() -> None:
    class Full(MemoryJournal):
        async def commit(self, replies: Any) -> None:
            raise StoreError("no space is left on the device")

    recorder = MemoryRecorder()
    with pytest.raises(StoreError, match="no space"):
        await run(plan(cases(50, assertions(CONTAINS))), answerer(), Full(), recorder=recorder)

    assert recorder.trials == {}
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_only_a_window_of_trials_is_in_work_however_many_there_are() -> None:
    taken = 0

    class Counted(list[PlannedCase]):
        def __iter__(self) -> Any:
            nonlocal taken
            for one in list.__iter__(self):
                taken += 1
                yield one

    subject = answerer(hold=["q0;"])
    planned = Counted(cases(2000, assertions(CONTAINS)))
    running = asyncio.create_task(job(plan(planned), subject, limits={"concurrency": 1}).run())
    await subject.until(lambda: len(subject.asked) == 1)
    for _ in range(200):
        await asyncio.sleep(0)
    early = taken
    subject.release()
    await running

    assert early <= 66
    assert taken == 2000


async def test_a_watcher_is_told_of_trials_that_are_durable_and_of_calls() -> None:
    told: list[str] = []
    recorder = MemoryRecorder()

    class Watcher:
        def trial(self, trial: TrialRecord) -> None:
            assert (trial.case_index, trial.trial_index) in recorder.trials
            told.append(f"trial {trial.case_index}")

        def call_started(self, name: str) -> None:
            told.append(f"{name} asked")

        def call_ended(self, name: str, error: ErrorCategory | None) -> None:
            told.append(f"{name} {error}")

        def notice(self, message: str) -> None:
            told.append(message)

    checks = assertions(JUDGED, model=judging_model())
    failing = answerer(lambda q: ScriptedReply(error=ErrorCategory.OVERLOADED) if q == "q1;" else says("good"))
    await run(plan(cases(2, checks)), failing, recorder=recorder, watcher=Watcher(), limits={"concurrency": 1})

    assert sorted(told) == [
        "answerer None",
        "answerer asked",
        "answerer asked",
        "answerer overloaded",
        "oracle None",
        "oracle asked",
        "trial 0",
        "trial 1",
    ]


def test_the_same_subject_and_judges_serve_one_event_loop_after_another() -> None:
    subject, checks = answerer(), assertions(CONTAINS, JUDGED, model=judging_model())

    first = asyncio.run(run(plan(cases(5, checks), samples=2), subject))
    second = asyncio.run(run(plan(cases(5, checks), samples=2), subject))

    assert first == second
    assert statuses(first) == ["pass"] * 10


async def test_two_runs_side_by_side_in_one_loop_do_not_disturb_each_other() -> None:
    checks = assertions(CONTAINS, JUDGED, model=judging_model())

    first, second = await asyncio.gather(
        run(plan(cases(20, checks)), answerer()), run(plan(cases(20, checks)), answerer())
    )

    assert first == second


async def test_checks_that_run_in_a_thread_give_what_they_would_give_on_the_loop() -> None:
    long = "good " * 100_000
    checks = build_assertions([CONTAINS, {"type": "regex", "value": "go+d"}])

    (trial,) = await run(plan(cases(1, checks, output=long)), None, limits={"concurrency": 1})

    assert [found.status.value for found in trial.assessments] == ["pass", "pass"]
