"""Rubrics, as users of the package find them: the catalog, and what makes and reads rubrics of one's own."""

from jurat.rubric import (
    LIMITS,
    MAX_CUSTOM,
    NEEDS,
    Anchor,
    Criterion,
    Rubric,
    catalog,
    custom_rubric,
    find,
    names,
    read_rubric,
    rubric_from_json,
    rubric_schema,
)

__all__ = [
    "LIMITS",
    "MAX_CUSTOM",
    "NEEDS",
    "Anchor",
    "Criterion",
    "Rubric",
    "catalog",
    "custom_rubric",
    "find",
    "names",
    "read_rubric",
    "rubric_from_json",
    "rubric_schema",
]
