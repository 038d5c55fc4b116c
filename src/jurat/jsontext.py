"""JSON as text: a reader that forgives nothing, and one canonical way to write.

The reader accepts exactly one JSON value (RFC 8259) with space, tab, CR or LF around it. It refuses a BOM, comments,
trailing text, nesting deeper than `MAX_DEPTH` and lone surrogates, and it never raises anything but `JsonSyntaxError`,
whatever the input. Three things it lets through *marked*, because the caller decides what they mean: a repeated key
(the object is a `Repeated`), the words NaN and Infinity (a `NonFinite`), a literal that overflows (`inf`).

The writer is canonical: sorted keys, no spaces, UTF-8 kept as is. Equal values give equal bytes, so that a hash of the
bytes is a name of the value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

__all__ = [
    "MAX_DEPTH",
    "Json",
    "JsonSyntaxError",
    "NonFinite",
    "NotJson",
    "Repeated",
    "canonical",
    "found_word",
    "freeze",
    "parse",
    "parse_strict",
    "thaw",
    "type_name",
]

Json = Any
"""A JSON value: None, bool, int, float, str, and lists and string-keyed mappings of such."""

MAX_DEPTH = 100
"""How deep arrays and objects may nest. Far above any shape of ours, far below any interpreter's limit."""

_MAX_DIGITS = 4000
_MAX_BITS = 14_000
"""Integers of more bits have no JSON form here: Python writes no number of more than 4,300 digits."""
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# What the standard library calls a fault, in words of ours: its own may repeat a piece of the text.
_FAULTS = (
    ("Expecting property name", "a key in double quotes was expected"),
    ("Illegal trailing comma", "a trailing comma"),
    ("Expecting ',' delimiter", "a comma was expected"),
    ("Expecting ':' delimiter", "a colon was expected"),
    ("Expecting value", "a value was expected"),
    ("Unterminated string", "a string that does not end"),
    ("Invalid control character", "control character in string"),
    ("Invalid \\escape", "an illegal escape in a string"),
    ("Invalid \\u", "an illegal \\u escape in a string"),
    ("Extra data", "text after the end of the value"),
)


class JsonSyntaxError(ValueError):
    """The text is not one JSON value. `line` and `column` count from 1.

    The message repeats nothing of the text, save the key that `parse_strict` finds twice.
    """

    def __init__(self, what: str, line: int = 1, column: int = 1) -> None:
        self.what, self.line, self.column = what, line, column
        super().__init__(f"{what} (line {line}, column {column})")


class NotJson(ValueError):
    """A Python value that has no JSON form. `path` names it, `found` says what it is."""

    def __init__(self, path: str, found: str) -> None:
        self.path, self.found = path, found
        super().__init__(f"{path or '(top level)'}: expected a JSON value, found {found}")


class Repeated(dict[str, Any]):
    """An object in which a key stands more than once (after escapes are decoded). `key` is the first such."""

    key: str = ""


