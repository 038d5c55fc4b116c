"""YAML as text, and the one front through which every file of an author comes in, YAML or JSON.

YAML here is YAML 1.2 with the core rules and nothing that surprises: only `true` and `false` are booleans (`no`, `on`
and `Y` are text), a date stays the text it is, `1:30` is text, a key is always text. Repeated keys, aliases, anchors,
tags, merge keys, directives, a second document and numbers that are not finite are refused. JSON is read strictly.

A `Document` keeps where every value was written and how every number was spelled: whoever wants text and finds the
number 1.10 says so, instead of passing on 1.1. Nothing here raises anything but `AuthoringError`, whatever the text.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jurat import jsontext
from jurat._jsonfeed import placed
from jurat._tree import MAX_NUMBER, Halt, Place, TreeBuilder, respelled, walk
from jurat._yamlfeed import feed_yaml
from jurat._yamlwrite import to_yaml
from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, JsonSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_BYTES", "Document", "parse_document", "parse_yaml", "read_document", "to_yaml"]

MAX_BYTES = 16 * 1024 * 1024
"""How large a file may be: 16 MiB of UTF-8. A reader of files needs to read no more than one byte beyond."""

_LONG_NUMBER = re.compile(rf"[\d.eE+-]{{{MAX_NUMBER + 1}}}")
# YAML forbids most control characters; the three exotic line breaks are allowed but read differently by every reader.
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a file says, and where it says it.

    Attributes:
        value: the JSON value that the text stands for.
        file: the file's name as the author knows it, or None.
    """

    value: Json
    file: str | None = None
    _root: Callable[[], Place] = field(repr=False, compare=False)

    @property
    def root(self) -> Place:
        """Where the whole value was written, and in it all its parts."""
        return self._root()

    def line_of(self, path: str) -> int | None:
        """The line (from 1) on which the value at a path such as `cases[2].name` was written.

        For a path that is not there (a missing key), the line of the closest value around it.
        """
        return walk(self._root(), path)[0].line

    def spelling_of(self, path: str) -> str | None:
        """How the number, boolean or null at a path was written; None for text, collections and unknown paths."""
        place, found = walk(self._root(), path)
        return place.spelling if found else None

    def respelled(self, path: str = "") -> tuple[tuple[str, str], ...]:
        """Path and spelling of every number at or under a path that would be spelled otherwise when it is printed.

        `1.10` prints as 1.1 and `012` as 12: wherever a number is to become text, these are faults.
        """
        place, found = walk(self._root(), path)
        return tuple(respelled(place, path)) if found else ()


def parse_document(text: str | bytes, file: str | None = None) -> Document:
    """Read a file's content: JSON when its name ends in `.json`, YAML otherwise.

    Raises:
        AuthoringError: with every fault that could be found, for any text that is not one sound document.
    """
    if _is_json(file):
        return _parse_json(_sound_text(text, file), file)
    return parse_yaml(text, file=file)


def read_document(text: str | bytes, file: str | None, faults: list[Fault]) -> Document | None:
    """As `parse_document`, but the faults are added to a list, and what is sound is given back all the same.

    Returns:
        The document, in which numbers that are not finite are null; None where the text cannot be understood to its
        end. A value at whose path there is a fault is not to be judged further.
    """
    try:
        return parse_document(text, file)
    except AuthoringError as error:
        faults.extend(error.faults)
    try:
        source = _sound_text(text, file)
        builder = placed(source, file) if _is_json(file) else _built(source, file)
    except (AuthoringError, JsonSyntaxError):
        return None
    place = builder.place
    if place is None or not builder.whole:
        return None
    return Document(value=builder.value, file=file, _root=lambda: place)


def _is_json(file: str | None) -> bool:
    return file is not None and file.lower().endswith(".json")


def parse_yaml(text: str | bytes, *, file: str | None = None, aliases: bool = False) -> Document:
    """Read one YAML document.

    Args:
        text: the text, or its bytes in UTF-8. A byte order mark at the start is dropped; CRLF counts as LF.
        file: the file's name, for the messages.
        aliases: whether anchors, aliases and merge keys are written out; for files that were made for other tools.

    Raises:
        AuthoringError: with every fault that could be found, for any text that is not one sound document.
    """
    builder = _built(_sound_text(text, file), file, aliases=aliases)
    place = builder.place
    if builder.faults or place is None:
        raise AuthoringError("YAML", builder.faults)
    return Document(value=builder.value, file=file, _root=lambda: place)


def _built(source: str, file: str | None, *, aliases: bool = False) -> TreeBuilder:
    _refuse_characters(source, file)
    builder = TreeBuilder(file)
    try:
        feed_yaml(source, builder, aliases=aliases)
    except Halt:
        builder.whole = False
    else:
        if builder.place is None:
            builder.fault("a YAML document", "nothing but blanks and comments" if source.strip() else "no text")
    return builder


def _sound_text(text: str | bytes, file: str | None) -> str:
    if len(text) > MAX_BYTES or (isinstance(text, str) and _utf8_length(text) > MAX_BYTES):
        raise _refused("a file of at most 16 MiB", "a larger one", file)
    if isinstance(text, bytes):
        text = _decoded(text, file)
    text = text.removeprefix("\ufeff")
    if text.startswith("\ufeff"):
        raise _refused("at most one byte order mark", "a second one", file, 1)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _decoded(data: bytes, file: str | None) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "Save the file as UTF-8."
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise _refused("UTF-8", "UTF-16", file, None, hint) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise _refused("UTF-8", "bytes that are no UTF-8", file, line, hint) from None


def _refuse_characters(text: str, file: str | None) -> None:
    found = _FORBIDDEN.search(text)
    if found is None:
        return
    line = text.count("\n", 0, found.start()) + 1
    hint = "If it is meant, write it as an escape in double quotes."
    raise _refused("text", f"the character U+{ord(found[0]):04X}", file, line, hint, subject="YAML")


def _refused(
    expected: str,
    found: str,
    file: str | None,
    line: int | None = None,
    hint: str | None = None,
    *,
    subject: str = "file",
) -> AuthoringError:
    return AuthoringError(subject, [Fault(path="", expected=expected, found=found, hint=hint, file=file, line=line)])


def _parse_json(text: str, file: str | None) -> Document:
    try:
        value = jsontext.parse(text)
    except JsonSyntaxError as error:
        found = f"a fault at column {error.column}: {error.what}"
        raise _refused("valid JSON", found, file, error.line, subject="JSON") from None
    if _LONG_NUMBER.search(text) or not _strict(text):
        builder = placed(text, file)
        if builder.faults:
            raise AuthoringError("JSON", builder.faults)

    @functools.cache
    def root() -> Place:
        return placed(text, file).place or Place(1)

    return Document(value=value, file=file, _root=root)


def _strict(text: str) -> bool:
    try:
        jsontext.parse_strict(text)
    except JsonSyntaxError:
        return False
    return True
