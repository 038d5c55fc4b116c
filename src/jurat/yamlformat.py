"""Lays an author's file out anew: indentation, quotes and folded text as `to_yaml` writes them, or indented JSON.

Nothing that the file says is changed: what comes out reads as the same value, its keys in the same order. Comments and
single blank lines between entries stay, and so do short collections in brackets, and numbers as they were spelled.
What cannot be seen is written as an escape. Laying out twice changes nothing more.
A file whose comments could not all be kept is refused rather than robbed of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jurat import jsontext
from jurat._yamlnotes import Entry, Node, notes_of
from jurat._yamlwrite import LONGEST_SIMPLE_KEY, flow_text, json_quoted, key_text, text_lines, to_yaml
from jurat.errors import AuthoringError, Fault
from jurat.yamltext import parse_document, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jurat._tree import Place
    from jurat.jsontext import Json

__all__ = ["format_document"]

_WIDTH = 120
"""How wide a collection in brackets may be, its indentation included."""


def format_document(data: bytes, file: str | None = None) -> str:
    """The file's content in the canonical layout: JSON when its name ends in `.json`, YAML otherwise.

    Raises:
        AuthoringError: with every fault, when it is not one sound document; or when a comment could not be kept.
    """
    document = parse_document(data, file)
    value = _spelled(document.value, document.root)
    if file is not None and file.lower().endswith(".json"):
        return _json(value) + "\n"
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    notes = notes_of(text)
    lines = list(_block(notes.root, value, 0)) if notes.root.entries else to_yaml(value).splitlines()
    made = "\n".join([*lines, *notes.below]) + "\n"
    if _overlooked(text, value, notes.comments) or not _same(made, value, notes.comments):
        expected = "comments on lines of their own, or at the end of an entry's line"
        found = "one that could not be kept. The file is left as it is"
        raise AuthoringError("layout", [Fault(path="", expected=expected, found=found, file=file)])
    return made


class _Whole(int):
    """A whole number that knows how it was written."""

    spelling: str


class _Real(float):
    """A number that knows how it was written."""

    spelling: str


def _spelled(value: Json, place: Place) -> Json:
    """The value, in which every number that would be written otherwise knows its spelling."""
    if isinstance(value, Mapping) and isinstance(place.parts, dict):
        return {key: _spelled(part, place.parts[key]) for key, part in value.items()}
    if isinstance(value, list) and isinstance(place.parts, list):
        return [_spelled(part, there) for part, there in zip(value, place.parts, strict=True)]
    if place.altered and place.spelling is not None:
        number = _Whole(value) if isinstance(value, int) else _Real(value)
        number.spelling = place.spelling
        return number
    return value


def _plain(value: Json) -> str:
    """A number, a word, or an empty collection."""
    return value.spelling if isinstance(value, _Whole | _Real) else jsontext.canonical(value)


def _json(value: Json, depth: int = 0) -> str:
    inner, outer = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    if isinstance(value, str):
        return json_quoted(value)
    if isinstance(value, Mapping) and value:
        members = (f"{json_quoted(key)}: {_json(part, depth + 1)}" for key, part in value.items())
        return "{" + inner + f",{inner}".join(members) + outer + "}"
    if isinstance(value, list) and value:
        return "[" + inner + f",{inner}".join(_json(part, depth + 1) for part in value) + outer + "]"
    return _plain(value)


def _overlooked(text: str, value: Json, comments: Sequence[str]) -> bool:
    """Whether there are signs of comments that were not found: a `#` that stands in no value either."""
    known = sum(comment.count("#") for comment in comments) + json.dumps(value).count("#")
    return text.count("#") > known


def _same(made: str, value: Json, comments: Sequence[str]) -> bool:
    """Whether the text says the same, to the order of its keys and the last comment."""
    try:
        again = parse_yaml(made).value
    except AuthoringError:
        return False
    return json.dumps(again) == json.dumps(value) and sorted(notes_of(made).comments) == sorted(comments)


def _block(node: Node, value: Json, depth: int) -> Iterator[str]:
    """The lines of a collection, relative to its block, which stands `depth` steps in."""
    entries = node.entries or ()
    if isinstance(value, Mapping):
        for entry, (key, part) in zip(entries, value.items(), strict=True):
            yield from _member(entry, key_text(key), part, depth)
    else:
        for entry, part in zip(entries, value, strict=True):
            yield from _element(entry, part, depth)


def _member(entry: Entry, key: str, part: Json, depth: int) -> Iterator[str]:
    head, rest = _value(entry.node, part, depth, len(key) + 2)
    yield from entry.above
    yield from entry.beside[1:]
    if len(key) > LONGEST_SIMPLE_KEY:
        yield f"? {key}"
        key = ""
    yield f"{key}:{head or ''}{_behind(entry)}"
    yield from map(_indented, rest)


def _element(entry: Entry, part: Json, depth: int) -> Iterator[str]:
    _hoist(entry, part)
    head, rest = _value(entry.node, part, depth, 2)
    yield from entry.above
    if head is None:  # a comment beside the dash would count as one before the first member
        yield from entry.beside
        yield f"- {rest.pop(0)}"
    else:
        yield from entry.beside[1:]
        yield f"-{head}{_behind(entry)}"
    yield from map(_indented, rest)


def _hoist(entry: Entry, part: Json) -> None:
    """Take what stands above the first member of an element before the element itself."""
    node = entry.node
    if node.entries and not _fits(node, part, 0, 0):
        first = node.entries[0]
        if isinstance(part, list):
            _hoist(first, part[0])
        entry.above += first.above
        first.above = []


def _behind(entry: Entry) -> str:
    return f"  {entry.beside[0]}" if entry.beside else ""


def _indented(line: str) -> str:
    return f"  {line}" if line else ""


def _value(node: Node, part: Json, depth: int, taken: int) -> tuple[str | None, list[str]]:
    """What follows the key on its line, with a space before it, and the lines below. None: nothing follows."""
    if isinstance(part, str):
        head, *rest = text_lines(part)
        return head, rest
    if not isinstance(part, Mapping | list) or not part:
        return " " + _plain(part), []
    if _fits(node, part, depth, taken):
        return " " + _flow(part), []
    return None, list(_block(node, part, depth + 1))


def _fits(node: Node, part: Json, depth: int, taken: int) -> bool:
    """Whether a collection stood in brackets and can stay there: on one line, with no comment inside."""
    return node.flow and not _annotated(node) and 2 * depth + taken + len(_flow(part)) <= _WIDTH


def _annotated(node: Node) -> bool:
    return any(any(entry.above) or entry.beside or _annotated(entry.node) for entry in node.entries or ())


def _flow(value: Json) -> str:
    if isinstance(value, str):
        return flow_text(value)
    if isinstance(value, Mapping) and value:
        return "{" + ", ".join(f"{key_text(key)}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _plain(value)
