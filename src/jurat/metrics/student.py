"""Quantiles of Student's t, without a library that takes half a second to import."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

__all__ = ["student_quantile"]

_NORMAL_FROM = 1e6
"""Degrees of freedom from which t is the normal distribution, to more digits than anybody shows."""


@lru_cache(maxsize=256)
def student_quantile(share: float, freedom: float) -> float:
    """The value below which so large a share of Student's distribution lies.

    Args:
        share: above 0, below 1.
        freedom: degrees of freedom, at least 1.

    Source: P(T > t) = I_x(freedom/2, 1/2) / 2 with x = freedom / (freedom + t^2) (Abramowitz and Stegun, 26.7.1),
    solved by halving.
    """
    if share == 0.5:
        return 0.0
    if share < 0.5:
        return -student_quantile(1 - share, freedom)
    if freedom > _NORMAL_FROM:
        return NormalDist().inv_cdf(share)
    low, high = 0.0, 2.0
    while _above(high, freedom) > 1 - share:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _above(middle, freedom) > 1 - share else (low, middle)
    return (low + high) / 2


def _above(t: float, freedom: float) -> float:
    """The share of the distribution above a t that is not negative."""
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (NIST DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction, from so deep down that the rest of it is nothing."""
    value = 1.0
    for step in range(100 + 3 * math.isqrt(math.ceil(a + b)), 0, -1):
        half = step // 2
        if step % 2:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        value = 1 + term / value
    return 1 / value
