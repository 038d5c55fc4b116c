"""Quantiles of a stream in constant space, within one per cent.

Values fall into bins whose edges grow by two per cent, so that any quantile is known to one per cent of its value
however many values there were. (The idea of C. Masson, J. E. Rim and H. K. Lee, 2019, "DDSketch".)
"""

from __future__ import annotations

import math
from collections import Counter

__all__ = ["LogHistogram"]

_GROWTH = math.log(1.02)


class LogHistogram:
    """Counts positive values; zero and below count as the smallest."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self.n = 0

    def add(self, value: float) -> None:
        """Count one finite value."""
        self._counts[math.floor(math.log(value) / _GROWTH) if value > 0 else -(10**6)] += 1
        self.n += 1

    def quantile(self, share: float) -> float | None:
        """The value below which this share (0 to 1) of the values lies, within 1 %; None when there are none."""
        if not self.n:
            return None
        wanted, seen = max(1, math.ceil(share * self.n)), 0
        for place in sorted(self._counts):
            seen += self._counts[place]
            if seen >= wanted:
                break
        return 0.0 if place == -(10**6) else math.exp((place + 0.5) * _GROWTH)
