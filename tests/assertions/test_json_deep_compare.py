"""Two JSON values held against each other leaf by leaf: the share that matches, and the account of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from jsonchecked import found, values

from jurat.assertions import json_equal
from jurat.evaluation import Assessment
from jurat.evidence import Context


def compared(expected: Any, actual: Any, **more: Any) -> Assessment:
    return found(json.dumps(actual), type="json_deep_compare", expected=expected, **more)


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
