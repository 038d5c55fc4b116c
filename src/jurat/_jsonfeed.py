"""Feeds JSON to a tree builder, token by token: the places of a text whose syntax is known to be sound.

Reading for the value alone is many times faster (`jurat.jsontext`); this second reading is done only when somebody
asks where a value stands, or when a fault needs its line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jurat import jsontext
from jurat._tree import MAX_NUMBER, Halt, TreeBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["placed"]

_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


def placed(text: str, file: str | None) -> TreeBuilder:
    """Read JSON, known to be sound in its syntax, once more: for the places, and for faults that need a line."""
    builder = TreeBuilder(file)
    try:
        for token, line in _lines_of(_TOKENS.finditer(text), text):
            _feed_json(token, line, builder)
    except Halt:
        pass
    return builder


def _lines_of(tokens: Iterable[re.Match[str]], text: str) -> Iterator[tuple[str, int]]:
    line, last = 1, 0
    for token in tokens:
        line += text.count("\n", last, token.start())
        last = token.start()
        yield token[0], line


def _feed_json(token: str, line: int, builder: TreeBuilder) -> None:
    first = token[0]
    if first in "{[":
        builder.open({} if first == "{" else [], line)
    elif first in "}]":
        builder.close()
    elif first == '"':
        text = jsontext.parse(token)
        (builder.key if builder.wants_key else builder.text)(text, line)
    elif first not in ",:":
        _json_word(token, line, builder)


def _json_word(token: str, line: int, builder: TreeBuilder) -> None:
    if len(token) > MAX_NUMBER:
        builder.fault(f"a number of at most {MAX_NUMBER:,} characters", "a longer one", None, line)
        token = "0"
    value = jsontext.parse(token)
    builder.word(float("nan") if isinstance(value, jsontext.NonFinite) else value, token, line)
