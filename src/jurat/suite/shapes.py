"""What the keys of a suite file may hold: each shape reads a value, says what it expects, and has a JSON Schema.

Reader and schema come from one object, so that what the one refuses for its shape the other refuses too. A shape
believes nothing: a boolean is no number, a number is no text. What it reads is frozen. A value that does not fit
becomes faults with their paths, and `INVALID`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Protocol

from jurat.errors import Fault
from jurat.jsontext import Json, NotJson, found_word, freeze, type_name
from jurat.vocabulary import nearest

__all__ = [
    "INVALID",
    "Anything",
    "ByKey",
    "Choice",
    "Either",
    "Flag",
    "Invalid",
    "Key",
    "ListOf",
    "MapOf",
    "Number",
    "Object",
    "Record",
    "Referred",
    "Shape",
    "Text",
    "Whole",
    "inner",
]


class Invalid(Enum):
    """The mark for a value that did not fit; its faults have been noted."""

    INVALID = "invalid"


INVALID = Invalid.INVALID
_QUOTES = "Put it in quotes, if text is meant"


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


def _fault(path: str, expected: str, found: str, faults: list[Fault], hint: str | None = None) -> Invalid:
    faults.append(Fault(path=path, expected=expected, found=found, hint=hint))
    return INVALID


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text of at most `longest` characters, not blank unless `blank`; on one line where `line` says so."""

    longest: int = 1_000_000
    blank: bool = False
    line: bool = False
    what: str = "text"

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if not isinstance(value, str):
            hint = _QUOTES if isinstance(value, bool | int | float) else None
            return _fault(path, self.what, type_name(value), faults, hint)
        if not self.blank and not _SEEN.search(value):
            return _fault(path, f"{self.what} that is not blank", "blank text" if value else "empty text", faults)
        if len(value) > self.longest:
            return _fault(path, f"at most {self.longest:,} characters", f"{len(value):,}", faults)
        if self.line and _CONTROL.search(value):
            return _fault(path, f"{self.what} on one line", "a line break or control character", faults)
        return value if value.isascii() else _frozen(value, path, faults)

    def schema(self) -> dict[str, Json]:
        made: dict[str, Json] = {"type": "string", "maxLength": self.longest}
        if self.line:
            return {**made, "pattern": rf"^[^{_CONTROLS}]*{_SEEN_CLASS}[^{_CONTROLS}]*$"}
        return made if self.blank else {**made, "pattern": _SEEN_CLASS}


