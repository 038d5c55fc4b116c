"""JSON Schema in the dialect of a vendor: words that a server refuses are left out of what is sent.

The schema is a hint to the model; the check of the reply is ours and stays whole. Only keywords go, never a property
that happens to be called like one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from jurat.jsontext import Json

__all__ = ["bounded", "without_keywords"]

_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_VERBATIM = ("const", "enum", "default", "examples", "required")


def without_keywords(schema: Json, refused: Collection[str]) -> Json:
    """A copy of a schema without the refused keywords, at every depth, in the same order."""
    if not refused:
        return schema
    if isinstance(schema, list):
        return [without_keywords(part, refused) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {word: _kept(word, value, refused) for word, value in schema.items() if word not in refused}


def _kept(word: str, value: Json, refused: Collection[str]) -> Json:
    if word in _VERBATIM:
        return value
    if word in _NAMED_SCHEMAS and isinstance(value, dict):
        return {name: without_keywords(part, refused) for name, part in value.items()}
    return without_keywords(value, refused)


def bounded(schema: Json, bounds: Mapping[str, int]) -> Json:
    """A copy of a schema in which the given keywords (`maxLength`, `maxItems`) ask for no more than their bounds.

    A stricter hint, never a looser one: whatever follows the copy follows the schema.
    """
    if isinstance(schema, list):
        return [bounded(part, bounds) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        word: min(value, bounds[word]) if word in bounds and type(value) is int else _bounded(word, value, bounds)
        for word, value in schema.items()
    }


def _bounded(word: str, value: Json, bounds: Mapping[str, int]) -> Json:
    return value if word in _VERBATIM else bounded(value, bounds)
