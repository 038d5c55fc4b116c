"""JSON Schema in the dialect of a vendor: words that a server refuses are left out or said otherwise. Pure.

The schema is a hint to the model; the check of the reply is ours and stays whole. Only keywords change, never a
property that happens to be called like one, and properties keep their order, in which models write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from jurat.jsontext import Json

__all__ = ["anthropic_schema", "bounded", "google_schema", "openapi_schema", "strict_objects", "without_keywords"]

_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_VERBATIM = ("const", "enum", "default", "examples", "required")
_SHARED = ("type", "title", "description", "enum", "anyOf", "items", "properties", "required", "format", "minItems")
# What each vendor documents that its structured outputs take.
_ANTHROPIC = frozenset((*_SHARED, "allOf", "const", "default", "$ref", "$defs", "definitions", "additionalProperties"))
_GOOGLE = frozenset(
    (
        *(*_SHARED, "oneOf", "prefixItems", "maxItems", "minimum", "maximum", "additionalProperties"),
        *("$id", "$defs", "$ref", "$anchor", "propertyOrdering"),
    )
)
_OPENAPI = frozenset(
    (
        *(*_SHARED, "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "default", "nullable"),
        "propertyOrdering",
    )
)
_ANTHROPIC_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
_Step = Callable[[dict[str, Any]], dict[str, Any]]


def without_keywords(schema: Json, refused: Collection[str]) -> Json:
    """A copy of a schema without the refused keywords, at every depth, in the same order."""
    if not refused:
        return schema
    return _rewritten(schema, lambda node: {word: value for word, value in node.items() if word not in refused})


def strict_objects(schema: Json) -> Json:
    """A copy for OpenAI's strict mode: each object requires all its properties and allows no others.

    A property that was optional may be null instead.
    """
    return _rewritten(schema, _strict)


def _strict(node: dict[str, Any]) -> dict[str, Any]:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return node
    needed = node.get("required")
    needed = needed if isinstance(needed, list) else []
    told = {name: part if name in needed else _or_null(part) for name, part in properties.items()}
    return {**node, "properties": told, "required": list(properties), "additionalProperties": False}


def _or_null(schema: Any) -> Any:
    kinds = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kinds, str) and not {"enum", "const"} & schema.keys():
        return {**schema, "type": kinds if kinds == "null" else [kinds, "null"]}
    if isinstance(kinds, list) and "null" in kinds:
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def anthropic_schema(schema: Json) -> Json:
    """A copy for Anthropic's structured outputs: no bounds on numbers, lengths and counts; objects are closed."""
    return _rewritten(schema, _for_anthropic)


def _for_anthropic(node: dict[str, Any]) -> dict[str, Any]:
    if "oneOf" in node:
        node = {"anyOf" if word == "oneOf" else word: value for word, value in node.items()}
    kept = {word: value for word, value in node.items() if word in _ANTHROPIC}
    if kept.get("minItems", 0) not in (0, 1):
        del kept["minItems"]
    if "format" in kept and kept["format"] not in _ANTHROPIC_FORMATS:
        del kept["format"]
    if isinstance(kept.get("properties"), dict):
        kept["additionalProperties"] = False
    return kept


def google_schema(schema: Json) -> Json:
    """A copy for Google's `responseJsonSchema`: a part of JSON Schema; a constant becomes the only choice."""
    return _rewritten(schema, _for_google)


def _for_google(node: dict[str, Any]) -> dict[str, Any]:
    kept = {word: value for word, value in _constant_as_choice(node).items() if word in _GOOGLE}
    if "$ref" in kept:
        return {word: value for word, value in kept.items() if word.startswith("$")}  # nothing may stand beside it
    return _ordered(_choosing(kept, (str, int, float)))


def _choosing(node: dict[str, Any], kinds: tuple[type, ...]) -> dict[str, Any]:
    """The schema without its choices where some are of kinds that the vendor does not take."""
    choices = node.get("enum", [])
    if isinstance(choices, list) and all(type(choice) in kinds for choice in choices):
        return node
    return {word: value for word, value in node.items() if word != "enum"}


