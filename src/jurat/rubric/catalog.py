"""The built-in rubrics, found by `name` (the newest revision) or `name@revision`.

Two families: scores from 0 to 100 with threshold 80, and scores from 0 to 1 with threshold 0.5. Higher is always
better; those named after a fault (`toxicity`, `vulgarity`, `hallucination`, `pii`) score its absence. Revisions are
never edited or removed, so that a reference in an old suite keeps its meaning.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from jurat.errors import Fault, RubricInvalid
from jurat.vocabulary import nearest

if TYPE_CHECKING:
    from jurat.rubric.rubric import Rubric

__all__ = ["catalog", "find", "names"]


@functools.cache
def catalog() -> tuple[Rubric, ...]:
    """Every built-in rubric in every revision, family by family, older revisions before newer."""
    from jurat.rubric._percent import PERCENT
    from jurat.rubric._unit import UNIT

    return PERCENT + UNIT


def names() -> tuple[str, ...]:
    """The names in the catalog, each once, in its order."""
    return tuple(dict.fromkeys(one.name for one in catalog()))


def find(reference: str) -> Rubric:
    """The rubric that a reference names.

    Args:
        reference: `name` for the newest revision, or `name@revision`.

    Raises:
        RubricInvalid: when there is no such name or revision; says which one was probably meant, and what there is.
    """
    name, at, revision = reference.partition("@")
    revisions = {one.revision: one for one in catalog() if one.name == name}
    if not revisions:
        raise _unknown(f"one of {', '.join(names())}", f"the name {_shown(name)}", nearest(name, names()))
    if not at:
        return revisions[next(reversed(revisions))]
    if revision not in revisions:
        there = tuple(revisions)
        meant = nearest(revision, there) or there[-1]
        found = f"the revision {_shown(revision)}"
        raise _unknown(f"a revision of {name}: {', '.join(there)}", found, f"{name}@{meant}")
    return revisions[revision]


def _unknown(expected: str, found: str, meant: str | None) -> RubricInvalid:
    hint = f"Did you mean {meant}?" if meant else "jurat rubrics lists them all."
    return RubricInvalid("rubric reference", [Fault(path="", expected=expected, found=found, hint=hint)])


def _shown(word: str) -> str:
    return repr(word) if len(word) <= 60 else f"{word[:60]!r}…"
