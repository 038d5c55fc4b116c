"""Raw judge replies with the outcome that they must get, as they were handed to us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handed import Case, document, lines, params
from jurat.testing import AnswerError, CheckedAnswer, check_answer

RESPONSES = lines("cases/judge_responses.jsonl")
BLOCKS = document("cases/score_v1_blocks.json")


def outcome(case: Case, conversation: Any) -> CheckedAnswer | AnswerError:
    provider = case.get("provider", {})
    low, high = case["score_range"]
    try:
        return check_answer(
            case["raw_response"],
            conversation,
            (low, high),
            case.get("threshold"),
            finish_reason=provider.get("finish_reason", "stop"),
            refusal=provider.get("refusal"),
        )
    except AnswerError as error:
        return error


def assert_as_expected(found: CheckedAnswer | AnswerError, expect: dict[str, Any]) -> None:
    if expect["status"] == "error":
        assert isinstance(found, AnswerError)
        assert found.category in (expect["category"], *expect.get("also_accept", ()))
        return
    assert isinstance(found, CheckedAnswer)
    assert found.score == expect["score"]
    if "pass" in expect:
        assert found.passed is expect["pass"]


def test_no_handed_case_is_missing(shared: Path) -> None:
    assert (len(RESPONSES), len(BLOCKS["cases"])) == (109, 121)


@pytest.mark.parametrize("case", params(RESPONSES))
def test_a_reply_gets_the_handed_outcome(case: Case, shared: Path) -> None:
    assert_as_expected(outcome(case, case["messages"]), case["expect"])


@pytest.mark.parametrize("case", params(BLOCKS.get("cases", [])))
def test_a_reply_about_blocks_gets_the_handed_outcome(case: Case, shared: Path) -> None:
    assert_as_expected(outcome(case, BLOCKS["conversation"]), case["expect"])
