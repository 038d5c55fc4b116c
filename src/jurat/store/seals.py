"""The seal of a trial: one hash of its row, its answer and its assessments, as they were written.

Whatever is changed afterwards, an answer, a cost, a name or a reason, no longer fits it. A hash keeps no secret: it
tells damage and changes by hand, not the work of somebody who makes the seal anew as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from jurat.jsontext import Json

__all__ = ["seal_of"]


def seal_of(run_id: str, trial: Sequence[Any], answer: Sequence[Any], assessments: Iterable[Sequence[Any]]) -> str:
    """The hash of rows, the same for a row that is to be written and for one that was read.

    Args:
        run_id: whose trial it is.
        trial: its place and its columns, in the order of `TRIALS_OF`.
        answer: the columns of its answer after the place; `assessments`: those of each assessment.

    Returns:
        SHA-256 in hexadecimal.
    """
    told = [run_id, _plain(trial), _plain(answer), [_plain(row) for row in assessments]]
    return sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest()


def _plain(row: Sequence[Any]) -> list[Json]:
    return [_value(value) for value in row]


def _value(value: Any) -> Json:
    """Databases differ in how they keep truth, whole numbers and the sign of zero, and one has no NaN."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        number = float(value) + 0.0
        return number if number == number else None
    return str(type(value))  # which is no column of ours
