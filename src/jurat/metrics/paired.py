"""Paired differences: two runs over the same cases, and what the difference of their means could be.

A case is one observation, however many trials it has: trials of one case resemble each other, so that they are averaged
first and cases are drawn whole (a bootstrap clustered by case). The same differences give the same interval, in
whatever order they came; and with the two runs exchanged, the same interval turned round.

Nothing here says that there is no difference: an interval says what it could be, and `smallest_visible` what this many
cases would have been able to show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from jurat.metrics.score_interval import score_interval
from jurat.metrics.student import student_quantile

if TYPE_CHECKING:
    from numpy import ndarray

__all__ = ["McNemar", "Spread", "mcnemar", "spread_of"]

CONFIDENCE = 0.95
POWER = 0.8
_RESAMPLES = 4_000
_SEED = 20_260_301
_MOST_DRAWN = 5_000
"""From so many cases on the mean of a resample is normal to within what is shown, and nothing is drawn."""
_FEW_VALUES = 64
_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What is known of a mean difference beside the mean itself.

    Attributes:
        interval: 95 %, of the mean difference over all cases that these could have been; None of fewer than two cases,
            or where nothing that was measured differs at all.
        smallest_visible: the smallest true mean difference that so many cases show in four of five comparisons (power
            80 %, two-sided 5 %); None where there is no interval.
    """

    interval: tuple[float, float] | None = None
    smallest_visible: float | None = None


def spread_of(differences: Sequence[float], *, shares: bool = False) -> Spread:
    """The interval of a mean difference by a percentile bootstrap over cases, and the smallest one that shows.

    The percentiles are those of B. Efron and R. J. Tibshirani (1993), An Introduction to the Bootstrap, 13.3, moved
    outwards for few cases as T. C. Hesterberg (2015), "What teachers should know about the bootstrap", 5.3, has it:
    from 2.5 % to Phi(-sqrt(n / (n - 1)) t(0.975, n - 1)). Of scores it is no narrower than Student's interval in either
    direction: few cases of skewed scores are covered too seldom by the bootstrap, and symmetric ones no better.

    Shares of passes agree in most cases, and of few cases all may agree by chance: resamples of nothing but zeros would
    be certain. Where every case changes sides as a whole or not at all, as it does with one trial, the interval is
    `score_interval`. Where trials of a case differ, half a discordant case is added in either direction, as A. Agresti
    and Y. Min (2005) "Simple improved confidence intervals for comparing matched proportions" do with the cells of the
    two-by-two table: two cases of +s and -s, where 2 s^2 is the mean square of the differences that are not 0.
    `benchmarks/compare_coverage.py` measures how often the interval covers.

    The smallest visible difference is (t(0.975, n - 1) + t(0.8, n - 1)) times the standard error (J. Cohen, 1988;
    E. Miller, 2024, "Adding error bars to evals", 5, with the normal distribution in place of t).

    Args:
        differences: candidate minus base, one a case, finite.
        shares: whether they are differences of shares of passes, -1 to 1.
    """
    if len(differences) < 2 or not (shares or any(differences)):
        return Spread()
    values, turned, even = _in_order(differences)
    padded = _with_half_a_case(values) if shares else values
    deviation = _deviation(padded)
    if not deviation:
        return Spread()
    if shares and all(value in (-1.0, 0.0, 1.0) for value in values):
        low, high = score_interval(values.count(1.0), values.count(-1.0), len(values))
    else:
        low, high = _interval(padded, deviation, least=not shares)
    if turned:
        low, high = -high, -low
    if even:  # what is the same in both directions has one interval in both, too
        low, high = (low - high) / 2, (high - low) / 2
    if shares:
        low, high = max(-1.0, low), min(1.0, high)
    n = len(padded)
    quantiles = student_quantile((1 + CONFIDENCE) / 2, n - 1) + student_quantile(POWER, n - 1)
    return Spread(interval=(low, high), smallest_visible=quantiles * deviation / math.sqrt(n))


