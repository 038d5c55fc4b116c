"""Checks by JSON Schema: `json_schema` and `structured_output`.

A schema is compiled once, when the assertion is built, and refers to nothing outside itself: a `$ref` to another
document is refused, nothing is ever fetched. `format` is checked. Patterns in schemas are matched in linear time, so
look-around is refused there as it is in `regex`. What is said of an output are paths and the keyword that was
broken, never its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from jurat.assertions.jsonpath import format_path
from jurat.assertions.jsonvalues import not_json, on_json, read_json
from jurat.assertions.outcome import Check, clip, decided, empty_output, is_blank, too_much, unverified
from jurat.errors import Fault
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.jsontext import Json, JsonSyntaxError, thaw, type_name

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["MAX_ERRORS", "Schema", "compile_schema", "json_schema", "structured_output"]

MAX_ERRORS = 20
"""How many violations an assessment lists; that there are more is said."""


class Schema:
    """A compiled schema. Immutable; safe to use from several threads."""

    __slots__ = ("_validator",)

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def check(self, name: str, value: Json) -> Assessment:
        """Pass when the value satisfies the schema. Score 0 or 100; the details list the violations by path."""
        found = list(islice(self._validator.iter_errors(value), MAX_ERRORS + 1))
        listed = [_line(error) for error in found[:MAX_ERRORS]]
        details: dict[str, Json] = {"errors": listed, "more_errors": len(found) > MAX_ERRORS}
        if not found:
            return decided(name, True, "the value satisfies the schema", details=details)
        count = f"more than {MAX_ERRORS}" if len(found) > MAX_ERRORS else str(len(found))
        return decided(name, False, f"the value breaks the schema ({count} violations)", details=details)


def _line(error: ValidationError) -> Json:
    return {
        "path": clip(format_path(tuple(error.instance_path))),
        "keyword": error.kind.name,
        "schema_path": clip(format_path(tuple(error.schema_path))),
    }


def compile_schema(schema: Json, path: str, faults: list[Fault]) -> Schema | None:
    """The schema compiled; or a fault and None. `$schema` names the draft, 2020-12 when there is none."""
    import jsonschema_rs

    if not isinstance(schema, Mapping | bool):
        faults.append(Fault(path=path, expected="a JSON Schema (an object or a boolean)", found=type_name(schema)))
        return None
    try:
        validator = jsonschema_rs.validator_for(
            thaw(schema), retriever=_refuse, validate_formats=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except jsonschema_rs.ValidationError as error:
        where = format_path(tuple(error.instance_path))
        inner = path if where == "$" else f"{path}{where}" if where.startswith("[") else f"{path}.{where}"
        faults.append(Fault(path=inner, expected="a valid JSON Schema", found=clip(error.message, 400)))
        return None
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        faults.append(Fault(path=path, expected="a valid JSON Schema", found=clip(str(error), 400)))
        return None
    return Schema(validator)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"a schema may refer to itself only, nothing is fetched from {clip(uri)}")


def json_schema(schema: Schema) -> Check:
    """Pass when the output is one JSON value that satisfies the schema. Score 0 or 100. Blank is `unverified`."""
    return on_json("json_schema", lambda value: schema.check("json_schema", value))


def structured_output(schema: Schema | None = None) -> Check:
    """Pass when the structured reply satisfies the schema. Score 0 or 100.

    Args:
        schema: None takes the one that the subject was asked to follow, `execution.response_schema`; none is
            `unverified`.

    The reply is `execution.structured_output` where the subject's provider gave one, otherwise the output read as JSON.
    """

    def run(context: Context) -> Assessment:
        law = schema or _asked_for(context)
        if law is None:
            message = "there is no schema: give the assertion one, or record execution.response_schema"
            return unverified("structured_output", "no_schema", message)
        if "structured_output" in context.execution:
            return law.check("structured_output", thaw(context.execution["structured_output"]))
        if is_blank(context.output):
            return empty_output("structured_output")
        try:
            value = read_json(context.output)
        except JsonSyntaxError as error:
            return not_json("structured_output", error)
        return law.check("structured_output", value)

    return run


def _asked_for(context: Context) -> Schema | None:
    given = context.execution.get("response_schema")
    if given is None:
        return None
    faults: list[Fault] = []
    schema = compile_schema(given, "execution.response_schema", faults)
    if schema is None:
        raise too_much("; ".join(map(str, faults)))
    return schema
