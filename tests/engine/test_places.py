"""A call that only waits holds no place: others go on, and the bound holds all the same."""

from __future__ import annotations

import asyncio

import pytest
from jobs import items, quiet
from jobs import job as judging_job

from judging import answer, provider_with, rubric
from jurat.engine import Judged, JudgingJob, MemoryJournal, Silent
from jurat.engine.caller import Allowance, Caller, Target
from jurat.engine.slots import SlotPlace
from jurat.errors import ErrorCategory, ProviderError, RequestError
from jurat.judge import Judge
from jurat.provider import Call, Raw, ScriptedProvider, ScriptedReply, Usage
from jurat.provider.waiting import PLACE, Account, without_place

A_DOLLAR = Usage(input_tokens=1_000_000, output_tokens=0)


class Waiting(ScriptedProvider):
    """Asks once in vain for each of its first calls, and then waits for its event before the second request."""

    def __init__(self, waiters: int, *, turn: bool = False) -> None:
        priced = provider_with(prices={"input": 1.0, "output": 0.0}).settings
        super().__init__(ScriptedReply(text=answer(evidence=[]), usage=A_DOLLAR), settings=priced)
        self.account: Account | None = None
        self.go_on = asyncio.Event()
        self.calls = self.in_flight = self.peak = self.answered = 0
        self.limits: list[float | None] = []
        self._waiters, self._its_turn = waiters, turn

    async def send(self, call: Call) -> Raw:
        self.calls += 1
        waits = self.calls <= self._waiters
        await self._request()
        if waits:
            await without_place(self._wait(), turn=self._its_turn)
            self._look()
            await self._request()
        self.answered += 1
        return await super().send(call)

    async def _wait(self) -> None:
        self._look()
        if (place := PLACE.get()) is not None and self.account is not None:
            place.account = self.account
        await self.go_on.wait()

    def _look(self) -> None:
        place = PLACE.get()
        if isinstance(place, SlotPlace) and place.limit is not None:
            self.limits.append(place.limit.when())

    async def _request(self) -> None:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1


def call(number: int) -> Call:
    return Call(key=f"{number:064x}", body=b'{"messages": []}')


async def test_a_run_goes_on_while_two_of_its_calls_wait_with_a_bound_of_two() -> None:
    provider = Waiting(2)
    caller = Caller(MemoryJournal(), Silent(), concurrency=2)
    target = Target(name="model", sender=provider, cost=lambda _: None)
    calls = [asyncio.create_task(caller.ask(target, call(number), urgent=False)) for number in range(10)]
    async with asyncio.timeout(30):
        await asyncio.gather(*calls[2:])
    assert not any(task.done() for task in calls[:2])
    provider.go_on.set()
    assert all(isinstance(outcome, Raw) for outcome in await asyncio.gather(*calls))
    assert provider.peak <= 2
    await caller.close()


async def test_a_judging_job_goes_on_while_all_its_workers_wait() -> None:
    provider = Waiting(2)
    found: list[Judged] = []
    running = asyncio.create_task(judging_job(provider, items(10), MemoryJournal(), found.extend, concurrency=2).run())
    async with asyncio.timeout(30):
        while provider.answered < 8:
            await quiet()
    provider.go_on.set()
    await running
    assert len(found) == 10
    assert provider.peak <= 2


async def test_cancelling_a_call_that_waits_leaves_the_bound_as_it_was() -> None:
    provider = Waiting(1)
    caller = Caller(MemoryJournal(), Silent(), concurrency=1)
    target = Target(name="model", sender=provider, cost=lambda _: None)
    waiting = asyncio.create_task(caller.ask(target, call(0), urgent=False))
    while provider.calls < 1 or provider.in_flight:
        await quiet()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    others = [asyncio.create_task(caller.ask(target, call(number), urgent=False)) for number in range(1, 6)]
    assert all(isinstance(outcome, Raw) for outcome in await asyncio.gather(*others))
    assert provider.peak == 1
    await caller.close()


@pytest.mark.parametrize("turn", [True, False])
async def test_a_time_limit_stands_still_while_a_call_waits_for_its_turn_and_no_longer(turn: bool) -> None:
    provider = Waiting(1, turn=turn)
    caller = Caller(MemoryJournal(), Silent(), concurrency=4)
    target = Target(name="model", sender=provider, cost=lambda _: None)
    asked = asyncio.create_task(caller.ask(target, call(0), urgent=False, allowance=Allowance(1000.0)))
    while not provider.limits:
        await quiet()
    assert (provider.limits[0] is None) is turn
    provider.go_on.set()
    assert isinstance(await asked, Raw)
    assert provider.limits[1] is not None
    await caller.close()


@pytest.mark.parametrize("turn", [True, False])
async def test_calls_that_only_waited_are_not_made_when_the_budget_is_spent_meanwhile(turn: bool) -> None:
    provider = Waiting(10, turn=turn)
    caller = Caller(MemoryJournal(), Silent(), concurrency=2, budget_usd=1.0)
    target = Target(name="model", sender=provider, cost=lambda _: 1.0)
    calls = [asyncio.create_task(caller.ask(target, call(number), urgent=False)) for number in range(10)]
    while provider.calls < 10 or provider.in_flight:
        await quiet()
    provider.go_on.set()
    outcomes = await asyncio.gather(*calls)
    refused = [outcome for outcome in outcomes if isinstance(outcome, RequestError)]
    assert provider.answered <= 2
    assert len(refused) == 10 - provider.answered
    assert {str(outcome.category) for outcome in refused} == {"budget_exhausted"}
    await caller.close()


async def test_a_judging_job_goes_over_its_budget_by_no_more_than_its_calls_in_flight() -> None:
    provider = Waiting(100)
    found: list[Judged] = []
    judge = Judge(rubric(), provider)
    job = JudgingJob(judge, iter(items(100)), MemoryJournal(), found.extend, concurrency=4, budget_usd=1.0)
    running = asyncio.create_task(job.run())
    while provider.calls < 5 or provider.in_flight:
        await quiet()
    provider.go_on.set()
    await running
    assert provider.answered <= 4
    assert len(found) == 100


async def test_what_a_call_sent_before_it_was_cut_off_is_part_of_its_error() -> None:
    provider = Waiting(1)
    caller = Caller(MemoryJournal(), Silent(), concurrency=1)
    target = Target(name="model", sender=provider, cost=lambda _: None)
    provider.account = Account()
    provider.account.sent()
    provider.account.failed_as(ErrorCategory.API_ERROR)
    provider.account.sent()
    outcome = await caller.ask(target, call(0), urgent=False, allowance=Allowance(0.01))
    assert isinstance(outcome, ProviderError)
    assert (outcome.category, outcome.attempts) == (ErrorCategory.TIMEOUT, 2)
    assert outcome.failed == (ErrorCategory.API_ERROR, ErrorCategory.TIMEOUT)
    await caller.close()
