"""Text files: their characters as they stand. UTF-8, with or without a byte order mark; UTF-16 and UTF-32 by theirs."""

from __future__ import annotations

import codecs

from jurat.documents.faults import Unreadable
from jurat.documents.kinds import JSON, Kind
from jurat.jsontext import JsonSyntaxError, parse

__all__ = ["decoded"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decoded(data: bytes, kind: Kind) -> str:
    """The text of a text file.

    Raises:
        Unreadable: when it is no text, in another encoding, or said to be JSON and is none.
    """
    mark, encoding = next((pair for pair in _MARKS if data.startswith(pair[0])), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        hint = "Save it as UTF-8" if encoding == "utf-8" else None
        found = f"a byte that is none, at {error.start + len(mark) + 1:,}"
        raise Unreadable(f"text in {encoding.upper()}", found, hint) from None
    if "\x00" in text:
        raise Unreadable("text", "a NUL character, so perhaps binary data")
    if kind is JSON:
        _refuse_other_than_json(text)
    return text


def _refuse_other_than_json(text: str) -> None:
    try:
        parse(text)
    except JsonSyntaxError as error:
        found = f"{error.what} (line {error.line}, column {error.column})"
        raise Unreadable("JSON, as it is said to be", found) from None
