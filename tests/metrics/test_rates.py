"""Rates, their intervals and bounds: against values worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.metrics import Gate, Rate, wilson_interval


@given(n=st.integers(1, 10**9))
def test_none_and_all_reach_the_very_ends_and_nothing_beyond(n: int) -> None:
    assert wilson_interval(0, n)[0] == 0.0
    assert wilson_interval(n, n)[1] == 1.0
    assert 0.0 < wilson_interval(0, n)[1] < 1.0
    assert 0.0 < wilson_interval(n, n)[0] < 1.0


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe (1998), "Two-sided confidence intervals for the single proportion", Table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (1, 29, 0.0061, 0.1718),
        (0, 20, 0.0, 0.1611),
        # By hand, with z² = 3.841459: for 0 of n the upper end is z²/(n + z²); the rest mirrors it.
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (1, 1, 0.2065, 1.0),
        # For half of n: 1/2 plus or minus z/2 * sqrt(1/(n + z²)).
        (5, 10, 0.2366, 0.7634),
    ],
)
def test_the_wilson_interval_is_the_published_one(successes: int, n: int, low: float, high: float) -> None:
    found = wilson_interval(successes, n)

    assert [round(end, 4) for end in found] == [low, high]


@given(n=st.integers(1, 10**6), share=st.floats(0, 1))
def test_an_interval_holds_its_rate_and_stays_within_zero_and_one(n: int, share: float) -> None:
    successes = round(share * n)
    low, high = wilson_interval(successes, n)

    assert 0.0 <= low <= successes / n + 1e-12
    assert successes / n - 1e-12 <= high <= 1.0


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5), (0, -1)])
def test_what_is_no_count_has_no_interval(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson_interval(successes, n)


def test_the_undecided_are_never_mixed_into_the_rate() -> None:
    rate = Rate(passed=6, failed=2, undecided=2)

    assert (rate.value, rate.decided, rate.bounds) == (0.75, 8, (0.6, 0.8))
    assert rate.interval == wilson_interval(6, 8)


def test_where_nothing_is_decided_there_is_no_rate_and_anything_is_possible() -> None:
    undecided, nothing = Rate(passed=0, failed=0, undecided=3), Rate(passed=0, failed=0)

    assert (undecided.value, undecided.interval, undecided.bounds) == (None, None, (0.0, 1.0))
    assert (nothing.value, nothing.interval, nothing.bounds) == (None, None, None)


@pytest.mark.parametrize(
    ("minimum", "rate", "met"),
    [
        (0.75, Rate(passed=3, failed=1), True),
        (0.76, Rate(passed=3, failed=1), False),
        (0.75, Rate(passed=3, failed=0, undecided=1), True),
        (0.8, Rate(passed=3, failed=0, undecided=1), None),
        (0.8, Rate(passed=1, failed=2, undecided=1), False),
        (0.5, Rate(passed=0, failed=0, undecided=4), None),
        (0.0, Rate(passed=0, failed=4), True),
        (0.0, Rate(passed=0, failed=0), None),
    ],
)
def test_a_gate_decides_only_what_the_undecided_cannot_tip(minimum: float, rate: Rate, met: bool | None) -> None:
    assert Gate(minimum_pass_rate=minimum).decide(rate) is met
