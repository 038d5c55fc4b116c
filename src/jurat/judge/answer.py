"""A judge's answer is a stranger's letter: the schema asks (`jurat.judge.answer_schema`), this check decides.

The checks run in one fixed order, and the first that fails names the category:

    1 refusal signalled            refusal
    2 length limit signalled       truncated
    3 no text                      empty_response
    4 one JSON object, no more     malformed_json
    5 exactly the keys and types   schema_violation
    6 score finite, in range       non_finite_score, score_out_of_range
    7 reason there, not too long   empty_reason, reason_too_long
    8 each quote in turn           message_index_out_of_range, quote_empty, quote_not_found

Nothing is repaired, clamped, coerced, or read out of prose, and a verdict that the model volunteers never counts.
No message repeats a word of the answer or of the evidence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from jurat.errors import AnswerError, ErrorCategory
from jurat.evaluation import Quote
from jurat.jsontext import Json, JsonSyntaxError, NonFinite, Repeated, parse, type_name
from jurat.judge.quotes import why_not_found
from jurat.provider.protocol import FinishReason, Reply
from jurat.rubric import Rubric
from jurat.vocabulary import Contract

__all__ = [
    "MAX_ANSWER",
    "MAX_EVIDENCE",
    "MAX_QUOTE",
    "MAX_REASON",
    "Answer",
    "CriterionAnswer",
    "check_explanation",
    "check_reply",
    "check_signals",
    "check_text",
]

MAX_ANSWER = 1_048_576
"""The most characters that are looked at; a valid answer is far shorter."""
MAX_EVIDENCE = 8
"""The most quotes that an answer (or one criterion of it) may give."""
MAX_QUOTE = 512
"""The most characters of a quote."""
MAX_REASON = 4_000
"""The most characters of a reason."""

_SCORE_KEYS = frozenset({"evidence", "reason", "score"})
_QUOTE_KEYS = frozenset({"message_index", "quote"})
# Unexpected keys are the model's own words, so they are counted; only these, which are anybody's, are named.
_WORDS = (
    "answer comment confidence criteria evidence explanation id label message_index pass passed "
    "properties quote rating reason reasoning required response result score text title type verdict why"
)
_NAMEABLE = frozenset(re.findall(r"\w+", _WORDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAnswer:
    """The checked answer to one criterion. `score` lies in the criterion's own range."""

    id: str
    score: float
    reason: str
    evidence: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A checked answer: a finite score in range, a reason, quotes that stand in the evidence to the letter.

    With `criteria/v1` the score is the weighted mean of the criteria, mapped to the rubric's range by the program,
    and `blocked_by` names the required criteria that fell under their own midpoints.
    """

    score: float
    reason: str
    evidence: tuple[Quote, ...] = ()
    criteria: tuple[CriterionAnswer, ...] = ()
    blocked_by: tuple[str, ...] = ()


def check_reply(
    reply: Reply, texts: Sequence[str], rubric: Rubric, contract: Contract, *, token_limit: int | None = None
) -> Answer:
    """Check a reply against a contract.

    Args:
        reply: what the provider gave.
        texts: the text of each numbered entry, as it was shown.
        rubric: whose range and criteria count.
        contract: the shape that was asked for.
        token_limit: the limit in force, for the message of `truncated`.

    Raises:
        AnswerError: with the category of the first check that fails.
    """
    text = check_signals(reply, token_limit)
    if contract is Contract.CRITERIA_V1:
        return _check_criteria(_parse_object(text, score_depth=2), texts, rubric)
    return check_text(text, texts, rubric.score_range, contract)


def check_signals(reply: Reply, token_limit: int | None = None) -> str:
    """Checks 1 to 3: what the provider signalled comes before what the text says. Gives the text.

    Raises:
        AnswerError: `refusal`, `truncated` or `empty_response`.
    """
    if reply.refusal or reply.finish_reason in (FinishReason.REFUSAL, FinishReason.CONTENT_FILTER):
        raise AnswerError(ErrorCategory.REFUSAL, f"the judge declined to answer ({reply.finish_reason})")
    if reply.finish_reason is FinishReason.LENGTH:
        limit = f" of {token_limit} tokens" if token_limit else ""
        message = f"the judge's answer was cut off at the limit{limit}; raise max_output_tokens"
        raise AnswerError(ErrorCategory.TRUNCATED, message + _room_for_reasoning(reply))
    if reply.finish_reason is FinishReason.TOOL_CALL:
        raise AnswerError(ErrorCategory.EMPTY_RESPONSE, "the judge asked for a tool instead of answering")
    if reply.text is None or not reply.text.strip():
        raise AnswerError(ErrorCategory.EMPTY_RESPONSE, _empty(reply))
    return reply.text


def _room_for_reasoning(reply: Reply) -> str:
    if not (reply.reasoning_characters or reply.usage.reasoning_tokens):
        return ""
    return (
        ". A part of it went into reasoning: with capabilities: {reasoning: true}, or a larger reasoning_room, there "
        "is room for that beside the answer"
    )


def _empty(reply: Reply) -> str:
    if not reply.reasoning_characters:
        return "the judge gave no text"
    return (
        f"the judge gave no text, but {reply.reasoning_characters} characters in its reasoning channel, which is never "
        "read as an answer; raise max_output_tokens or turn the model's reasoning off"
    )


def check_text(
    text: str, texts: Sequence[str], score_range: tuple[float, float], contract: Contract = Contract.SCORE_V1
) -> Answer:
    """Checks 4 to 8 for the contracts with one score, `score/v1` and `reasoned/v1`.

    Raises:
        AnswerError: with the category of the first check that fails.
    """
    value = _parse_object(text)
    if contract is Contract.REASONED_V1:
        return _check_reasoned(value, score_range)
    _check_shape(value, "")
    score = _check_score(value["score"], "score", *score_range)
    reason = _check_reason(value["reason"], "reason")
    return Answer(score=score, reason=reason, evidence=_check_quotes(value["evidence"], texts, ""))


# --- 4: one JSON object --------------------------------------------------------------------------------------------


def _parse_object(text: str, score_depth: int = 0) -> dict[str, Any]:
    """One JSON object. `score_depth` says how deep in it the scores stand, which may be non-finite until check 6."""
    if len(text) > MAX_ANSWER:
        message = f"expected one JSON object of at most {MAX_ANSWER:,} characters, found {len(text):,} characters"
        raise AnswerError(ErrorCategory.MALFORMED_JSON, message)
    try:
        value = parse(text)
    except JsonSyntaxError as error:
        message = f"expected one JSON object and nothing else, found {error}"
        raise AnswerError(ErrorCategory.MALFORMED_JSON, message) from None
    if ("NaN" in text or "Infinity" in text) and _holds_non_finite(value, score_depth):
        message = "expected JSON, found NaN or Infinity, which are no JSON values"
        raise AnswerError(ErrorCategory.MALFORMED_JSON, message)
    if not isinstance(value, dict):
        _violation("", f"expected one object, found {type_name(value)}")
    return value


def _holds_non_finite(value: Json, score_depth: int) -> bool:
    """Whether NaN or Infinity stands anywhere but as a score, where check 6 speaks of it."""
    if isinstance(value, dict):
        return any(
            _holds_non_finite(part, score_depth - 1)
            for key, part in value.items()
            if score_depth != 0 or key != "score" or not isinstance(part, NonFinite)
        )
    if isinstance(value, list):
        return any(_holds_non_finite(part, -1) for part in value)
    return isinstance(value, NonFinite)


def _holds_repeated(value: Json) -> bool:
    if isinstance(value, dict):
        return isinstance(value, Repeated) or any(map(_holds_repeated, value.values()))
    return isinstance(value, list) and any(map(_holds_repeated, value))


# --- 5: keys and types ---------------------------------------------------------------------------------------------


def _check_shape(value: Any, path: str) -> None:
    _check_keys(value, _SCORE_KEYS, path)
    if type(value["score"]) not in (int, float, NonFinite):
        _violation(_at(path, "score"), f"expected a number, found {type_name(value['score'])}")
    if type(value["reason"]) is not str:
        _violation(_at(path, "reason"), f"expected text, found {type_name(value['reason'])}")
    evidence = value["evidence"]
    if type(evidence) is not list:
        _violation(_at(path, "evidence"), f"expected an array, found {type_name(evidence)}")
    if len(evidence) > MAX_EVIDENCE:
        _violation(_at(path, "evidence"), f"expected at most {MAX_EVIDENCE} entries, found {len(evidence)}")
    for index, entry in enumerate(evidence):
        _check_quote_shape(entry, path, index)


def _check_quote_shape(entry: Any, path: str, index: int) -> None:
    if type(entry) is dict and entry.keys() == _QUOTE_KEYS:
        number, quote = entry["message_index"], entry["quote"]
        if type(number) is int and type(quote) is str and len(quote) <= MAX_QUOTE:
            return
    _refuse_quote_shape(entry, f"{_at(path, 'evidence')}[{index}]")


def _refuse_quote_shape(entry: Any, path: str) -> NoReturn:
    _check_keys(entry, _QUOTE_KEYS, path)
    number, quote = entry["message_index"], entry["quote"]
    if type(number) is not int:
        found = "a number that is no integer" if type(number) is float else type_name(number)
        _violation(f"{path}.message_index", f"expected an integer, found {found}")
    if type(quote) is not str:
        _violation(f"{path}.quote", f"expected text, found {type_name(quote)}")
    _violation(f"{path}.quote", f"expected at most {MAX_QUOTE} characters, found {len(quote)}")


def _check_keys(value: Any, keys: frozenset[str], path: str) -> None:
    if type(value) is dict and value.keys() == keys:
        return
    if not isinstance(value, dict):
        _violation(path, f"expected an object, found {type_name(value)}")
    if isinstance(value, Repeated):
        name = f"the key {value.key}" if value.key in keys | _NAMEABLE else "a key"
        _violation(path, f"{name} stands more than once in one object")
    missing = ", ".join(sorted(keys - value.keys()))
    found = [f"missing {missing}"] if missing else []
    if extra := value.keys() - keys:
        found.append(f"unexpected {_name_keys(extra)}")
    _violation(path, f"expected exactly the keys {', '.join(sorted(keys))}; " + "; ".join(found))


def _name_keys(extra: set[str]) -> str:
    named = sorted(extra & _NAMEABLE)
    if others := len(extra) - len(named):
        named.append(f"{others} other" if named else f"{others} key" + ("s" if others > 1 else ""))
    return ", ".join(named)


def _violation(path: str, what: str) -> NoReturn:
    raise AnswerError(ErrorCategory.SCHEMA_VIOLATION, f"{path or 'answer'}: {what}")


def _at(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


# --- 6 to 8: score, reason, quotes ---------------------------------------------------------------------------------


def _check_score(score: Any, path: str, low: float, high: float) -> float:
    if isinstance(score, NonFinite) or (type(score) is float and not math.isfinite(score)):
        raise AnswerError(ErrorCategory.NON_FINITE_SCORE, f"{path}: expected a finite number")
    if not low <= score <= high:
        message = f"{path}: expected a number from {low:g} to {high:g}, found one outside; it is never clamped"
        raise AnswerError(ErrorCategory.SCORE_OUT_OF_RANGE, message)
    return float(score)


def _check_reason(reason: str, path: str) -> str:
    if not reason.strip():
        raise AnswerError(ErrorCategory.EMPTY_REASON, f"{path}: expected a reason in words, found only white space")
    if len(reason) > MAX_REASON:
        message = f"{path}: expected at most {MAX_REASON:,} characters, found {len(reason):,}"
        raise AnswerError(ErrorCategory.REASON_TOO_LONG, message)
    return reason


def _check_quotes(evidence: list[dict[str, Any]], texts: Sequence[str], path: str) -> tuple[Quote, ...]:
    quotes: list[Quote] = []
    for index, entry in enumerate(evidence):
        number, quote = entry["message_index"], entry["quote"]
        if not 0 <= number < len(texts) or not quote.strip() or quote not in texts[number]:
            _refuse_quote(number, quote, texts, f"{_at(path, 'evidence')}[{index}]")
        quotes.append(Quote(message_index=number, quote=quote))
    return tuple(quotes)


def _refuse_quote(number: int, quote: str, texts: Sequence[str], path: str) -> NoReturn:
    if not 0 <= number < len(texts):
        message = f"{path}.message_index: expected a number from 0 to {len(texts) - 1}, found one outside"
        raise AnswerError(ErrorCategory.MESSAGE_INDEX_OUT_OF_RANGE, message)
    if not quote.strip():
        raise AnswerError(ErrorCategory.QUOTE_EMPTY, f"{path}.quote: expected text, found only white space")
    message = f"{path}.quote: does not stand in entry {number} to the letter{why_not_found(quote, number, texts)}"
    raise AnswerError(ErrorCategory.QUOTE_NOT_FOUND, message)


def check_explanation(
    reply: Reply, texts: Sequence[str], *, token_limit: int | None = None
) -> tuple[str, tuple[Quote, ...]]:
    """Check an explanation (`explained/v1`: evidence and reason, no score) in the same order.

    Raises:
        AnswerError: with the category of the first check that fails.
    """
    value = _parse_object(check_signals(reply, token_limit))
    _check_keys(value, frozenset({"evidence", "reason"}), "")
    _check_shape({**value, "score": 0}, "")
    return _check_reason(value["reason"], "reason"), _check_quotes(value["evidence"], texts, "")


# --- the other contracts -------------------------------------------------------------------------------------------


def _check_reasoned(value: dict[str, Any], score_range: tuple[float, float]) -> Answer:
    """`reasoned/v1`: a score and a reasoning; other members are ignored, a volunteered verdict among them."""
    if isinstance(value, Repeated):
        _check_keys(value, frozenset({"score", "reasoning"}), "")
    if _holds_repeated(value):
        _violation("", "a key stands more than once in one object")
    if missing := {"score", "reasoning"} - value.keys():
        _violation("", f"expected the keys score and reasoning; missing {', '.join(sorted(missing))}")
    if type(value["score"]) not in (int, float, NonFinite):
        _violation("score", f"expected a number, found {type_name(value['score'])}")
    if type(value["reasoning"]) is not str:
        _violation("reasoning", f"expected text, found {type_name(value['reasoning'])}")
    score = _check_score(value["score"], "score", *score_range)
    return Answer(score=score, reason=_check_reason(value["reasoning"], "reasoning"))


def _check_criteria(value: dict[str, Any], texts: Sequence[str], rubric: Rubric) -> Answer:
    """`criteria/v1`: every criterion exactly once; check by check over all criteria, as for one."""
    _check_keys(value, frozenset({"criteria"}), "")
    answers = value["criteria"]
    _check_keys(answers, frozenset(criterion.id for criterion in rubric.criteria), "criteria")
    paths = {criterion.id: f"criteria.{criterion.id}" for criterion in rubric.criteria}
    for key, path in paths.items():
        _check_shape(answers[key], path)
    scores = {
        item.id: _check_score(answers[item.id]["score"], f"{paths[item.id]}.score", item.min, item.max)
        for item in rubric.criteria
    }
    reasons = {key: _check_reason(answers[key]["reason"], f"{path}.reason") for key, path in paths.items()}
    quotes = {key: _check_quotes(answers[key]["evidence"], texts, path) for key, path in paths.items()}
    checked = tuple(
        CriterionAnswer(id=key, score=scores[key], reason=reasons[key], evidence=quotes[key]) for key in paths
    )
    return combine_criteria(rubric, checked)


def combine_criteria(rubric: Rubric, answers: Sequence[CriterionAnswer]) -> Answer:
    """The whole from its parts: the weighted mean of the criteria, each mapped to 0–1 first, in the rubric's range.

    A `required` criterion under its own midpoint blocks the whole (`blocked_by`), however good the mean is.
    """
    given = {answer.id: answer for answer in answers}
    shares = [
        (item.weight, (given[item.id].score - item.min) / (item.max - item.min), item) for item in rubric.criteria
    ]
    mean = math.fsum(weight * share for weight, share, _ in shares) / math.fsum(weight for weight, _, _ in shares)
    low, high = rubric.score_range
    return Answer(
        score=min(max(low + mean * (high - low), low), high),  # only rounding can lead outside
        reason="\n".join(f"{answer.id}: {answer.reason}" for answer in answers),
        evidence=tuple(quote for answer in answers for quote in answer.evidence),
        criteria=tuple(answers),
        blocked_by=tuple(item.id for _, share, item in shares if item.required and share < 0.5),
    )
