"""How a run ends early: by a stage's time, by its own, by somebody's wish. What was reached is kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from runs import (
    CONTAINS,
    COST,
    JUDGED,
    PASS,
    AwaitedRecorder,
    Model,
    answerer,
    assertions,
    cases,
    errors,
    job,
    judging_model,
    plan,
    quiet,
    run,
    statuses,
)

from jurat.assertions import Assertion, build_assertions
from jurat.assertions.usercode import python
from jurat.engine import MemoryJournal, MemoryRecorder, Silent
from jurat.engine.caller import Allowance, Caller, Target
from jurat.evaluation import Assessment
from jurat.evaluation.reducers import Reducer, ReducerRule
from jurat.evaluation.subject import Task
from jurat.evidence import Context, Message, Role
from jurat.provider import Raw
from jurat.report.record import TrialRecord
from jurat.subject import ProviderSubject
from jurat.subject.function import PythonSubject
from jurat.vocabulary import Status

SOON_S = 0.5
"""A time limit that a call which never comes back will reach."""


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """What a thread may wait for; it is let go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def error_of(trial: TrialRecord, index: int) -> str | None:
    """The category of an assertion's error."""
    error = trial.assessments[index].result["evaluator"].get("error")
    return None if error is None else str(error["type"])


# --- The time of a stage ---------------------------------------------------------------------------------------------


async def test_a_subject_that_takes_too_long_is_a_timeout_of_its_own_trial() -> None:
    subject, model = answerer(hold=["q1;"]), judging_model()

    trials = await run(
        plan(cases(10, assertions(CONTAINS, JUDGED, model=model))), subject, limits={"subject_timeout_s": SOON_S}
    )

    assert statuses(trials) == ["pass", "error", *["pass"] * 8]
    assert errors(trials)[1] == "timeout"
    assert [found.status.value for found in trials[1].assessments] == ["skipped", "skipped"]
    assert trials[1].subject.spending.cost_usd is None, "it may have been charged for"
    assert subject.in_flight == 0, "the call was cancelled"
    assert len(model.asked) == 9


async def test_waiting_for_a_slot_is_no_part_of_a_calls_time() -> None:
    first, second = answerer(hold=["q"]), answerer()
    caller = Caller(MemoryJournal(), Silent(), concurrency=1)
    calls = [ProviderSubject(first).prepare(Task(messages=(Message(role=Role.USER, content=q),))) for q in ("q", "r")]
    holding = asyncio.create_task(caller.ask(_target(first), calls[0], urgent=False))
    await first.until(lambda: first.in_flight == 1)
    # No time at all: enough for a reply that is there at once, and over as soon as the call had to wait in it.
    waiting = asyncio.create_task(caller.ask(_target(second), calls[1], urgent=False, allowance=Allowance(0.0)))
    await quiet()
    first.release()

    assert isinstance(await holding, Raw)
    assert isinstance(await waiting, Raw)


def _target(model: Model) -> Target:
    return Target(name=model.settings.name, sender=model, cost=lambda _: 0.0)


async def test_a_judge_that_takes_too_long_is_a_timeout_of_its_own_assertion() -> None:
    quick, slow = judging_model(), judging_model(hold=["q0;"], name="slow")
    checks = (
        *assertions(CONTAINS, {**JUDGED, "name": "quick"}, model=quick),
        *assertions({**JUDGED, "name": "slow"}, model=slow),
    )

    first, second = await run(plan(cases(2, checks)), answerer(), limits={"evaluator_timeout_s": SOON_S})

    assert [found.status.value for found in first.assessments] == ["pass", "pass", "error"]
    assert error_of(first, 2) == "timeout"
    assert first.status is Status.ERROR
    assert second.status is Status.PASS
    assert slow.in_flight == 0


