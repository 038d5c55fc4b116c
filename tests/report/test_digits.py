"""Numbers in words never contradict what was decided."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.report.digits import apart, count, money, percent, short, told_apart, told_apart_percent


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.7966, 0.8, ("0.7966", "0.8")),
        (3.49524, 3.5, ("3.495", "3.5")),
        (79.996, 80, ("79.996", "80")),
        (0.8, 0.8, ("0.8", "0.8")),
        (80, 80.0, ("80", "80")),
        (0.1 + 0.2, 0.3, ("0.30000000000000004", "0.3")),
        (1234567.8, 1234567, ("1234568", "1234567")),
        (-0.05, 0, ("-0.05", "0")),
        (1e-9, 0, ("1e-09", "0")),
    ],
)
def test_a_value_has_as_many_digits_as_it_takes_to_see_its_side_of_the_limit(
    value: float, limit: float, shown: tuple[str, str]
) -> None:
    assert told_apart(value, limit) == shown


@given(value=st.floats(-1e9, 1e9), limit=st.floats(-1e9, 1e9))
def test_what_is_shown_compares_as_the_numbers_do(value: float, limit: float) -> None:
    shown, wanted = told_apart(value, limit)

    assert (Fraction(shown) < Fraction(wanted)) == (value < limit)
    assert (Fraction(shown) > Fraction(wanted)) == (value > limit)


@given(one=st.fractions(0, 100, max_denominator=10_000), other=st.fractions(0, 100, max_denominator=10_000))
def test_two_measured_numbers_are_rounded_alike_and_stay_apart(one: Fraction, other: Fraction) -> None:
    texts = apart(one, other)

    assert (Fraction(texts[0]) < Fraction(texts[1])) == (one < other)


def test_shares_are_told_in_per_cent_and_the_limit_as_it_was_written() -> None:
    assert told_apart_percent(Fraction(1999, 2000), 1) == ("99.95 %", "100 %")
    assert told_apart_percent(Fraction(7, 100), 0.07) == ("7 %", "7 %")
    assert told_apart_percent(0.5, 0.333) == ("50 %", "33.3 %")


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0 %"), (1, "100 %"), (Fraction(1, 3), "33.3 %"), (0.99999, "99.999 %"), (0.00001, "0.001 %"), (0.5, "50 %")],
)
def test_only_nothing_is_none_and_only_all_is_all(share: float, shown: str) -> None:
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (12345.678, "12346"), (0.00012345, "0.0001234"), (100.0, "100"), (1e-12, "1e-12"), (2.50, "2.5")],
)
def test_short_numbers_keep_four_digits_and_never_lose_whole_ones(value: float, shown: str) -> None:
    assert short(value) == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0, "$0.00"), (1234.5, "$1,234.50"), (0.5, "$0.5000"), (0.00042, "$0.00042"), (1e-9, "$1e-09")],
)
def test_no_sum_of_money_is_rounded_to_nothing(usd: float, shown: str) -> None:
    assert money(usd) == shown


def test_one_is_not_many() -> None:
    assert [count(number, "case") for number in (0, 1, 2, 1000)] == ["0 cases", "1 case", "2 cases", "1,000 cases"]
    assert count(2, "answer or verdict", "answers and verdicts") == "2 answers and verdicts"
