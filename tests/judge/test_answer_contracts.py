"""The other contracts, which go through the same checks, and the schemas that ask for them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from judging import TEXTS, VALID, answer, rubric, without
from jurat.errors import AnswerError
from jurat.evaluation import Quote
from jurat.judge import Answer, answer_schema, check_reply
from jurat.judge.answer import check_explanation
from jurat.provider import FinishReason, Reply
from jurat.rubric import Criterion, Rubric
from jurat.vocabulary import Contract


def reply(text: str) -> Reply:
    return Reply(text=text, finish_reason=FinishReason.STOP)


def checked(text: str, contract: Contract, against: Rubric | None = None) -> Answer:
    return check_reply(reply(text), TEXTS, against or rubric(), contract)


def refused(text: str, contract: Contract, against: Rubric | None = None) -> AnswerError:
    with pytest.raises(AnswerError) as caught:
        checked(text, contract, against)
    return caught.value


# --- criteria/v1 -----------------------------------------------------------------------------------------------------

SEVERAL = rubric(
    Criterion(id="facts", description="True.", min=0, max=10, weight=3, required=True),
    Criterion(id="tone", description="Kind.", min=1, max=5),
)


def criteria(**parts: Any) -> str:
    whole = {"facts": {**VALID, "score": 5}, "tone": {**VALID, "score": 5}, **parts}
    return json.dumps({"criteria": {key: part for key, part in whole.items() if part is not None}})


def test_the_overall_score_is_the_weighted_mean_mapped_to_the_range() -> None:
    found = checked(criteria(), Contract.CRITERIA_V1, SEVERAL)

    # facts lies at 0.5 of its range with weight 3, tone at 1 with weight 1: 2.5 / 4 of the envelope from 0 to 10.
    assert found.score == 6.25
    assert [(item.id, item.score) for item in found.criteria] == [("facts", 5.0), ("tone", 5.0)]
    assert found.reason == "facts: It gives the hour.\ntone: It gives the hour."
    assert found.evidence == (Quote(message_index=1, quote="at 9"),) * 2
    assert found.blocked_by == ()


def test_a_required_criterion_under_its_own_midpoint_blocks_the_whole() -> None:
    under = checked(criteria(facts={**VALID, "score": 4.99}), Contract.CRITERIA_V1, SEVERAL)
    optional = checked(criteria(tone={**VALID, "score": 1}), Contract.CRITERIA_V1, SEVERAL)

    assert under.blocked_by == ("facts",)
    assert optional.blocked_by == ()


def test_all_criteria_at_an_end_give_that_end_of_the_range() -> None:
    thirds = rubric(*(Criterion(id=f"c{n}", description="d", min=0, max=0.3, weight=0.1) for n in range(7)))
    top = json.dumps({"criteria": {f"c{n}": {**VALID, "score": 0.3} for n in range(7)}})
    bottom = json.dumps({"criteria": {f"c{n}": {**VALID, "score": 0} for n in range(7)}})

    assert checked(top, Contract.CRITERIA_V1, thirds).score == 0.3
    assert checked(bottom, Contract.CRITERIA_V1, thirds).score == 0.0


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("schema_violation", criteria(tone=None)),
        ("schema_violation", criteria(extra=VALID)),
        ("schema_violation", criteria(tone={**VALID, "pass": True})),
        ("schema_violation", criteria(tone={"score": 5, "reason": "x"})),
        ("schema_violation", answer()),
        ("schema_violation", '{"criteria": []}'),
        ("schema_violation", json.dumps({"criteria": {"facts": VALID, "tone": VALID}, "score": 5})),
        ("schema_violation", '{"criteria": {}, "criteria": {}}'),
        ("schema_violation", criteria().replace('"tone"', '"facts"')),
        ("score_out_of_range", criteria(tone={**VALID, "score": 5.5})),
        ("score_out_of_range", criteria(tone={**VALID, "score": 0.5})),
        ("non_finite_score", criteria(tone={**VALID, "score": float("nan")})),
        ("malformed_json", criteria(tone=float("nan"))),
        ("malformed_json", json.dumps({"score": float("nan"), "criteria": {}})),
        ("empty_reason", criteria(tone={**VALID, "score": 5, "reason": " "})),
        ("reason_too_long", criteria(tone={**VALID, "score": 5, "reason": "x" * 4001})),
        ("quote_not_found", criteria(tone={**VALID, "score": 5, "evidence": [{"message_index": 0, "quote": "at 9"}]})),
        ("schema_violation", criteria(facts={**VALID, "score": 99}, tone={**VALID, "score": "5"})),
        ("score_out_of_range", criteria(facts={**VALID, "reason": ""}, tone={**VALID, "score": 99})),
    ],
)
def test_every_criterion_is_checked_as_an_answer_is(expected: str, text: str) -> None:
    assert refused(text, Contract.CRITERIA_V1, SEVERAL).category == expected


def test_the_criterion_at_fault_is_named_by_its_path() -> None:
    error = refused(criteria(tone={**VALID, "score": 9}), Contract.CRITERIA_V1, SEVERAL)

    assert str(error).startswith("criteria.tone.score: expected a number from 1 to 5")


# --- reasoned/v1 -----------------------------------------------------------------------------------------------------


def reasoned(**changes: Any) -> str:
    return json.dumps({"reasoning": "It gives the hour.", "score": 0.75, **changes})


def test_other_members_of_a_reasoned_answer_are_ignored_a_verdict_among_them() -> None:
    text = reasoned(
        verdict="FAIL", passed=False, evidence=[{"message_index": 0, "quote": "invented"}], notes={"a": [1]}
    )

    assert checked(text, Contract.REASONED_V1) == Answer(score=0.75, reason="It gives the hour.")


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("malformed_json", f"```json\n{reasoned()}\n```"),
        ("malformed_json", f"Sure! {reasoned()}"),
        ("malformed_json", reasoned(notes=float("nan"))),
        ("malformed_json", reasoned(notes={"score": float("nan")})),
        ("schema_violation", answer()),
        ("schema_violation", '{"reasoning": "x"}'),
        ("schema_violation", '{"score": 0.5}'),
        ("schema_violation", "[]"),
        ("schema_violation", reasoned(score="0.5")),
        ("schema_violation", reasoned(score=True)),
        ("schema_violation", reasoned(reasoning=["x"])),
        ("schema_violation", '{"score": 0.1, ' + reasoned()[1:]),
        ("schema_violation", '{"notes": {"a": 1, "a": 2}, ' + reasoned()[1:]),
        ("schema_violation", '{"notes": [{"a": 1, "a": 2}], ' + reasoned()[1:]),
        ("non_finite_score", reasoned(score=float("inf"))),
        ("score_out_of_range", reasoned(score=1.5)),
        ("empty_reason", reasoned(reasoning=" \n")),
        ("reason_too_long", reasoned(reasoning="x" * 4001)),
    ],
)
def test_a_reasoned_answer_is_checked_as_strictly_as_any(expected: str, text: str) -> None:
    assert refused(text, Contract.REASONED_V1).category == expected


# --- explained/v1 ----------------------------------------------------------------------------------------------------


def test_an_explanation_is_a_reason_and_quotes() -> None:
    found = check_explanation(reply(without("score")), TEXTS)

    assert found == ("It gives the hour.", (Quote(message_index=1, quote="at 9"),))


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("schema_violation", answer()),
        ("malformed_json", '{"evidence": [], "reason": NaN}'),
        ("empty_reason", '{"evidence": [], "reason": ""}'),
        ("quote_not_found", '{"evidence": [{"message_index": 0, "quote": "at 9"}], "reason": "x"}'),
    ],
)
def test_an_explanation_is_checked_in_the_same_order(expected: str, text: str) -> None:
    with pytest.raises(AnswerError) as caught:
        check_explanation(reply(text), TEXTS)

    assert caught.value.category == expected


# --- The schema that asks --------------------------------------------------------------------------------------------


def test_the_schema_lists_evidence_then_reason_then_score() -> None:
    schema = answer_schema(Contract.SCORE_V1, rubric())
    parts = answer_schema(Contract.CRITERIA_V1, SEVERAL)["properties"]["criteria"]["properties"]

    assert list(schema["properties"]) == schema["required"] == ["evidence", "reason", "score"]
    assert list(parts) == ["facts", "tone"]
    assert list(parts["tone"]["properties"]) == ["evidence", "reason", "score"]
    assert list(answer_schema(Contract.REASONED_V1, rubric())["properties"]) == ["reasoning", "score"]
    assert list(answer_schema(Contract.EXPLAINED_V1, rubric())["properties"]) == ["evidence", "reason"]


def test_the_schema_carries_the_rubrics_own_range() -> None:
    schema = answer_schema(Contract.SCORE_V1, rubric(Criterion(id="a", description="b", min=0, max=2)))
    parts = answer_schema(Contract.CRITERIA_V1, SEVERAL)["properties"]["criteria"]["properties"]

    assert schema["properties"]["score"] == {"type": "number", "minimum": 0.0, "maximum": 2.0}
    assert parts["facts"]["properties"]["score"]["maximum"] == 10.0
    assert parts["tone"]["properties"]["score"]["minimum"] == 1.0


@pytest.mark.parametrize("contract", [Contract.SCORE_V1, Contract.CRITERIA_V1, Contract.REASONED_V1])
def test_every_object_of_the_schema_is_closed_and_requires_all_it_lists(contract: Contract) -> None:
    def objects(schema: Any) -> list[dict[str, Any]]:
        if isinstance(schema, dict):
            own = [schema] if schema.get("type") == "object" else []
            return own + [found for part in schema.values() for found in objects(part)]
        return []

    found = objects(answer_schema(contract, SEVERAL))

    assert found
    assert all(part["additionalProperties"] is False for part in found)
    assert all(part["required"] == list(part["properties"]) for part in found)


def test_the_schema_accepts_what_the_check_accepts() -> None:
    assert jsonschema_rs.validator_for(dict(answer_schema(Contract.SCORE_V1, rubric()))).is_valid(VALID)
    parts = json.loads(criteria())
    assert jsonschema_rs.validator_for(dict(answer_schema(Contract.CRITERIA_V1, SEVERAL))).is_valid(parts)
