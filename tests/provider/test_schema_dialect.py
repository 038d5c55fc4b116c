"""Schemas in the vendors' dialects: only keywords change, and what the vendor takes stays as it was."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.jsontext import thaw
from jurat.judge.answer_schema import answer_schema
from jurat.provider.schema_dialect import (
    anthropic_schema,
    bounded,
    google_schema,
    openapi_schema,
    strict_objects,
    without_keywords,
)
from jurat.rubric import Criterion, Rubric, find
from jurat.vocabulary import Contract, Scope

TEXT = {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a", "format": "email"}


def test_a_property_called_like_a_keyword_stays() -> None:
    schema: Any = {"properties": {"maxLength": {"type": "string", "maxLength": 3}}, "enum": [{"maxLength": 1}]}
    kept: Any = {"properties": {"maxLength": {"type": "string"}}, "enum": [{"maxLength": 1}]}
    assert without_keywords(schema, ("maxLength",)) == kept


def test_strict_objects_require_everything_and_let_what_was_optional_be_null() -> None:
    schema: Any = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"enum": ["x"]},
            "d": {"type": ["string", "null"]},
            "e": {"type": "array", "items": {"type": "object", "properties": {"f": {"type": "null"}}}},
        },
        "required": ["a", "e"],
    }
    assert strict_objects(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": ["integer", "null"]},
            "c": {"anyOf": [{"enum": ["x"]}, {"type": "null"}]},
            "d": {"type": ["string", "null"]},
            "e": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"f": {"type": "null"}},
                    "required": ["f"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["a", "b", "c", "d", "e"],
        "additionalProperties": False,
    }


def test_anthropic_takes_no_bounds_and_wants_closed_objects() -> None:
    schema: Any = {
        "type": "object",
        "properties": {
            "n": {"type": "number", "minimum": 0, "exclusiveMaximum": 5, "multipleOf": 2},
            "t": TEXT,
            "many": {"type": "array", "items": {"const": 1}, "minItems": 2, "maxItems": 8, "uniqueItems": True},
            "some": {"type": "array", "minItems": 1, "items": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/x"}]}},
        },
        "required": ["n"],
        "$defs": {"x": {"type": "string", "format": "regex"}},
    }
    assert anthropic_schema(schema) == {
        "type": "object",
        "properties": {
            "n": {"type": "number"},
            "t": {"type": "string", "format": "email"},
            "many": {"type": "array", "items": {"const": 1}},
            "some": {"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/x"}]}},
        },
        "required": ["n"],
        "$defs": {"x": {"type": "string"}},
        "additionalProperties": False,
    }


def test_google_keeps_bounds_on_numbers_and_counts_and_makes_a_constant_the_only_choice() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"n": {"type": "number", "minimum": 0, "multipleOf": 2}, "k": {"const": "x"}, "t": TEXT},
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "additionalProperties": False,
    }
    assert google_schema(schema) == {
        "type": "object",
        "properties": {
            "n": {"type": "number", "minimum": 0},
            "k": {"enum": ["x"]},
            "t": {"type": "string", "format": "email"},
        },
        "additionalProperties": False,
        "propertyOrdering": ["n", "k", "t"],
    }


def test_the_older_form_has_capitals_nullables_and_no_references() -> None:
    schema: Any = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/leaf"},
            "b": {"type": ["integer", "null"], "maximum": 3},
            "c": {"type": ["integer", "string"]},
            "d": {"type": "integer", "enum": [1, 2]},
        },
        "$defs": {"leaf": {"type": "object", "properties": {"next": {"$ref": "#/$defs/leaf"}}}},
        "additionalProperties": False,
    }
    assert openapi_schema(schema) == {
        "type": "OBJECT",
        "properties": {
            "a": {"type": "OBJECT", "properties": {"next": {}}},
            "b": {"type": "INTEGER", "maximum": 3, "nullable": True},
            "c": {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]},
            "d": {"type": "INTEGER"},
        },
        "propertyOrdering": ["a", "b", "c", "d"],
    }


def test_a_property_called_like_a_word_of_schema_stays_in_the_older_form_too() -> None:
    schema: Any = {
        "properties": {"definitions": {"type": "string"}, "enum": {"$ref": "#/$defs/x"}},
        "$defs": {"x": TEXT},
    }
    properties = openapi_schema(schema)["properties"]
    assert list(properties) == ["definitions", "enum"]
    assert properties["enum"]["type"] == "STRING"


def test_google_wants_nothing_beside_a_reference_and_texts_and_numbers_as_choices() -> None:
    schema: Any = {
        "properties": {"a": {"$ref": "#/$defs/x", "description": "d"}, "b": {"const": True}, "c": {"enum": ["x", 1]}},
        "$defs": {"x": {"type": "string", "description": "e"}},
    }
    sent: Any = google_schema(schema)
    assert sent["properties"] == {"a": {"$ref": "#/$defs/x"}, "b": {}, "c": {"enum": ["x", 1]}}
    assert sent["$defs"] == {"x": {"type": "string", "description": "e"}}


WORDS_OF_SCHEMA = ("type", "properties", "required", "enum", "const", "definitions", "items", "default", "minitems")


@pytest.mark.parametrize("rewrite", [strict_objects, anthropic_schema, google_schema, openapi_schema])
def test_the_largest_rubric_keeps_each_of_its_criteria_in_every_dialect(rewrite: Any) -> None:
    ids = [*WORDS_OF_SCHEMA, *(f"c{n}" for n in range(64 - len(WORDS_OF_SCHEMA)))]
    criteria = tuple(Criterion(id=one, description="d", min=0, max=n + 1) for n, one in enumerate(ids))
    rubric = Rubric(name="large", revision="v1", scope=Scope.CASE, definition="d", criteria=criteria)
    schema: Any = thaw(answer_schema(Contract.CRITERIA_V1, rubric))
    sent: Any = rewrite(schema)["properties"]["criteria"]
    assert list(sent["properties"]) == list(sent["required"]) == ids
    assert [list(one["properties"]) for one in sent["properties"].values()] == [["evidence", "reason", "score"]] * 64
    one = {"evidence": [], "reason": "r", "score": 1}
    answer: Any = {"criteria": dict.fromkeys(ids, one)}
    assert jsonschema_rs.is_valid(schema, answer)
    if rewrite is not openapi_schema:  # which is no JSON Schema
        assert jsonschema_rs.is_valid(rewrite(schema), answer)
        del answer["criteria"]["c0"]
        assert not jsonschema_rs.is_valid(rewrite(schema), answer)


def test_bounds_become_stricter_and_never_looser() -> None:
    schema: Any = {"items": {"maxLength": 512}, "maxItems": 1, "properties": {"maxItems": {"maxItems": 9}}}
    assert bounded(schema, {"maxLength": 240, "maxItems": 2}) == {
        "items": {"maxLength": 240},
        "maxItems": 1,
        "properties": {"maxItems": {"maxItems": 2}},
    }


@pytest.mark.parametrize("contract", [Contract.SCORE_V1, Contract.CRITERIA_V1])
@pytest.mark.parametrize("rewrite", [strict_objects, anthropic_schema, google_schema])
def test_what_a_judge_may_answer_is_allowed_by_every_dialect(contract: Contract, rewrite: Any) -> None:
    rubric = find("groundedness")
    evidence = [{"message_index": 0, "quote": "q"}]
    one = {"evidence": evidence, "reason": "r", "score": 1}
    answer: Any = one
    if contract is Contract.CRITERIA_V1:
        answer = {"criteria": {criterion.id: one for criterion in rubric.criteria}}
    schema: Any = thaw(answer_schema(contract, rubric))
    assert jsonschema_rs.is_valid(schema, answer)
    assert jsonschema_rs.is_valid(rewrite(schema), answer)
    assert list(rewrite(schema)["properties"]) == list(schema["properties"])


NAMES = st.sampled_from(
    [
        *("type", "properties", "items", "anyOf", "oneOf", "$defs", "$ref", "const", "enum", "required", "minItems"),
        *("format", "maxLength", "additionalProperties", "nullable"),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(ANYTHING)
def test_no_dialect_crashes_on_what_is_no_schema_or_changes_what_it_was_given(value: Any) -> None:
    before = repr(value)
    for rewrite in (strict_objects, anthropic_schema, google_schema, openapi_schema):
        rewrite(value)
    assert repr(value) == before
