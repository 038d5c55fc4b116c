"""A budget counts what is known exactly, and says when something is not known."""

from __future__ import annotations

from jurat.engine.purse import Purse


def test_a_cost_that_is_not_known_is_said_once_and_is_no_zero_in_silence() -> None:
    told: list[str] = []
    purse = Purse(1.0, 0.0, told.append)

    purse.pay(None)
    purse.pay(0.25)
    purse.pay(None)

    assert told == ["what a reply cost is not known: the budget holds for what is known to be spent"]
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
