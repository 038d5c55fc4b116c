"""The result map: one shape for whatever became of a judgement, and nothing raw in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judging import CONTEXT, PRICED, answer, provider_with, rubric
from jurat.errors import ErrorCategory
from jurat.evaluation import Assessment, Finding, Measurement, Quote, Severity, TypedError
from jurat.evidence import Context
from jurat.jsontext import canonical, parse_strict
from jurat.judge import Judge, JudgeSettings
from jurat.provider import ScriptedReply, Usage
from jurat.report.result_map import assessment_map, unavailable_map, verdict_map
from jurat.rubric import Criterion, custom_rubric
from jurat.vocabulary import Status

USAGE = Usage(input_tokens=120, output_tokens=24, cached_input_tokens=100, reasoning_tokens=4)


async def mapped(*replies: Any, context: Context = CONTEXT, against: Any = None, **settings: Any) -> dict[str, Any]:
    provider = provider_with(*replies, prices=PRICED)
    judge = Judge(against or rubric(), provider, JudgeSettings(**settings), name="hours judge")
    found = verdict_map(await judge.judge(context))
    assert parse_strict(canonical(found)) == json.loads(json.dumps(found)) == found
    return found


def metadata(judge: str, **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "threshold": 0.5,
        "rubric": "Does it say when we open?",
        "template": "hours",
        "template_revision": "v1",
        "score_range": [0.0, 1.0],
        "contract": "score/v1",
        "strategy": "answer",
        "judge": judge,
        "truncated_fields": [],
        **changes,
    }


async def test_a_pass_in_full() -> None:
    found = await mapped(ScriptedReply(text=answer(), usage=USAGE, latency_ms=431.0, model="oracle-1-2026"))

    assert found == {
        "type": "rubric_judge",
        "status": "pass",
        "passed": True,
        "score": 0.75,
        "reason": "It gives the hour.",
        "evidence": [{"message_index": 1, "quote": "at 9"}],
        "metadata": metadata(found["metadata"]["judge"]),
        "evaluator": {
            "status": "completed",
            "provider": "oracle",
            "model": "oracle-1",
            "response_model": "oracle-1-2026",
            "input_tokens": 120,
            "output_tokens": 24,
            "cached_input_tokens": 100,
            "reasoning_tokens": 4,
            "cost_usd": pytest.approx(120e-6 + 240e-6),
            "duration_ms": 431.0,
            "attempts": 1,
            "cached": False,
        },
    }
    assert found["metadata"]["judge"].startswith("sha256:")


async def test_a_fail_has_a_score_too() -> None:
    found = await mapped(answer(score=0))

    assert (found["status"], found["passed"], found["score"]) == ("fail", False, 0.0)
    assert found["evaluator"]["status"] == "completed"


async def test_usage_that_is_not_known_is_null_and_so_is_its_cost() -> None:
    evaluator = (await mapped(answer()))["evaluator"]

    assert (evaluator["input_tokens"], evaluator["output_tokens"], evaluator["cost_usd"]) == (None, None, None)
    assert "cached_input_tokens" not in evaluator


async def test_an_unverified_verdict_has_no_score_and_says_what_was_missing() -> None:
    found = await mapped(answer(evidence=[]), evidence="required")

    assert (found["status"], found["passed"], found["score"]) == ("unverified", False, None)
    assert found["evaluator"]["status"] == "completed"
    assert found["findings"] == [
        {
            "code": "no_quotes",
            "severity": "warning",
            "message": "the verdict gives no quotes, which are required",
        }
    ]


async def test_an_invalid_reply_is_an_error_of_the_evaluator_and_nothing_of_it_is_shown() -> None:
    found = await mapped(ScriptedReply(text="zq7canary " + answer(), usage=USAGE))

    assert (found["status"], found["passed"], found["score"], found["reason"]) == ("error", False, None, None)
    assert found["evidence"] == []
    assert found["evaluator"]["status"] == "error"
    assert found["evaluator"]["error"]["type"] == "malformed_json"
    assert found["evaluator"]["input_tokens"] == 120
    assert "zq7canary" not in json.dumps(found)
    assert "gives the hour" not in json.dumps(found)


async def test_a_failed_call_is_an_error_and_its_cost_is_unknown() -> None:
    found = await mapped(ScriptedReply(error=ErrorCategory.TIMEOUT))

    assert found["evaluator"]["error"]["type"] == "timeout"
    assert (found["evaluator"]["attempts"], found["evaluator"]["cost_usd"]) == (1, None)


async def test_what_was_never_asked_cost_nothing() -> None:
    found = await mapped(answer(), context=Context(output=" "))

    assert found["status"] == "unverified"
    assert found["evaluator"] == {
        "status": "completed",
        "provider": "oracle",
        "model": "oracle-1",
        "input_tokens": 0,
        "output_tokens": 0,
        "cost_usd": 0.0,
        "duration_ms": 0.0,
        "attempts": 0,
        "cached": False,
    }


async def test_what_was_cut_is_listed() -> None:
    found = await mapped(answer(evidence=[]), context=Context(output="x" * 50_001))

    assert found["metadata"]["truncated_fields"] == ["output"]


async def test_a_custom_rubric_has_no_template_and_a_catalogs_has_its_revision() -> None:
    custom = await mapped(answer(score=85), against=custom_rubric("Is it kind?"))
    known = await mapped(answer(score=85, evidence=[]), against="faithfulness", threshold=85)

    assert custom["metadata"] == metadata(
        custom["metadata"]["judge"],
        rubric="Is it kind?",
        template=None,
        template_revision=None,
        threshold=80.0,
        score_range=[0.0, 100.0],
    )
    assert (known["metadata"]["template"], known["metadata"]["template_revision"]) == ("faithfulness", "v1")
    assert (known["status"], known["metadata"]["threshold"]) == ("pass", 85.0)


async def test_criteria_are_shown_one_by_one() -> None:
    two = rubric(Criterion(id="facts", description="True."), Criterion(id="tone", description="Kind."))
    part = {"evidence": [{"message_index": 1, "quote": "at 9"}], "reason": "x", "score": 1}
    text = json.dumps({"criteria": {"facts": part, "tone": {**part, "score": 0.5}}})

    found = await mapped(text, against=two, contract="criteria/v1")

    assert found["score"] == 0.75
    assert found["metadata"]["contract"] == "criteria/v1"
    assert found["criteria"] == [
        {"id": "facts", "score": 1.0, "reason": "x", "evidence": [{"message_index": 1, "quote": "at 9"}]},
        {"id": "tone", "score": 0.5, "reason": "x", "evidence": [{"message_index": 1, "quote": "at 9"}]},
    ]


async def test_repeats_are_shown_with_each_attempt_and_nothing_of_an_invalid_one() -> None:
    found = await mapped(answer(), "zq7canary", samples=2)

    assert (found["status"], found["score"]) == ("error", None)
    attempts = found["repeats"].pop("attempts")
    assert found["repeats"] == {"mean": 0.75, "spread": None, "flip_rate": 0.0, "decided": 1, "undecided": 1}
    assert [(one["status"], one["score"]) for one in attempts] == [("pass", 0.75), ("error", None)]
    assert attempts[0]["error"] is None
    assert attempts[1]["error"]["type"] == "malformed_json"
    assert "zq7canary" not in json.dumps(found) + json.dumps(attempts)


def test_where_there_is_nobody_to_ask_the_evaluator_is_unavailable() -> None:
    error = TypedError(type=ErrorCategory.PROVIDER_NOT_FOUND, message="no provider oracle")

    found, other = (unavailable_map("rubric_judge", error) for _ in range(2))

    assert found == {
        "type": "rubric_judge",
        "status": "error",
        "passed": False,
        "score": None,
        "reason": None,
        "evidence": [],
        "metadata": {"schema_version": 1},
        "evaluator": {
            "status": "unavailable",
            "error": {"type": "provider_not_found", "message": "no provider oracle"},
        },
    }
    found["evidence"].append("changed")
    assert other["evidence"] == []


def test_any_other_evaluators_assessment_has_the_same_shape() -> None:
    assessment = Assessment(
        evaluator="says nine",
        revision="v1",
        status=Status.PASS,
        score=100.0,
        quotes=(Quote(message_index=0, quote="nine"),),
        findings=(Finding(code="case", message="the case differs", severity=Severity.INFO),),
        measurements=(Measurement(name="found", value=1, unit="count"),),
        details={"paths": {"a": [1]}},
    )

    found = assessment_map("contains", assessment)

    assert found == {
        "type": "contains",
        "status": "pass",
        "passed": True,
        "score": 100.0,
        "reason": None,
        "evidence": [{"message_index": 0, "quote": "nine"}],
        "metadata": {"schema_version": 1, "paths": {"a": [1]}},
        "evaluator": {"status": "completed", "name": "says nine", "revision": "v1"},
        "findings": [{"code": "case", "severity": "info", "message": "the case differs"}],
        "measurements": [{"name": "found", "value": 1, "unit": "count"}],
    }


def test_an_evaluator_that_failed_is_an_error_without_a_score() -> None:
    error = TypedError(type=ErrorCategory.EVALUATOR_EXCEPTION, message="it raised ValueError")
    assessment = Assessment(evaluator="mine", revision="v1", status=Status.ERROR, error=error)

    found = assessment_map("python", assessment)

    assert (found["status"], found["passed"], found["score"]) == ("error", False, None)
    assert found["evaluator"]["error"] == {"type": "evaluator_exception", "message": "it raised ValueError"}
