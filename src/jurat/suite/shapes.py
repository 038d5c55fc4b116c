"""Shapes of what a suite file may hold. Each reads a value, says what it expects, and has a JSON Schema.

Reader and schema come from one object, so that what the one refuses for its shape the other refuses too. A shape
believes nothing: a boolean is no number, a number is no text. What it reads is frozen. A value that does not fit
becomes faults with their paths, and `INVALID`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from jurat.errors import Fault
from jurat.jsontext import Json, NotJson, found_word, freeze, type_name
from jurat.vocabulary import nearest

__all__ = [
    "INVALID",
    "SEEN",
    "Anything",
    "Choice",
    "Flag",
    "Invalid",
    "Number",
    "Shape",
    "Text",
    "Whole",
    "frozen",
    "inner",
    "misfit",
    "quotes_hint",
]


class Invalid(Enum):
    """The mark for a value that did not fit; its faults have been noted."""

    INVALID = "invalid"


INVALID = Invalid.INVALID


class Shape(Protocol):
    """Reads one value."""

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        """The value, frozen; or faults, and `INVALID`."""
        ...

    def schema(self) -> dict[str, Json]:
        """The values that fit, as a JSON Schema; what a schema cannot say is left to `read`."""
        ...


def inner(path: str, key: str) -> str:
    """The path of a member."""
    return f"{path}.{key}" if path else key


def misfit(path: str, expected: str, found: str, faults: list[Fault], hint: str | None = None) -> Invalid:
    """Note a fault, and give the mark."""
    faults.append(Fault(path=path, expected=expected, found=found, hint=hint))
    return INVALID


def quotes_hint(value: object) -> str | None:
    """What to do where text is wanted and a number or a boolean stands."""
    return "Put it in quotes, if text is meant" if isinstance(value, bool | int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text of at most `longest` characters, not blank unless `blank`; on one line where `line` says so."""

    longest: int = 1_000_000
    blank: bool = False
    line: bool = False
    what: str = "text"

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if not isinstance(value, str):
            return misfit(path, self.what, type_name(value), faults, quotes_hint(value))
        if not self.blank and not _SEEN.search(value):
            return misfit(path, f"{self.what} that is not blank", "blank text" if value else "empty text", faults)
        if len(value) > self.longest:
            return misfit(path, f"at most {self.longest:,} characters", f"{len(value):,}", faults)
        if self.line and _CONTROL.search(value):
            return misfit(path, f"{self.what} on one line", "a line break or control character", faults)
        return value if value.isascii() else frozen(value, path, faults)

    def schema(self) -> dict[str, Json]:
        made: dict[str, Json] = {"type": "string", "maxLength": self.longest}
        if self.line:
            return {**made, "pattern": rf"^[^{_CONTROLS}]*{SEEN}[^{_CONTROLS}]*$"}
        return made if self.blank else {**made, "pattern": SEEN}


_CONTROLS = r"\x00-\x1f\x7f-\x9f"
_CONTROL = re.compile(f"[{_CONTROLS}]")
SEEN = r"[^\s]"
"""The pattern of text that is not blank."""
_SEEN = re.compile(SEEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """True or false."""

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if isinstance(value, bool):
            return value
        hint = f"YAML 1.2 reads {value} as text; write true or false" if value in ("yes", "no", "on", "off") else None
        return misfit(path, "true or false", type_name(value), faults, hint)

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a few words or whole numbers."""

    words: tuple[str | int, ...]

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if isinstance(value, str | int) and not isinstance(value, bool) and value in self.words:
            return value
        near = nearest(value[:80], [str(word) for word in self.words]) if isinstance(value, str) else None
        hint = f"Did you mean {near}?" if near else None
        return misfit(path, "one of " + ", ".join(map(str, self.words)), found_word(value), faults, hint)

    def schema(self) -> dict[str, Json]:
        return {"enum": [*self.words]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A finite number: above `above`, from `minimum`, at most `maximum`."""

    above: float | None = None
    minimum: float | None = None
    maximum: float | None = None

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return misfit(path, self._expected(), type_name(value), faults)
        if isinstance(value, float) and not math.isfinite(value):
            return misfit(path, self._expected(), "one that is not finite", faults)
        above = self.above is None or value > self.above
        within = (self.minimum is None or value >= self.minimum) and (self.maximum is None or value <= self.maximum)
        return value if above and within else misfit(path, self._expected(), found_word(value), faults)

    def _expected(self) -> str:
        low = None if self.above is None else f"above {self.above:g}"
        low = low if self.minimum is None else f"from {self.minimum:g}"
        high = None if self.maximum is None else f"to {self.maximum:g}" if self.minimum is not None else None
        high = high or (None if self.maximum is None else f"and at most {self.maximum:g}")
        return " ".join(word for word in ("a number", low, high) if word)

    def schema(self) -> dict[str, Json]:
        bounds = {"minimum": self.minimum, "maximum": self.maximum, "exclusiveMinimum": self.above}
        return {"type": "number", **{key: bound for key, bound in bounds.items() if bound is not None}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number, written as one (`3`, not `3.0`), within bounds."""

    minimum: int
    maximum: int

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        expected = f"a whole number from {self.minimum} to {self.maximum:,}"
        if isinstance(value, bool) or not isinstance(value, int):
            return misfit(path, expected, type_name(value), faults)
        return value if self.minimum <= value <= self.maximum else misfit(path, expected, found_word(value), faults)

    def schema(self) -> dict[str, Json]:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything:
    """Any JSON value."""

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        return value if value is None else frozen(value, path, faults)

    def schema(self) -> dict[str, Json]:
        return {}


def frozen(value: object, path: str, faults: list[Fault]) -> Any:
    """The value, immutable; or a fault, and the mark."""
    try:
        return freeze(value, path)
    except NotJson as error:
        return misfit(error.path or path, "a JSON value", error.found, faults)
