"""Sums, means and spreads without rounding, in constant space, whatever the order of what is added.

A number counts as the decimal that it is written as: 0.1 is one tenth, not the binary fraction beside it. So ten scores
of 0.1 have the mean 0.1, the mean of 0.7 and 0.9 is 0.8, and a gate compares what a person would have computed by hand.
No tolerance is needed, and none is applied. A result is rounded once, when it becomes a float.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from fractions import Fraction

__all__ = ["ExactSum", "Moments", "as_written"]

_EXACT = Context(prec=2_500, Emin=-10_000, Emax=10_000, traps=[Inexact, InvalidOperation, Overflow])
"""Room for the sums of the squares of all floats there are; were it ever too little, that would be an error."""

_ROOTS = Context(prec=40, Emin=-10_000, Emax=10_000)
"""For the one step that cannot be exact."""


def as_written(value: float) -> Fraction:
    """The decimal that a finite number is written as: the shortest one that reads back as the same float."""
    return Fraction(repr(value))


class ExactSum:
    """A running sum of finite numbers."""

    __slots__ = ("_sum",)

    def __init__(self) -> None:
        self._sum = Decimal(0)

    def add(self, value: float) -> None:
        """Add one finite number."""
        self._sum = _EXACT.add(self._sum, Decimal(repr(value)))

    def include(self, other: ExactSum) -> None:
        """Add another sum."""
        self._sum = _EXACT.add(self._sum, other._sum)

    @property
    def exact(self) -> Fraction:
        """The sum itself."""
        return Fraction(self._sum)

    @property
    def value(self) -> float:
        """The nearest float; infinite beyond all of them."""
        return as_float(self.exact)


class Moments:
    """How many numbers there are, their mean, and how far they lie apart."""

    __slots__ = ("_squares", "_sum", "high", "low", "n")

    def __init__(self) -> None:
        self.n = 0
        self.low, self.high = math.inf, -math.inf
        self._sum, self._squares = Decimal(0), Decimal(0)

    def add(self, value: float) -> None:
        """Add one finite number."""
        number = Decimal(repr(value))
        self.n += 1
        self.low, self.high = min(self.low, value), max(self.high, value)
        self._sum = _EXACT.add(self._sum, number)
        self._squares = _EXACT.add(self._squares, _EXACT.multiply(number, number))

    @property
    def total(self) -> Fraction:
        """The exact sum."""
        return Fraction(self._sum)

    @property
    def mean(self) -> Fraction | None:
        """The exact mean; None of nothing."""
        return self.total / self.n if self.n else None

    @property
    def spread(self) -> float | None:
        """The sample standard deviation (n - 1); None of fewer than two, or where it is beyond all floats."""
        if self.n < 2:
            return None
        variance = (Fraction(self._squares) - self.total**2 / self.n) / (self.n - 1)
        root = float(_ROOTS.sqrt(_ROOTS.divide(Decimal(variance.numerator), Decimal(variance.denominator))))
        return root if math.isfinite(root) else None


def as_float(value: Fraction) -> float:
    """The nearest float; infinite beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
