"""From what an author wrote to assertions, or every fault at once; and the JSON Schema of the same table."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import jsonschema_rs
import pytest
from built import Judge, faults_of
from hypothesis import given
from hypothesis import strategies as st

from jurat.assertions import Assertion, assertion_schema, build_assertion, build_assertions
from jurat.assertions.table import TYPES
from jurat.errors import AuthoringError
from jurat.evaluation import Assessment, Evaluator, run_evaluator
from jurat.evidence import Context
from jurat.vocabulary import Status

EXAMPLES: list[dict[str, Any]] = [
    {"type": "contains", "value": "a"},
    {"type": "contains", "value": ["a", "b"], "match": "any", "ignore_case": True},
    {"type": "not_contains", "value": " "},
    {"type": "exact_match"},
    {"type": "exact_match", "value": {"a": [1]}, "trim": True},
    {"type": "regex", "value": "a+", "full": True},
    {"type": "json_field", "path": "a.b", "expected": None},
    {"type": "json_field", "field": "a", "exists": False},
    {"type": "json_field", "path": "a", "minimum": 1, "maximum": 2, "matches": "x"},
    {"type": "json_deep_compare", "expected": [], "threshold": 80, "ignore_extra": True},
    {"type": "json_schema", "schema": {"type": "object"}},
    {"type": "json_schema", "value": True},
    {"type": "required_text", "value": "a"},
    {"type": "forbidden_text", "value": ["a"]},
    {"type": "required_tool", "tool": ["a", "b"], "arguments": {}},
    {"type": "forbidden_tool", "value": "a", "arguments": {"x": 1}, "arguments_match": "exact"},
    {"type": "structured_output"},
    {"type": "max_tool_error_rate", "value": 0},
    {"type": "max_latency_ms", "value": 1500.5},
    {"type": "max_cost_usd", "value": 0.01},
    {"type": "python", "function": "builtins:bool", "threshold": 50},
    {"type": "rubric_judge", "rubric": "Is it kind?", "provider": "judge", "samples": 3, "reducer": "majority"},
    {"type": "rubric_judge", "template": "faithfulness@v1", "provider_id": "judge", "evidence": "required"},
    {"type": "rubric_judge", "rubric": {"name": "x"}, "reducer": {"minimum_pass_rate": 0.5}, "examples": []},
]

REFUSED: list[tuple[Any, list[tuple[str, str, str]]]] = [
    (3, [("", "an object with a type", "a number")]),
    ({"value": "a"}, [("type", "one of " + ", ".join(TYPES), "nothing")]),
    ({"type": None}, [("type", "one of " + ", ".join(TYPES), "null")]),
    ({"type": "contains"}, [("value", "the text, or several", "nothing")]),
    (
        {"type": "contains", "value": 42},
        [("value", "text, or a list of texts", "a number")],
    ),
    ({"type": "contains", "value": "  "}, [("value", "text that is not blank", "blank text")]),
    ({"type": "contains", "value": ""}, [("value", "text that is not blank", "empty text")]),
    ({"type": "contains", "value": []}, [("value", "1 to 1,000 texts", "0")]),
    (
        {"type": "contains", "value": ["a", "", 3]},
        [
            ("value[1]", "text that is not blank", "empty text"),
            ("value[2]", "text that is not blank", "a number"),
        ],
    ),
    ({"type": "not_contains", "value": ""}, [("value", "text", "empty text")]),
    ({"type": "contains", "value": "a", "weight": True}, [("weight", "a number above 0", "a boolean")]),
    ({"type": "contains", "value": "a", "weight": 0}, [("weight", "a number above 0", "0.0")]),
    ({"type": "contains", "value": "a", "weight": "1"}, [("weight", "a number above 0", "text")]),
    ({"type": "contains", "value": "a", "negate": "yes"}, [("negate", "true or false", "text")]),
    ({"type": "contains", "value": "a", "required": 1}, [("required", "true or false", "a number")]),
    ({"type": "contains", "value": "a", "name": ""}, [("name", "text that is not blank", "empty text")]),
    ({"type": "contains", "value": "a", "match": "al"}, [("match", "one of all, any", "'al'")]),
    ({"type": "exact_match", "value": None}, [("value", "a JSON value other than null", "null")]),
    ({"type": "exact_match", "value": "\n"}, [("value", "a value that is not blank", "blank text")]),
    ({"type": "exact_match", "value": "a", "expected": "a"}, [("expected", "value once", "expected beside value")]),
    ({"type": "json_deep_compare", "threshold": 101}, [("threshold", "a number from 0 to 100", "101.0")]),
    ({"type": "json_deep_compare", "threshold": True}, [("threshold", "a number from 0 to 100", "a boolean")]),
    ({"type": "max_tool_error_rate", "value": 1.5}, [("value", "a number from 0 to 1", "1.5")]),
    ({"type": "max_latency_ms", "value": True}, [("value", "a number of at least 0", "a boolean")]),
    ({"type": "max_cost_usd", "value": -1}, [("value", "a number of at least 0", "-1.0")]),
    ({"type": "required_tool"}, [("tool", "the tool's name, or several", "nothing")]),
    ({"type": "rubric_judge"}, [("", "exactly one of rubric and template", "neither")]),
    (
        {"type": "rubric_judge", "rubric": "a", "template": "b"},
        [("", "exactly one of rubric and template", "rubric and template")],
    ),
    ({"type": "rubric_judge", "rubric": " "}, [("rubric", "text that is not blank", "blank text")]),
    (
        {"type": "rubric_judge", "rubric": "a" * 4001},
        [("rubric", "text of at most 4,000 characters", "4,001 characters")],
    ),
    (
        {"type": "rubric_judge", "rubric": "a", "samples": 0},
        [("samples", "a whole number from 1 to 20", "one outside")],
    ),
    (
        {"type": "rubric_judge", "rubric": "a", "samples": True},
        [("samples", "a whole number from 1 to 20", "a boolean")],
    ),
    ({"type": "rubric_judge", "rubric": "a", "provider": 3}, [("provider", "text or an object", "a number")]),
    (
        {"type": "rubric_judge", "rubric": "a", "provider": "a", "provider_id": "a"},
        [("provider_id", "provider once", "provider_id beside provider")],
    ),
    (
        {"type": "rubric_judge", "rubric": "a", "evidence": "none"},
        [("evidence", "one of optional, required", "'none'")],
    ),
    ({"type": "rubric_judge", "rubric": "a", "examples": "x"}, [("examples", "an array", "text")]),
]

# What JSON cannot write, or a JSON Schema cannot say.
REFUSED_BY_THE_READER_ALONE: list[tuple[Any, list[tuple[str, str, str]]]] = [
    ({"type": "rubric_judge", "rubric": "a", "samples": 3.0}, [("samples", "a whole number from 1 to 20", "a number")]),
    (
        {"type": "contains", "value": "\ud800"},
        [("value", "a JSON value", "text with a lone surrogate, which is no Unicode character")],
    ),
    ({"type": "contains", "value": b"a"}, [("value", "text, or a list of texts", "bytes")]),
    (
        {"type": "contains", "value": "a", "weight": math.inf},
        [("weight", "a number above 0", "one that is not finite")],
    ),
    ({"type": "contains", "value": "a", "weight": 10**400}, [("weight", "a number above 0", "one that is not finite")]),
    ({"type": "exact_match", "value": {"a": {1}}}, [("value.a", "a JSON value", "a Python set")]),
    ({"type": "exact_match", "value": math.nan}, [("value", "a JSON value", "a number that is not finite")]),
    (
        {"type": "json_field", "path": "a..b"},
        [
            (
                "path",
                'a path like customer.orders[0]["unit.price"]',
                "another form: column 2 needs a key after a dot, an index or a quoted key in brackets",
            )
        ],
    ),
    (
        {"type": "json_field", "path": "a", "exists": False, "expected": 1},
        [("exists", "true, or no other rule", "false beside expected")],
    ),
    (
        {"type": "json_field", "path": "a", "minimum": 2, "maximum": 1},
        [("minimum", "a number that is not above maximum", "2.0")],
    ),
]


@pytest.mark.parametrize("value", EXAMPLES, ids=lambda value: str(value["type"]))
def test_what_the_table_allows_is_built_and_fits_the_published_schema(value: dict[str, Any]) -> None:
    assertion = build_assertion(value, judge_factory=lambda *_: Judge())
    assert (assertion.type, assertion.name) == (value["type"], value["type"])
    assert (assertion.weight, assertion.required, assertion.negate) == (1.0, False, False)
    assert isinstance(assertion, Evaluator)
    assert jsonschema_rs.is_valid(assertion_schema(), value)


def test_every_type_is_among_the_examples() -> None:
    assert {value["type"] for value in EXAMPLES} == set(TYPES)


@pytest.mark.parametrize(("value", "expected"), [*REFUSED, *REFUSED_BY_THE_READER_ALONE], ids=str)
def test_what_the_table_does_not_allow_is_a_fault_that_says_what_was_expected_and_found(
    value: Any, expected: list[tuple[str, str, str]]
) -> None:
    assert faults_of(value, judge_factory=lambda *_: Judge()) == expected


def test_the_published_schema_refuses_what_the_reader_refuses() -> None:
    schema = jsonschema_rs.validator_for(assertion_schema())
    for value, _ in REFUSED:
        assert not schema.is_valid(value), value


def test_unknown_types_and_keys_name_the_nearest_known_one() -> None:
    with pytest.raises(AuthoringError) as caught:
        build_assertions([{"type": "contians", "value": "a"}, {"type": "contains", "value": "a", "ignorecase": True}])
    hints = [(fault.path, fault.hint) for fault in caught.value.faults]
    assert hints == [
        ("assertions[0].type", "Did you mean contains?"),
        ("assertions[1].ignorecase", "Did you mean ignore_case?"),
    ]


def test_a_number_where_text_is_meant_is_told_to_go_into_quotes() -> None:
    with pytest.raises(AuthoringError, match="Put it in quotes, if text is meant"):
        build_assertion({"type": "contains", "value": 42})


def test_all_faults_of_all_assertions_are_reported_together_in_order() -> None:
    with pytest.raises(AuthoringError) as caught:
        build_assertions(
            [
                {"type": "regex", "value": "(", "weight": -1, "extra": 1},
                {"type": "regex", "value": "("},
                "contains",
                {"type": "max_latency_ms", "value": "12"},
            ],
            path="cases[3].assertions",
        )
    assert [fault.path for fault in caught.value.faults] == [
        "cases[3].assertions[0].extra",
        "cases[3].assertions[0].weight",
        "cases[3].assertions[1].value",
        "cases[3].assertions[2]",
        "cases[3].assertions[3].value",
    ]


@pytest.mark.parametrize("values", [None, "contains", {"type": "contains"}, 3])
def test_assertions_are_a_list(values: object) -> None:
    with pytest.raises(AuthoringError, match="assertions: expected a list"):
        build_assertions(values)


def test_assertions_of_one_case_get_names_apart() -> None:
    contains = {"type": "contains", "value": "a"}
    made = build_assertions([contains, contains, {**contains, "name": "contains#2"}, contains, {"type": "exact_match"}])
    assert [assertion.name for assertion in made] == [
        "contains",
        "contains#3",
        "contains#2",
        "contains#4",
        "exact_match",
    ]


def test_a_name_given_twice_is_a_fault() -> None:
    named = {"type": "contains", "value": "a", "name": "mine"}
    with pytest.raises(AuthoringError) as caught:
        build_assertions([named, named])
    assert [(fault.path, fault.found) for fault in caught.value.faults] == [
        ("assertions[1].name", "the name of assertions[0]")
    ]


def test_the_common_keys_are_kept_and_the_assessment_bears_the_name() -> None:
    assertion = build_assertion(
        {"type": "contains", "value": "a", "name": "greets", "weight": 2, "required": True, "negate": True}
    )
    assert (assertion.name, assertion.weight, assertion.required, assertion.negate) == ("greets", 2.0, True, True)
    assessment = asyncio.run(run_evaluator(assertion, Context(output="abc")))
    assert (assessment.evaluator, assessment.status, assessment.score) == ("greets", Status.FAIL, 0.0)
    assert assessment.details["negate"] is True


def test_negation_mirrors_a_score_between_nothing_and_everything() -> None:
    value = {"type": "json_deep_compare", "expected": [1, 2, 3, 4], "threshold": 50}
    plain = build_assertion(value).evaluate("[1, 2, 3, 5]")
    negated = build_assertion({**value, "negate": True}).evaluate("[1, 2, 3, 5]")
    assert isinstance(plain, Assessment)
    assert isinstance(negated, Assessment)
    assert (plain.status, plain.score) == (Status.PASS, 75.0)
    assert (negated.status, negated.score) == (Status.FAIL, 25.0)


# --- anything ------------------------------------------------------------------------------------------------------

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=2)
    | st.just(10**400)
)
anything = st.recursive(
    scalars,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), part, max_size=3),
    max_leaves=6,
)


def built(value: object) -> Assertion | None:
    """The assertion; or None, when there are faults, which then say something."""
    try:
        return build_assertion(value, judge_factory=lambda *_: Judge())
    except AuthoringError as error:
        if not error.faults or not all(fault.expected and fault.found for fault in error.faults):
            raise AssertionError("an authoring error without a fault") from error
        return None


@given(anything)
def test_anything_at_all_is_an_assertion_or_faults(value: object) -> None:
    assert built(value) is None


@given(st.data())
def test_any_values_under_known_keys_are_faults_or_an_assertion_that_decides(data: st.DataObject) -> None:
    type_ = data.draw(st.sampled_from(sorted(set(TYPES) - {"python", "rubric_judge"})))
    keys = sorted({*TYPES[type_].keys, "name", "weight", "required", "negate"})
    assertion = built({**data.draw(st.dictionaries(st.sampled_from(keys), anything, max_size=4)), "type": type_})
    if assertion is not None:
        context = Context(output=data.draw(st.text(max_size=9)), execution={"cost_usd": 0.5})
        assert isinstance(assertion.evaluate(context), Assessment)
