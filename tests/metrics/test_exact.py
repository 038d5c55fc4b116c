"""Sums and means are those that a person would compute by hand, whatever the order of what is added."""

from __future__ import annotations

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.metrics.exact import ExactSum, Moments, as_written

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def moments(*values: float) -> Moments:
    made = Moments()
    for value in values:
        made.add(value)
    return made


def test_ten_tenths_are_one_and_their_mean_is_a_tenth() -> None:
    made = moments(*[0.1] * 10)

    assert made.total == 1
    assert made.mean == as_written(0.1)


def test_the_mean_of_seven_and_nine_tenths_is_eight_tenths_exactly() -> None:
    assert moments(0.7, 0.9).mean == as_written(0.8)
    assert (0.7 + 0.9) / 2 == 0.8  # in floats this happens to hold
    assert moments(0.1, 0.7).mean == as_written(0.4)
    assert (0.1 + 0.7) / 2 != 0.4  # and this does not


@given(values=st.lists(FINITE, max_size=20))
def test_a_sum_does_not_depend_on_its_order(values: list[float]) -> None:
    one, other = ExactSum(), ExactSum()
    for value in values:
        one.add(value)
    for value in reversed(values):
        other.add(value)

    assert one.exact == other.exact == sum((as_written(value) for value in values), Fraction(0))


@given(value=st.floats(-1e6, 1e6), times=st.integers(1, 30))
def test_equal_numbers_have_themselves_as_their_mean_and_do_not_spread(value: float, times: int) -> None:
    made = moments(*[value] * times)

    assert float(made.mean or 0) == value
    assert made.spread == (0.0 if times > 1 else None)


@given(values=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_the_spread_is_the_sample_standard_deviation(values: list[float]) -> None:
    assert moments(*values).spread == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-9)


def test_numbers_at_both_ends_of_all_floats_neither_overflow_nor_vanish() -> None:
    made = moments(1.7e308, 1.7e308, -1.7e308, 5e-324)

    assert made.total == as_written(1.7e308) + as_written(5e-324)
    assert made.spread == pytest.approx(1.7e308 * (11 / 12) ** 0.5)


def test_of_nothing_there_is_no_mean_and_no_spread() -> None:
    assert (moments().mean, moments().spread, moments(3).spread) == (None, None, None)


def test_a_sum_beyond_all_floats_is_infinite_as_a_float_only() -> None:
    made = ExactSum()
    made.add(1.7e308)
    made.add(1.7e308)

    assert made.value == float("inf")
    assert made.exact == 2 * as_written(1.7e308)