def _constant_as_choice(node: dict[str, Any]) -> dict[str, Any]:
    return {"enum" if word == "const" else word: [value] if word == "const" else value for word, value in node.items()}


def _ordered(node: dict[str, Any]) -> dict[str, Any]:
    properties = node.get("properties")
    if isinstance(properties, dict) and len(properties) > 1:
        return {**node, "propertyOrdering": list(properties)}
    return node


def openapi_schema(schema: Json) -> Json:
    """A copy for Google's older `responseSchema`, a part of OpenAPI: types in capitals, null as `nullable`.

    Definitions are put in where they are referred to; one that refers to itself ends at its second level.
    """
    definitions = schema.get("$defs", schema.get("definitions", {})) if isinstance(schema, dict) else {}
    return _rewritten(_inlined(schema, definitions if isinstance(definitions, dict) else {}, ()), _for_openapi)


def _inlined(schema: Json, definitions: Mapping[str, Json], inside: tuple[str, ...]) -> Json:
    if isinstance(schema, list):
        return [_inlined(part, definitions, inside) for part in schema]
    if not isinstance(schema, dict):
        return schema
    target = schema.get("$ref")
    name = target.rpartition("/")[2] if isinstance(target, str) else ""
    if name in definitions:
        return {} if name in inside else _inlined(definitions[name], definitions, (*inside, name))
    return {
        word: _inlined_inner(word, value, definitions, inside)
        for word, value in schema.items()
        if word not in ("$defs", "definitions")
    }


def _inlined_inner(word: str, value: Json, definitions: Mapping[str, Json], inside: tuple[str, ...]) -> Json:
    if word in _VERBATIM:
        return value
    if word in _NAMED_SCHEMAS and isinstance(value, dict):
        return {name: _inlined(part, definitions, inside) for name, part in value.items()}
    return _inlined(value, definitions, inside)


def _for_openapi(node: dict[str, Any]) -> dict[str, Any]:
    if "oneOf" in node:
        node = {"anyOf" if word == "oneOf" else word: value for word, value in node.items()}
    kept = {word: value for word, value in _constant_as_choice(node).items() if word in _OPENAPI}
    kept = _choosing(kept, (str,))
    kinds = kept.get("type")
    if isinstance(kinds, list):
        kept |= _one_type([kind for kind in kinds if isinstance(kind, str) and kind != "null"])
        if "null" in kinds:
            kept["nullable"] = True
        if "anyOf" in kept:
            del kept["type"]
    if isinstance(kept.get("type"), str):
        kept["type"] = kept["type"].upper()
    return _ordered(kept)


def _one_type(kinds: list[str]) -> dict[str, Any]:
    if len(kinds) > 1:
        return {"anyOf": [{"type": kind.upper()} for kind in kinds]}
    return {"type": kinds[0] if kinds else "null"}


def _rewritten(schema: Json, step: _Step) -> Json:
    """A copy in which every schema, from the inside out, is what `step` makes of it."""
    if isinstance(schema, list):
        return [_rewritten(part, step) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return step({word: _inner(word, value, step) for word, value in schema.items()})


def _inner(word: str, value: Json, step: _Step) -> Json:
    if word in _VERBATIM:
        return value
    if word in _NAMED_SCHEMAS and isinstance(value, dict):
        return {name: _rewritten(part, step) for name, part in value.items()}
    return _rewritten(value, step)


def bounded(schema: Json, bounds: Mapping[str, int]) -> Json:
    """A copy of a schema in which the given keywords (`maxLength`, `maxItems`) ask for no more than their bounds.

    A stricter hint, never a looser one: whatever follows the copy follows the schema.
    """
    return _rewritten(
        schema,
        lambda node: {
            word: min(value, bounds[word]) if word in bounds and type(value) is int else value
            for word, value in node.items()
        },
    )
