"""JSON Schema in the dialect of a vendor: words that a server refuses are left out of what is sent.

The schema is a hint to the model; the check of the reply is ours and stays whole. Only keywords go, never a property
that happens to be called like one.
"""

from __future__ import annotations

from collections.abc import Collection

from jurat.jsontext import Json

__all__ = ["without_keywords"]

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
