"""Checks of how the output came about: `max_latency_ms`, `max_cost_usd`. What was not measured is never a 0.

A missing measurement is `unverified`; one that is no finite number of at least 0 is the error `request_invalid`.
"""

from __future__ import annotations

import math

from jurat.assertions.outcome import Check, decided, too_much, unverified
from jurat.evaluation import Assessment, Measurement
from jurat.evidence import Context
from jurat.jsontext import type_name

__all__ = ["as_finite", "max_cost_usd", "max_latency_ms"]


def max_latency_ms(value: float) -> Check:
    """Pass when the subject took at most `value` milliseconds (`execution.latency_ms`). Score 0 or 100."""
    return _at_most("max_latency_ms", "latency_ms", "ms", value, "no_latency")


def max_cost_usd(value: float) -> Check:
    """Pass when the subject cost at most `value` US dollars (`execution.cost_usd`). Score 0 or 100.

    An unknown price is null, and null is `unverified`.
    """
    return _at_most("max_cost_usd", "cost_usd", "usd", value, "no_cost")


def _at_most(check: str, field: str, unit: str, limit: float, code: str) -> Check:
    def run(context: Context) -> Assessment:
        measured = context.execution.get(field)
        if measured is None:
            return unverified(check, code, f"execution.{field} was not measured, so it cannot be held to a limit")
        number = as_finite(measured)
        if number is None or number < 0:
            found = type_name(measured) if number is None else repr(number)
            raise too_much(f"execution.{field}: expected a number of at least 0, found {found}")
        reason = f"{number!r} {unit}, the limit is {limit!r}"
        measurement = Measurement(name=field, value=number, unit=unit)
        return decided(check, number <= limit, reason, measurements=(measurement,), details={"limit": limit})

    return run


def as_finite(value: object) -> float | None:
    """A JSON number as a finite float; None for anything else (a boolean, NaN, an integer beyond all floats)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