async def test_of_a_judges_repeats_those_that_came_in_time_may_settle_it() -> None:
    judge = judging_model()
    inner, begun = judge.send, 0

    async def send(call: Any) -> Raw:
        nonlocal begun
        begun += 1
        if begun == 3:
            await asyncio.Event().wait()
        return await inner(call)

    judge.send = send  # type: ignore[method-assign]
    checks = assertions(JUDGED, model=judge, samples=3, reducer=Reducer(rule=ReducerRule.MAJORITY))
    (trial,) = await run(plan(cases(1, checks)), answerer(), limits={"evaluator_timeout_s": SOON_S})

    assert trial.status is Status.PASS


async def test_a_function_that_hangs_is_a_timeout_and_its_siblings_stand(held: threading.Event) -> None:
    def hang(_: Context) -> bool:
        return held.wait(30)

    check = Assertion(type="python", name="hang", revision="1", check=python(hang))
    (trial,) = await run(
        plan(cases(1, (check, *assertions(CONTAINS)))), answerer(), limits={"evaluator_timeout_s": SOON_S}
    )

    assert [found.status.value for found in trial.assessments] == ["error", "pass"]
    assert error_of(trial, 0) == "timeout"


async def test_a_subject_of_ones_own_that_hangs_is_a_timeout_whether_it_blocks_or_waits(held: threading.Event) -> None:
    def blocks(task: dict[str, Any]) -> str:
        if task["input"] == "q1;":
            held.wait(30)
        return "good"

    async def waits(task: dict[str, Any]) -> str:
        if task["input"] == "q1;":
            await asyncio.Event().wait()
        return "good"

    for function in (blocks, waits):
        subject = PythonSubject(function, name="mine:answer")
        trials = await run(plan(cases(3, assertions(CONTAINS))), subject, limits={"subject_timeout_s": SOON_S})
        assert statuses(trials) == ["pass", "error", "pass"]
        assert errors(trials)[1] == "timeout"


# --- The time of the run ---------------------------------------------------------------------------------------------


async def test_when_the_runs_time_is_over_finished_trials_stay_and_the_rest_are_timeouts() -> None:
    subject = answerer(hold=["q1;"])
    recorder = AwaitedRecorder()
    made = job(
        plan(cases(60, assertions(CONTAINS)), samples=2),
        subject,
        recorder=recorder,
        limits={"concurrency": 2, "run_timeout_s": 0.5},
    )

    await made.run()
    trials = recorder.in_order()

    assert made.timed_out
    assert [(trial.case_index, trial.trial_index) for trial in trials] == [(c, t) for c in range(60) for t in range(2)]
    assert statuses(trials[:2]) == ["pass", "pass"]
    assert trials[0].subject.spending.cost_usd == COST
    assert statuses(trials[2:4]) == ["error", "error"]
    assert errors(trials[2:4]) == ["timeout", "timeout"]
    assert [trial.subject.spending.cost_usd for trial in trials[2:4]] == [None, None], "both were on their way"
    assert all(trial.subject.spending.cost_usd == 0.0 for trial in trials[4:]), "nothing of the others was sent"
    assert errors(trials[4:]) == ["timeout"] * 116


async def test_what_a_trial_had_reached_when_the_runs_time_was_over_stands_in_it() -> None:
    quick, slow = judging_model(), judging_model(hold=["q0;"], name="slow")
    checks = (
        *assertions(CONTAINS, {**JUDGED, "name": "quick"}, model=quick),
        *assertions({**JUDGED, "name": "slow"}, model=slow),
    )
    recorder = MemoryRecorder()

    await job(plan(cases(1, checks)), answerer(), recorder=recorder, limits={"run_timeout_s": 0.5}).run()

    (trial,) = recorder.in_order()
    assert (trial.subject.output, trial.subject.spending.cost_usd) == ("a good answer to q0;", COST)
    assert [found.status.value for found in trial.assessments] == ["pass", "pass", "error"]
    assert error_of(trial, 2) == "timeout"
    assert trial.assessments[1].spending.cost_usd == COST
    assert trial.assessments[2].spending.cost_usd is None
    assert trial.status is Status.ERROR


