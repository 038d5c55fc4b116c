"""Policies are read whole, and every fault of them is told with its path before anything is spent."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import Fault
from jurat.metrics.policy import Policy, policy_schema, policy_to_json, read_policy
from jurat.metrics.rules import RULES, RuleType

ALL: list[dict[str, Any]] = [
    {"type": "overall_pass_rate", "minimum": 0.9, "of": "trials", "minimum_decided": 0.8, "name": "most of all"},
    {"type": "label_pass_rate", "label": "europe", "minimum": 1},
    {"type": "label_pass_rate", "metadata": {"tier": "gold"}, "minimum": 0.5},
    {"type": "case_pass_rate", "minimum": 0.8},
    {"type": "evaluator_score", "assertion": "tone", "minimum": 3.5},
    {"type": "evaluator_score", "template": "correctness@v1", "minimum": -1e3, "minimum_decided": 0},
    {"type": "no_regression", "maximum_drop": 0.02, "baseline": "latest-good", "template": "tone"},
    {"type": "no_regression", "maximum_regressed": 0, "name": "nothing that worked fails"},
    {"type": "total_cost_usd", "maximum": 1.5},
    {"type": "judge_cost_usd", "maximum": 0},
    {"type": "latency_ms", "maximum": 2000, "percentile": 95, "stage": "judge"},
    {"type": "error_rate", "maximum": 0.05, "of": "evaluators"},
    {"type": "flip_rate", "maximum": 0.5, "of": "judge", "assertion": "tone"},
]

NEAR = "overall_pass_rate"


def faults_of(*rules: Any) -> list[str]:
    faults: list[Fault] = []
    read_policy(list(rules), "policy", faults)
    return [str(fault) for fault in faults]


def policy(*rules: Any) -> Policy:
    faults: list[Fault] = []
    made = read_policy(list(rules), "policy", faults)
    assert not faults
    return made


def test_a_policy_of_every_rule_is_read_and_written_back_as_it_was() -> None:
    assert policy_to_json(policy(*ALL)) == ALL
    assert {rule["type"] for rule in ALL} == set(RuleType) == set(RULES)


def test_its_hash_names_what_it_says_and_not_how_it_was_written() -> None:
    one = policy({"type": "total_cost_usd", "maximum": 1})
    other = policy({"maximum": 1, "type": "total_cost_usd"})

    assert one.hash == other.hash
    assert one.hash != policy({"type": "total_cost_usd", "maximum": 2}).hash


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("overall", "policy[0]: expected a rule (an object with a type), found text"),
        ({}, f"policy[0].type: expected one of {', '.join(RuleType)}, found nothing"),
        (
            {"type": "overall_passrate", "minimum": 1},
            f"policy[0].type: expected one of {', '.join(RuleType)}, found 'overall_passrate'. Did you mean {NEAR}?",
        ),
        ({"type": "case_pass_rate"}, "policy[0].minimum: expected a number of at least 0, at most 1, found nothing"),
        (
            {"type": "case_pass_rate", "minimum": 90},
            "policy[0].minimum: expected a number of at least 0, at most 1, found 90",
        ),
        (
            {"type": "case_pass_rate", "minimum": True},
            "policy[0].minimum: expected a number of at least 0, at most 1, found true",
        ),
        (
            {"type": "case_pass_rate", "minimum": "0.9"},
            "policy[0].minimum: expected a number of at least 0, at most 1, found '0.9'",
        ),
        (
            {"type": "case_pass_rate", "minimum": 1, "minimun": 1},
            "policy[0].minimun: expected a known key, found an unknown one. Did you mean minimum?",
        ),
        (
            {"type": "overall_pass_rate", "minimum": 1, "of": "rows"},
            "policy[0].of: expected one of cases, trials, found 'rows'",
        ),
        (
            {"type": "evaluator_score", "minimum": 1},
            "policy[0]: expected exactly one of assertion and template, found neither",
        ),
        (
            {"type": "label_pass_rate", "minimum": 1, "label": "a", "metadata": {"b": 1}},
            "policy[0]: expected exactly one of label and metadata, found both",
        ),
        (
            {"type": "label_pass_rate", "minimum": 1, "metadata": {"b": 1, "c": 2}},
            "policy[0].metadata: expected one key with a text, number, boolean or null, found an object with 2 keys",
        ),
        (
            {"type": "no_regression", "assertion": "a", "template": "b"},
            "policy[0]: expected at most one of assertion and template, found both",
        ),
        (
            {"type": "latency_ms", "maximum": 1, "percentile": 0},
            "policy[0].percentile: expected a number above 0, at most 100, found 0",
        ),
        (
            {"type": "evaluator_score", "assertion": " ", "minimum": 1},
            "policy[0].assertion: expected text that is not blank, of at most 1,000 characters, found ' '",
        ),
    ],
)
def test_what_is_wrong_with_a_rule_is_told_with_its_path(rule: Any, told: str) -> None:
    assert faults_of(rule) == [told]


def test_all_faults_of_all_rules_are_told_together() -> None:
    assert len(faults_of({"type": "total_cost_usd", "maximum": -1}, "x", {"type": "flip_rate", "maximum": 0.6})) == 3


def test_names_of_rules_are_their_own_and_there_is_one_baseline() -> None:
    twice = {"type": "case_pass_rate", "minimum": 1, "name": "same"}

    assert faults_of(twice, twice) == ["policy[1].name: expected a name of its own, found 'same'"]
    assert faults_of({"type": "no_regression", "baseline": "a"}, {"type": "no_regression", "baseline": "b"}) == [
        "policy: expected one baseline for all rules, found several"
    ]


def test_what_is_no_list_is_no_policy() -> None:
    faults: list[Fault] = []
    read_policy({"type": "case_pass_rate"}, "policy", faults)

    assert [str(fault) for fault in faults] == ["policy: expected a list of rules, found an object"]


def test_rules_about_what_the_suite_does_not_have_are_faults() -> None:
    made = policy(
        {"type": "evaluator_score", "assertion": "tome", "minimum": 1},
        {"type": "evaluator_score", "template": "correctness", "minimum": 1},
        {"type": "evaluator_score", "template": "safety", "minimum": 1},
        {"type": "label_pass_rate", "label": "asia", "minimum": 1},
    )

    found = made.faults(assertions=["tone"], templates=["correctness@v1"], labels=["europe"])

    assert [str(fault) for fault in found] == [
        "policy[0].assertion: expected an assertion of the suite, found 'tome'. Did you mean tone?",
        "policy[2].template: expected a template of the suite, found 'safety'",
        "policy[3].label: expected a label of the suite, found 'asia'",
    ]


def test_the_schema_accepts_what_is_read_and_refuses_what_is_not() -> None:
    schema = jsonschema_rs.validator_for(policy_schema())

    assert schema.is_valid(ALL)
    for wrong in (
        {"type": "case_pass_rate"},
        {"type": "case_pass_rate", "minimum": 2},
        {"type": "label_pass_rate", "minimum": 1, "label": "a", "metadata": {"b": 1}},
        {"type": "no_regression", "assertion": "a", "template": "b"},
        {"type": "no_regression", "maximum_regressed": 0, "maximum_drop": 0},
        {"type": "no_regression", "maximum_regressed": 0.5},
        {"type": "unheard_of"},
    ):
        assert not schema.is_valid([wrong])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["type", "name", *{key for keys in RULES.values() for key in keys}])


@given(rules=st.lists(st.dictionaries(KEYS, VALUES | st.sampled_from(list(RuleType)), max_size=6) | VALUES, max_size=4))
def test_reading_never_crashes_and_what_is_read_without_a_fault_is_written_back(rules: list[Any]) -> None:
    faults: list[Fault] = []
    made = read_policy(rules, "policy", faults)

    if not faults:
        again: list[Fault] = []
        assert read_policy(policy_to_json(made), "policy", again) == made
        assert not again
        assert jsonschema_rs.validator_for(policy_schema()).is_valid(rules)


# --- what no number, no text and no suite is -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (
            {"type": "overall_pass_rate", "minimum": 10**400},
            f"policy[0].minimum: expected a number of at least 0, at most 1, found 1{'0' * 39}",
        ),
        (
            {"type": "latency_ms", "maximum": float("nan")},
            "policy[0].maximum: expected a number of at least 0, found nan",
        ),
        (
            {"type": "label_pass_rate", "metadata": {"a": float("nan")}, "minimum": 1},
            "policy[0].metadata: expected one key with a text, number, boolean or null, found an object",
        ),
        (
            {"type": "label_pass_rate", "metadata": {"a": "\udc00"}, "minimum": 1},
            "policy[0].metadata: expected one key with a text, number, boolean or null, found an object",
        ),
        (
            {"type": "label_pass_rate", "label": "\udc00", "minimum": 1},
            "policy[0].label: expected text that is not blank, of at most 1,000 characters, found '\\udc00'",
        ),
        (
            {"type": "no_regression", "maximum_regressed": 0.5},
            "policy[0].maximum_regressed: expected a whole number of at least 0, found 0.5",
        ),
        (
            {"type": "no_regression", "maximum_regressed": 0, "of": "trials", "template": "tone"},
            "policy[0]: expected maximum_regressed alone, found of and template beside it",
        ),
    ],
)
def test_what_no_limit_can_be_is_a_fault_and_never_a_crash(rule: dict[str, Any], fault: str) -> None:
    assert faults_of(rule) == [fault]


def test_metadata_that_no_case_has_is_told_and_two_point_nought_is_two() -> None:
    rules = [{"type": "label_pass_rate", "metadata": {"tier": value}, "minimum": 1} for value in (2.0, "2", None)]
    made = read_policy(rules, "policy", [])

    found = made.faults(assertions=(), templates=(), labels=(), metadata=[{"tier": 2}, {"tier": None}])

    assert [str(fault) for fault in found] == [
        "policy[1].metadata: expected what stands in the metadata of a case, found tier=2"
    ]
