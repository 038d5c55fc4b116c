"""What a rubric needs to be shown, and rows do not hold: told before money is spent on verdicts that rest on less.

It is a warning and no error: a rubric's `needs` are its author's word, and an output alone can be judged all the same.
Only the first rows are looked at, and of those only what could be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jurat.judge.judge import Judge
from jurat.suite import Columns, Item

__all__ = ["evidence_gap"]

_MET: Mapping[str, Callable[[Item], bool]] = {
    "rendered_input": lambda item: bool(item.context and (item.context.rendered_input or item.context.messages)),
    "messages": lambda item: bool(item.context and item.context.messages),
    "expected": lambda item: bool(item.context and item.context.expected is not None),
    "context": lambda item: bool(item.grounding or (item.context and item.context.documents)),
    "documents": lambda item: bool(item.context and item.context.documents),
}
"""Whether a row holds what a rubric needs, as `jurat.rubric.NEEDS` says what meets it. Each row has an output."""

_FIELDS = {"rendered_input": ("rendered_input", "messages"), "context": ("context", "documents")}
"""The fields that can meet a need, where they are more than the one of its name."""


def evidence_gap(judge: Judge, columns: Columns, items: Sequence[Item]) -> str | None:
    """A warning in one line, or None where the first rows hold what the judge's rubric needs.

    Args:
        items: the first rows.
    """
    readable = [item for item in items if item.context is not None]
    gaps = {need: gap for need in judge.rubric.needs if (gap := _gap(judge, columns, readable, need)) is not None}
    if not gaps:
        return None
    told = ", and ".join(f"{need}, {gap}" for need, gap in gaps.items())
    mapped = ",".join(f"{need}=COLUMN" for need in gaps)
    return f"warning: {judge.rubric.name} needs {told}: verdicts rest on less than they should (--map {mapped})"


def _gap(judge: Judge, columns: Columns, items: Sequence[Item], need: str) -> str | None:
    met = _MET.get(need)
    if met is None or _given_to_all(judge, need):
        return None
    lacking = sum(not met(item) for item in items)
    if not lacking:
        return None
    if lacking < len(items):
        return f"which {lacking} of the first {len(items)} rows do not have"
    names = {columns.fields[field] for field in _FIELDS.get(need, (need,))}
    known = any(names & set(item.row.columns or item.row.values or ()) for item in items)
    return "which the first rows do not have" if known else "and no column is mapped to it"


def _given_to_all(judge: Judge, need: str) -> bool:
    """Whether the judge brings it itself."""
    settings = judge.settings
    return (need == "expected" and settings.expected is not None) or (need == "context" and bool(settings.grounding))
