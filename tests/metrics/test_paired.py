"""Intervals of paired differences, the smallest that shows, McNemar's test: by hand, by oracles, by property."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as oracle_mcnemar
from statsmodels.stats.power import TTestPower

from jurat.metrics.paired import McNemar, mcnemar, spread_of

SHARES = st.lists(st.sampled_from([-1.0, -0.6, -0.2, 0.0, 0.2, 1.0]), min_size=2, max_size=40)
SCORES = st.lists(st.floats(-100, 100).map(lambda value: round(value, 3)), min_size=2, max_size=40)


def normal(seed: int, n: int, mean: float, spread: float) -> list[float]:
    found: list[float] = np.random.default_rng(seed).normal(mean, spread, n).tolist()
    return found


# --- McNemar -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regressed", "fixed", "exact_p", "mid_p"),
    [
        (0, 0, 1.0, 1.0),
        (1, 0, 1.0, 0.5),  # 2 * 1/2; 1 - 1/2
        (5, 0, 2 / 32, 1 / 32),
        (2, 1, 1.0, 2 * 4 / 8 - 3 / 8),
        (10, 2, 2 * 79 / 4096, (2 * 79 - 66) / 4096),  # 1 + 12 + 66 of 4,096
        (3, 3, 1.0, 1 - 20 / 64 / 2),
    ],
)
def test_mcnemar_is_what_comes_out_by_hand(regressed: int, fixed: int, exact_p: float, mid_p: float) -> None:
    found = mcnemar(regressed, fixed)

    assert (found.regressed, found.fixed) == (regressed, fixed)
    assert found.exact_p == pytest.approx(exact_p, abs=1e-12)
    assert found.mid_p == pytest.approx(mid_p, abs=1e-12)


@pytest.mark.parametrize(("regressed", "fixed"), [(1, 3), (7, 7), (12, 30), (400, 460), (3_000, 2_900)])
def test_the_exact_test_is_that_of_statsmodels(regressed: int, fixed: int) -> None:
    oracle = oracle_mcnemar([[10, regressed], [fixed, 10]], exact=True).pvalue

    assert mcnemar(regressed, fixed).exact_p == pytest.approx(float(oracle), rel=1e-9)


@pytest.mark.parametrize(("regressed", "fixed"), [(1, 3), (7, 6), (12, 30), (400, 460)])
def test_mid_p_counts_half_of_what_was_found(regressed: int, fixed: int) -> None:
    fewer, n = min(regressed, fixed), regressed + fixed
    below, at = stats.binom.cdf(fewer - 1, n, 0.5), stats.binom.pmf(fewer, n, 0.5)

    assert mcnemar(regressed, fixed).mid_p == pytest.approx(min(1.0, 2 * below + at), rel=1e-9)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_does_not_mind_which_run_is_the_base(regressed: int, fixed: int) -> None:
    one, other = mcnemar(regressed, fixed), mcnemar(fixed, regressed)

    assert other == McNemar(regressed=fixed, fixed=regressed, exact_p=one.exact_p, mid_p=one.mid_p)
    assert 0 < one.mid_p <= one.exact_p <= 1


# --- intervals -----------------------------------------------------------------------------------------------------


def test_of_nothing_and_of_one_case_there_is_no_interval() -> None:
    assert spread_of([]).interval is None
    assert spread_of([-1.0], shares=True).interval is None
    assert spread_of([], shares=True).smallest_visible is None


def test_scores_that_do_not_differ_at_all_have_no_interval() -> None:
    assert spread_of([0.0] * 50).interval is None
    assert spread_of([2.5] * 50).interval is None


def test_cases_that_all_agree_leave_room_for_some_that_would_not() -> None:
    low, high = spread_of([0.0] * 20, shares=True).interval or (0, 0)

    assert low == -high
    assert high == pytest.approx(1.959964**2 / (20 + 1.959964**2), rel=1e-6)  # as Wilson's of 0 successes in 20


def drawn(values: list[float]) -> tuple[float, float]:
    """The expanded percentile interval by another's bootstrap."""
    n = len(values)
    level = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    found = stats.bootstrap(
        (np.array(values),),
        np.mean,
        confidence_level=1 - 2 * level,
        n_resamples=40_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    return float(found.low), float(found.high)


def test_the_interval_of_scores_is_the_expanded_percentile_interval() -> None:
    values = normal(4, 40, 1, 10)

    assert spread_of(values).interval == pytest.approx(drawn(values), abs=0.15)


def test_few_skewed_scores_have_an_interval_no_narrower_than_students() -> None:
    values = [round(value, 2) for value in np.random.default_rng(8).exponential(5, 15).tolist()]
    low, high = stats.t.interval(0.95, 14, loc=np.mean(values), scale=stats.sem(values))

    found = spread_of(values).interval

    assert found == pytest.approx((low, max(high, drawn(values)[1])), abs=0.15)
    assert drawn(values)[0] > low + 0.2


def test_many_even_differences_have_the_interval_of_students_t() -> None:
    values = normal(5, 2_000, 0.5, 2)

    oracle = stats.t.interval(0.95, 1_999, loc=np.mean(values), scale=stats.sem(values))

    assert spread_of(values).interval == pytest.approx(oracle, abs=0.01)


def test_beyond_the_cases_that_are_drawn_the_interval_goes_on_as_it_was() -> None:
    values = np.random.default_rng(6).choice([-1.0, 0.0, 0.0, 1.0], 5_001).tolist()

    drawn, computed = spread_of(values[:4_990], shares=True).interval, spread_of(values, shares=True).interval

    assert drawn == pytest.approx(computed, abs=0.002)


def test_shares_stay_within_all_and_nothing() -> None:
    low, high = spread_of([-1.0] * 3, shares=True).interval or (0, 0)

    assert low == -1.0
    assert -1.0 < high < 0.6


def test_one_trial_that_fell_in_ten_of_forty_cases_is_more_than_chance() -> None:
    low, high = spread_of([-1.0] * 10 + [0.0] * 30, shares=True).interval or (0, 0)

    assert (low, high) == pytest.approx((-0.402, -0.140), abs=0.001)  # Wilson's of 10 in 40, nearly


@given(SHARES)
def test_with_the_runs_exchanged_an_interval_of_shares_is_turned_round(values: list[float]) -> None:
    one, other = spread_of(values, shares=True), spread_of([-value for value in values], shares=True)

    assert one.interval is not None
    assert other.interval == (-one.interval[1], -one.interval[0])
    assert one.smallest_visible == other.smallest_visible


@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_matter(values: list[float], shuffler: random.Random) -> None:
    shuffled = list(values)
    shuffler.shuffle(shuffled)

    assert spread_of(values) == spread_of(shuffled)


@given(SCORES)
def test_with_the_runs_exchanged_an_interval_of_scores_is_turned_round(values: list[float]) -> None:
    one, other = spread_of(values).interval, spread_of([-value for value in values]).interval

    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert other == (-one[1], -one[0])


@given(st.lists(st.sampled_from([0.2, 0.6, 1.0]), max_size=15), st.integers(0, 30))
def test_where_nothing_fell_or_rose_on_balance_the_interval_holds_zero(ups: list[float], zeros: int) -> None:
    values = [*ups, *(-value for value in ups), *([0.0] * zeros)]

    found = spread_of(values, shares=True).interval

    assert found is None if len(values) < 2 else found is not None and found[0] <= 0 <= found[1]


# --- what can be seen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 20, 50, 200])
def test_the_smallest_visible_difference_is_that_of_a_paired_t_test(n: int) -> None:
    values = normal(n, n, 0, 5)
    oracle = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8, alternative="two-sided") * np.std(values, ddof=1)

    assert spread_of(values).smallest_visible == pytest.approx(float(oracle), rel=0.01)


def test_the_smallest_visible_difference_by_hand() -> None:
    # Differences 1, -1, 1, -1 and the half cases +-sqrt(1/2): six of mean 0, whose squares sum to 5.
    expected = (2.570582 + 0.919544) * math.sqrt(5 / 5) / math.sqrt(6)

    assert spread_of([1.0, -1.0, 1.0, -1.0], shares=True).smallest_visible == pytest.approx(expected, rel=1e-5)