class NonFinite:
    """One of the words NaN, Infinity, -Infinity, which are no JSON numbers."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        self.word = word


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    repeated = Repeated(made)
    repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def _integer(digits: str) -> int:
    # Python refuses to convert thousands of digits; a number so large compares the same when it is cut.
    return int(digits[:_MAX_DIGITS])


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=NonFinite)
_cutting = json.JSONDecoder(object_pairs_hook=_object, parse_constant=NonFinite, parse_int=_integer)


def parse(text: str) -> Json:
    """Read one JSON value, marking repeated keys and non-finite words (see the module's text).

    Raises:
        JsonSyntaxError: for anything that is not exactly one JSON value in valid Unicode.
    """
    _refuse_depth(text)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(_in_our_words(error.msg), error.lineno, error.colno) from None
    except RecursionError:
        raise JsonSyntaxError(f"nesting deeper than {MAX_DEPTH}") from None
    except ValueError:
        value = _with_cut_numbers(text)
    if _may_hold_surrogate(text) and _holds_surrogate(value):
        raise JsonSyntaxError("a lone surrogate, which is no Unicode character")
    return value


def _with_cut_numbers(text: str) -> Json:
    """A text in which a number has more digits than Python converts."""
    try:
        return _cutting.decode(text)
    except ValueError:  # an interpreter that was told to convert fewer digits than usual
        raise JsonSyntaxError("a number of too many digits") from None


def parse_strict(text: str) -> Json:
    """Read one JSON value and refuse what `parse` only marks.

    Raises:
        JsonSyntaxError: also for a repeated key, NaN, Infinity and numbers that overflow.
    """
    value = parse(text)
    _refuse_marks(value)
    return value


def _refuse_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _TOKENS.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise JsonSyntaxError(f"nesting deeper than {MAX_DEPTH}")
        elif first != '"':
            depth -= 1


def _in_our_words(message: str) -> str:
    return next((ours for theirs, ours in _FAULTS if message.startswith(theirs)), "a syntax error")


def _may_hold_surrogate(text: str) -> bool:
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        return True
    return not text.isascii() and _SURROGATE.search(text) is not None


def _holds_surrogate(value: Json) -> bool:
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(_holds_surrogate(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(_holds_surrogate, value))


def _refuse_marks(value: Json) -> None:
    if isinstance(value, Repeated):
        raise JsonSyntaxError(f"the key {value.key[:80]!r} stands twice in one object")
    if isinstance(value, NonFinite) or (isinstance(value, float) and not math.isfinite(value)):
        raise JsonSyntaxError("a number that is not finite")
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            if type(part) is not str:  # most parts are text, and text is never marked
                _refuse_marks(part)


def canonical(value: Json) -> str:
    """Write a value in its one canonical form. Frozen values are written like their plain equals.

    Raises:
        NotJson: for a value that has no JSON form (bytes, NaN, a key that is no string, …).
    """
    return json.dumps(thaw(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def freeze(value: object, path: str = "", depth: int = 0) -> Json:
    """An immutable copy: mappings become read-only, sequences become tuples.

    Raises:
        NotJson: for a value that has no JSON form; its path is named.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _sound_integer(value, path)
    if isinstance(value, str):
        return _sound_text(value, path)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(path, "a number that is not finite")
        return value
    if depth >= MAX_DEPTH:
        raise NotJson(path, f"nesting deeper than {MAX_DEPTH}")
    if type(value) in _USUAL_MAPPINGS or isinstance(value, Mapping):
        return _freeze_mapping(value, path, depth)  # type: ignore[arg-type]
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return tuple(freeze(part, f"{path}[{i}]", depth + 1) for i, part in enumerate(value))
    raise NotJson(path, type_name(value))


_USUAL_MAPPINGS = (dict, MappingProxyType)
"""Told without asking an abstract class, which costs as much as freezing a text."""


def _freeze_mapping(value: Mapping[Any, Any], path: str, depth: int) -> Mapping[str, Json]:
    made: dict[str, Json] = {}
    for key, part in value.items():
        if not isinstance(key, str):
            raise NotJson(path, f"a key that is no string but {type_name(key)}")
        if type(part) in _SIMPLE and (type(part) is not str or part.isascii()):  # sound as it is, as most parts are
            made[_sound_text(key, path)] = part
            continue
        inner = f"{path}.{key}" if path else key
        made[_sound_text(key, path)] = freeze(part, inner, depth + 1)
    return MappingProxyType(made)


_SIMPLE = frozenset({str, bool, type(None)})


def _sound_integer(number: int, path: str) -> int:
    if number.bit_length() > _MAX_BITS:
        raise NotJson(path, "a number of more than 4,000 digits")
    return number


def _sound_text(text: str, path: str) -> str:
    if not text.isascii() and _SURROGATE.search(text):
        raise NotJson(path, "text with a lone surrogate, which is no Unicode character")
    return text


def thaw(value: Json) -> Json:
    """Plain dicts and lists again. The opposite of `freeze`; checks what it copies in the same way."""
    return _plain(freeze(value))


def _plain(value: Json) -> Json:
    if isinstance(value, MappingProxyType):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value


def found_word(value: object) -> str:
    """What an author wrote, for the "found" of a message: short text and numbers as they are, else the type."""
    if isinstance(value, str) and len(value) <= 40:
        return repr(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value!r:.40}"
    return str(value).lower() if isinstance(value, bool) else type_name(value)


def type_name(value: object) -> str:
    """The JSON word for a value's type, as a sentence wants it: `a number`, `text`, `null`."""
    if value is None:
        return "null"
    for types, word in _TYPE_WORDS:
        if isinstance(value, types):
            return word
    return f"a Python {type(value).__name__}"


_TYPE_WORDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "text"),
    ((bytes, bytearray), "bytes"),
    (Mapping, "an object"),
    ((list, tuple), "an array"),
    (NonFinite, "a number that is not finite"),
)
