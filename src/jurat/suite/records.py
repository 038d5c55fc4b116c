"""Shapes that hold others: objects, lists, and values that may be one thing or another. See `jurat.suite.shapes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from jurat.errors import Fault
from jurat.jsontext import Json, type_name
from jurat.suite.shapes import INVALID, SEEN, Shape, Text, frozen, inner, misfit, quotes_hint
from jurat.vocabulary import nearest

__all__ = ["ByKey", "Either", "Key", "ListOf", "MapOf", "Object", "Record", "Referred"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """A JSON object whose members are not looked at here; `needs` names those that must be there, all texts."""

    needs: tuple[str, ...] = ()
    what: str = "an object"

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        if not isinstance(value, Mapping):
            return misfit(path, self.what, type_name(value), faults)
        before = len(faults)
        for name in self.needs:
            _text_member(value, name, path, faults)
        read = frozen(value, path, faults)
        return INVALID if len(faults) > before else read

    def schema(self) -> dict[str, Json]:
        if not self.needs:
            return {"type": "object"}
        texts = {name: {"type": "string", "pattern": SEEN} for name in self.needs}
        return {"type": "object", "properties": texts, "required": [*self.needs]}


def _text_member(value: Mapping[str, object], name: str, path: str, faults: list[Fault]) -> None:
    if name not in value:
        misfit(inner(path, name), "text", "nothing", faults)
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
            misfit(path, self.what, type_name(value), faults)
            return []
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            most = "" if self.most is None else f" and at most {self.most:,}"
            misfit(path, f"at least {self.least}{most}", f"{len(value):,}", faults)
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
            return misfit(path, self.what, type_name(value), faults)
        if len(value) < self.least:
            return misfit(path, f"at least {self.least} member", "none", faults)
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
            misfit(path, self.what, type_name(value), faults)
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
                misfit(inner(path, name), key.about.rstrip(".").lower(), "nothing", faults)
        given = [name for name in self.one_of if name in value]
        if self.one_of and (not given or (self.only and len(given) > 1)):
            words = "one of" if self.only else "at least one of"
            misfit(path, f"{words} {', '.join(self.one_of)}", " and ".join(given) or "none", faults)

    def _unknown(self, name: str, path: str, faults: list[Fault]) -> None:
        known = tuple(self.keys)
        near = nearest(name[:80], known)
        hint = f"Did you mean {near}?" if near else None
        misfit(inner(path, name[:80]), "one of " + ", ".join(known), "this key", faults, hint)

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
        return misfit(path, "an object with one of " + ", ".join(self.options), words, faults)

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
        hint = quotes_hint(value)
        return misfit(path, self.what, type_name(value), faults, hint)

    def schema(self) -> dict[str, Json]:
        return {"anyOf": [shape.schema() for shape in self.options.values()]}
