"""What a judge scores against. Pure data.

`Rubric` is a quality's definition, checked when it is made; `catalog` holds the built-in ones, `custom_rubric` makes
one from an author's sentence, `read_rubric` from a file's text.
"""

from jurat.rubric.catalog import catalog, find, names
from jurat.rubric.check import LIMITS, NEEDS
from jurat.rubric.codec import read_rubric, rubric_from_json, rubric_schema
from jurat.rubric.rubric import MAX_CUSTOM, Anchor, Criterion, Rubric, custom_rubric

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
