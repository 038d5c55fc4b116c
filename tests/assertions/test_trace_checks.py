"""Checks of how an output came about: tools, latency, cost."""

from __future__ import annotations

import math
from typing import Any

import pytest

from jurat.assertions import build_assertion, tool_calls
from jurat.errors import RequestError
from jurat.evaluation import Assessment, Measurement
from jurat.evidence import Context, Message, Role, TextBlock, ToolCallBlock, ToolResultBlock
from jurat.vocabulary import Status


def found(context: Context, **assertion: Any) -> Assessment:
    result = build_assertion(assertion).evaluate(context)
    assert isinstance(result, Assessment)
    return result


def listed(*calls: Any) -> Context:
    return Context(output="", execution={"tool_calls": list(calls)})


def spoken(*blocks: TextBlock | ToolCallBlock | ToolResultBlock) -> Context:
    return Context(output="done", messages=(Message(role=Role.ASSISTANT, content=blocks),))


SEARCH = ToolCallBlock(id="1", name="search", arguments={"query": "Paris", "limit": 1})
DONE = ToolResultBlock(tool_call_id="1", content=(TextBlock(text="found"),))
FAILED = ToolResultBlock(tool_call_id="1", content=(), failed=True)


@pytest.mark.parametrize(
    "context", [spoken(SEARCH, DONE), listed({"name": "search", "arguments": {"query": "Paris", "limit": 1}})]
)
@pytest.mark.parametrize(
    ("what", "called"),
    [
        ({"tool": "search"}, True),
        ({"value": "search"}, True),
        ({"tool": "Search"}, False),
        ({"tool": "fetch"}, False),
        ({"tool": "search", "arguments": {}}, True),
        ({"tool": "search", "arguments": {"limit": 1.0}}, True),
        ({"tool": "search", "arguments": {"limit": "1"}}, False),
        ({"tool": "search", "arguments": {"limit": True}}, False),
        ({"tool": "search", "arguments": {"limit": 1, "page": None}}, False),
        ({"tool": "search", "arguments": {"limit": 1}, "arguments_match": "exact"}, False),
        ({"tool": "search", "arguments": {"limit": 1, "query": "Paris"}, "arguments_match": "exact"}, True),
    ],
)
def test_a_tool_was_called_or_not(context: Context, what: dict[str, Any], called: bool) -> None:
    assert found(context, type="required_tool", **what).passed is called
    assert found(context, type="forbidden_tool", **what).passed is not called


def test_all_required_tools_must_be_called_and_none_of_the_forbidden() -> None:
    context = listed({"name": "a"}, {"name": "b"})
    assert found(context, type="required_tool", tool=["a", "b"]).passed
    assert found(context, type="required_tool", tool=["a", "c"]).details == {"calls": 2, "missing": ["c"]}
    assert found(context, type="forbidden_tool", tool=["b", "c"]).details == {"calls": 2, "called": ["b"]}
    assert found(context, type="forbidden_tool", tool=["c", "d"]).passed


def test_arguments_within_arguments_may_have_others_beside_them() -> None:
    context = listed({"name": "a", "arguments": {"where": {"city": "Paris", "zip": 1}, "tags": ["x", "y"]}})
    assert found(context, type="required_tool", tool="a", arguments={"where": {"city": "Paris"}}).passed
    assert not found(context, type="required_tool", tool="a", arguments={"tags": ["x"]}).passed


CHECKS: list[dict[str, Any]] = [
    {"type": "required_tool", "tool": "search"},
    {"type": "forbidden_tool", "tool": "search"},
    {"type": "max_tool_error_rate", "value": 0.5},
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: str(check["type"]))
def test_where_nothing_is_recorded_about_tools_nothing_is_decided(check: dict[str, Any]) -> None:
    for context in (
        Context(output="Paris"),
        Context(output="", messages=(Message(role=Role.USER, content="Look it up."),)),
        Context(output="x", execution={"tool_calls": None}),
    ):
        assessment = found(context, **check)
        assert assessment.status is Status.UNVERIFIED
        assert [finding.code for finding in assessment.findings] == ["no_tool_record"]


def test_an_empty_record_says_that_no_tool_was_called() -> None:
    assert found(listed(), type="forbidden_tool", tool="search").passed
    assert found(listed(), type="required_tool", tool="search").status is Status.FAIL
    assessment = found(listed(), type="max_tool_error_rate", value=0.5)
    assert assessment.status is Status.UNVERIFIED
    assert [finding.code for finding in assessment.findings] == ["no_tool_calls"]


def test_a_call_that_stands_in_both_records_counts_once() -> None:
    messages = (Message(role=Role.ASSISTANT, content=(SEARCH, FAILED)),)
    for twin in ({"name": "search", "id": "1"}, {"name": "search", "arguments": {"limit": 1, "query": "Paris"}}):
        calls = tool_calls(Context(output="", messages=messages, execution={"tool_calls": [twin, {"name": "b"}]}))
        assert calls is not None
        assert [(call.name, call.failed) for call in calls] == [("search", True), ("b", False)]


