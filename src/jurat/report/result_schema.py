"""The JSON Schema of one assertion's result in a report: what `jurat.report.result_map` writes, and no other member.

An evaluator of somebody's own says beside its verdict what it likes (`metadata`); a judge's word on how it judged is
closed like the rest.
"""

from __future__ import annotations

from jurat.errors import ErrorCategory
from jurat.jsontext import Json
from jurat.vocabulary import Contract, EvaluatorState, Status, Strategy

__all__ = ["result_schema"]

_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}
_NUMBER: Json = {"type": "number"}
_NUMBER_OR_NULL: Json = {"type": ["number", "null"]}
_COUNT: Json = {"type": "integer", "minimum": 0}
_COUNT_OR_NULL: Json = {"type": ["integer", "null"], "minimum": 0}
_AMOUNT_OR_NULL: Json = {"type": ["number", "null"], "minimum": 0}
_HASH: Json = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_CATEGORY: Json = {"enum": [category.value for category in ErrorCategory]}
_STATUS: Json = {"enum": [status.value for status in Status]}


def _closed(properties: dict[str, Json], *optional: str, **more: Json) -> dict[str, Json]:
    required: list[Json] = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False, **more}


def _list(of: Json) -> dict[str, Json]:
    return {"type": "array", "items": of}


_ERROR = _closed({"type": _CATEGORY, "message": _TEXT})
_QUOTES = _list(_closed({"message_index": _COUNT, "quote": _TEXT}))
_OPINION: dict[str, Json] = {"score": _NUMBER_OR_NULL, "reason": _TEXT_OR_NULL, "evidence": _QUOTES}
_RANGE: Json = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}
_FINDING = _closed({"code": _TEXT, "severity": _TEXT, "message": _TEXT}, "message")
_MEASUREMENT = _closed({"name": _TEXT, "value": _NUMBER, "unit": _TEXT})

_SPENT: dict[str, Json] = {
    "input_tokens": _COUNT_OR_NULL,
    "output_tokens": _COUNT_OR_NULL,
    "cached_input_tokens": _COUNT,
    "reasoning_tokens": _COUNT,
    "cost_usd": _AMOUNT_OR_NULL,
    "duration_ms": {"type": "number", "minimum": 0},
    "attempts": _COUNT,
    "cached": {"type": "boolean"},
}
_NOT_ALWAYS = ("cached_input_tokens", "reasoning_tokens")
_MODEL: dict[str, Json] = {"provider": _TEXT, "model": _TEXT, "response_model": _TEXT, **_SPENT}
_EVALUATOR = _closed(
    {
        "status": {"enum": [state.value for state in EvaluatorState]},
        "error": _ERROR,
        "failed_attempts": {"type": "object", "propertyNames": _CATEGORY, "additionalProperties": _COUNT},
        "name": _TEXT,
        "revision": _TEXT,
        **_MODEL,
    },
    *("error", "failed_attempts", "name", "revision"),
    *_MODEL,
    dependentRequired={
        "name": ["revision"],
        "provider": [name for name in _MODEL if name not in ("response_model", *_NOT_ALWAYS)],
    },
)
_JUDGED: dict[str, Json] = {
    "threshold": _NUMBER,
    "rubric": _TEXT,
    "template": _TEXT_OR_NULL,
    "template_revision": _TEXT_OR_NULL,
    "score_range": _RANGE,
    "contract": {"enum": [one.value for one in Contract]},
    "strategy": {"enum": [one.value for one in Strategy]},
    "judge": _HASH,
    "truncated_fields": _list(_TEXT),
}
_OF_A_JUDGE = _closed(
    {
        "schema_version": {"const": 1},
        **_JUDGED,
        "negate": {"const": True},
        "unseen_fields": {**_list(_TEXT), "minItems": 1, "description": "Pictures, which the judge was not shown."},
    },
    *_JUDGED,
    *("negate", "unseen_fields"),
    dependentRequired={name: [*_JUDGED] for name in (*_JUDGED, "negate", "unseen_fields")},
)
_REPEATS = _closed(
    {
        "mean": _NUMBER_OR_NULL,
        "spread": _NUMBER_OR_NULL,
        "flip_rate": _NUMBER_OR_NULL,
        "decided": _COUNT,
        "undecided": _COUNT,
        "attempts": _list(_closed({"status": _STATUS, **_OPINION, "error": {"oneOf": [_ERROR, {"type": "null"}]}})),
    }
)


def result_schema() -> dict[str, Json]:
    """Of the result map of one assertion."""
    decided: Json = {"properties": {"status": {"enum": ["pass", "fail"]}}}
    judged: Json = {"properties": {"type": {"const": "rubric_judge"}}}
    known: Json = {"metadata": {"required": ["judge"]}, "evaluator": {"required": ["provider"]}}
    return {
        **_closed(
            {
                "type": {"type": "string", "minLength": 1},
                "status": _STATUS,
                "passed": {"type": "boolean"},
                "score": _NUMBER_OR_NULL,
                "reason": _TEXT_OR_NULL,
                "evidence": _QUOTES,
                "metadata": {"type": "object"},
                "evaluator": _EVALUATOR,
                "findings": _list(_FINDING),
                "measurements": _list(_MEASUREMENT),
                "criteria": _list(_closed({"id": _TEXT, **_OPINION})),
                "repeats": _REPEATS,
            },
            *("findings", "measurements", "criteria", "repeats"),
        ),
        "description": "The result map of one assertion.",
        "allOf": [
            {
                "if": decided,
                "then": {"properties": {"score": _NUMBER}},
                "else": {"properties": {"score": {"type": "null"}, "passed": {"const": False}}},
            },
            {"if": judged, "then": {"properties": {"metadata": _OF_A_JUDGE}}},
            {"if": {"allOf": [decided, judged]}, "then": {"properties": known}},
        ],
    }
