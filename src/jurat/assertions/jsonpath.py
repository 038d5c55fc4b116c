"""Paths into JSON: `customer.orders[0]["unit.price"]`. One reader, one writer, and the look-up.

A path is steps: a key after a dot, an index from 0 in brackets (`[-1]` is the last), or a key in quotes, in brackets or
after a dot, for keys with dots, brackets or digits alone. A leading `$` is the whole value and may be left out. A bare
number between dots is an index in an array and a key in an object (`items.0.id`). `format_path` writes what
`parse_path` reads back as the same steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum

from jurat.jsontext import Json, JsonSyntaxError, parse_strict

__all__ = ["MISSING", "Missing", "Path", "PathSyntaxError", "format_path", "look_up", "parse_path"]

MAX_PATH = 1000

Path = tuple[str | int, ...]
"""The steps from the top: keys and indexes."""


class Missing(Enum):
    """The one mark for "there is nothing here", which is not null."""

    MISSING = "missing"


MISSING = Missing.MISSING


class PathSyntaxError(ValueError):
    """The text is no path. `what` was expected at `column` (from 1)."""

    def __init__(self, what: str, column: int) -> None:
        self.what, self.column = what, column
        super().__init__(f"{what} at column {column}")


class _Digits(str):
    """A bare number between dots: an index or a key, as the value has it."""

    __slots__ = ()


_STEP = re.compile(
    r"""(?P<dot>\.)? (?:
          (?P<bare>[^.\[\]"']+)
        | (?P<quoted>"(?:[^"\\]|\\.)*" | '[^']*')
        | \[ (?: (?P<index>-?[0-9]{1,9}) | (?P<inner>"(?:[^"\\]|\\.)*" | '[^']*') ) \]
    )""",
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(r"[^\W\d][\w-]*")


def parse_path(text: str) -> Path:
    """The steps of a path; `$` alone has none.

    Raises:
        PathSyntaxError: with the column of what could not be read.
    """
    if len(text) > MAX_PATH:
        raise PathSyntaxError(f"a path ends before {MAX_PATH:,} characters", MAX_PATH)
    position = 1 if re.match(r"\$(?=[.\[]|$)", text) else 0
    if not text:
        raise PathSyntaxError("a path ($ is the whole value)", 1)
    steps: list[str | int] = []
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None or not _joins(found, first=position == 0):
            raise PathSyntaxError("a key after a dot, an index or a quoted key in brackets", position + 1)
        steps.append(_step(found))
        position = found.end()
    return tuple(steps)


def _joins(found: re.Match[str], *, first: bool) -> bool:
    """Dots stand between keys: none before the first, one before each other, none before a bracket."""
    bracket = found["bare"] is None and found["quoted"] is None
    return (found["dot"] is None) if first or bracket else (found["dot"] is not None)


def _step(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    if found["bare"] is not None:
        bare = found["bare"]
        return _Digits(bare) if bare.isascii() and bare.isdigit() else bare
    quoted = found["quoted"] or found["inner"]
    if quoted.startswith("'"):
        return str(quoted[1:-1])
    try:
        return str(parse_strict(quoted))
    except JsonSyntaxError:
        raise PathSyntaxError("a quoted key, written as a JSON string", found.start() + 1) from None


def format_path(path: Path) -> str:
    """The path as text. `parse_path` reads it back as the same steps."""
    written = ""
    for step in path:
        if isinstance(step, int):
            written += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            written += f".{step}" if written else step
        else:
            written += f"[{_quoted(step)}]"
    return written or "$"


def _quoted(key: str) -> str:
    import json

    return json.dumps(key, ensure_ascii=False)


def look_up(value: Json, path: Path) -> Json | Missing:
    """What stands at the path, or MISSING. Null is a value; a step into the wrong kind of value finds nothing."""
    for step in path:
        value = _into(value, step)
        if value is MISSING:
            return MISSING
    return value


def _into(value: Json, step: str | int) -> Json | Missing:
    if isinstance(value, Mapping):
        return value.get(step, MISSING) if isinstance(step, str) else MISSING
    if isinstance(value, Sequence) and not isinstance(value, str):
        if isinstance(step, _Digits):
            step = int(step[:9])
        if isinstance(step, int) and -len(value) <= step < len(value):
            return value[step]
    return MISSING
