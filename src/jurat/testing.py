"""For tests: the check that decides about a judge's answer, and a provider that says what it is told to say.

`check_answer` is the validator that every judge uses, on one raw reply and one conversation, without a model. It gives
the checked answer or raises AnswerError with a stable category; it never repairs, clamps or guesses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jurat.errors import AnswerError, AuthoringError, ErrorCategory, Fault
from jurat.evaluation import Quote
from jurat.evidence import MAX_ENTRY, Context, Message, message_from_json, message_to_json, number_evidence
from jurat.jsontext import found_word, type_name
from jurat.judge.answer import check_signals, check_text
from jurat.provider.protocol import FinishReason, Reply
from jurat.provider.script import ScriptedReply
from jurat.provider.scripted import ScriptedProvider

__all__ = [
    "AnswerError",
    "CheckedAnswer",
    "Conversation",
    "ErrorCategory",
    "Quote",
    "ScriptedProvider",
    "ScriptedReply",
    "check_answer",
]

Conversation = Context | str | Sequence[Message | Mapping[str, object] | str]
"""What quotes may cite: a context, a plain output, or messages (a plain string is a message by its text alone)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAnswer:
    """A valid answer: a finite score in range, a reason, and quotes that stand in the conversation to the letter.

    `passed` is `score >= threshold`, whatever the model may think of it.
    """

    score: float
    reason: str
    evidence: tuple[Quote, ...]
    threshold: float

    @property
    def passed(self) -> bool:
        """Whether the score reaches the threshold."""
        return self.score >= self.threshold


def check_answer(
    raw: str | None,
    conversation: Conversation,
    score_range: tuple[float, float] = (0, 1),
    threshold: float | None = None,
    finish_reason: str | None = "stop",
    refusal: str | None = None,
) -> CheckedAnswer:
    """Check one raw reply of a judge against the contract `score/v1`.

    Args:
        raw: the model's text, or None when there was none.
        conversation: what the judge was shown; messages are numbered from 0, a context as a judge is shown it.
        score_range: the lowest and the highest score, both inclusive.
        threshold: from which score on it passes; None for the midpoint of the range.
        finish_reason: why the model stopped, in its vendor's own word; None when it did not say.
        refusal: the vendor's refusal text, if there was one.

    Raises:
        AnswerError: with the category of the first check that fails; its message repeats nothing of the reply.
        AuthoringError: for a conversation, a range or a threshold that cannot be.
    """
    texts, faults = _texts(conversation)
    faults += _range_faults(score_range, threshold)
    if faults:
        raise AuthoringError("check_answer", faults)
    low, high = score_range
    reply = Reply(text=raw, finish_reason=FinishReason.of(finish_reason), refusal=refusal)
    answer = check_text(check_signals(reply), texts, (low, high))
    line = (low + high) / 2 if threshold is None else threshold
    return CheckedAnswer(score=answer.score, reason=answer.reason, evidence=answer.evidence, threshold=line)


def _texts(conversation: object) -> tuple[tuple[str, ...], list[Fault]]:
    """What a quote of each number may cite, each text bounded as a judge is shown it."""
    if isinstance(conversation, Context):
        return number_evidence(conversation).texts, []
    if isinstance(conversation, str):
        conversation = [conversation]
    faults: list[Fault] = []
    if not isinstance(conversation, Sequence) or isinstance(conversation, bytes | bytearray):
        found = type_name(conversation)
        return (), [Fault(path="conversation", expected="a context, text or messages", found=found)]
    texts: list[str] = []
    for index, value in enumerate(conversation):
        given = {"role": "user", "content": value} if isinstance(value, str) else value
        plain = message_to_json(given) if isinstance(given, Message) else given
        message = message_from_json(plain, f"conversation[{index}]", faults)
        texts.append(message.visible_text[:MAX_ENTRY] if message else "")
    return tuple(texts), faults


def _range_faults(score_range: Sequence[object], threshold: object) -> list[Fault]:
    pair = tuple(score_range)
    if len(pair) != 2 or not all(map(_finite, pair)) or not pair[0] < pair[1]:  # type: ignore[operator]
        return [Fault(path="score_range", expected="two finite numbers, the lower first", found="something else")]
    if threshold is None or (_finite(threshold) and pair[0] <= threshold <= pair[1]):  # type: ignore[operator]
        return []
    return [Fault(path="threshold", expected="a number in the score range", found=found_word(threshold))]


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