def _in_order(differences: Sequence[float]) -> tuple[list[float], bool, bool]:
    """Sorted, and turned round where that is the greater list: either direction is resampled as the same list.

    Also says whether it was turned round, and whether both directions are the same.
    """
    own = sorted(value + 0.0 for value in differences)
    other = sorted(0.0 - value for value in differences)
    return max(own, other), other > own, own == other


def _with_half_a_case(values: list[float]) -> list[float]:
    unlike = [value * value for value in values if value]
    s = math.sqrt((math.fsum(unlike) / len(unlike) if unlike else 1.0) / 2)
    return sorted([*values, s, -s])


def _deviation(values: Sequence[float]) -> float:
    """The sample standard deviation (n - 1); exactly 0 where all are equal."""
    if values[0] == values[-1]:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _interval(values: Sequence[float], deviation: float, *, least: bool) -> tuple[float, float]:
    """By the bootstrap; with `least` no narrower than Student's. Of very many cases both are the normal one."""
    n, mean = len(values), math.fsum(values) / len(values)
    quantile = student_quantile((1 + CONFIDENCE) / 2, n - 1)
    half = quantile * deviation / math.sqrt(n)
    if n > _MOST_DRAWN:
        return mean - half, mean + half
    import numpy

    level = NormalDist().cdf(-math.sqrt(n / (n - 1)) * quantile)
    low, high = (float(end) for end in numpy.quantile(_means(values), [level, 1 - level]))
    return (min(low, mean - half), max(high, mean + half)) if least else (low, high)


def _means(values: Sequence[float]) -> ndarray:
    """The means of the resamples. How often each value is drawn is multinomial, which is quick where values repeat."""
    import numpy

    draw, n = numpy.random.default_rng(_SEED), len(values)
    unlike, times = numpy.unique(numpy.asarray(values), return_counts=True)
    if len(unlike) <= _FEW_VALUES:
        drawn: ndarray = draw.multinomial(n, times / n, size=_RESAMPLES) @ unlike / n
        return drawn
    array, rows = numpy.asarray(values), max(1, _AT_ONCE // n)
    parts = [
        array[draw.integers(0, n, size=(min(rows, _RESAMPLES - start), n))].mean(axis=1)
        for start in range(0, _RESAMPLES, rows)
    ]
    made: ndarray = numpy.concatenate(parts)
    return made


# --- cases that changed sides --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """Whether as many cases would change sides in one direction as in the other, were there no difference.

    Attributes:
        regressed, fixed: cases that passed in the base alone, and in the candidate alone.
        exact_p: two-sided; never too small, and for few cases a good deal too large.
        mid_p: with half of the weight of what was found; on average as large as it should be.
    """

    regressed: int
    fixed: int
    exact_p: float
    mid_p: float


def mcnemar(regressed: int, fixed: int) -> McNemar:
    """McNemar's test of paired outcomes, exact and with the mid-p correction.

    Sources: Q. McNemar (1947); the exact form is the sign test, P = 2 P(X <= min(regressed, fixed)) of a binomial X of
    share 1/2. Mid-p: M. W. Fagerland, S. Lydersen and P. Laake (2013), "The McNemar test for binary matched-pairs data:
    mid-p and asymptotic are better than exact conditional". They found it close to its level over nearly ten thousand
    scenarios, where the exact test is far below it and so misses differences that are there.
    """
    n, fewer = regressed + fixed, min(regressed, fixed)
    logs = math.lgamma(n + 1) - n * math.log(2)
    shares = [math.exp(logs - math.lgamma(k + 1) - math.lgamma(n - k + 1)) for k in range(fewer + 1)]
    below = math.fsum(shares)
    exact = 1.0 if regressed == fixed else min(1.0, 2 * below)
    mid = 1 - shares[-1] / 2 if regressed == fixed else min(1.0, 2 * below - shares[-1])
    if not n:  # nothing speaks for a difference
        mid = 1.0
    return McNemar(regressed=regressed, fixed=fixed, exact_p=exact, mid_p=mid)
