"""The schema that asks for a judge's answer. A hint to the model: what counts is the check in `jurat.judge.answer`.

A change of either is a new revision of the contract.
"""

from __future__ import annotations

from collections.abc import Mapping

from jurat.jsontext import Json
from jurat.judge.answer import MAX_EVIDENCE, MAX_QUOTE, MAX_REASON
from jurat.rubric import Rubric
from jurat.vocabulary import Contract

__all__ = ["answer_schema"]


def answer_schema(contract: Contract, rubric: Rubric) -> Mapping[str, Json]:
    """The JSON Schema that asks for a contract. Its order is evidence, reason, score, so that reasons come first."""
    if contract is Contract.REASONED_V1:
        return _object({"reasoning": _text(MAX_REASON), "score": _number(*rubric.score_range)})
    if contract is Contract.EXPLAINED_V1:
        return _object({"evidence": _quotes(), "reason": _text(MAX_REASON)})
    if contract is Contract.SCORE_V1:
        return _score_object(*rubric.score_range)
    parts = {item.id: _score_object(item.min, item.max) for item in rubric.criteria}
    return _object({"criteria": _object(parts)})


def _score_object(low: float, high: float) -> dict[str, Json]:
    return _object({"evidence": _quotes(), "reason": _text(MAX_REASON), "score": _number(low, high)})


def _quotes() -> dict[str, Json]:
    quote = _object({"message_index": {"type": "integer", "minimum": 0}, "quote": _text(MAX_QUOTE)})
    return {"type": "array", "items": quote, "maxItems": MAX_EVIDENCE}


def _object(properties: dict[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(longest: int) -> dict[str, Json]:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _number(low: float, high: float) -> dict[str, Json]:
    return {"type": "number", "minimum": low, "maximum": high}
