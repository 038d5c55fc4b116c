"""The bound on a run's calls: one for subject and judges, used to the full, never passed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from runs import (
    CONTAINS,
    JUDGED,
    PASS,
    Plain,
    answerer,
    assertions,
    cases,
    job,
    judging_model,
    plan,
    quiet,
    run,
    statuses,
)

from jurat.engine import MemoryJournal, Silent
from jurat.engine.slots import Slots
from jurat.provider import Raw, ScriptedProvider
from jurat.report.record import TrialRecord


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_subject_and_judges_share_one_bound_which_five_trials_of_a_case_use_to_the_full(concurrency: int) -> None:
    in_flight = most = 0

    class Shared:
        async def __aenter__(self) -> None:
            nonlocal in_flight, most
            in_flight += 1
            most = max(most, in_flight)
            await quiet()

        async def __aexit__(self, *_: object) -> None:
            nonlocal in_flight
            in_flight -= 1

    def bounded(model: Any) -> Any:
        inner = model.send

        async def send(call: Any) -> Raw:
            async with Shared():
                return await inner(call)  # type: ignore[no-any-return]

        model.send = send
        return model

    subject = bounded(answerer())
    judge = bounded(judging_model())
    checks = assertions(JUDGED, {**JUDGED, "expected": "x"}, model=judge, samples=3)

    trials = await run(plan(cases(2, checks), samples=5), subject, limits={"concurrency": concurrency})

    assert statuses(trials) == ["pass"] * 10
    assert most == concurrency


async def test_a_case_with_more_trials_than_slots_is_finished_one_by_one() -> None:
    subject = answerer(hold=["q0;"])
    running = asyncio.create_task(
        run(plan(cases(1, assertions(CONTAINS)), samples=8), subject, limits={"concurrency": 4})
    )
    await subject.until(lambda: subject.in_flight == 4)
    await quiet()
    subject.release()
    trials = await running

    assert statuses(trials) == ["pass"] * 8
    assert subject.peak == 4


def test_the_bound_is_one_runs_own_in_whatever_thread_and_loop_it_runs() -> None:
    class Counted(Plain):
        in_flight = peak = 0

        async def send(self, call: Any) -> Raw:
            self.in_flight += 1
            self.peak = max(self.peak, self.in_flight)
            await quiet()
            self.in_flight -= 1
            return await super().send(call)

    subjects, checks = [Counted(), Counted()], assertions(CONTAINS, JUDGED, model=provider())

    def work(subject: Counted) -> list[TrialRecord]:
        return asyncio.run(run(plan(cases(20, checks)), subject, limits={"concurrency": 1}))

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(work, subjects)

    assert first == second
    assert [subject.peak for subject in subjects] == [1, 1]


def provider() -> Any:
    """A judge's model that holds nothing of any loop."""
    return ScriptedProvider(PASS, settings=judging_model().settings)


async def test_a_call_counts_until_its_reply_is_durable() -> None:
    class Held(MemoryJournal):
        entered, release = asyncio.Event(), asyncio.Event()

        async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
            self.entered.set()
            await self.release.wait()
            await super().commit(replies)

    journal, subject = Held(), answerer()
    running = asyncio.create_task(job(plan(cases(20)), subject, journal, limits={"concurrency": 3}).run())
    await journal.entered.wait()
    await quiet()
    paid = len(subject.asked)
    journal.release.set()
    await running

    assert paid == 3
    assert len(journal.kept) == 20


async def test_judges_go_before_subjects_so_that_what_is_begun_is_finished() -> None:
    order: list[str] = []

    class Watcher(Silent):
        def call_started(self, name: str) -> None:
            order.append(name)

    checks = assertions(JUDGED, model=judging_model())
    await run(plan(cases(4, checks)), answerer(), watcher=Watcher(), limits={"concurrency": 1})

    assert order == ["answerer", "answerer", "oracle", "oracle"] * 2


async def test_a_slot_goes_to_the_urgent_first_and_to_nobody_who_has_left() -> None:
    slots, got = Slots(1), []

    async def take(name: str, *, urgent: bool) -> None:
        await slots.take(urgent=urgent)
        got.append(name)

    await slots.take(urgent=False)
    late = asyncio.create_task(take("late", urgent=False))
    gone = asyncio.create_task(take("gone", urgent=True))
    soon = asyncio.create_task(take("soon", urgent=True))
    await quiet()
    gone.cancel()
    await quiet()
    for _ in range(3):
        slots.give_back()
        await quiet()
    await asyncio.gather(late, soon)

    assert got == ["soon", "late"]


async def test_a_slot_that_is_given_to_somebody_who_is_just_being_cancelled_is_not_lost() -> None:
    slots = Slots(1)
    await slots.take(urgent=True)
    waiting = asyncio.create_task(slots.take(urgent=True))
    await quiet()

    slots.give_back()
    waiting.cancel()
    await asyncio.wait((waiting,))

    await asyncio.wait_for(slots.take(urgent=True), 5)
