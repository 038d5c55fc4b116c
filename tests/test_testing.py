"""What ships for other people's tests: the check of one answer, and the scripted provider."""

from __future__ import annotations

from typing import Any

import pytest

import jurat.testing
from jurat.errors import AuthoringError
from jurat.evidence import Context, Message, Role, TextBlock, ThinkingBlock
from jurat.judge import Judge
from jurat.testing import AnswerError, Quote, ScriptedProvider, check_answer

QUOTING = '{"evidence": [{"message_index": 1, "quote": "at 9"}], "reason": "It says so.", "score": 0.5}'
PLAIN = '{"evidence": [], "reason": "It says so.", "score": 0.5}'


@pytest.mark.parametrize(
    "conversation",
    [
        ["When?", "We open at 9."],
        ("When?", "We open at 9."),
        [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "We open at 9."}],
        ["When?", {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "t 9"}]}],
        ["When?", Message(role=Role.ASSISTANT, content="We open at 9.")],
        [
            {"role": "tool", "content": [{"type": "tool_result", "tool_call_id": "t", "content": "x"}]},
            Message(role=Role.ASSISTANT, content=(ThinkingBlock(text="hm"), TextBlock(text="We open at 9."))),
        ],
        Context(output="We open at 9.", rendered_input="When?"),
        Context(output="x", messages=(Message(role=Role.USER, content="a"), Message(role=Role.USER, content="at 9"))),
    ],
)
def test_a_conversation_may_be_written_in_many_ways(conversation: Any) -> None:
    found = check_answer(QUOTING, conversation)

    assert (found.score, found.reason) == (0.5, "It says so.")
    assert found.evidence == (Quote(message_index=1, quote="at 9"),)


def test_a_plain_text_is_one_message() -> None:
    assert check_answer(QUOTING.replace('"message_index": 1', '"message_index": 0'), "at 9").score == 0.5


def test_what_cannot_be_seen_cannot_be_quoted() -> None:
    hidden = Message(role=Role.ASSISTANT, content=(ThinkingBlock(text="at 9"),))

    with pytest.raises(AnswerError) as caught:
        check_answer(QUOTING, ["When?", hidden])

    assert caught.value.category == "quote_not_found"


@pytest.mark.parametrize(
    ("score_range", "threshold", "line", "passed"),
    [((0, 1), None, 0.5, True), ((0, 2), None, 1.0, False), ((0, 1), 0.51, 0.51, False), ((0, 1), 0, 0, True)],
)
def test_passing_is_reaching_the_threshold_or_else_the_midpoint(
    score_range: tuple[float, float], threshold: float | None, line: float, passed: bool
) -> None:
    found = check_answer(PLAIN, [], score_range, threshold)

    assert (found.threshold, found.passed) == (line, passed)


@pytest.mark.parametrize(
    ("arguments", "category"),
    [
        ({"finish_reason": "length"}, "truncated"),
        ({"finish_reason": "max_tokens"}, "truncated"),
        ({"finish_reason": "MAX_TOKENS"}, "truncated"),
        ({"finish_reason": "content_filter"}, "refusal"),
        ({"refusal": "I cannot."}, "refusal"),
        ({"raw": None}, "empty_response"),
        ({"raw": f"```json\n{PLAIN}\n```"}, "malformed_json"),
        ({"raw": '{"score": 1}'}, "schema_violation"),
        ({"score_range": (1, 5)}, "score_out_of_range"),
    ],
)
def test_what_is_no_valid_answer_raises_its_category(arguments: dict[str, Any], category: str) -> None:
    with pytest.raises(AnswerError) as caught:
        check_answer(**{"raw": PLAIN, "conversation": ["x"], **arguments})

    assert caught.value.category == category


def test_a_server_that_gave_no_reason_to_stop_lets_the_text_decide() -> None:
    assert check_answer(PLAIN, [], finish_reason=None).passed


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"conversation": None}, "conversation"),
        ({"conversation": b"x"}, "conversation"),
        ({"conversation": {"role": "user", "content": "x"}}, "conversation"),
        ({"conversation": [5]}, "conversation[0]"),
        ({"conversation": ["x", {"role": "bot", "content": "x"}]}, "conversation[1].role"),
        ({"conversation": ["\ud800"]}, "conversation[0].content"),
        ({"score_range": (1, 1)}, "score_range"),
        ({"score_range": (0, float("inf"))}, "score_range"),
        ({"score_range": (0, 1, 2)}, "score_range"),
        ({"score_range": (True, 2)}, "score_range"),
        ({"threshold": 2}, "threshold"),
        ({"threshold": True}, "threshold"),
        ({"threshold": "0.5"}, "threshold"),
    ],
)
def test_a_question_that_cannot_be_is_an_authoring_error(arguments: dict[str, Any], path: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        check_answer(**{"raw": PLAIN, "conversation": ["x"], **arguments})

    assert [fault.path for fault in caught.value.faults] == [path]


async def test_the_scripted_provider_ships_here_too() -> None:
    assert (await Judge("groundedness", ScriptedProvider(PLAIN)).judge("We open at 9.")).score == 0.5


def test_every_name_that_is_listed_is_there() -> None:
    assert [name for name in jurat.testing.__all__ if not hasattr(jurat.testing, name)] == []
