"""The plan of a run and its order: the record is the same, whatever comes first."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import (
    BROKEN,
    CONTAINS,
    JUDGED,
    PASS,
    POOR,
    Model,
    Plain,
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

from jurat.engine import MemoryRecorder, Plan
from jurat.errors import ErrorCategory
from jurat.judge import Spending
from jurat.provider import Raw, ScriptedReply
from jurat.report.record import TrialRecord


async def test_trials_that_the_record_holds_already_are_not_made_again() -> None:
    subject = Plain()
    done = {(0, 0), (0, 1), (1, 1)}

    trials = await run(plan(cases(3, assertions(CONTAINS)), samples=2), subject, done=done)

    assert [(trial.case_index, trial.trial_index) for trial in trials] == [(1, 0), (2, 0), (2, 1)]
    assert sorted(subject.asked) == [("q1;", 0), ("q2;", 0), ("q2;", 1)]


async def test_a_plan_without_cases_is_a_run_without_trials() -> None:
    assert await run(plan([]), answerer()) == []


@pytest.mark.parametrize("samples", [0, 21, True])
def test_a_plan_has_one_to_twenty_trials_a_case(samples: int) -> None:
    with pytest.raises(ValueError, match="expected 1 to 20 samples"):
        Plan(cases=[], samples=samples)


@pytest.mark.parametrize("concurrency", [0, -1, True, 1.5, "4"])
def test_a_bound_that_is_none_is_refused_before_the_run(concurrency: Any) -> None:
    with pytest.raises(ValueError, match="expected a whole number of calls in flight, from 1"):
        job(plan([]), answerer(), limits={"concurrency": concurrency})


class Jumbled:
    """Lets calls wait, and answers them in an order that somebody draws."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []

    def model(self, made: Model) -> Model:
        inner = made.send

        async def send(call: Any) -> Raw:
            turn = asyncio.get_running_loop().create_future()
            self.waiting.append(turn)
            await turn
            return await inner(call)

        made.send = send  # type: ignore[method-assign]
        return made

    async def drive(self, running: asyncio.Task[Any], draw: Callable[[int], int]) -> None:
        while not running.done():
            for _ in range(draw(4)):
                await asyncio.sleep(0)
            if self.waiting:
                self.waiting.pop(draw(len(self.waiting))).set_result(None)
            await asyncio.sleep(0)


def varied(question: str) -> ScriptedReply:
    """Good answers, failures and empty ones."""
    number = int(question.strip("q;"))
    if number % 5 == 1:
        return ScriptedReply(error=ErrorCategory.OVERLOADED)
    return says("" if number % 5 == 2 else f"a good answer to {question}")


def strict(user: str) -> ScriptedReply:
    """Verdicts of all kinds."""
    first = int(json.loads(next(line for line in user.splitlines() if line.startswith("{")))["text"].strip("q;"))
    return (PASS, POOR, BROKEN)[first % 3]


async def jumbled_run(draw: Callable[[int], int], concurrency: int, count: int, samples: int) -> list[TrialRecord]:
    order, recorder = Jumbled(), MemoryRecorder()
    judge = order.model(judging_model(strict))
    checks = assertions(CONTAINS, JUDGED, {**JUDGED, "expected": "x"}, model=judge, samples=2)
    made = job(
        plan(cases(count, checks), samples=samples),
        order.model(answerer(varied)),
        recorder=recorder,
        limits={"concurrency": concurrency},
    )
    running = asyncio.create_task(made.run())
    await order.drive(running, draw)
    await running
    return recorder.in_order()


@lru_cache
def undisturbed(count: int, samples: int) -> tuple[TrialRecord, ...]:
    return tuple(asyncio.run(jumbled_run(lambda _: 0, 1, count, samples)))


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 9))
def test_the_record_is_the_same_whatever_the_order_of_the_replies_and_the_bound(seed: int, concurrency: int) -> None:
    found = asyncio.run(jumbled_run(random.Random(seed).randrange, concurrency, 11, 1))  # noqa: S311

    assert tuple(found) == undisturbed(11, 1)
    assert sorted(set(statuses(found))) == ["error", "fail", "pass", "unverified"]


def without_bearer(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The record without which of several trials bears the cost of a reply that they share."""
    bare = []
    for trial in trials:
        found = [
            replace(one, spending=Spending(), result={**one.result, "evaluator": one.result["evaluator"].get("error")})
            for one in trial.assessments
        ]
        bare.append(replace(trial, assessments=tuple(found)))
    return bare


def totals(trials: Sequence[TrialRecord]) -> tuple[int, int, int]:
    """Requests, costs in millionths of a dollar, and trials that know all of theirs."""
    spent = [one.spending for trial in trials for one in trial.assessments]
    costs = [one.cost_usd for one in spent if one.cost_usd is not None]
    return sum(one.attempts for one in spent), round(sum(costs) * 1e6), len(costs)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 9))
def test_who_bears_a_shared_reply_may_depend_on_the_order_but_nothing_else_and_no_total(
    seed: int, concurrency: int
) -> None:
    found = asyncio.run(jumbled_run(random.Random(seed).randrange, concurrency, 6, 3))  # noqa: S311
    expected = undisturbed(6, 3)

    assert without_bearer(found) == without_bearer(expected)
    assert totals(found) == totals(expected)
