"""The JSON Schema of one assertion, made from the table, so that editors complete and check what the reader accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jurat.assertions.table import COMMON, TYPES, AssertionType, Key
from jurat.jsontext import Json

__all__ = ["assertion_schema"]


def assertion_schema(other_types: Iterable[str] = ()) -> dict[str, Json]:
    """A JSON Schema (2020-12) of one assertion: `oneOf`, by `type`.

    Args:
        other_types: types of other distributions, whose own keys are not known here and so are all accepted.
    """
    others = [_other(name) for name in other_types]
    return {"oneOf": [*(_one(name, spec) for name, spec in TYPES.items()), *others]}


def _one(name: str, spec: AssertionType) -> dict[str, Json]:
    keys = {**COMMON, **spec.keys}
    made: dict[str, Json] = {
        "title": name,
        "description": spec.purpose,
        "type": "object",
        "properties": {"type": {"const": name}, **_properties(keys)},
        "required": ["type", *(key for key, known in keys.items() if known.required and not known.also)],
        "additionalProperties": False,
    }
    rules = [*_rules(keys)]
    if spec.exactly_one_of:
        rules.append({"oneOf": [{"required": [key]} for key in spec.exactly_one_of]})
    if rules:
        made["allOf"] = rules
    return made


def _properties(keys: Mapping[str, Key]) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for name, key in keys.items():
        made[name] = {"description": key.about, **key.kind.schema()}
        for other in key.also:
            made[other] = {"description": f"Another name of {name}.", **key.kind.schema()}
    return made


def _rules(keys: Mapping[str, Key]) -> Iterable[dict[str, Json]]:
    """A key with several names stands under one of them: at most one, and exactly one if it is required."""
    for name, key in keys.items():
        if key.also:
            names = [{"required": [word]} for word in (name, *key.also)]
            yield {"oneOf": names if key.required else [*names, {"not": {"anyOf": names}}]}


def _other(name: str) -> dict[str, Json]:
    properties = {"type": {"const": name}, **_properties(COMMON)}
    return {"title": name, "type": "object", "properties": properties, "required": ["type"]}
