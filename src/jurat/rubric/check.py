"""What a sound rubric is: every rule in one place, for rubrics made in code and rubrics read from files alike.

The rules look at the plain shape (mappings, lists, text, numbers) and report every fault with its path; a rubric with
ten faults reports ten. Nothing is repaired, converted or guessed: a number in quotes is text, and a boolean is not a
number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jurat.errors import Fault
from jurat.jsontext import type_name
from jurat.vocabulary import Scope, nearest

__all__ = [
    "ANCHOR_KEYS",
    "CRITERION_KEYS",
    "LIMITS",
    "NAME_PATTERN",
    "NEEDS",
    "REVISION_PATTERN",
    "RUBRIC_KEYS",
    "Limits",
    "Misplaced",
    "faults_of",
]

NEEDS = ("output", "rendered_input", "messages", "expected", "context", "documents")
"""The evidence that a rubric may say it needs, in the order in which it is written.

`rendered_input` is met by any record of what was asked, the messages included; `messages` by more than one turn;
`context` by grounding text or by documents.
"""

NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
"""Rubric names and criterion ids: they stand in references (`name@revision`), JSON keys, tables and addresses."""

REVISION_PATTERN = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Revisions: as names, with dots, so that `v1.2` and `2026-01-16` may be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large the parts of a rubric may be. Texts are counted in characters (code points)."""

    criteria: int = 64
    anchors: int = 64
    definition: int = 8_000
    description: int = 4_000
    label: int = 200
    purpose: int = 1_000
    score: float = 1e9
    least_weight: float = 1e-6
    most_weight: float = 1e6


LIMITS = Limits()
"""Bounds on numbers keep every sum, mean and midpoint finite; bounds on texts keep a rubric a thing people can read."""

RUBRIC_KEYS = (
    "name",
    "revision",
    "scope",
    "purpose",
    "definition",
    "criteria",
    "anchors",
    "needs",
    "threshold",
    "scores_absence",
)
CRITERION_KEYS = ("id", "description", "min", "max", "weight", "required")
ANCHOR_KEYS = ("score", "label", "description")

_NAME = re.compile(NAME_PATTERN)
_REVISION = re.compile(REVISION_PATTERN)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MISSING = object()

Spelling = Callable[[str], str | None]


def faults_of(rubric: object, *, at: str = "", spelling_of: Spelling | None = None) -> list[Fault]:
    """Every fault of a rubric in its plain shape, in the order of the shape; an empty list for a sound one.

    Args:
        rubric: what should be a mapping as rubric files have it.
        at: the path of the rubric inside a larger document, put before every path.
        spelling_of: how the number at a path was written, where it was (`Document.spelling_of`).
    """
    check = _Check(spelling_of=spelling_of)
    if isinstance(rubric, Mapping):
        check.rubric(rubric, at)
    else:
        check.wrong(at, "a rubric (an object)", rubric)
    return check.faults


@dataclass(frozen=True, slots=True)
class Misplaced:
    """Stands for a Python value of a type that has no place there, though its shape might pass."""

    kind: str


