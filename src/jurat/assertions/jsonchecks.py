"""Checks of the output as JSON: `json_field`, `json_deep_compare`. Typed, exact (`jurat.assertions.jsonvalues`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jurat.assertions.jsonpath import MISSING, Missing, Path, format_path, look_up
from jurat.assertions.jsonvalues import Leaf, is_number, json_equal, leaves, not_json, on_json, read_json
from jurat.assertions.outcome import Check, clip, decided, empty_output, is_blank, unverified
from jurat.assertions.patterns import Pattern
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.jsontext import Json, JsonSyntaxError, thaw, type_name

__all__ = ["MAX_ACCOUNT", "FieldRule", "json_deep_compare", "json_field"]

MAX_ACCOUNT = 100
"""How many leaves the account of a comparison lists, those that differ first; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """What a field must satisfy: everything that is set. `exists=False` stands alone."""

    exists: bool = True
    expected: Json | Missing = MISSING
    matches: Pattern | None = None
    minimum: float | None = None
    maximum: float | None = None


def json_field(path: Path, rule: FieldRule) -> Check:
    """Pass when the value at the path satisfies the rule. Score 0 or 100.

    A field that is null exists. A field that is missing, or of the wrong type for the rule, fails it. The details name
    the path, and under `actual` the value found, cut to 200 characters.
    """
    name = format_path(path)

    def look(value: Json) -> Assessment:
        found = look_up(value, path)
        problem = _problem(found, rule)
        details: dict[str, Json] = {"path": name, "exists": found is not MISSING}
        if found is not MISSING:
            details["actual"] = _shown(found)
        return decided("json_field", problem is None, f"{name}: {problem or 'as expected'}", details=details)

    return on_json("json_field", look)


def _problem(found: Json | Missing, rule: FieldRule) -> str | None:
    if found is MISSING:
        return "the field is missing" if rule.exists else None
    if not rule.exists:
        return f"the field exists and is {type_name(found)}"
    if rule.expected is not MISSING and not json_equal(rule.expected, found):
        return _difference(rule.expected, found)
    if rule.matches is not None:
        if not isinstance(found, str):
            return f"text is needed for a pattern, found {type_name(found)}"
        if not rule.matches.occurs(found):
            return "the pattern does not match"
    return _outside(found, rule)


def _difference(expected: Json | Missing, found: Json) -> str:
    wanted, got = type_name(expected), type_name(found)
    return f"expected {wanted}, found {got}" if wanted != got else f"the values, each {got}, differ"


def _outside(found: Json, rule: FieldRule) -> str | None:
    if rule.minimum is None and rule.maximum is None:
        return None
    if not is_number(found):
        return f"a number is needed for a bound, found {type_name(found)}"
    if rule.minimum is not None and found < rule.minimum:
        return f"the number is below {rule.minimum!r}"
    if rule.maximum is not None and found > rule.maximum:
        return f"the number is above {rule.maximum!r}"
    return None


def json_deep_compare(
    expected: Json | Missing = MISSING, *, threshold: float = 100.0, ignore_extra: bool = False
) -> Check:
    """Score 100 × matching leaves / all leaves of either side; pass when that is at least `threshold`.

    Args:
        expected: a JSON value; MISSING takes the context's `expected` (a text there that is a JSON object or array is
            read as such; none is `unverified`).
        threshold: 0 to 100.
        ignore_extra: leave aside what only the output has. An empty object or array then matches any of its kind.

    Leaves match when both sides have one at the same path and they are equal, typed and exact. Without `ignore_extra`
    the score does not depend on which side is which. The details account for each leaf (`comparisons`: path, match,
    expected, actual), the differing ones first, at most `MAX_ACCOUNT` of them.
    """

    def run(context: Context) -> Assessment:
        if is_blank(context.output):
            return empty_output("json_deep_compare")
        wanted = _from_context(context) if expected is MISSING else expected
        if wanted is None and expected is MISSING:
            message = "there is no expected value: give the assertion or the case an expected"
            return unverified("json_deep_compare", "no_expected", message)
        try:
            value = read_json(context.output)
        except JsonSyntaxError as error:
            return not_json("json_deep_compare", error)
        return _compared(wanted, value, threshold, ignore_extra)

    return run


def _from_context(context: Context) -> Json:
    if not isinstance(context.expected, str):
        return context.expected
    try:
        value = read_json(context.expected)
    except JsonSyntaxError:
        return context.expected
    return value if isinstance(value, dict | list) else context.expected


def _compared(expected: Json, actual: Json, threshold: float, ignore_extra: bool) -> Assessment:
    alike: list[Leaf] = []
    different: list[Leaf] = []
    for leaf in _without_extra(expected, actual) if ignore_extra else leaves(expected, actual):
        (alike if json_equal(leaf[1], leaf[2]) else different).append(leaf)
    total = len(alike) + len(different)
    score = 100 * len(alike) / total
    listed = [_line(leaf, match=False) for leaf in different[:MAX_ACCOUNT]]
    listed += [_line(leaf, match=True) for leaf in alike[: MAX_ACCOUNT - len(listed)]]
    details: dict[str, Json] = {
        "matches": len(alike),
        "total": total,
        "threshold": threshold,
        "comparisons": listed,
        "omitted": total - len(listed),
    }
    reason = f"{len(alike)} of {total} leaves match (threshold {threshold!r})"
    return decided("json_deep_compare", score >= threshold, reason, score=score, details=details)


def _without_extra(expected: Json, actual: Json) -> list[Leaf]:
    return [
        (path, left, left if _empty_of_one_kind(left, look_up(actual, path)) else right)
        for path, left, right in leaves(expected, actual)
        if left is not MISSING
    ]


def _empty_of_one_kind(left: Json | Missing, right: Json | Missing) -> bool:
    if isinstance(left, Mapping):
        return isinstance(right, Mapping)
    return isinstance(left, Sequence) and not isinstance(left, str) and isinstance(right, list)


def _line(leaf: Leaf, *, match: bool) -> dict[str, Json]:
    path, expected, actual = leaf
    line: dict[str, Json] = {"path": clip(format_path(path)), "match": match}
    if expected is not MISSING:
        line["expected"] = _shown(expected)
    if actual is not MISSING:
        line["actual"] = _shown(actual)
    return line


def _shown(value: Json) -> Json:
    """A value for the record: texts are cut, and of an object or array that holds something only its type is said."""
    if isinstance(value, str):
        return clip(value)
    if isinstance(value, Mapping) or (isinstance(value, Sequence) and len(value) > 0):
        return type_name(value) if len(value) else thaw(value)
    return thaw(value)
