"""Checks of the output as JSON: the paths that lead into it, when values are equal, and its fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonchecked import found

from jurat.assertions import MISSING, PathSyntaxError, build_assertion, format_path, json_equal, look_up, parse_path
from jurat.errors import RequestError
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.jsontext import freeze
from jurat.vocabulary import Status

# --- paths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ("a",)),
        ("a.b[0].c", ("a", "b", 0, "c")),
        ("$", ()),
        ("$.a", ("a",)),
        ("$[1]", (1,)),
        ("[0][-1]", (0, -1)),
        ('a["x.y"].b', ("a", "x.y", "b")),
        ("a['x.y']", ("a", "x.y")),
        ('a."x.y"', ("a", "x.y")),
        ('"x.y".z', ("x.y", "z")),
        (r'["quo\"te"]', ('quo"te',)),
        ("first name.é", ("first name", "é")),
        ("$ref", ("$ref",)),
        ("items.0.id", ("items", "0", "id")),
    ],
)
def test_a_path_is_read_into_its_steps(text: str, steps: tuple[str | int, ...]) -> None:
    assert parse_path(text) == steps


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        (".a", 1),
        ("a.", 2),
        ("a..b", 2),
        ("a[", 2),
        ("a[x]", 2),
        ("a[0]b", 5),
        ("a.[0]", 2),
        ("$a.", 3),
        ('a["x]', 2),
    ],
)
def test_what_is_no_path_is_refused_with_its_column(text: str, column: int) -> None:
    with pytest.raises(PathSyntaxError) as caught:
        parse_path(text)
    assert caught.value.column == column


@given(st.lists(st.text(max_size=8) | st.integers(-1000, 1000), max_size=6).map(tuple))
def test_a_path_is_read_back_as_it_was_written(path: tuple[str | int, ...]) -> None:
    assert parse_path(format_path(path)) == path


@given(st.text(max_size=40))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        path = parse_path(text)
    except PathSyntaxError:
        return
    assert parse_path(format_path(path)) == path


def test_a_bare_number_is_an_index_in_an_array_and_a_key_in_an_object() -> None:
    assert look_up([{"id": 7}], parse_path("0.id")) == 7
    assert look_up({"0": {"id": 8}}, parse_path("0.id")) == 8
    assert look_up({"0": 9}, parse_path("[0]")) is MISSING
    assert look_up([9], parse_path('["0"]')) is MISSING


@pytest.mark.parametrize("path", ["b", "a.b", "c[2]", "c[-3]", "c.x", "s[0]", "n.x", "[0]"])
def test_a_step_that_leads_nowhere_finds_nothing(path: str) -> None:
    assert look_up({"a": 1, "c": [1, 2], "s": "text", "n": None}, parse_path(path)) is MISSING


# --- typed comparison ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, "1", False),
        (1, True, False),
        (0, False, False),
        (0.0, -0.0, True),
        (None, "null", False),
        (None, False, False),
        ("", None, False),
        ([], {}, False),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ([True], [1], False),
        (2**53 + 1, float(2**53), False),
        (10**400, 10**400 + 1, False),
        (10**400, 10**400, True),
        (10**400, 1e308, False),
        ("é", "e\u0301", False),
    ],
)
def test_values_are_compared_by_type_and_exactly(left: Any, right: Any, equal: bool) -> None:
    assert json_equal(left, right) is equal
    assert json_equal(freeze(right), left) is equal


def test_nothing_is_not_null() -> None:
    assert not json_equal(None, MISSING)


# --- json_field ----------------------------------------------------------------------------------------------------

REPLY = '{"n": 1, "s": "1", "t": true, "z": null, "list": [{"id": 5}, {"id": 6}], "x.y": 2, "big": %d}' % 10**400  # noqa: UP031


@pytest.mark.parametrize(
    ("rule", "passes"),
    [
        ({"path": "n", "expected": 1}, True),
        ({"path": "n", "expected": 1.0}, True),
        ({"path": "n", "expected": "1"}, False),
        ({"path": "s", "expected": 1}, False),
        ({"path": "t", "expected": 1}, False),
        ({"path": "z", "expected": None}, True),
        ({"path": "missing", "expected": None}, False),
        ({"path": "z"}, True),
        ({"path": "missing"}, False),
        ({"path": "missing", "exists": False}, True),
        ({"path": "z", "exists": False}, False),
        ({"path": "list[-1].id", "expected": 6}, True),
        ({"path": "list[2].id", "exists": False}, True),
        ({"path": '["x.y"]', "expected": 2}, True),
        ({"path": "list", "expected": [{"id": 5}, {"id": 6}]}, True),
        ({"path": "n", "minimum": 1, "maximum": 1}, True),
        ({"path": "n", "minimum": 1.5}, False),
        ({"path": "n", "maximum": 0}, False),
        ({"path": "s", "minimum": 0}, False),
        ({"path": "t", "minimum": 0}, False),
        ({"path": "s", "matches": "^[0-9]$"}, True),
        ({"path": "n", "matches": "^[0-9]$"}, False),
        ({"path": "s", "matches": "x"}, False),
        ({"path": "big", "expected": 10**400}, True),
        ({"path": "big", "expected": 10**400 + 1}, False),
        ({"path": "big", "maximum": 1e308}, False),
        ({"field": "n", "equals": 1}, True),
        ({"path": "$", "exists": True}, True),
    ],
)
def test_a_field_is_held_against_its_rule(rule: dict[str, Any], passes: bool) -> None:
    assert found(REPLY, type="json_field", **rule).passed is passes


@pytest.mark.parametrize(
    "output", ["prose", '{"n": 1} and more', "```json\n{}\n```", '{"n": 1, "n": 2}', '{"n": NaN}', "{'n': 1}", "[1,]"]
)
def test_an_output_that_is_not_one_json_value_fails(output: str) -> None:
    for assertion in ({"type": "json_field", "path": "n"}, {"type": "json_schema", "schema": True}):
        assessment = found(output, **assertion)
        assert assessment.status is Status.FAIL
        assert assessment.reason is not None
        assert assessment.reason.startswith("the output is not one JSON value: ")
        assert "json_error" in assessment.details


@pytest.mark.parametrize("output", ["[" * 101 + "]" * 101, "[" * 100_000, "9" * 4000, "[" + "9" * 5000 + "]"])
def test_json_beyond_our_bounds_is_an_error_not_a_fail(output: str) -> None:
    for assertion in (
        {"type": "json_field", "path": "a"},
        {"type": "json_deep_compare", "expected": 1},
        {"type": "json_schema", "schema": True},
        {"type": "structured_output", "schema": True},
        {"type": "exact_match", "value": 1},
    ):
        with pytest.raises(RequestError):
            found(output, **assertion)


def test_many_long_numbers_are_read_in_linear_time() -> None:
    numbers = "[" + ",".join(["9" * 3999] * 500) + "]"
    assert not found('"' + "x".join(["9" * 3999] * 60) + '"', type="json_field", path="a").passed
    assertion = build_assertion({"type": "json_field", "path": "[499]", "expected": 10**3999 - 1})
    assert isinstance(checked := assertion.check(Context(output=numbers)), Assessment)
    assert checked.passed


def test_the_details_of_a_field_show_the_value_cut_to_size() -> None:
    assessment = found(json.dumps({"a": "x" * 500}), type="json_field", path="a", expected="y")
    assert assessment.reason == "a: the values, each text, differ"
    assert assessment.details == {"path": "a", "exists": True, "actual": "x" * 199 + "…"}
    assert found("{}", type="json_field", path="a").details == {"path": "a", "exists": False}
