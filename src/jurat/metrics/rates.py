"""A rate with its interval, and its bounds when some outcomes are not known.

Undecided outcomes are never mixed into the rate. Their part is shown apart: the rate if all of them had failed, and if
all of them had passed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Clusters", "Rate", "wilson_interval"]

_Z95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Passes among the decided, and how many are undecided."""

    passed: int
    failed: int
    undecided: int = 0

    @property
    def decided(self) -> int:
        """How many outcomes the rate rests on."""
        return self.passed + self.failed

    @property
    def value(self) -> float | None:
        """Passes among the decided, 0 to 1; None when nothing is decided."""
        return self.passed / self.decided if self.decided else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of the rate; None when nothing is decided."""
        return wilson_interval(self.passed, self.decided) if self.decided else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The rate had all the undecided failed, and had they all passed; None when there is nothing at all."""
        total = self.decided + self.undecided
        return (self.passed / total, (self.passed + self.undecided) / total) if total else None


def wilson_interval(successes: int, n: int, z: float = _Z95) -> tuple[float, float]:
    """The score interval of a binomial proportion, within 0 to 1.

    Source: E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    Raises:
        ValueError: when n is not positive, or the successes are not among n.
    """
    if n <= 0 or not 0 <= successes <= n:
        raise ValueError(f"expected 0 to n successes of a positive n, found {successes} of {n}")
    return _wilson(successes / n, n, z)


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # The formula gives exactly 0 and 1 where none or all succeeded; its floats come near.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    return low, 1.0 if share == 1 else min(1.0, centre + half)


@dataclass(slots=True)
class Clusters:
    """Passes among decided outcomes that come in clusters (the trials of one case), in constant space.

    Trials of one case resemble each other, so that ten trials of ten cases say less than a hundred cases would. The
    interval takes as many outcomes as would be worth the same if they were independent: n_eff = r (1 - r) / V, with
    the cluster-robust variance V = k/(k - 1) * sum((p_c - r n_c)^2) / n^2. Source: E. Miller (2024), "Adding error
    bars to evals"; E. L. Korn, B. I. Graubard (1998) for the interval at an effective sample size. Where all agree,
    or there is one cluster, n_eff is the number of clusters. It's never more than n.
    """

    passed: int = 0
    n: int = 0
    clusters: int = 0
    _pp: int = 0
    _pn: int = 0
    _nn: int = 0

    def add(self, passed: int, decided: int) -> None:
        """Add one cluster; one of which nothing is decided adds nothing."""
        if decided:
            self.passed += passed
            self.n += decided
            self.clusters += 1
            self._pp += passed * passed
            self._pn += passed * decided
            self._nn += decided * decided

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the pass rate; None when nothing is decided."""
        return _wilson(self.passed / self.n, self._worth, _Z95) if self.n else None

    @property
    def _worth(self) -> float:
        from fractions import Fraction

        rate = Fraction(self.passed, self.n)
        apart = self._pp - 2 * rate * self._pn + rate * rate * self._nn
        if self.clusters < 2 or not apart:
            return self.clusters
        variance = Fraction(self.clusters, self.clusters - 1) * apart / self.n**2
        return float(min(Fraction(self.n), rate * (1 - rate) / variance))
