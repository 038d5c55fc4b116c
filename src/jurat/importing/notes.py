"""What could not be taken over, each with its place and the reason.

Notes are told as they arise, so that a large file needs no memory for them. A reason that comes again and again is told
a few times and then counted: `close` tells how many more there were. What is noted of one place again, as for each of
the cases that a test becomes, is one note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Note", "Notes"]

_TOLD = 20
"""How often one reason is told with its place."""
_REMEMBERED = 4_096
"""How many of the last notes are remembered, so that none comes twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that was not taken over as it stood.

    Attributes:
        path: where it stands in the file, or "" for the file as a whole.
        reason: why, in words, and what was done instead.
        line: from 1, where it is known.
    """

    file: str
    path: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.path or '(top level)'}: {self.reason}"


class Notes:
    """Takes notes and passes them on.

    Attributes:
        count: how many there were, those included that were only counted.
    """

    def __init__(self, tell: Callable[[Note], None]) -> None:
        self._tell = tell
        self._seen: Counter[tuple[str, str]] = Counter()
        self._last: dict[Note, None] = {}
        self.count = 0

    def add(self, file: str, path: str, reason: str, line: int | None = None, *, whole: str | None = None) -> None:
        """Take one note. What comes again and again is counted by `whole`, where the file is a part of that."""
        note = Note(file=file, path=path, reason=reason, line=line)
        if note in self._last:
            return
        self._last[note] = None
        if len(self._last) > _REMEMBERED:
            del self._last[next(iter(self._last))]
        self.count += 1
        counted = (whole or file, reason)
        self._seen[counted] += 1
        if self._seen[counted] <= _TOLD:
            self._tell(note)

    def close(self) -> None:
        """Tell how often each reason came that was told no more."""
        for (file, reason), times in self._seen.items():
            if times > _TOLD:
                self._tell(Note(file=file, path=f"{times - _TOLD:,} more", reason=reason))
        self._seen.clear()
