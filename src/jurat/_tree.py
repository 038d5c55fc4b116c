"""Values together with where they were written: what the YAML and the JSON front build while they read.

A `Place` mirrors a value: the line it stands on, the spelling it had when it was no text, and the places of its parts.
The builder is fed by a reader in the order of the text. It refuses what no file of ours may hold (repeated keys,
numbers that are not finite, text that is no Unicode, nesting without end) and collects these faults instead of
stopping at the first; it gives up (`Halt`) only where the rest of the text cannot be understood any more.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from jurat.errors import Fault
from jurat.jsontext import MAX_DEPTH, Json

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_NUMBER", "Halt", "Place", "TreeBuilder", "respelled", "shown", "walk"]

MAX_NUMBER = 1_000
"""How many characters a number may be written in. Longer ones cannot even be printed by some readers."""

_MAX_FAULTS = 50
_MAX_PATH = 300
_MAX_STEPS = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
_BOUNDARY = re.compile(r"[.\[]|\Z")
_INDEX = re.compile(r"\[(\d{1,9})\]")


class Halt(Exception):
    """Reading on makes no sense; the builder's faults say why."""


@dataclass(slots=True)
class Place:
    """Where one value was written.

    Attributes:
        line: counted from 1; for the value of a key, the line of the key.
        spelling: how a number, a boolean or a null was written; None for everything else.
        altered: whether writing the number as JSON would spell it otherwise (`1.10`, `012`).
        parts: the places of the members or the elements.
    """

    line: int
    spelling: str | None = None
    altered: bool = False
    parts: dict[str, Place] | list[Place] | None = None


@dataclass(slots=True)
class _Frame:
    value: dict[str, Json] | list[Json]
    place: Place
    path: str
    key: str | None = None
    key_line: int = 0


