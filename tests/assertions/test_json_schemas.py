"""Checks of the output against a JSON Schema, and of the schema before anything is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from jsonchecked import found, values

from jurat.assertions import build_assertion
from jurat.errors import AuthoringError, RequestError
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.vocabulary import Status

PERSON = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 0}, "mail": {"format": "email"}},
    "required": ["age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("output", "errors"),
    [
        ('{"age": 3}', []),
        ('{"age": 3.0}', []),
        ('{"age": "3"}', [("age", "type")]),
        ('{"age": true}', [("age", "type")]),
        ('{"age": -1, "mail": "x"}', [("age", "minimum"), ("mail", "format")]),
        ("{}", [("$", "required")]),
        ('{"age": 1, "SECRET": "SECRET"}', [("$", "additionalProperties")]),
        ("[]", [("$", "type")]),
        ('{"age": %s}' % ("9" * 400), []),
    ],
)
def test_a_schema_decides_and_lists_what_is_broken_by_path(output: str, errors: list[tuple[str, str]]) -> None:
    for type_ in ("json_schema", "structured_output"):
        assessment = found(output, type=type_, schema=PERSON)
        assert assessment.passed is (not errors)
        assert [(error["path"], error["keyword"]) for error in assessment.details["errors"]] == errors
        assert "SECRET" not in f"{assessment.reason} {assessment.details}"


def test_only_so_many_violations_are_listed_and_that_there_are_more_is_said() -> None:
    assessment = found(json.dumps(["x"] * 50), type="json_schema", schema={"items": {"type": "integer"}})
    assert len(assessment.details["errors"]) == 20
    assert assessment.details["more_errors"] is True
    assert assessment.reason == "the value breaks the schema (more than 20 violations)"


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "strnig"}, "schema.type"),
        ({"properties": {"a": {"minLength": -1}}}, "schema.properties.a.minLength"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "schema"),
        ({"$ref": "file:///etc/hostname"}, "schema"),
        ({"$ref": "#/$defs/gone"}, "schema"),
        ({"$schema": "https://example.org/my-own"}, "schema"),
        ({"pattern": "("}, "schema.pattern"),
        ({"pattern": "(?=a)"}, "schema.pattern"),
        ([], "schema"),
        ("{}", "schema"),
        (None, "schema"),
    ],
)
def test_a_schema_that_is_none_or_points_elsewhere_is_an_authors_fault(schema: Any, path: str) -> None:
    for type_ in ("json_schema", "structured_output"):
        with pytest.raises(AuthoringError) as caught:
            build_assertion({"type": type_, "schema": schema})
        assert [fault.path for fault in caught.value.faults] == [path]


def test_a_pattern_in_a_schema_is_matched_in_linear_time() -> None:
    assert not found(json.dumps("a" * 10_000 + "!"), type="json_schema", schema={"pattern": "^(a+)+$"}).passed


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": False}
    assert found('{"child": {"child": {}}}', type="json_schema", schema=tree).passed
    assert not found('{"child": {"kid": {}}}', type="json_schema", schema=tree).passed


def test_a_structured_reply_of_the_provider_is_checked_rather_than_its_text() -> None:
    context = Context(output="", execution={"structured_output": {"age": 3}})
    assert found(context, type="structured_output", schema=PERSON).passed
    context = Context(output='{"age": 3}', execution={"structured_output": {"age": None}})
    assert not found(context, type="structured_output", schema=PERSON).passed


def test_a_structured_reply_is_held_against_the_schema_that_was_asked_for() -> None:
    asked = Context(output='{"age": "3"}', execution={"response_schema": PERSON})
    assert found(asked, type="structured_output").status is Status.FAIL
    assessment = found('{"age": 3}', type="structured_output")
    assert [finding.code for finding in assessment.findings] == ["no_schema"]
    with pytest.raises(RequestError, match=r"execution\.response_schema"):
        found(Context(output="1", execution={"response_schema": 3}), type="structured_output")


@given(values, values)
def test_any_value_is_a_schema_or_a_fault_and_then_decides(schema: Any, value: Any) -> None:
    try:
        assertion = build_assertion({"type": "json_schema", "schema": schema})
    except AuthoringError:
        return
    result = assertion.evaluate(json.dumps(value))
    assert isinstance(result, Assessment)
    assert result.status in (Status.PASS, Status.FAIL, Status.UNVERIFIED)
