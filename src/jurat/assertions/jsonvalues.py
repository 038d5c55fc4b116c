"""JSON values compared as JSON: by type and exactly.

1 is not "1", `true` is not 1, null is not missing; 1 equals 1.0, since JSON has one kind of number. Integers are
compared to the last digit, never through a float. A text that is not JSON is the subject's doing (a fail); one that is
beyond our bounds is not judged (an error).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeGuard

from jurat.assertions.jsonpath import MISSING, Missing, Path
from jurat.assertions.outcome import Check, decided, on_output, too_much
from jurat.evaluation import Assessment
from jurat.jsontext import MAX_DEPTH, Json, JsonSyntaxError, parse_strict

__all__ = ["MAX_JSON", "is_number", "json_equal", "leaves", "not_json", "on_json", "read_json"]

MAX_JSON = 16 * 1024 * 1024
"""The longest text that is read as JSON, in characters."""

MAX_NUMBER = 4000
# Looked for at the start of a run of digits alone, so that long runs cost no more than their length.
_LONG_NUMBER = re.compile(rf"(?<![0-9])[0-9]{{{MAX_NUMBER}}}")
_TOO_DEEP = f"nesting deeper than {MAX_DEPTH}"


def read_json(text: str) -> Json:
    """The one JSON value that the text is (no fence, no prose, no repeated key, no NaN).

    Raises:
        JsonSyntaxError: the text is not that.
        RequestError: it may well be, but is longer, deeper or with longer numbers than we read.
    """
    if len(text) > MAX_JSON:
        raise too_much(f"at most {MAX_JSON:,} characters are read as JSON, the text has {len(text):,}")
    if _LONG_NUMBER.search(text):
        # The reader cuts numbers so long, and a cut number must not be compared.
        raise too_much(f"the JSON holds {MAX_NUMBER:,} digits in a row; numbers so long are not compared")
    try:
        return parse_strict(text)
    except JsonSyntaxError as error:
        if error.what == _TOO_DEEP:
            raise too_much(f"the JSON has {_TOO_DEEP} levels") from None
        raise


def on_json(check: str, look: Callable[[Json], Assessment]) -> Check:
    """A check of the output as a JSON value. Blank is `unverified`; what is no JSON fails."""

    def read(output: str) -> Assessment:
        try:
            value = read_json(output)
        except JsonSyntaxError as error:
            return not_json(check, error)
        return look(value)

    return on_output(check, read)


def not_json(check: str, error: JsonSyntaxError) -> Assessment:
    """The fail of an output that is not exactly one JSON value."""
    details: dict[str, Json] = {"json_error": {"line": error.line, "column": error.column}}
    return decided(check, False, f"the output is not one JSON value: {error}", details=details)


def is_number(value: object) -> bool:
    """Whether a JSON value is a number; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def json_equal(left: Json | Missing, right: Json | Missing) -> bool:
    """Whether two JSON values are the same value, typed and exact. Keys have no order, arrays have one."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(json_equal(part, right[key]) for key, part in left.items())
    if _is_array(left) and _is_array(right):
        return len(left) == len(right) and all(map(json_equal, left, right))
    if is_number(left) and is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _is_array(value: Json | Missing) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


Leaf = tuple[Path, "Json | Missing", "Json | Missing"]


def leaves(expected: Json | Missing, actual: Json | Missing, path: Path = ()) -> Iterator[Leaf]:
    """The leaves of two values side by side: path, expected, actual; MISSING where one has nothing there.

    A leaf is a text, number, boolean, null, or an empty object or array. Where one value has a leaf and the other an
    inner node, both count: the leaf, and every leaf below the node.
    """
    if _inner(expected) and _inner(actual) and isinstance(expected, Mapping) == isinstance(actual, Mapping):
        for step in _steps(expected, actual):
            yield from leaves(_part(expected, step), _part(actual, step), (*path, step))
    elif _inner(expected):
        yield from _one_sided(expected, actual, path)
    elif _inner(actual):
        yield from ((where, right, left) for where, left, right in _one_sided(actual, expected, path))
    else:
        yield path, expected, actual


def _one_sided(node: Json, other: Json | Missing, path: Path) -> Iterator[Leaf]:
    """The leaves below `node`, facing nothing; then what the other side has at the same place, facing nothing too."""
    for step in _steps(node, node):
        yield from leaves(_part(node, step), MISSING, (*path, step))
    if other is not MISSING:
        yield from leaves(MISSING, other, path)


def _inner(value: object) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str) and len(value) > 0


def _steps(left: Json, right: Json) -> Iterator[str | int]:
    if isinstance(left, Mapping):
        yield from left
        yield from (key for key in right if key not in left)
    else:
        yield from range(max(len(left), len(right)))


def _part(value: Json, step: str | int) -> Json | Missing:
    if isinstance(value, Mapping):
        return value.get(step, MISSING)
    return value[step] if isinstance(step, int) and step < len(value) else MISSING
