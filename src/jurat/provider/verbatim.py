"""A member of a JSON text, exactly as it was written.

A decoded object forgets which members it had twice and how its numbers were spelt. Where an answer comes as an object
inside of an envelope, the check of the answer has to see what the model wrote, so the member's own text is cut out.
"""

from __future__ import annotations

import json

__all__ = ["member_text"]

_decoder = json.JSONDecoder()
_string = json.decoder.scanstring  # type: ignore[attr-defined]  # the library's own scanner of texts
_BLANK = " \t\n\r"


def member_text(text: str, path: tuple[str | int, ...]) -> str | None:
    """The text of the value at a path of names and indexes, or None when there is none.

    The text is valid JSON. Of a member that is there twice, the last one counts, as it does for the decoder.
    """
    at = _skip(text, 0)
    for step in path:
        found = _member(text, at, step) if isinstance(step, str) else _entry(text, at, step)
        if found is None:
            return None
        at = found
    return text[at : _decoder.raw_decode(text, at)[1]]


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _BLANK:
        at += 1
    return at


def _member(text: str, at: int, name: str) -> int | None:
    if text[at] != "{":
        return None
    found: int | None = None
    at = _skip(text, at + 1)
    while text[at] == '"':
        key, at = _string(text, at + 1)
        start = _skip(text, _skip(text, at) + 1)
        if key == name:
            found = start
        at = _next(text, start)
    return found


def _entry(text: str, at: int, index: int) -> int | None:
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    for _ in range(index):
        if text[at] == "]":
            return None
        at = _next(text, at)
    return None if text[at] == "]" else at


def _next(text: str, start: int) -> int:
    """Where the next name or entry begins, after the value that starts here and a comma."""
    at = _skip(text, _decoder.raw_decode(text, start)[1])
    return _skip(text, at + 1) if text[at] == "," else at
