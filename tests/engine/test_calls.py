"""The calls of a run: each made once, paid for once, and known by a key that names all of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from runs import (
    BROKEN,
    COST,
    JUDGED,
    Plain,
    answerer,
    assertions,
    cases,
    costs,
    judging_model,
    plan,
    quiet,
    run,
    says,
    statuses,
)

from jurat.engine import MemoryJournal, Silent
from jurat.engine.caller import Caller, Target
from jurat.engine.recall import Seen
from jurat.errors import ErrorCategory, ProviderError
from jurat.evaluation.subject import Task
from jurat.evidence import Message, Role
from jurat.judge import Withheld
from jurat.provider import Raw, ScriptedReply
from jurat.subject import ProviderSubject

TASK = Task(messages=(Message(role=Role.USER, content="Why?"),))


# --- Made once -------------------------------------------------------------------------------------------------------


async def test_identical_calls_in_flight_are_made_once_and_one_trial_bears_the_cost() -> None:
    subject, judge = answerer(), judging_model(hold=["same"])
    planned = cases(1, assertions(JUDGED, model=judge), output="a good answer that is the same")
    running = asyncio.create_task(run(plan(planned, samples=6), subject))
    await judge.until(lambda: len(judge.asked) == 1)
    await quiet()
    judge.release()
    trials = await running

    assert len(judge.asked) == 1
    assert statuses(trials) == ["pass"] * 6
    spent = [trial.assessments[0].spending for trial in trials]
    assert [(one.cost_usd, one.attempts, one.cached) for one in spent] == [(COST, 1, False), *[(0.0, 0, True)] * 5]
    assert [one.usage.input_tokens for one in spent] == [10] * 6, "the original usage is kept for reference"
    assert [len(trial.paid) for trial in trials] == [1, 0, 0, 0, 0, 0]


async def test_identical_calls_one_after_the_other_are_made_once() -> None:
    judge = judging_model()
    planned = cases(30, assertions(JUDGED, model=judge), output="good", variables={"q": "the same"})

    trials = await run(plan(planned, samples=3), None, limits={"concurrency": 1})

    assert len(judge.asked) == 1
    assert sum(cost or 0.0 for cost in costs(trials)) == 1
    assert statuses(trials) == ["pass"] * 90


async def test_a_reply_that_is_no_verdict_is_shared_like_any_other_and_its_text_is_not_kept() -> None:
    judge, journal = judging_model(BROKEN), MemoryJournal()
    planned = cases(2, assertions(JUDGED, model=judge), output="good", variables={"q": "the same"})

    trials = await run(plan(planned, samples=3), None, journal, limits={"concurrency": 1})

    assert len(judge.asked) == 1
    assert statuses(trials) == ["error"] * 6
    assert costs(trials) == [1, 0, 0, 0, 0, 0]
    (kept,) = journal.kept.values()
    assert isinstance(kept, Withheld)
    assert kept.spending.cost_usd == COST


async def test_a_call_that_failed_is_no_reply_and_is_made_again_for_the_next_who_asks() -> None:
    turns = iter([ScriptedReply(error=ErrorCategory.TIMEOUT), says("good")])
    model = answerer(lambda _: next(turns))
    caller = Caller(MemoryJournal(), Silent(), concurrency=2)
    target = Target(name="answerer", sender=model, cost=lambda _: 0.0)
    call = ProviderSubject(model).prepare(TASK)

    first = await caller.ask(target, call, urgent=False)
    second = await caller.ask(target, call, urgent=False)
    third = await caller.ask(target, call, urgent=False)

    assert isinstance(first, ProviderError)
    assert isinstance(second, Raw)
    assert third == replace(second, cached=True, attempts=0)
    assert len(model.asked) == 2


async def test_whoever_shares_a_failed_call_has_sent_nothing() -> None:
    judge = judging_model(ScriptedReply(error=ErrorCategory.TIMEOUT), hold=["good"])
    planned = cases(1, assertions(JUDGED, model=judge), output="good")
    running = asyncio.create_task(run(plan(planned, samples=3), None))
    await judge.until(lambda: len(judge.asked) == 1)
    await quiet()
    judge.release()
    trials = await running

    assert statuses(trials) == ["error"] * 3
    assert [trial.assessments[0].spending.attempts for trial in trials] == [1, 0, 0]
    assert costs(trials) == [None, 0, 0]


async def test_when_whoever_made_a_call_is_cancelled_another_makes_it() -> None:
    subject = Plain()
    gate, begun = asyncio.Event(), asyncio.Event()
    inner = subject.send

    async def send(call: Any) -> Raw:
        begun.set()
        await gate.wait()
        return await inner(call)

    subject.send = send  # type: ignore[method-assign]
    caller = Caller(MemoryJournal(), Silent(), concurrency=2)
    target = Target(name="plain", sender=subject, cost=lambda _: 0.0)
    call = subject.prepare(TASK)
    first = asyncio.create_task(caller.ask(target, call, urgent=False))
    await begun.wait()
    second = asyncio.create_task(caller.ask(target, call, urgent=False))
    await quiet()
    first.cancel()
    await asyncio.wait((first,))
    gate.set()

    assert isinstance(await second, Raw)
    await caller.close()


def test_what_was_seen_is_never_taken_for_new() -> None:
    seen = Seen()
    keys = [f"{number:064x}" for number in range(0, 5_000_000_000, 1_000_003)]

    assert not any(seen.note(key * 1) for key in keys[:1])
    for key in keys[1:]:
        seen.note(key)

    assert all(seen.note(key) for key in keys)


# --- What the key of a call names ------------------------------------------------------------------------------------


async def test_whatever_changes_a_request_changes_its_key() -> None:
    model = answerer()
    kinds = [
        ProviderSubject(model),
        ProviderSubject(model, temperature=0.0),
        ProviderSubject(model, max_output_tokens=16),
        ProviderSubject(model, max_output_tokens=4000),
        ProviderSubject(model, extra={"seed": 7}),
    ]
    keys = [subject.prepare(TASK).key for subject in kinds]
    keys += [kinds[0].prepare(replace(TASK, repeat=1)).key, kinds[0].prepare(replace(TASK, system="Be brief.")).key]

    assert len(set(keys)) == 7
    assert json.loads(kinds[0].prepare(TASK).body).keys() == {"model", "messages"}
