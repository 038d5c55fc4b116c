"""What a line of a verdict file has to be before a resumed job counts it: everything that is read of it again.

A file may have been edited, or come from elsewhere. What is believed of it enters rates and sums, so every field that
the tally reads is checked for its kind and its bounds; the rest of a line is never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jurat.errors import ErrorCategory
from jurat.jsontext import Json
from jurat.vocabulary import Status

__all__ = ["what_is_wrong"]

_MOST = 2.0**53
"""Above every count, duration (ms) and cost (USD) that a verdict can hold, and exact as a float."""

_Check = Callable[[Json], bool]
Wrong = tuple[str, str]
"""A path and what was expected there."""


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _object(value: Json) -> bool:
    return isinstance(value, Mapping)


def _boolean(value: Json) -> bool:
    return isinstance(value, bool)


def _within(value: Json, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _count(value: Json) -> bool:
    return isinstance(value, int) and _within(value, 0, _MOST)


def _count_or_null(value: Json) -> bool:
    return value is None or _count(value)


def _amount(value: Json) -> bool:
    return _within(value, 0, _MOST)


def _amount_or_null(value: Json) -> bool:
    return value is None or _amount(value)


def _status(value: Json) -> bool:
    return isinstance(value, str) and value in set(Status)


_LINE: Mapping[str, tuple[_Check, str]] = {
    "row": (lambda value: _count(value) and value > 0, "a number from 1"),
    "row_sha256": (_text, "text"),
    "job": (_text, "text"),
    "status": (_status, "one of " + ", ".join(Status)),
    "metadata": (_object, "an object"),
    "evaluator": (_object, "an object"),
}
_EVALUATOR: Mapping[str, tuple[_Check, str]] = {
    "model": (_text, "text"),
    "attempts": (_count, "a count"),
    "input_tokens": (_count_or_null, "a count or null"),
    "output_tokens": (_count_or_null, "a count or null"),
    "cost_usd": (_amount_or_null, "an amount or null"),
    "duration_ms": (_amount, "a duration"),
    "cached": (_boolean, "a boolean"),
}


def what_is_wrong(line: Mapping[str, Json], score_range: tuple[float, float]) -> Wrong | None:
    """The first field of a line that is missing or cannot be right, and what was expected there; None: all are fine."""
    return (
        _first(line, _LINE, "")
        or _first(line["evaluator"], _EVALUATOR, "evaluator.")
        or _model_fault(line["evaluator"])
        or _outcome_fault(line, score_range)
        or _error_fault(line)
    )


def _first(value: Mapping[str, Json], fields: Mapping[str, tuple[_Check, str]], prefix: str) -> Wrong | None:
    for name, (check, expected) in fields.items():
        if name not in value or not check(value[name]):
            return prefix + name, expected
    return None


def _model_fault(evaluator: Mapping[str, Json]) -> Wrong | None:
    return None if _text(evaluator.get("response_model", "")) else ("evaluator.response_model", "text")


def _outcome_fault(line: Mapping[str, Json], score_range: tuple[float, float]) -> Wrong | None:
    low, high = score_range
    decided = Status(line["status"]).decided
    if decided and not _within(line.get("score"), low, high):
        return "score", f"a number from {low:g} to {high:g}"
    if not decided and ("score" not in line or line["score"] is not None):
        return "score", f"null, as the verdict is {line['status']}"
    if line.get("passed") is not (line["status"] == Status.PASS):
        return "passed", "what the status says"
    return None


def _error_fault(line: Mapping[str, Json]) -> Wrong | None:
    error = line["evaluator"].get("error")
    if line["status"] != Status.ERROR:
        return None
    if not isinstance(error, Mapping):
        return "evaluator.error", "an object"
    if not isinstance(error.get("type"), str) or error["type"] not in set(ErrorCategory):
        return "evaluator.error.type", "a known category"
    return None