class TreeBuilder:
    """Builds a value and its places from what a reader meets, in order.

    Attributes:
        value: the finished value, once the reader is done.
        place: where it was written, or None when there was nothing at all.
        faults: what must be refused, in the order of the text.
        file: the name of the file, for the faults.
        line: the line that the reader has come to, as far as it says.
        whole: whether the text was read to its end, so that what is not at fault can be looked at further.
    """

    def __init__(self, file: str | None) -> None:
        self.value: Json = None
        self.place: Place | None = None
        self.faults: list[Fault] = []
        self.file = file
        self.line: int | None = None
        self.whole = True
        self._stack: list[_Frame] = []

    @property
    def wants_key(self) -> bool:
        """Whether the next scalar is a key."""
        return bool(self._stack) and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None

    def fault(self, expected: str, found: str, hint: str | None = None, line: int | None = None) -> None:
        """Note a fault at the present path.

        Raises:
            Halt: when there are so many that more would not help anybody.
        """
        path = self._path()
        self.faults.append(Fault(path=path, expected=expected, found=found, hint=hint, file=self.file, line=line))
        if len(self.faults) >= _MAX_FAULTS:
            raise Halt

    def open(self, value: dict[str, Json] | list[Json], line: int) -> None:
        """Begin a mapping or a list."""
        if self.wants_key:
            self.fault("a key that is text", "a collection as a key", _BRACES_HINT, line)
            raise Halt
        if len(self._stack) >= MAX_DEPTH:
            self.fault(f"nesting of at most {MAX_DEPTH} levels", "more", None, line)
            raise Halt
        place, path = Place(line, parts={} if isinstance(value, dict) else []), self._path()
        self._attach(value, place)
        self._stack.append(_Frame(value, place, path))

    def close(self) -> None:
        """End the innermost mapping or list."""
        self._stack.pop()

    def key(self, text: str, line: int) -> None:
        """Name the next value of the innermost mapping. A key that stands already is a fault with both lines."""
        text = self._sound(text, line)
        frame = self._stack[-1]
        frame.key, frame.key_line = text, line
        earlier = frame.place.parts.get(text) if isinstance(frame.place.parts, dict) else None
        if earlier is not None:
            found = f"{shown(text)} twice (first on line {earlier.line}, again on line {line})"
            self.fault("every key once", found, None, line)

    def text(self, value: str, line: int) -> None:
        """Add text."""
        self._attach(self._sound(value, line), Place(line))

    def word(self, value: Json, spelling: str, line: int) -> None:
        """Add a number, a boolean or a null, as it was spelled."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(value, float) and not math.isfinite(value):
            hint = "If text is meant, put it in quotes."
            self.fault("a finite number", f"the number {shown(spelling, quoted=False)}", hint, line)
            value, is_number = None, False  # nobody who reads on may meet it
        self._attach(value, Place(line, spelling, is_number and repr(value) != spelling))

    def _attach(self, value: Json, place: Place) -> None:
        if not self._stack:
            self.value, self.place = value, place
            return
        frame = self._stack[-1]
        if isinstance(frame.value, list) and isinstance(frame.place.parts, list):
            frame.value.append(value)
            frame.place.parts.append(place)
        elif isinstance(frame.value, dict) and isinstance(frame.place.parts, dict) and frame.key is not None:
            place.line = frame.key_line
            frame.value[frame.key] = value
            frame.place.parts[frame.key] = place
            frame.key = None

    def _sound(self, text: str, line: int) -> str:
        """Text in valid Unicode. Two escapes that make one character (as JSON writes them) are joined."""
        if text.isascii() or not _SURROGATE.search(text):
            return text
        pairs = text.encode("utf-16-le", "surrogatepass")
        try:
            return pairs.decode("utf-16-le")
        except UnicodeDecodeError:
            self.fault("valid Unicode", "a lone surrogate, which is no character", None, line)
            return pairs.decode("utf-16-le", "replace")

    def _path(self) -> str:
        """The path of what comes next, cut where it is too long to help anybody."""
        if not self._stack:
            return ""
        frame = self._stack[-1]
        if isinstance(frame.value, list):
            path = f"{frame.path}[{len(frame.value)}]"
        elif frame.key is None:
            return frame.path
        else:
            path = f"{frame.path}.{frame.key[:80]}" if frame.path else frame.key[:80]
        return path if len(path) <= _MAX_PATH else path[:_MAX_PATH] + "…"


_BRACES_HINT = "Text that begins with { or [ must stand in quotes, a {{placeholder}} among them."


def shown(text: str, limit: int = 60, *, quoted: bool = True) -> str:
    """A piece of an author's text as a message can bear it: short, on one line, without control characters."""
    piece = repr(text[:limit]) if len(text) <= limit else repr(text[:limit])[:-1] + "…" + repr(text)[-1:]
    return piece if quoted else piece[1:-1]


def walk(root: Place, path: str) -> tuple[Place, bool]:
    """Follow a path such as `cases[2].name`.

    Returns:
        The place, or the closest one around it that was written, and whether the whole path was found.
    """
    place, rest = root, path
    while rest:
        step = _step(place, rest)
        if step is None:
            return place, False
        place, rest = step
    return place, True


def _step(place: Place, path: str) -> tuple[Place, str] | None:
    if isinstance(place.parts, list):
        index = _INDEX.match(path)
        if index is None or int(index[1]) >= len(place.parts):
            return None
        return place.parts[int(index[1])], path[index.end() :]
    if place.parts is None:
        return None
    path = path.removeprefix(".")
    # A key may hold dots and brackets itself, so the shortest that stands there wins. The number of trials is bounded.
    for boundary in islice(_BOUNDARY.finditer(path), _MAX_STEPS):
        part = place.parts.get(path[: boundary.start()])
        if part is not None:
            return part, path[boundary.start() :]
    return None


def respelled(place: Place, path: str) -> Iterator[tuple[str, str]]:
    """Every number at or under a place that JSON would spell otherwise: its path and its spelling in the source."""
    if place.altered and place.spelling is not None:
        yield path, place.spelling
    if isinstance(place.parts, list):
        for index, part in enumerate(place.parts):
            yield from respelled(part, f"{path}[{index}]")
    elif place.parts is not None:
        for key, part in place.parts.items():
            yield from respelled(part, f"{path}.{key}" if path else key)
