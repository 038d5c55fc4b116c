"""The worked examples that a judge brings along for small models, by template. They are part of the judge identity.

A model that knows what a rubric means needs none. A small local one judges sensibly only when it has seen a few
verdicts: right, wrong, unsupported, and one on evidence that tries to steer the judge.
"""

from __future__ import annotations

from jurat.judge.prompt import WorkedExample
from jurat.rubric import Rubric

__all__ = ["default_examples"]

_BY_TEMPLATE: dict[str, tuple[WorkedExample, ...]] = {}


def default_examples(rubric: Rubric) -> tuple[WorkedExample, ...]:
    """The examples for a template of the catalog, scaled to its range; none for a rubric that has none."""
    return _BY_TEMPLATE.get(rubric.name, ())
