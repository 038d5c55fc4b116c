"""Numbers for people: short, and never so short that what is shown contradicts what was decided.

A score of 0.7966 against a threshold of 0.8 is no "0.80 against 0.80, failed": as many digits are written as it takes
to see on which side of the limit the number lies. What a person wrote is repeated as it was written.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

__all__ = ["apart", "count", "money", "percent", "short", "told_apart", "told_apart_percent"]

_DIGITS = 4
_MOST = 17
Number = int | float | Fraction


def short(value: Number, digits: int = _DIGITS) -> str:
    """The number to so many significant digits, without trailing zeros; whole numbers are never rounded."""
    number = float(value)
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else str(number)
    exponent = math.floor(math.log10(abs(number)))
    if exponent < -6:
        return f"{number:.{digits}g}"
    decimals = max(digits - 1 - exponent, 0)
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def told_apart(value: Number, limit: Number) -> tuple[str, str]:
    """Both as text: the limit as it was written, the value so that the texts compare as the numbers do."""
    wanted = _written(limit)
    exact, bound = _exact(value), _exact(limit)
    for digits in range(_DIGITS, _MOST + 1):
        text = short(value, digits)
        if _order(Fraction(text), Fraction(wanted)) == _order(exact, bound):
            return text, wanted
    return _written(value), wanted


def apart(value: Number, other: Number) -> tuple[str, str]:
    """Two measured numbers as text, rounded alike, so that the texts compare as the numbers do."""
    one, two = _exact(value), _exact(other)
    for digits in range(_DIGITS, _MOST + 1):
        texts = short(one, digits), short(two, digits)
        if _order(Fraction(texts[0]), Fraction(texts[1])) == _order(one, two):
            return texts
    return _written(value), _written(other)


def told_apart_percent(value: Number, limit: Number) -> tuple[str, str]:
    """The same for shares, in per cent."""
    texts = told_apart(_exact(value) * 100, _exact(limit) * 100)
    return f"{texts[0]} %", f"{texts[1]} %"


def percent(value: Number) -> str:
    """A share in per cent, to one decimal; only nothing is 0 and only all is 100."""
    exact = _exact(value) * 100
    text = short(round(exact, 1))
    if (text == "100" and exact != 100) or (text == "0" and exact != 0):
        text = told_apart(exact, 100 if text == "100" else 0)[0]
    return f"{text} %"


def money(usd: float) -> str:
    """US dollars: cents with two decimals, small sums with four significant digits."""
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${short(usd, 3)}" if usd < 0.01 else f"${usd:.4f}"


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 case`, `2 cases`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _written(value: Number) -> str:
    """A number as its author wrote it, as near as that can be known: `0.8`, `80`, `1e-07`."""
    if isinstance(value, Fraction):
        shown = Decimal(value.numerator) / Decimal(value.denominator)
        text = f"{shown:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    text = repr(value)
    return text.removesuffix(".0")


def _exact(value: Number) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(repr(value))


def _order(one: Fraction, other: Fraction) -> int:
    return (one > other) - (one < other)
