"""Writes a JSON value as YAML for people: block style, long text folded, many lines as a literal block.

What is written reads back as the same value, here and by readers of YAML 1.1: words and numbers that some reader would
take for something else stand in quotes.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jurat import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jurat.jsontext import Json

__all__ = ["LONGEST_SIMPLE_KEY", "flow_text", "json_quoted", "key_text", "text_lines", "to_yaml"]

_WIDTH = 88
LONGEST_SIMPLE_KEY = 1_000
"""YAML allows a longer key only when it is announced."""
_PLAIN = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_ ./()'@,;?!-]*[A-Za-z0-9_.)?!])?")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_UNSEEN = (
    "\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that nobody sees, which turn, join or hide what stands around them, and breaks that only some readers see.
Joiners (U+200C, U+200D) are not among them where they join: emoji and whole scripts are written with them."""
_ESCAPED = re.compile(f"[{_UNSEEN}]|(?<![^\\x00-\\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\\x00-\\x7f])")
_BLOCKY = re.compile(r"[^\s\x00-\x1f\x7f-\x9f](?:[^\x00-\x09\x0b-\x1f\x7f-\x9f])*")


def to_yaml(value: Json) -> str:
    """The value as one YAML document that `parse_yaml` reads back as the same value; keys keep their order.

    Raises:
        NotJson: for a value that has no JSON form.
    """
    plain = jsontext.thaw(value)
    if isinstance(plain, str):  # a block at the top level could look like the end of the document
        return _quoted(plain) + "\n"
    return "\n".join(_lines(plain)).removeprefix(" ") + "\n"


def _lines(value: Json) -> Iterator[str]:
    """The lines of a value, relative to its block. The first line of a scalar begins with the space after its key."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _entry(key_text(key), part)
    elif isinstance(value, list) and value:
        for part in value:
            yield from _item(part)
    elif isinstance(value, str):
        yield from text_lines(value)
    else:
        yield " " + jsontext.canonical(value)


def _entry(key: str, part: Json) -> Iterator[str]:
    if len(key) > LONGEST_SIMPLE_KEY:
        yield f"? {key}"
        key = ""
    lines = _lines(part)
    yield f"{key}:" if _is_block(part) else f"{key}:{next(lines)}"
    yield from (f"  {line}" if line else "" for line in lines)


def _item(part: Json) -> Iterator[str]:
    lines = _lines(part)
    first = next(lines)
    yield f"- {first}" if _is_block(part) else f"-{first}"
    yield from (f"  {line}" if line else "" for line in lines)


def _is_block(value: Json) -> bool:
    return isinstance(value, Mapping | list) and bool(value)


def key_text(key: str) -> str:
    """A key, in quotes where some reader would take it for something else."""
    if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED:
        return key
    return _quoted(key)


def text_lines(text: str) -> Iterator[str]:
    """The lines of a text in a block: the first begins with the space after its key."""
    words, lines = text.split(" "), text.removesuffix("\n").split("\n")
    if _ESCAPED.search(text):
        yield " " + _quoted(text)
    elif "\n" in text and _BLOCKY.fullmatch(text) and lines[-1] and all(line.strip() or not line for line in lines):
        yield " |" if text.endswith("\n") else " |-"
        yield from lines
    elif len(text) > _WIDTH and _BLOCKY.fullmatch(text) and all(word and word.split() == [word] for word in words):
        yield " >-"
        yield from textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    elif _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        yield " " + text
    else:
        yield " " + _quoted(text)


def flow_text(text: str) -> str:
    """A text between brackets, where a comma has a meaning."""
    if _PLAIN.fullmatch(text) and "," not in text and text.lower() not in _RESERVED:
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    return _ESCAPED.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_quoted(text: str) -> str:
    """A text as JSON writes it, what cannot be seen as escapes."""
    return _ESCAPED.sub(lambda found: json.dumps(found[0])[1:-1], json.dumps(text, ensure_ascii=False))
