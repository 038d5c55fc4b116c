"""Checks of the output as JSON: fields, deep comparison, schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.assertions import MISSING, PathSyntaxError, build_assertion, format_path, json_equal, look_up, parse_path
from jurat.errors import AuthoringError, RequestError
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.jsontext import freeze
from jurat.vocabulary import Status

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=3), part, max_size=4),
    max_leaves=12,
)


def found(context: Context | str, **assertion: Any) -> Assessment:
    result = build_assertion(assertion).evaluate(context)
    assert isinstance(result, Assessment)
    return result


def compared(expected: Any, actual: Any, **more: Any) -> Assessment:
    return found(json.dumps(actual), type="json_deep_compare", expected=expected, **more)


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


# --- json_deep_compare ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "actual", "matches", "total"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"a": 1, "b": {"c": 2, "d": 4}}, 2, 3),
        ({"a": 1}, {"a": 1, "b": 2}, 1, 2),
        ({"a": 1, "b": 2}, {"a": 1}, 1, 2),
        ({"a": None}, {}, 0, 2),
        ({}, {}, 1, 1),
        ({}, {"a": 1}, 0, 2),
        ({}, [], 0, 1),
        ([], [1], 0, 2),
        ([1, 2, 3], [1, 2, 3, 4], 3, 4),
        ([1, 2], [2, 1], 0, 2),
        ({"a": {"b": 1, "c": 2}}, {"a": "text"}, 0, 3),
        ({"a": {"x": 1}}, {"a": [1, 2]}, 0, 3),
        (1, 1.0, 1, 1),
        (1, "1", 0, 1),
        (1, True, 0, 1),
        ({"a.b": 1}, {"a": {"b": 1}}, 0, 2),
    ],
)
def test_the_score_is_the_share_of_leaves_that_match(expected: Any, actual: Any, matches: int, total: int) -> None:
    assessment = compared(expected, actual)
    assert (assessment.details["matches"], assessment.details["total"]) == (matches, total)
    assert assessment.score == 100 * matches / total
    assert assessment.passed is (matches == total)


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, 100.0),
        ({"a": {}}, {"a": {"x": 1}}, 100.0),
        ({"a": []}, {"a": [1]}, 100.0),
        ({"a": {}}, {"a": []}, 0.0),
        ({"a": {}}, {"a": "x"}, 0.0),
        ([1], [1, 2], 100.0),
        ({"a": 1, "b": 2}, {"a": 1}, 50.0),
        ({"a": {"b": 1}}, {"a": 1}, 0.0),
    ],
)
def test_what_only_the_output_has_can_be_left_aside(expected: Any, actual: Any, score: float) -> None:
    assert compared(expected, actual, ignore_extra=True).score == score


def test_the_threshold_is_compared_with_the_score_as_it_stands() -> None:
    expected = {str(index): index for index in range(5)}
    actual = {**expected, "4": "wrong"}
    assert compared(expected, actual, threshold=80).passed
    assert not compared(expected, actual, threshold=80.0000001).passed
    assert not compared(expected, actual).passed


def test_the_account_lists_what_differs_first_and_says_what_it_leaves_out() -> None:
    expected = {"same": 1, "changed": 2, "gone": None, "many": list(range(200))}
    actual = {"same": 1, "changed": "2", "new": [], "many": list(range(200))}
    details = compared(expected, actual).details
    assert details["comparisons"][:5] == [
        {"path": "changed", "match": False, "expected": 2, "actual": "2"},
        {"path": "gone", "match": False, "expected": None},
        {"path": "new", "match": False, "actual": []},
        {"path": "same", "match": True, "expected": 1, "actual": 1},
        {"path": "many[0]", "match": True, "expected": 0, "actual": 0},
    ]
    assert (len(details["comparisons"]), details["total"], details["omitted"]) == (100, 204, 104)


def test_a_comparison_takes_the_expected_value_of_the_case() -> None:
    assert found(Context(output='{"a": 1}', expected={"a": 1}), type="json_deep_compare").passed
    assert found(Context(output='{"a": 1}', expected='{"a": 1.0}'), type="json_deep_compare").passed
    assert found(Context(output='"a"', expected="a"), type="json_deep_compare").passed
    assert found("null", type="json_deep_compare", expected=None).passed
    assessment = found("1", type="json_deep_compare")
    assert [finding.code for finding in assessment.findings] == ["no_expected"]


@given(values, values)
def test_a_comparison_does_not_depend_on_which_side_is_which(left: Any, right: Any) -> None:
    score = compared(left, right).score
    assert score == compared(right, left).score
    assert score is not None
    assert 0 <= score <= 100


@given(values, values)
def test_a_full_score_means_equal_and_equal_means_a_full_score(left: Any, right: Any) -> None:
    assert compared(left, left).score == 100.0
    assert (compared(left, right).score == 100.0) is json_equal(left, right)


@given(values, values)
def test_leaving_extra_aside_never_makes_a_score_worse(left: Any, right: Any) -> None:
    with_extra, without = compared(left, right).score, compared(left, right, ignore_extra=True).score
    assert with_extra is not None
    assert without is not None
    assert with_extra <= without <= 100


def test_a_wide_and_deep_value_is_compared() -> None:
    deep: Any = 1
    for _ in range(99):
        deep = [deep]
    assert compared(deep, deep).score == 100.0
    wide = {str(index): index for index in range(5_000)}
    assert compared(wide, {**wide, "0": None}).details["matches"] == 4_999


# --- schemas -------------------------------------------------------------------------------------------------------

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
