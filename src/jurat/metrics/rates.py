"""A rate with its interval, and its bounds when some outcomes are not known.

Undecided outcomes are never mixed into the rate. Their part is shown apart: the rate if all of them had failed, and if
all of them had passed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Rate", "wilson_interval"]

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
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)
