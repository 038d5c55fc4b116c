"""What the validator says when it refuses: nothing of the answer, nothing of the evidence."""

from __future__ import annotations

from typing import Any

import pytest

from judging import TEXTS, answer, rubric
from jurat.errors import AnswerError
from jurat.judge import check_reply, check_text
from jurat.provider import FinishReason, Reply, Usage
from jurat.vocabulary import Contract

CANARY = "zq7canary"


def refused(text: str | None, contract: Contract = Contract.SCORE_V1, refusal: str | None = None) -> AnswerError:
    reply = Reply(text=text, finish_reason=FinishReason.STOP, refusal=refusal)
    with pytest.raises(AnswerError) as caught:
        check_reply(reply, TEXTS, rubric(), contract)
    return caught.value


LEAKS = [
    pytest.param(CANARY, id="prose"),
    pytest.param(f"{CANARY} {answer()}", id="prose before"),
    pytest.param(f'{{"{CANARY}', id="open string"),
    pytest.param(f'{{"score": {CANARY}}}', id="word for a value"),
    pytest.param(f'{{"a": "\\q{CANARY}"}}', id="bad escape"),
    pytest.param(f'{{"a": "\\u{CANARY}"}}', id="bad unicode escape"),
    pytest.param(f'{{"a": "\x01{CANARY}"}}', id="control character"),
    pytest.param(f'"{CANARY}"', id="a string"),
    pytest.param(answer(**{CANARY: 1}), id="extra key"),
    pytest.param(f'{{"{CANARY}": 1, "{CANARY}": 2}}', id="repeated key"),
    pytest.param(answer(score=CANARY), id="score"),
    pytest.param(answer(reason=[CANARY]), id="reason"),
    pytest.param(answer(reason=CANARY * 1000), id="long reason"),
    pytest.param(answer(reason=CANARY, score=7), id="reason beside a bad score"),
    pytest.param(answer(evidence=CANARY), id="evidence"),
    pytest.param(answer(evidence=[CANARY]), id="an entry"),
    pytest.param(answer(evidence=[{"message_index": CANARY, "quote": CANARY}]), id="index"),
    pytest.param(answer(evidence=[{"message_index": 1, "quote": [CANARY]}]), id="quote of another type"),
    pytest.param(answer(evidence=[{"message_index": 1, "quote": CANARY * 100}]), id="long quote"),
    pytest.param(answer(evidence=[{"message_index": 1, "quote": CANARY}]), id="quote not found"),
    pytest.param(answer(evidence=[{"message_index": 1, "quote": "at 9", CANARY: 1}]), id="extra key in an entry"),
]


@pytest.mark.parametrize("contract", [Contract.SCORE_V1, Contract.CRITERIA_V1])
@pytest.mark.parametrize("text", LEAKS)
def test_no_message_repeats_a_word_of_the_answer(text: str, contract: Contract) -> None:
    error = refused(text, contract)

    assert CANARY not in str(error)
    assert CANARY not in repr(error.__cause__)
    assert error.__suppress_context__ or error.__context__ is None


def test_no_message_repeats_a_refusal() -> None:
    assert CANARY not in str(refused(None, refusal=f"I cannot say {CANARY}."))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"reasoning_characters": 900}, True),
        ({"usage": Usage(reasoning_tokens=400)}, True),
        ({"usage": Usage(reasoning_tokens=0)}, False),
        ({}, False),
    ],
)
def test_an_answer_for_which_reasoning_left_no_room_says_how_to_make_some(more: dict[str, Any], told: bool) -> None:
    reply = Reply(text='{"score', finish_reason=FinishReason.LENGTH, **more)
    with pytest.raises(AnswerError) as caught:
        check_reply(reply, TEXTS, rubric(), Contract.SCORE_V1, token_limit=500)
    message = str(caught.value)
    assert message.startswith("the judge's answer was cut off at the limit of 500 tokens; raise max_output_tokens")
    assert ("capabilities: {reasoning: true}" in message) is told


def test_no_message_repeats_the_evidence() -> None:
    texts = (CANARY, CANARY.upper())
    with pytest.raises(AnswerError) as caught:
        check_text(answer(evidence=[{"message_index": 0, "quote": CANARY.upper()}]), texts, (0, 1))

    assert CANARY not in str(caught.value).lower()


def test_the_score_that_was_out_of_range_is_not_repeated() -> None:
    assert "987654" not in str(refused(answer(score=987654)))