_CONTROLS = r"\x00-\x1f\x7f-\x9f"
_CONTROL = re.compile(f"[{_CONTROLS}]")
_SEEN_CLASS = r"[^\s]"
_SEEN = re.compile(_SEEN_CLASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """True or false."""

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if isinstance(value, bool):
            return value
        hint = f"YAML 1.2 reads {value} as text; write true or false" if value in ("yes", "no", "on", "off") else None
        return _fault(path, "true or false", type_name(value), faults, hint)

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
        return _fault(path, "one of " + ", ".join(map(str, self.words)), found_word(value), faults, hint)

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
            return _fault(path, self._expected(), type_name(value), faults)
        if isinstance(value, float) and not math.isfinite(value):
            return _fault(path, self._expected(), "one that is not finite", faults)
        above = self.above is None or value > self.above
        within = (self.minimum is None or value >= self.minimum) and (self.maximum is None or value <= self.maximum)
        return value if above and within else _fault(path, self._expected(), found_word(value), faults)

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
            return _fault(path, expected, type_name(value), faults)
        return value if self.minimum <= value <= self.maximum else _fault(path, expected, found_word(value), faults)

    def schema(self) -> dict[str, Json]:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything:
    """Any JSON value."""

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        return value if value is None else _frozen(value, path, faults)

    def schema(self) -> dict[str, Json]:
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """A JSON object whose members are not looked at here; `needs` names those that must be there, all texts."""

    needs: tuple[str, ...] = ()
    what: str = "an object"

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if not isinstance(value, Mapping):
            return _fault(path, self.what, type_name(value), faults)
        before = len(faults)
        for name in self.needs:
            _text_member(value, name, path, faults)
        read = _frozen(value, path, faults)
        return INVALID if len(faults) > before else read

    def schema(self) -> dict[str, Json]:
        if not self.needs:
            return {"type": "object"}
        texts = {name: {"type": "string", "pattern": _SEEN_CLASS} for name in self.needs}
        return {"type": "object", "properties": texts, "required": [*self.needs]}


def _text_member(value: Mapping[str, object], name: str, path: str, faults: list[Fault]) -> None:
    if name not in value:
        _fault(inner(path, name), "text", "nothing", faults)
    else:
        Text().read(value[name], inner(path, name), faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """A list of one shape, with at least `least` and at most `most` members; reads as a tuple."""

    each: Shape
    least: int = 0
    most: int | None = None
    what: str = "a list"

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        before = len(faults)
        read = tuple(part for _, part in self.read_parts(value, path, faults))
        return INVALID if len(faults) > before else read

    def read_parts(self, value: object, path: str, faults: list[Fault]) -> list[tuple[int, Any]]:
        """The members that fit, each with its index, for a reader that goes on with what is sound."""
        if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
            _fault(path, self.what, type_name(value), faults)
            return []
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            most = "" if self.most is None else f" and at most {self.most:,}"
            _fault(path, f"at least {self.least}{most}", f"{len(value):,}", faults)
            return []
        read = ((index, self.each.read(part, f"{path}[{index}]", faults)) for index, part in enumerate(value))
        return [(index, part) for index, part in read if part is not INVALID]

    def schema(self) -> dict[str, Json]:
        made: dict[str, Json] = {"type": "array", "items": self.each.schema()}
        if self.least:
            made["minItems"] = self.least
        if self.most is not None:
            made["maxItems"] = self.most
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOf:
    """An object whose members are all of one shape, under names of the author's."""

    each: Shape
    least: int = 0
    what: str = "an object"

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if not isinstance(value, Mapping):
            return _fault(path, self.what, type_name(value), faults)
        if len(value) < self.least:
            return _fault(path, f"at least {self.least} member", "none", faults)
        read = {name: self.each.read(part, inner(path, name), faults) for name, part in value.items()}
        return INVALID if any(part is INVALID for part in read.values()) else MappingProxyType(read)

    def schema(self) -> dict[str, Json]:
        made: dict[str, Json] = {"type": "object", "additionalProperties": self.each.schema()}
        return {**made, "minProperties": self.least} if self.least else made


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a record: its shape, what it is for, and whether it must be there."""

    shape: Shape
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An object with known keys, of which any that are unknown are faults; reads as a dict of those that were given.

    Of `one_of`, at least one must be there; and no second one where `only` says so.
    """

    keys: Mapping[str, Key]
    what: str = "an object"
    one_of: tuple[str, ...] = ()
    only: bool = False

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        before = len(faults)
        read = self.read_parts(value, path, faults)
        return INVALID if len(faults) > before else read

    def read_parts(self, value: object, path: str, faults: list[Fault], apart: tuple[str, ...] = ()) -> dict[str, Any]:
        """The members that fit, for a reader that goes on with what is sound; those of `apart` unread."""
        if not isinstance(value, Mapping):
            _fault(path, self.what, type_name(value), faults)
            return {}
        read: dict[str, Any] = {}
        for name, part in value.items():
            key = self.keys.get(name)
            if key is None:
                self._unknown(str(name), path, faults)
            elif name in apart:
                read[name] = part
            elif (found := key.shape.read(part, inner(path, name), faults)) is not INVALID:
                read[name] = found
        self._look_for_required(value, path, faults)
        return read

    def _look_for_required(self, value: Mapping[str, object], path: str, faults: list[Fault]) -> None:
        for name, key in self.keys.items():
            if key.required and name not in value:
                _fault(inner(path, name), key.about.rstrip(".").lower(), "nothing", faults)
        given = [name for name in self.one_of if name in value]
        if self.one_of and (not given or (self.only and len(given) > 1)):
            words = "one of" if self.only else "at least one of"
            _fault(path, f"{words} {', '.join(self.one_of)}", " and ".join(given) or "none", faults)

    def _unknown(self, name: str, path: str, faults: list[Fault]) -> None:
        known = tuple(self.keys)
        near = nearest(name[:80], known)
        hint = f"Did you mean {near}?" if near else None
        _fault(inner(path, name[:80]), "one of " + ", ".join(known), "this key", faults, hint)

    def schema(self) -> dict[str, Json]:
        made: dict[str, Json] = {
            "type": "object",
            "properties": {name: {"description": key.about, **key.shape.schema()} for name, key in self.keys.items()},
            "additionalProperties": False,
        }
        if required := [name for name, key in self.keys.items() if key.required]:
            made["required"] = required
        if self.one_of:
            made["oneOf" if self.only else "anyOf"] = [{"required": [name]} for name in self.one_of]
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class ByKey:
    """One of several records, told apart by the key that only it has."""

    options: Mapping[str, Record]

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        given = [name for name in self.options if isinstance(value, Mapping) and name in value]
        if len(given) == 1:
            return self.options[given[0]].read(value, path, faults)
        words = " and ".join(given) or ("none of them" if isinstance(value, Mapping) else type_name(value))
        return _fault(path, "an object with one of " + ", ".join(self.options), words, faults)

    def schema(self) -> dict[str, Json]:
        return {"anyOf": [option.schema() for option in self.options.values()]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Referred:
    """A shape whose schema stands under `$defs`, by a name."""

    shape: Shape
    name: str

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        return self.shape.read(value, path, faults)

    def schema(self) -> dict[str, Json]:
        return {"$ref": f"#/$defs/{self.name}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """One of several shapes, told apart by the type of the JSON value."""

    options: Mapping[type | tuple[type, ...], Shape]
    what: str

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        for types, shape in self.options.items():
            if isinstance(value, types):
                return shape.read(value, path, faults)
        hint = _QUOTES if isinstance(value, int | float) else None
        return _fault(path, self.what, type_name(value), faults, hint)

    def schema(self) -> dict[str, Json]:
        return {"anyOf": [shape.schema() for shape in self.options.values()]}


def _frozen(value: object, path: str, faults: list[Fault]) -> Any:
    try:
        return freeze(value, path)
    except NotJson as error:
        return _fault(error.path or path, "a JSON value", error.found, faults)