@pytest.mark.parametrize(
    ("calls", "limit", "status"),
    [
        ([{"name": "a", "failed": True}, {"name": "b"}], 0.5, Status.PASS),
        ([{"name": "a", "failed": True}, {"name": "b"}], 0.49, Status.FAIL),
        ([{"name": "a"}, {"name": "b"}], 0, Status.PASS),
        ([{"name": "a", "failed": True}], 1, Status.PASS),
    ],
)
def test_the_error_rate_of_tools_is_held_to_its_limit(calls: list[Any], limit: float, status: Status) -> None:
    assessment = found(listed(*calls), type="max_tool_error_rate", value=limit)
    assert assessment.status is status
    rate = sum("failed" in call for call in calls) / len(calls)
    assert assessment.measurements == (Measurement(name="tool_error_rate", value=rate, unit="ratio"),)


def test_calls_without_a_result_leave_the_rate_open_only_where_they_could_decide() -> None:
    still_open = ToolCallBlock(id="2", name="b")
    assert found(spoken(SEARCH, DONE, still_open), type="max_tool_error_rate", value=0.5).passed
    assert found(spoken(SEARCH, FAILED, still_open), type="max_tool_error_rate", value=0.4).status is Status.FAIL
    assessment = found(spoken(SEARCH, DONE, still_open), type="max_tool_error_rate", value=0.4)
    assert assessment.status is Status.UNVERIFIED
    assert [finding.code for finding in assessment.findings] == ["tool_result_unknown"]


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ("search", "execution.tool_calls: expected an array, found text"),
        ({"name": "a"}, "execution.tool_calls: expected an array, found an object"),
        (["a"], "execution.tool_calls[0]: expected an object with a name, found text"),
        ([{}], "execution.tool_calls[0].name: expected text, found nothing"),
        ([{"name": 1}], "execution.tool_calls[0].name: expected text, found a number"),
        ([{"name": "a", "arguments": "{}"}], "execution.tool_calls[0].arguments: expected an object, found text"),
        ([{"name": "a", "failed": 1}], "execution.tool_calls[0].failed: expected true or false, found a number"),
    ],
)
def test_a_record_of_another_shape_is_an_error_that_says_what_is_wrong(calls: Any, says: str) -> None:
    for check in CHECKS:
        with pytest.raises(RequestError) as caught:
            found(Context(output="", execution={"tool_calls": calls}), **check)
        assert str(caught.value) == says


LIMITS = [("max_latency_ms", "latency_ms", "ms", "no_latency"), ("max_cost_usd", "cost_usd", "usd", "no_cost")]


@pytest.mark.parametrize(("type_", "field", "unit", "code"), LIMITS)
def test_a_measurement_is_held_to_its_limit(type_: str, field: str, unit: str, code: str) -> None:
    for measured, limit, passes in ((5, 5, True), (5.01, 5, False), (0, 0, True), (0.1 + 0.2, 0.3, False)):
        assessment = found(Context(output="", execution={field: measured}), type=type_, value=limit)
        assert assessment.passed is passes
        assert assessment.score == (100.0 if passes else 0.0)
        assert assessment.measurements == (Measurement(name=field, value=float(measured), unit=unit),)
        assert assessment.details == {"limit": float(limit)}


@pytest.mark.parametrize(("type_", "field", "unit", "code"), LIMITS)
def test_what_was_not_measured_is_unverified_and_never_a_zero(type_: str, field: str, unit: str, code: str) -> None:
    for execution in ({}, {field: None}, {"other": 1}):
        for negate in (False, True):
            assessment = found(Context(output="x", execution=execution), type=type_, value=1e9, negate=negate)
            assert (assessment.status, assessment.score, assessment.measurements) == (Status.UNVERIFIED, None, ())
            assert [finding.code for finding in assessment.findings] == [code]


@pytest.mark.parametrize(("type_", "field", "unit", "code"), LIMITS)
def test_a_measurement_that_is_no_number_is_an_error(type_: str, field: str, unit: str, code: str) -> None:
    for measured, says in (("12", "text"), (True, "a boolean"), (-1, "-1.0"), (10**400, "a number"), ([1], "an array")):
        with pytest.raises(RequestError) as caught:
            found(Context(output="x", execution={field: measured}), type=type_, value=1)
        assert str(caught.value) == f"execution.{field}: expected a number of at least 0, found {says}"


def test_a_reason_shows_the_exact_numbers() -> None:
    assessment = found(Context(output="", execution={"latency_ms": 1000.0004}), type="max_latency_ms", value=1000)
    assert assessment.reason == "1000.0004 ms, the limit is 1000.0"
    assert not math.isnan(assessment.score or 0.0)
