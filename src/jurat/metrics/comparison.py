"""One case in two runs: what became of it, and why the two outcomes may not be held against each other.

Outcomes are compared only where they were measured alike. Another rubric revision, judge identity, threshold or set of
assertions makes a case *incompatible*, whatever the two runs say of it: it is not better and not worse. A case that
asks something else than it did is *changed*. What nobody decided is *errored* or *unverified* and no regression; but
where it could hide one, that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from jurat.jsontext import Json
from jurat.metrics.comparison_parts import (
    Appearance,
    AssertionChange,
    appearance_json,
    assertion_changes,
    share_at,
    share_of,
)
from jurat.metrics.exact import as_float
from jurat.vocabulary import Status

__all__ = ["CaseComparison", "Change", "compare_case"]


class Change(StrEnum):
    """What became of a case from the base to the candidate."""

    REGRESSED = "regressed"
    FIXED = "fixed"
    ERRORED = "errored"
    UNVERIFIED = "unverified"
    INCOMPATIBLE = "incompatible"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    UNCHANGED = "unchanged"

    @property
    def compared(self) -> bool:
        """Whether both outcomes are there and may be held against each other."""
        return self in (Change.REGRESSED, Change.FIXED, Change.UNCHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseComparison:
    """A case in both runs, or in one of them.

    Attributes:
        why: what keeps the outcomes from being compared, in words; empty where they are.
        hides: whether it could be a regression that cannot be seen.
        asks_anew: whether the case asks something else than it did; None where that is not known.
    """

    name: str
    change: Change
    base: Appearance | None
    candidate: Appearance | None
    assertions: Sequence[AssertionChange] = ()
    why: Sequence[str] = ()
    hides: bool = False
    asks_anew: bool | None = False

    @property
    def rose(self) -> Fraction | None:
        """By how much the share of passes among the decided trials rose; None where it cannot be said."""
        if self.base is None or self.candidate is None or self.change in (Change.INCOMPATIBLE, Change.CHANGED):
            return None
        old, new = share_of(self.base), share_of(self.candidate)
        return None if old is None or new is None else new - old

    @property
    def at_worst(self) -> Fraction | None:
        """The same, had everything undecided gone against the candidate; None where a run does not have the case."""
        if self.base is None or self.candidate is None:
            return None
        if self.change is Change.INCOMPATIBLE:
            return Fraction(0) - share_at(self.base, best=True)
        return share_at(self.candidate, best=False) - share_at(self.base, best=True)

    def to_json(self) -> dict[str, Json]:
        """As a comparison tells it."""
        rose = self.rose
        return {
            "name": self.name,
            "change": self.change.value,
            "base": None if self.base is None else appearance_json(self.base),
            "candidate": None if self.candidate is None else appearance_json(self.candidate),
            "asks_anew": self.asks_anew,
            "hides": self.hides,
            "why": list(self.why),
            "difference": None if rose is None else as_float(rose),
            "assertions": [one.to_json() for one in self.assertions],
        }


def compare_case(base: Appearance | None, candidate: Appearance | None) -> CaseComparison:
    """What became of a case.

    Args:
        base, candidate: its appearances, under one name; None where a run does not have it.

    Raises:
        ValueError: when no run has it.
    """
    if base is None or candidate is None:
        only = candidate or base
        if only is None:
            raise ValueError("expected a case that is in one run at least")
        change = Change.ADDED if base is None else Change.REMOVED
        return CaseComparison(name=only.case.name, change=change, base=base, candidate=candidate)
    assertions = assertion_changes(base, candidate)
    anew = _asks_anew(base, candidate)
    unlike = list(_incompatible(base, candidate, assertions))
    change = _classified(base.status, candidate.status, incompatible=bool(unlike), anew=anew is not False)
    return CaseComparison(
        name=candidate.case.name,
        change=change,
        base=base,
        candidate=candidate,
        assertions=assertions,
        why=(*unlike, *_anew_in_words(anew)),
        hides=_hides(change, base.status, candidate.status),
        asks_anew=anew,
    )


def _asks_anew(base: Appearance, candidate: Appearance) -> bool | None:
    if base.case.case_hash == candidate.case.case_hash:
        return False
    if base.content is None or candidate.content is None:
        return None
    return base.content.asked != candidate.content.asked


def _anew_in_words(anew: bool | None) -> Iterator[str]:
    if anew:
        yield "the case asks something else"
    elif anew is None:
        yield "the case is another one; the report does not say whether in what it asks or in its assertions"


def _incompatible(base: Appearance, candidate: Appearance, changes: Sequence[AssertionChange]) -> Iterator[str]:
    """Why the outcomes were not measured alike."""
    yield from (f"{one.name}: {why}" for one in changes for why in one.why)
    if base.content is not None and candidate.content is not None:
        old, new = base.content.pass_threshold, candidate.content.pass_threshold
        if old != new:
            yield f"another pass_threshold: {_limit(old)} before, {_limit(new)} now"


def _limit(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _classified(old: Status, new: Status, *, incompatible: bool, anew: bool) -> Change:
    if incompatible:
        return Change.INCOMPATIBLE
    if anew:
        return Change.CHANGED
    if Status.ERROR in (old, new):
        return Change.ERRORED
    if not (old.decided and new.decided):
        return Change.UNVERIFIED
    if old is new:
        return Change.UNCHANGED
    return Change.REGRESSED if new is Status.FAIL else Change.FIXED


def _hides(change: Change, old: Status, new: Status) -> bool:
    """Whether a case that may have passed may fail now. A verdict of another measure says nothing about that."""
    if change is Change.INCOMPATIBLE:
        return old is not Status.FAIL
    return not change.compared and old is not Status.FAIL and new is not Status.PASS
