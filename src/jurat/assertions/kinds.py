"""Kinds of values that an assertion's keys take: each reads a value, says what it expects, and has a JSON Schema.

A kind believes nothing: a boolean is no number, a number is no text, NaN is nothing. What it reads is frozen. A value
that does not fit becomes a fault with its path, and `INVALID`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from jurat.assertions.execution import as_finite
from jurat.assertions.outcome import is_blank
from jurat.errors import Fault
from jurat.jsontext import Json, type_name
from jurat.suite.shapes import INVALID, Invalid, frozen, misfit
from jurat.vocabulary import nearest

__all__ = [
    "INVALID",
    "AnyValue",
    "Choice",
    "Flag",
    "Invalid",
    "Kind",
    "Number",
    "Object",
    "Text",
    "TextOr",
    "Texts",
    "Whole",
]

MAX_TEXTS = 1000


class Kind(Protocol):
    """Reads one value of a key."""

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        """The value as the check takes it; or faults, and `INVALID`."""
        ...

    def schema(self) -> dict[str, Json]:
        """The values that fit, as a JSON Schema (what a schema cannot say is left to `read`)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text that is not empty, nor blank unless `blank`, of at most `longest` characters."""

    longest: int = 1_000_000
    blank: bool = False

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        expected = "text" if self.blank else "text that is not blank"
        if not isinstance(value, str):
            scalar = isinstance(value, bool | int | float)
            hint = "Put it in quotes, if text is meant." if scalar else None
            return misfit(path, expected, type_name(value), faults, hint)
        if not value or (not self.blank and is_blank(value)):
            return misfit(path, expected, "blank text" if value else "empty text", faults)
        if len(value) > self.longest:
            expected = f"text of at most {self.longest:,} characters"
            return misfit(path, expected, f"{len(value):,} characters", faults)
        return frozen(value, path, faults)

    def schema(self) -> dict[str, Json]:
        made: dict[str, Json] = {"type": "string", "minLength": 1, "maxLength": self.longest}
        return made if self.blank else {**made, "pattern": r"\S"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """One text or several; reads as a tuple."""

    each: Text

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        if isinstance(value, str):
            one = self.each.read(value, path, faults)
            return INVALID if one is INVALID else (one,)
        if not isinstance(value, Sequence) or isinstance(value, bytes | bytearray | memoryview):
            scalar = isinstance(value, bool | int | float)
            hint = "Put it in quotes, if text is meant." if scalar else None
            return misfit(path, "text, or a list of texts", type_name(value), faults, hint)
        if not 1 <= len(value) <= MAX_TEXTS:
            return misfit(path, f"1 to {MAX_TEXTS:,} texts", f"{len(value):,}", faults)
        read = tuple(self.each.read(part, f"{path}[{index}]", faults) for index, part in enumerate(value))
        return INVALID if INVALID in read else read

    def schema(self) -> dict[str, Json]:
        each = self.each.schema()
        return {"anyOf": [each, {"type": "array", "items": each, "minItems": 1, "maxItems": MAX_TEXTS}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """True or false."""

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        if isinstance(value, bool):
            return value
        hint = f"YAML 1.2 reads {value} as text; write true or false." if value in ("yes", "no", "on", "off") else None
        return misfit(path, "true or false", type_name(value), faults, hint)

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A finite number, from `minimum` to `maximum`, both included; or above `above`. Reads as a float."""

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        number = as_finite(value)
        if number is None:
            found = "one that is not finite" if type_name(value) == "a number" else type_name(value)
            return misfit(path, self._expected(), found, faults)
        low = self.minimum is None or number >= self.minimum
        above = self.above is None or number > self.above
        if low and above and (self.maximum is None or number <= self.maximum):
            return number
        return misfit(path, self._expected(), repr(number), faults)

    def _expected(self) -> str:
        if self.above is not None:
            return f"a number above {self.above:g}"
        if self.minimum is not None and self.maximum is not None:
            return f"a number from {self.minimum:g} to {self.maximum:g}"
        return "a number" if self.minimum is None else f"a number of at least {self.minimum:g}"

    def schema(self) -> dict[str, Json]:
        bounds = {"minimum": self.minimum, "maximum": self.maximum, "exclusiveMinimum": self.above}
        return {"type": "number", **{key: bound for key, bound in bounds.items() if bound is not None}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number, written as one (`3`, not `3.0`), within bounds."""

    minimum: int
    maximum: int

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        expected = f"a whole number from {self.minimum} to {self.maximum}"
        if isinstance(value, bool) or not isinstance(value, int):
            return misfit(path, expected, type_name(value), faults)
        if not self.minimum <= value <= self.maximum:
            return misfit(path, expected, "one outside", faults)
        return value

    def schema(self) -> dict[str, Json]:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        if isinstance(value, str) and value in self.words:
            return str(value)
        near = nearest(value, self.words) if isinstance(value, str) else None
        found = repr(value[:40]) if isinstance(value, str) else type_name(value)
        hint = f"Did you mean {near}?" if near else None
        return misfit(path, "one of " + ", ".join(self.words), found, faults, hint)

    def schema(self) -> dict[str, Json]:
        return {"enum": [*self.words]}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyValue:
    """Any JSON value; a text must not be blank unless `blank`, and null is a value only where `null` says so."""

    blank: bool = True
    null: bool = True

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        if value is None and not self.null:
            return misfit(path, "a JSON value other than null", "null", faults, "Leave the key out.")
        if isinstance(value, str) and not self.blank and is_blank(value):
            return misfit(path, "a value that is not blank", "blank text", faults)
        return frozen(value, path, faults)

    def schema(self) -> dict[str, Json]:
        made: dict[str, Json] = {}
        if not self.null:
            made["not"] = {"type": "null"}
        if not self.blank:
            made["pattern"] = r"\S"
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """A JSON object; or a boolean too, where `boolean` says so (a JSON Schema may be one)."""

    boolean: bool = False

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        if isinstance(value, Mapping) or (self.boolean and isinstance(value, bool)):
            return frozen(value, path, faults)
        return misfit(path, "an object or a boolean" if self.boolean else "an object", type_name(value), faults)

    def schema(self) -> dict[str, Json]:
        return {"type": ["object", "boolean"] if self.boolean else "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOr:
    """Text, or something that whoever builds the evaluator reads: an object, a list, or a Python object of ours.

    `also` lists the JSON types beside text. A Python object without JSON form is passed on as it is.
    """

    text: Text | None
    also: tuple[str, ...] = ("object",)
    python: bool = False

    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        if self.text is not None and isinstance(value, str):
            return self.text.read(value, path, faults)
        if isinstance(value, Mapping) and "object" in self.also:
            return frozen(value, path, faults)
        if isinstance(value, list | tuple) and "array" in self.also:
            return frozen(value, path, faults)
        if self.python and type_name(value).startswith("a Python "):
            return value
        words = [*(["text"] if self.text else []), *(f"an {word}" for word in self.also)]
        return misfit(path, " or ".join(words), type_name(value), faults)

    def schema(self) -> dict[str, Json]:
        options: list[Json] = [self.text.schema()] if self.text else []
        return {"anyOf": [*options, *({"type": word} for word in self.also)]}
