"""A budget counts what is known exactly, and says when something is not known."""

from __future__ import annotations

import pytest
from jobs import items

from judging import PRICED, answer, provider_with, rubric
from jurat.engine import Judged, JudgingJob, MemoryJournal, Silent
from jurat.engine.caller import Caller, Target
from jurat.engine.purse import Purse
from jurat.errors import ErrorCategory, ProviderError, RequestError
from jurat.judge import Judge, may_have_cost, spent_in_vain
from jurat.provider import Call, Raw, ScriptedProvider, ScriptedReply


def test_a_cost_that_is_not_known_is_said_once_and_is_no_zero_in_silence() -> None:
    told: list[str] = []
    purse = Purse(1.0, 0.0, told.append)

    purse.pay(None)
    purse.pay(0.25)
    purse.pay(None)

    assert told == ["what a call cost is not known: the budget holds for what is known to be spent"]
    assert (purse.spent_usd, purse.refusal()) == (0.25, None)


def test_without_a_budget_nothing_is_said_of_unknown_costs() -> None:
    told: list[str] = []

    Purse(None, 0.0, told.append).pay(None)

    assert told == []


def test_ten_small_costs_are_their_sum_as_written() -> None:
    purse = Purse(0.0003, 0.0, lambda _: None)

    for _ in range(10):
        assert purse.refusal() is None
        purse.pay(0.00003)

    assert purse.refusal() is not None


@pytest.mark.parametrize(
    ("paid", "told"),
    [
        ([0.6, 0.3], []),
        ([0.6, 0.4], ["the budget of 1 USD is spent: no further call is made"]),
        (
            [0.6, 0.6, 0.3],
            [
                "the budget of 1 USD is spent: no further call is made",
                "0.5 USD went over the budget, by calls in flight when it was spent",
            ],
        ),
    ],
)
def test_what_went_over_the_budget_is_said_in_the_end(paid: list[float], told: list[str]) -> None:
    notices: list[str] = []
    purse = Purse(1.0, 0.0, notices.append)
    for cost in paid:
        purse.pay(cost)
    purse.refusal()
    purse.close()
    assert notices == told


@pytest.mark.parametrize(
    ("failed", "charged"),
    [
        ((ErrorCategory.AUTH_ERROR,), False),
        ((ErrorCategory.RATE_LIMITED, ErrorCategory.RATE_LIMITED), False),
        ((ErrorCategory.RATE_LIMITED, ErrorCategory.TIMEOUT), True),
        ((ErrorCategory.NETWORK_ERROR,), True),
        ((ErrorCategory.API_ERROR,), True),
        ((), False),
    ],
)
def test_what_was_turned_away_cost_nothing_and_what_broke_off_may_have(
    failed: tuple[ErrorCategory, ...], charged: bool
) -> None:
    error = ProviderError(ErrorCategory.TIMEOUT, "no", attempts=len(failed), failed=failed)
    assert may_have_cost(error) is charged
    assert spent_in_vain(error).cost_usd == (None if charged else 0.0)
    assert spent_in_vain(error, free=True).cost_usd == 0.0
    assert spent_in_vain(error).attempts == len(failed)


@pytest.mark.parametrize(("category", "told"), [(ErrorCategory.TIMEOUT, 1), (ErrorCategory.RATE_LIMITED, 0)])
async def test_a_call_that_may_have_cost_something_is_said_under_a_budget(category: ErrorCategory, told: int) -> None:
    notices: list[str] = []
    provider = ScriptedProvider(ScriptedReply(error=category), settings=provider_with(prices=PRICED).settings)
    judge = Judge(rubric(), provider)
    work = iter(items(3))
    job = JudgingJob(judge, work, MemoryJournal(), lambda _: None, concurrency=1, budget_usd=1.0, notice=notices.append)
    await job.run()
    assert notices == ["what a call cost is not known: the budget holds for what is known to be spent"] * told


async def test_what_is_never_paid_is_asked_under_any_budget() -> None:
    found: list[Judged] = []
    free = ScriptedProvider(ScriptedReply(text=answer(evidence=[])))
    job = JudgingJob(
        Judge(rubric(), free), iter(items(3)), MemoryJournal(), found.extend, concurrency=1, budget_usd=0.0
    )
    await job.run()
    assert [one.verdict.status.value for one in found] == ["pass"] * 3


async def test_in_a_run_too_what_is_never_paid_is_asked_under_any_budget() -> None:
    caller = Caller(MemoryJournal(), Silent(), concurrency=1, budget_usd=0.0)
    sender = ScriptedProvider("fine")
    asked = Call(key="0" * 64, body=b'{"messages": []}')
    free = Target(name="free", sender=sender, cost=lambda _: 0.0, free=True)
    paid = Target(name="paid", sender=sender, cost=lambda _: 1.0)
    refused = await caller.ask(paid, asked, urgent=False)
    assert isinstance(refused, RequestError)
    assert isinstance(await caller.ask(free, asked, urgent=False), Raw)
    await caller.close()