@dataclass(slots=True)
class _Check:
    """Walks the shape once and collects. Paths are full, `criteria[2].min`."""

    faults: list[Fault] = field(default_factory=list)
    spelling_of: Spelling | None = None

    # What is said ---------------------------------------------------------------------------------------------------

    def say(self, path: str, expected: str, found: str, hint: str | None = None) -> None:
        self.faults.append(Fault(path=path, expected=expected, found=found, hint=hint))

    def wrong(self, path: str, expected: str, value: object) -> None:
        """A value of the wrong kind. A number where text is wanted is told how to become text."""
        if value is _MISSING:
            self.say(path, expected, "nothing", "Add it.")
            return
        spelling = self.spelling_of(path) if self.spelling_of is not None else None
        is_word = value is None or isinstance(value, bool | int | float)
        hint = "Put it in quotes." if expected.startswith("text") and is_word and value is not None else None
        self.say(path, expected, _described(value, spelling), hint)

    # The shape ------------------------------------------------------------------------------------------------------

    def rubric(self, rubric: Mapping[Any, Any], at: str) -> None:
        self.keys(rubric, RUBRIC_KEYS, at)
        get = _getter(rubric)
        self.word(get("name"), _below(at, "name"), _NAME, "letters, digits, _ and -, at most 64 characters")
        self.word(get("revision", "v1"), _below(at, "revision"), _REVISION, "letters, digits, ., _ and -, at most 64")
        self.scope(get("scope", Scope.CASE), _below(at, "scope"))
        self.text(get("purpose", ""), _below(at, "purpose"), LIMITS.purpose, blank=True)
        self.text(get("definition"), _below(at, "definition"), LIMITS.definition)
        ranges = self.criteria(get("criteria"), _below(at, "criteria"))
        envelope = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None
        self.anchors(get("anchors", ()), _below(at, "anchors"), envelope)
        self.needs(get("needs", ()), _below(at, "needs"))
        threshold = get("threshold", None)
        if threshold is not None:
            self.score(threshold, _below(at, "threshold"), envelope)
        if not isinstance(get("scores_absence", False), bool):
            self.wrong(_below(at, "scores_absence"), "true or false", get("scores_absence"))

    def criteria(self, criteria: object, path: str) -> list[tuple[float, float]]:
        """Check all criteria and return the sound ranges among them."""
        entries = self.entries(criteria, path, 1, LIMITS.criteria, "criteria")
        ranges = [found for i, one in enumerate(entries) if (found := self.criterion(one, f"{path}[{i}]")) is not None]
        first: dict[object, int] = {}
        for i, one in enumerate(entries):
            id_ = one.get("id") if isinstance(one, Mapping) else None
            if isinstance(id_, str) and first.setdefault(id_, i) != i:
                self.say(f"{path}[{i}].id", "an id of its own", f"that of {path}[{first[id_]}]")
        return ranges

    def criterion(self, criterion: object, path: str) -> tuple[float, float] | None:
        if not isinstance(criterion, Mapping):
            self.wrong(path, "a criterion (an object)", criterion)
            return None
        self.keys(criterion, CRITERION_KEYS, path)
        get = _getter(criterion)
        self.word(get("id"), f"{path}.id", _NAME, "letters, digits, _ and -, at most 64 characters")
        self.text(get("description"), f"{path}.description", LIMITS.description)
        low = self.number(get("min", 0.0), f"{path}.min", -LIMITS.score, LIMITS.score)
        high = self.number(get("max", 1.0), f"{path}.max", -LIMITS.score, LIMITS.score)
        self.number(get("weight", 1.0), f"{path}.weight", LIMITS.least_weight, LIMITS.most_weight)
        if not isinstance(get("required", False), bool):
            self.wrong(f"{path}.required", "true or false", get("required"))
        if low is None or high is None:
            return None
        if low >= high:
            self.say(f"{path}.max", f"a number greater than min ({low:g})", f"the number {high:g}")
            return None
        return low, high

    def anchors(self, anchors: object, path: str, envelope: tuple[float, float] | None) -> None:
        for i, anchor in enumerate(self.entries(anchors, path, 0, LIMITS.anchors, "anchors")):
            here = f"{path}[{i}]"
            if not isinstance(anchor, Mapping):
                self.wrong(here, "an anchor (an object)", anchor)
                continue
            self.keys(anchor, ANCHOR_KEYS, here)
            get = _getter(anchor)
            self.score(get("score"), f"{here}.score", envelope)
            self.text(get("label"), f"{here}.label", LIMITS.label)
            self.text(get("description"), f"{here}.description", LIMITS.description)

    def needs(self, needs: object, path: str) -> None:
        for i, need in enumerate(self.entries(needs, path, 0, len(NEEDS), "entries")):
            if not isinstance(need, str) or need not in NEEDS:
                self.wrong(f"{path}[{i}]", f"one of {', '.join(NEEDS)}", need)

    # The values -----------------------------------------------------------------------------------------------------

    def keys(self, mapping: Mapping[Any, Any], known: tuple[str, ...], at: str) -> None:
        for key in mapping:
            if not isinstance(key, str):
                self.wrong(at, "keys that are text", key)
            elif key not in known:
                meant = nearest(key, known)
                hint = f"Did you mean {meant}?" if meant else f"Known are {', '.join(known)}."
                self.say(_below(at, key[:80]), "a known key", "an unknown one", hint)

    def entries(self, value: object, path: str, least: int, most: int, what: str) -> list[Any]:
        if not isinstance(value, list | tuple):
            self.wrong(path, f"a list of {least} to {most} {what}", value)
            return []
        if not least <= len(value) <= most:
            self.say(path, f"{least} to {most} {what}", f"{len(value)}")
        return list(value)

    def word(self, value: object, path: str, pattern: re.Pattern[str], rule: str) -> None:
        if not isinstance(value, str):
            self.wrong(path, "text", value)
        elif not pattern.fullmatch(value):
            self.say(path, f"a letter or digit, then {rule}", _described(value))

    def scope(self, value: object, path: str) -> None:
        if not isinstance(value, str) or value not in tuple(Scope):
            self.wrong(path, f"one of {', '.join(Scope)}", value)

    def text(self, value: object, path: str, limit: int, *, blank: bool = False) -> None:
        if not isinstance(value, str):
            self.wrong(path, "text", value)
        elif not blank and not value.strip():
            self.say(path, "text that is not blank", "blank text" if value else "empty text")
        elif len(value) > limit:
            self.say(path, f"at most {limit:,} characters", f"{len(value):,}")
        elif _SURROGATE.search(value):
            self.say(path, "valid Unicode", "a lone surrogate, which is no character")
        elif control := _CONTROL.search(value):
            self.say(path, "text without control characters", f"the character U+{ord(control[0]):04X}")

    def number(self, value: object, path: str, least: float, most: float) -> float | None:
        """The number, or None after a fault. Integers of any size are compared exactly, without overflow."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(path, "a number", value)
            return None
        if not (isinstance(value, int) or math.isfinite(value)):
            self.say(path, "a finite number", f"{value}")
            return None
        if not least <= value <= most:
            self.say(path, f"a number from {least:g} to {most:g}", _number(value))
            return None
        return float(value)

    def score(self, value: object, path: str, envelope: tuple[float, float] | None) -> None:
        number = self.number(value, path, -LIMITS.score, LIMITS.score)
        if number is not None and envelope is not None and not envelope[0] <= number <= envelope[1]:
            wanted = f"a number inside the score range, {envelope[0]:g} to {envelope[1]:g}"
            self.say(path, wanted, _number(number))


def _getter(mapping: Mapping[Any, Any]) -> Callable[..., Any]:
    def get(key: str, default: object = _MISSING) -> Any:
        return mapping.get(key, default)

    return get


def _below(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _number(value: float) -> str:
    if isinstance(value, int) and abs(value) > 10**15:
        return "a number far outside"
    return f"the number {value:.10g}"


def _described(value: object, spelling: str | None = None) -> str:
    """A value as a message can bear it: its kind, and for short scalars the value itself, on one line."""
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 60 else f"text of {len(value):,} characters"
    if isinstance(value, bool):
        return f"the boolean {spelling or str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {spelling}" if spelling else _number(value)
    return f"a Python {value.kind}" if isinstance(value, Misplaced) else type_name(value)
