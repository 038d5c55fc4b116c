"""The score interval of paired proportions: by hand, against an oracle that maximises the likelihood, by property."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from jurat.metrics.score_interval import score_interval


def oracle(fixed: int, regressed: int, n: int) -> tuple[float, float]:
    """The differences that a score test does not reject; the likeliest shares under each are searched for."""

    def statistic(difference: float) -> float:
        def unlikely(down: float) -> float:
            shares = (down + difference, down, 1 - 2 * down - difference)
            counts = (fixed, regressed, n - fixed - regressed)
            return -sum(math.log(max(share, 1e-300)) * count for share, count in zip(shares, counts, strict=True))

        ends = max(0.0, -difference), (1 - difference) / 2
        down = optimize.minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        deviation = math.sqrt((2 * down + difference - difference**2) / n)
        return float(((fixed - regressed) / n - difference) / deviation)

    z, mean = float(stats.norm.ppf(0.975)), (fixed - regressed) / n
    low = optimize.brentq(lambda at: statistic(at) - z, -1 + 1e-9, mean)
    high = optimize.brentq(lambda at: statistic(at) + z, mean, 1 - 1e-9)
    return float(low), float(high)


@pytest.mark.parametrize(("fixed", "regressed", "n"), [(3, 1, 20), (1, 9, 30), (0, 4, 50), (12, 12, 60), (70, 90, 400)])
def test_it_is_what_the_score_test_does_not_reject(fixed: int, regressed: int, n: int) -> None:
    assert score_interval(fixed, regressed, n) == pytest.approx(oracle(fixed, regressed, n), abs=1e-5)


@pytest.mark.parametrize("n", [1, 10, 1_000])
def test_where_no_case_changed_sides_it_is_wilsons_of_no_success_in_both_directions(n: int) -> None:
    reach = 1.959964**2 / (n + 1.959964**2)

    assert score_interval(0, 0, n) == pytest.approx((-reach, reach), rel=1e-6)


def test_where_every_case_fell_it_reaches_to_the_end() -> None:
    low, high = score_interval(0, 10, 10)

    assert low == -1.0
    assert -1.0 < high < -0.4


@pytest.mark.parametrize(
    ("fixed", "regressed", "holds"), [(0, 3, True), (0, 4, False), (1, 6, True), (1, 7, False), (10, 20, True)]
)
def test_zero_is_in_it_exactly_where_mcnemars_test_does_not_reject(fixed: int, regressed: int, holds: bool) -> None:
    low, high = score_interval(fixed, regressed, 500)

    assert ((regressed - fixed) / math.sqrt(fixed + regressed) < 1.96) is holds
    assert (low <= 0 <= high) is holds


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 10_000))
def test_it_holds_what_was_found_and_is_turned_round_with_the_runs(fixed: int, regressed: int, alike: int) -> None:
    n = fixed + regressed + alike

    low, high = score_interval(fixed, regressed, n)

    assert -1 <= low < (fixed - regressed) / n < high <= 1
    assert score_interval(regressed, fixed, n) == (-high, -low)


@pytest.mark.parametrize(("fixed", "regressed", "n"), [(0, 0, 0), (-1, 2, 5), (3, 3, 5)])
def test_counts_that_are_none_are_refused(fixed: int, regressed: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"found {fixed} and {regressed} of {n}"):
        score_interval(fixed, regressed, n)


@pytest.mark.parametrize(("down", "up"), [(0.1, 0.1), (0.05, 0.2), (0.2, 0.15), (0.3, 0.3)])
def test_it_covers_the_truth_as_often_as_it_says(down: float, up: float) -> None:
    n, covered = 30, 0.0
    for regressed in range(n + 1):
        for fixed in range(n + 1 - regressed):
            low, high = score_interval(fixed, regressed, n)
            if low <= up - down <= high:
                counts, shares = (fixed, regressed, n - fixed - regressed), (up, down, 1 - up - down)
                covered += float(stats.multinomial.pmf(counts, n, shares))

    assert 0.93 < covered < 0.97
