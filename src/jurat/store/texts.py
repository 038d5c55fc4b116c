"""Text and JSON as columns, whatever they hold.

Ordinary text is stored as it is, so that SQL can read it. Text with what a database's text type refuses (NUL, lone
surrogates) is marked and *packed* (`jurat.store.rows`). JSON is stored compactly, keys in the order in which they came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from jurat.jsontext import Json
from jurat.store.rows import pack, unpack

__all__ = ["keep_canonical", "keep_json", "keep_text", "read_json", "read_text"]

_MARK = "\\packed:"
_SURROGATE = re.compile("[\ud800-\udfff]")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):  # read-only, as frozen values are
        return dict(value)
    raise TypeError(f"expected a JSON value, found a Python {type(value).__name__}")


_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain).encode
_canonical = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), default=_plain
).encode


def keep_text(text: str) -> str:
    """The text as a column holds it."""
    if "\0" in text or text.startswith(_MARK) or not (text.isascii() or _SURROGATE.search(text) is None):
        return _MARK + pack(text)
    return text


def read_text(stored: str) -> str:
    """The text that was kept."""
    return unpack(stored[len(_MARK) :]) if stored.startswith(_MARK) else stored


def keep_json(value: Json) -> str:
    """A JSON value as a column holds it. Frozen values are written like their plain equals.

    Raises:
        ValueError, TypeError, RecursionError: when it has no JSON form.
    """
    return keep_text(_write(value))


def keep_canonical(value: Json) -> str:
    """The same in the canonical form (`jurat.jsontext.canonical`), whose bytes name the value."""
    return keep_text(_canonical(value))


_read = json.JSONDecoder().raw_decode
"""Without the search for space around a value, which takes as long as reading a short one; here nobody writes any."""


def read_json(stored: str) -> Json:
    """The value that was kept, in plain dicts and lists.

    Raises:
        ValueError: when it is something else than one JSON value.
    """
    if stored in _EMPTY:
        return _EMPTY[stored]()
    text = read_text(stored)
    value, end = _read(text)
    if end != len(text):
        raise ValueError(f"expected one JSON value, found more after {end} characters")
    return value


_EMPTY: dict[str, Callable[[], Json]] = {"{}": dict, "[]": list}