async def test_a_reply_that_arrived_but_was_not_looked_at_in_time_has_no_known_cost() -> None:
    written = asyncio.Event()

    class Late(MemoryJournal):
        async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
            await written.wait()
            await super().commit(replies)

    class Recorder(MemoryRecorder):
        async def commit_trials(self, trials: Sequence[TrialRecord]) -> None:
            await super().commit_trials(trials)
            written.set()

    journal, recorder = Late(), Recorder()
    await job(plan(cases(1)), answerer(), journal, recorder, {"run_timeout_s": 0.1}).run()

    (trial,) = recorder.in_order()
    assert errors([trial]) == ["timeout"]
    assert (trial.subject.spending.cost_usd, trial.subject.spending.attempts) == (None, 1)
    assert len(journal.kept) == 1, "and it is durable all the same"


async def test_a_run_that_is_done_in_time_is_not_timed_out() -> None:
    made = job(plan(cases(3)), answerer(), limits={"run_timeout_s": 60})

    await made.run()

    assert not made.timed_out


# --- Cancellation ----------------------------------------------------------------------------------------------------


async def test_a_cancelled_run_begins_no_call_and_cancels_those_in_flight() -> None:
    subject = answerer(hold=["q"])
    running = asyncio.create_task(job(plan(cases(30)), subject, limits={"concurrency": 5}).run())
    await subject.until(lambda: subject.in_flight == 5)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert len(subject.asked) == 5
    assert subject.in_flight == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_replies_and_trials_that_wait_for_their_write_are_written_before_a_cancelled_run_ends() -> None:
    class Slow(MemoryJournal):
        entered, release = asyncio.Event(), asyncio.Event()

        async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
            self.entered.set()
            await self.release.wait()
            await super().commit(replies)

    journal, subject = Slow(), answerer()
    running = asyncio.create_task(job(plan(cases(6)), subject, journal, limits={"concurrency": 6}).run())
    await journal.entered.wait()
    running.cancel()
    await quiet()
    over_too_early = running.done()
    journal.release.set()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not over_too_early
    assert len(journal.kept) == len(subject.asked) == 6


async def test_a_trial_that_was_finished_is_in_the_record_of_a_cancelled_run() -> None:
    subject, recorder = answerer(hold=["q1;"]), AwaitedRecorder()
    running = asyncio.create_task(
        job(plan(cases(2, assertions(CONTAINS))), subject, recorder=recorder, limits={"concurrency": 2}).run()
    )
    await recorder.until(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert list(recorder.trials) == [(0, 0)]


async def test_a_run_cancelled_before_it_began_leaves_nothing_behind() -> None:
    running = asyncio.create_task(job(plan(cases(5)), answerer()).run())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_judges_of_a_cancelled_trial_are_cancelled_together() -> None:
    judge = judging_model(PASS, hold=["q0;"])
    checks = assertions(JUDGED, {**JUDGED, "expected": "x"}, model=judge, samples=2)
    running = asyncio.create_task(job(plan(cases(1, checks)), answerer()).run())
    await judge.until(lambda: judge.in_flight == 4)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert judge.in_flight == 0


async def test_a_hanging_thread_does_not_hold_up_a_cancelled_run(held: threading.Event) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang(_: dict[str, Any]) -> str:
        loop.call_soon_threadsafe(begun.set)
        held.wait(30)
        return "good"

    running = asyncio.create_task(job(plan(cases(1)), PythonSubject(hang, name="mine:hang")).run())
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


def test_checks_of_ones_own_are_built_like_any_other() -> None:
    (check,) = build_assertions([CONTAINS])
    found = check.evaluate(Context(output="good"))
    assert isinstance(found, Assessment)
    assert not check.waits(Context(output="good"))
    assert check.waits(Context(output="good" * 100_000))
