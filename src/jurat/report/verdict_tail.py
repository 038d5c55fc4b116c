"""Verdicts that are reached anew: some lines of a verdict file are replaced, each in its place, the others stay.

A row that was never asked about (the budget was spent, the key or a parameter refused, the rate limited, the time over)
has an error for a verdict, and is asked about when the job goes on. From the first such line on, the file is taken
apart: its lines wait beside it, nameless, and come back in their order, those that stand word for word, between the new
ones. Whatever ends the job, the lines that were not replaced by then come back as they were.

When the process dies in the middle, the lines that still wait are gone; the replies behind them are in the store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from jurat.errors import ErrorCategory
from jurat.jsontext import Json
from jurat.report.verdict_file import VerdictFile

__all__ = ["Tail", "was_asked"]

Stands = Callable[[Mapping[str, Json]], bool]
_ROOM = 1 << 20
_TURNED_AWAY = (
    *(ErrorCategory.BUDGET_EXHAUSTED, ErrorCategory.AUTH_ERROR, ErrorCategory.MISSING_API_KEY),
    ErrorCategory.RATE_LIMITED,
)
_FOR_ALL = (ErrorCategory.TIMEOUT, ErrorCategory.INVALID_REQUEST)
"""Errors of a job's end as well as of single rows: without an attempt, nobody was asked."""


def was_asked(line: Mapping[str, Any]) -> bool:
    """Whether a verdict line stands: not if it is an error because no call was made, or none was let in."""
    error = line["evaluator"].get("error")
    if line["status"] != "error" or not isinstance(error, Mapping):
        return True
    if error.get("type") in _TURNED_AWAY:
        return False
    return error.get("type") not in _FOR_ALL or line["evaluator"]["attempts"] > 0


class Tail:
    """The lines of a verdict file from the first on that does not stand.

    Args:
        out: the file, which they are taken out of and come back into.
        start: where the first of them begins.
        stands: whether a line stays as it is.
    """

    def __init__(self, out: VerdictFile, start: int, stands: Stands) -> None:
        self._out, self._stands = out, stands
        self._lines = out.taken_from(start)
        self._looked_at = self._given_back = 0

    def following(self) -> tuple[Mapping[str, Any], bool] | None:
        """The next line, in their order, and whether it stands; None after the last."""
        self._lines.seek(self._looked_at)
        read = self._lines.readline()
        if not read:
            return None
        self._looked_at = self._lines.tell()
        line: Mapping[str, Any] = json.loads(read)
        return line, self._stands(line)

    def settle(self, row: int) -> None:
        """A row's new verdict is about to be written: bring back the lines before it, and leave its old one out."""
        self._back(lambda line: line["row"] < row)
        self._lines.seek(self._given_back)
        read = self._lines.readline()
        if read and json.loads(read)["row"] == row:
            self._given_back += len(read)

    def close(self) -> None:
        """Bring back all that is left."""
        with self._lines:
            self._back(lambda _: True)

    def _back(self, belongs: Callable[[Mapping[str, Any]], bool]) -> None:
        self._lines.seek(self._given_back)
        kept: list[bytes] = []
        size = 0
        while (read := self._lines.readline()) and belongs(json.loads(read)):
            kept.append(read)
            size += len(read)
            if size >= _ROOM:
                self._write(kept)
                size = 0
        self._write(kept)

    def _write(self, lines: list[bytes]) -> None:
        if lines:
            data = b"".join(lines)
            self._out.append_lines(data)
            self._given_back += len(data)
            lines.clear()
