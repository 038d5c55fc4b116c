"""Faults that comparable tools had in the field: each kind must stay impossible here.

The handed reports that carry a judge's reply, or a judge's quotes, are read and checked as they stand; the others have
a sentence of their own in test_field_behaviour.py. Where a report's word for an outcome differs from ours, ours counts.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from handed import Case, lines, params
from judging import provider_with, rubric
from jurat.evidence import Context, number_evidence
from jurat.judge import BEGIN, END, Judge, render_evidence
from jurat.report.result_map import verdict_map
from jurat.rubric import Criterion
from jurat.testing import AnswerError, CheckedAnswer, check_answer

# --- The handed reports ----------------------------------------------------------------------------------------------

REPORTS = lines("cases/field_reports.jsonl")
WITH_REPLY = (
    *("judge_output_format", "score_value", "missing_verdict_default", "truncation_refusal"),
    *("quote_provenance", "prompt_injection"),
)


def replies_of(report: Case) -> list[tuple[Case, Case]]:
    """The replies that a report shows, each with what is right."""
    given, right = report["input"], report["right"]
    pairs = list(zip(given, right, strict=True)) if isinstance(given, list) else [(given, right)]
    return [
        (one, wanted)
        for one, wanted in pairs
        if {"raw_response", "raw_response_recipe", "evidence"} & set(one) and "status" in wanted
    ]


def raw_of(given: Case) -> str:
    if "raw_response" in given:
        return str(given["raw_response"])
    if "evidence" in given:
        return json.dumps({"score": 3, "reason": "It says so.", "evidence": given["evidence"]})
    return {"'[' repeated 100000 times": "[" * 100_000, "'{\"score\":' + '\\n'*900": '{"score":' + "\n" * 900}[
        given["raw_response_recipe"]
    ]


def range_of(given: Case) -> tuple[float, float]:
    low, high = given.get("score_range") or given.get("rubric", {}).get("score_range") or (1, 5)
    return low, high


def outcome(given: Case) -> CheckedAnswer | AnswerError:
    conversation = given.get("messages") or [given.get("assistant_output", "Paris.")]
    finish = given.get("finish_reason", "stop")
    try:
        return check_answer(raw_of(given), conversation, range_of(given), given.get("threshold"), finish_reason=finish)
    except AnswerError as error:
        return error


SHOWN = [report for report in REPORTS if report["kind"] in WITH_REPLY and replies_of(report)]


def test_the_reports_with_a_reply_are_all_there(shared: Path) -> None:
    assert Counter(report["kind"] for report in SHOWN) == {
        "judge_output_format": 12,
        "score_value": 10,
        "missing_verdict_default": 5,
        "truncation_refusal": 3,
        "quote_provenance": 6,
        "prompt_injection": 3,
    }


@pytest.mark.parametrize("report", params(SHOWN))
def test_a_reported_reply_gets_the_right_outcome(report: Case, shared: Path) -> None:
    for given, right in replies_of(report):
        found = outcome(given)

        if right["status"] == "completed":
            assert isinstance(found, CheckedAnswer)
            assert found.score == right["score"]
            assert found.reason == json.loads(given["raw_response"])["reason"]
        else:
            assert isinstance(found, AnswerError)
            assert found.category in (right["category"], *right.get("also_accept", ()))


@pytest.mark.parametrize("report", params([one for one in SHOWN if one["kind"] != "quote_provenance"]))
async def test_a_reported_reply_gets_the_same_outcome_all_the_way_from_the_wire(report: Case, shared: Path) -> None:
    for given, right in replies_of(report):
        low, high = range_of(given)
        scale = rubric(Criterion(id="a", description="b", min=low, max=high))
        finish = "length" if given.get("finish_reason") == "length" else "stop"
        provider = provider_with({"text": raw_of(given), "finish_reason": finish})
        context = Context(output=str(given.get("assistant_output", "Paris.")))

        found = verdict_map(await Judge(scale, provider).judge(context))

        assert provider.calls == 1
        if right["status"] == "completed":
            assert (found["score"], found["evaluator"]["status"]) == (right["score"], "completed")
        else:
            accepted = (right["category"], *right.get("also_accept", ()))
            assert (found["status"], found["passed"], found["score"]) == ("error", False, None)
            assert found["evaluator"]["error"]["type"] in accepted
            assert raw_of(given)[:40] not in json.dumps(found, ensure_ascii=False)


INJECTED = [one for one in REPORTS if one["kind"] == "prompt_injection" and "assistant_output" in one["input"]]


@pytest.mark.parametrize("report", params(INJECTED))
def test_a_reported_injection_leaves_the_prompt_as_it_is_and_can_be_recovered_and_quoted(
    report: Case, shared: Path
) -> None:
    given = report["input"]["assistant_output"]
    for text in given if isinstance(given, list) else [given]:
        user = render_evidence(number_evidence(Context(output=text)))
        first, line, last = user.splitlines()

        assert (first, last) == (BEGIN, END)
        assert json.loads(line) == {"message_index": 0, "role": "assistant", "text": text}
        quoting = json.dumps({"score": 1, "reason": "x", "evidence": [{"message_index": 0, "quote": text}]})
        assert check_answer(quoting, Context(output=text)).evidence[0].quote == text
