"""The score interval of a difference of paired proportions: what two runs of one trial a case could differ by.

A bootstrap of few cases that changed sides covers too often, as it cannot know what would have happened to the others.
The score interval holds every difference that a test would not reject, and a test at a difference of its own estimates
what it needs under that difference. At 0 it is McNemar's test without a correction.
"""

from __future__ import annotations

import math

__all__ = ["score_interval"]

_Z95 = 1.959963984540054
_STEPS = 80


def score_interval(fixed: int, regressed: int, n: int, z: float = _Z95) -> tuple[float, float]:
    """The interval of (fixed - regressed) / n, within -1 to 1; turned round exactly when the two are exchanged.

    Source: T. Tango (1998), "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 17, 891-908.

    Args:
        fixed: cases that failed before and pass now.
        regressed: cases that passed before and fail now.
        n: all cases, those included that came out alike.
        z: of the standard normal distribution; 95 % when left out.

    Raises:
        ValueError: when n is not positive, or fewer than those that changed.
    """
    if n <= 0 or min(fixed, regressed) < 0 or fixed + regressed > n:
        raise ValueError(f"expected counts that n holds, found {fixed} and {regressed} of {n}")
    if fixed < regressed:
        low, high = score_interval(regressed, fixed, n, z)
        return -high, -low
    mean = (fixed - regressed) / n
    high = 1.0 if mean == 1 else _where(fixed, regressed, n, -z, mean, 1.0)
    if fixed == regressed:
        return -high, high
    return _where(fixed, regressed, n, z, -1.0, mean), high


def _where(fixed: int, regressed: int, n: int, z: float, low: float, high: float) -> float:
    """The difference at which the test statistic, which falls as the difference grows, is z."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _statistic(fixed, regressed, n, middle) > z else (low, middle)
    return (low + high) / 2


def _statistic(fixed: int, regressed: int, n: int, difference: float) -> float:
    """How far the counts lie from this difference, in standard errors of the counts that are likeliest under it."""
    b = (2 * n - fixed + regressed) * difference - fixed - regressed
    c = -regressed * difference * (1 - difference)
    share = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    variance = n * (2 * share + difference * (1 - difference))
    apart = fixed - regressed - n * difference
    if variance <= 0 or not apart:
        return math.copysign(math.inf, apart) if apart else 0.0
    return apart / math.sqrt(variance)
