"""Checks of the output's text: `contains`, `not_contains`, `exact_match`, `required_text`, `forbidden_text`.

Texts are compared character by character, without Unicode normalisation; `ignore_case` compares after Unicode case
folding (`ß` equals `ss`). A blank output is `unverified` for all of them: it holds nothing that was asked for, and it
is no proof that a model keeps what is forbidden to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jurat.assertions.jsonvalues import json_equal, read_json
from jurat.assertions.outcome import Check, decided, empty_output, is_blank, named, on_output, unverified
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.jsontext import Json, JsonSyntaxError, canonical

__all__ = ["contains", "exact_match", "forbidden_text", "not_contains", "required_text"]

_MOST_NAMED = 3
"""How many of several texts a reason names; the details have them all."""


def contains(value: Sequence[str], *, match: str = "all", ignore_case: bool = False) -> Check:
    """Pass when all of the texts (`match="any"`: at least one) occur in the output. Score 0 or 100."""
    return _texts("contains", value, ignore_case, (lambda found, _: found > 0) if match == "any" else _all)


def required_text(value: Sequence[str], *, ignore_case: bool = False) -> Check:
    """Pass when every one of the texts occurs in the output. Score 0 or 100."""
    return _texts("required_text", value, ignore_case, _all)


def not_contains(value: Sequence[str], *, ignore_case: bool = False) -> Check:
    """Pass when none of the texts occurs in an output that is not blank. Score 0 or 100."""
    return _texts("not_contains", value, ignore_case, _none)


def forbidden_text(value: Sequence[str], *, ignore_case: bool = False) -> Check:
    """Pass when none of the texts occurs in an output that is not blank. Score 0 or 100."""
    return _texts("forbidden_text", value, ignore_case, _none)


def _all(found: int, count: int) -> bool:
    return found == count


def _none(found: int, _: int) -> bool:
    return found == 0


def _texts(check: str, texts: Sequence[str], ignore_case: bool, rule: Callable[[int, int], bool]) -> Check:
    wanted = [(text, text.casefold() if ignore_case else text) for text in texts]

    def look(output: str) -> Assessment:
        seen = output.casefold() if ignore_case else output
        found = [text for text, needle in wanted if needle in seen]
        missing = [text for text, needle in wanted if needle not in seen]
        details: dict[str, Json] = {"found": [*found], "missing": [*missing]}
        reason = _counted(found, missing, forbidden=rule is _none) if len(wanted) > 1 else _one(texts[0], bool(found))
        return decided(check, rule(len(found), len(wanted)), reason, details=details)

    return on_output(check, look)


def _one(text: str, found: bool) -> str:
    return f"{named(text)} {'occurs' if found else 'does not occur'}"


def _counted(found: Sequence[str], missing: Sequence[str], *, forbidden: bool) -> str:
    """How many occur, and which of them it is about: those that do where none should, else those that do not."""
    told = found if forbidden else missing
    listed = ", ".join(named(text) for text in told[:_MOST_NAMED])
    more = f" and {len(told) - _MOST_NAMED:,} more" if len(told) > _MOST_NAMED else ""
    which = f": {listed}{more}" if forbidden else f"; not {listed}{more}"
    return f"{len(found):,} of {len(found) + len(missing):,} texts occur{which if told else ''}"


def exact_match(value: Json = None, *, ignore_case: bool = False, trim: bool = False) -> Check:
    """Pass when the output equals the expected value. Score 0 or 100.

    Args:
        value: what is expected; None takes the context's `expected`. A text is compared character by character. Any
            other JSON value is compared, typed, with the output read as JSON (42 equals `42` and `42.0`, not `"42"`).
        ignore_case: compare texts after case folding.
        trim: leave white space at both ends of both texts aside.

    Two blank texts are no match: a blank output, like an absent or blank expected value, is `unverified`.
    """

    def run(context: Context) -> Assessment:
        expected = context.expected if value is None else value
        if is_blank(context.output):
            return empty_output("exact_match")
        if expected is None:
            message = "there is no expected value: give the assertion a value, or the case an expected"
            return unverified("exact_match", "no_expected", message)
        if not isinstance(expected, str):
            return _same_value(expected, context.output)
        if is_blank(expected):
            return unverified("exact_match", "empty_expected", "the expected text is blank, so nothing can match it")
        return _same_text(expected, context.output, ignore_case, trim)

    return run


def _same_text(expected: str, output: str, ignore_case: bool, trim: bool) -> Assessment:
    left, right = (expected.strip(), output.strip()) if trim else (expected, output)
    if ignore_case:
        left, right = left.casefold(), right.casefold()
    same = left == right
    return decided("exact_match", same, "the texts are equal" if same else f"the output is not {named(expected)}")


def _same_value(expected: Json, output: str) -> Assessment:
    try:
        same = json_equal(expected, read_json(output))
    except JsonSyntaxError as error:
        reason = f"a JSON value is expected, and the output is none: {error}"
        return decided("exact_match", False, reason)
    reason = "the values are equal" if same else f"the output is not the value {named(canonical(expected))}"
    return decided("exact_match", same, reason)
