"""The JSON Schema (draft 2020-12) of a comparison. Closed: what it does not name, a comparison does not have."""

from __future__ import annotations

from jurat.errors import ErrorCategory
from jurat.evaluation import reducer_schema
from jurat.jsontext import Json
from jurat.report.comparison_report import COMPARISON_VERSION
from jurat.vocabulary import Status

__all__ = ["CHANGES", "comparison_schema"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
CHANGES = ("regressed", "fixed", "errored", "unverified", "incompatible", "changed", "added", "removed", "unchanged")
"""What can become of a case."""
_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}
_COUNT: Json = {"type": "integer", "minimum": 0}
_NUMBER_OR_NULL: Json = {"type": ["number", "null"]}
_AMOUNT_OR_NULL: Json = {"type": ["number", "null"], "minimum": 0}
_SHARE: Json = {"type": "number", "minimum": 0, "maximum": 1}
_HASH: Json = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_REGRESSION: Json = {"enum": ["found", "none", "undecided"]}


def _object(properties: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **more,
    }


def _list(of: Json) -> dict[str, Json]:
    return {"type": "array", "items": of}


def _or_null(schema: Json) -> dict[str, Json]:
    return {"oneOf": [schema, {"type": "null"}]}


def _side(words: str) -> dict[str, Json]:
    return _object(
        {
            "id": _TEXT,
            "suite": _TEXT,
            "suite_hash": _HASH,
            "created_at": _TEXT,
            "samples": {"type": "integer", "minimum": 1, "maximum": 20},
            "reducer": reducer_schema(),
            "cases": _COUNT,
            "gate": {"enum": ["passed", "failed", "undecided", None]},
            "source": {"enum": ["store", "report"]},
        },
        description=words,
    )


# --- the summary ---------------------------------------------------------------------------------------------------

_PAIRED: dict[str, Json] = {
    "cases": {**_COUNT, "description": "Of which both runs know it."},
    "unknown": {**_COUNT, "description": "Of which one does not."},
    "base": {**_NUMBER_OR_NULL, "description": "The mean over these cases."},
    "candidate": _NUMBER_OR_NULL,
    "difference": {**_NUMBER_OR_NULL, "description": "Candidate minus base."},
    "interval": {
        "type": ["array", "null"],
        "items": {"type": "number"},
        "minItems": 2,
        "maxItems": 2,
        "description": "95 %, of the difference.",
    },
    "smallest_visible": {
        **_AMOUNT_OR_NULL,
        "description": "The smallest true difference that so many cases show four times out of five.",
    },
}


def _summary() -> dict[str, Json]:
    undecided = _object({"base": _COUNT, "candidate": _COUNT})
    cases = _object(
        {
            "both": {**_COUNT, "description": "In both runs."},
            "compared": {**_COUNT, "description": "Regressed, fixed or unchanged."},
            "counts": _object(dict.fromkeys(CHANGES, _COUNT)),
            "hiding": {**_COUNT, "description": "That could be regressions which cannot be seen."},
            "undecided": undecided,
        }
    )
    assertion = _object(
        {
            "name": _TEXT,
            "type": _TEXT,
            "template": _TEXT_OR_NULL,
            "range": {"type": ["array", "null"], "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            "incompatible": {**_COUNT, "description": "Cases whose scores were made in another way."},
            **_PAIRED,
        }
    )
    test = _object({"regressed": _COUNT, "fixed": _COUNT, "exact_p": _SHARE, "mid_p": _SHARE})
    return _object(
        {
            "schema_version": {"const": 1},
            "cases": cases,
            "pass_rate": _object(_PAIRED, description="Of decided trials; each case counts as much as any other."),
            "mcnemar": test,
            "assertions": {**_list(assertion), "description": "Mean scores."},
            "left_out": {**_COUNT, "description": "Assertions that were not compared apart, since there are too many."},
            "latency_ms": _object(_PAIRED),
            "cost_usd": _object(_PAIRED, description="Of a trial, subject and judges together."),
            "differs": {**_list(_TEXT), "description": "What the runs rest on that is not the same."},
            "warnings": _list(_TEXT),
        }
    )


# --- cases ---------------------------------------------------------------------------------------------------------


def _case() -> dict[str, Json]:
    counts = {"passed": _COUNT, "failed": _COUNT, "undecided": _COUNT}
    appearance = _object(
        {
            "case_index": _COUNT,
            "case_hash": _HASH,
            "file": _TEXT_OR_NULL,
            "line": {"type": ["integer", "null"], "minimum": 1},
            "status": {"enum": [status.value for status in Status]},
            **counts,
            "errors": _list({"enum": [category.value for category in ErrorCategory]}),
            "latency_ms": _AMOUNT_OR_NULL,
            "cost_usd": {**_AMOUNT_OR_NULL, "description": "Of a trial; null where any part of it is not known."},
        }
    )
    measured = _object({**counts, "score": _NUMBER_OR_NULL, "threshold": _NUMBER_OR_NULL})
    assertion = _object(
        {
            "name": _TEXT,
            "type": _TEXT,
            "template": _TEXT_OR_NULL,
            "base": _or_null(measured),
            "candidate": _or_null(measured),
            "difference": {**_NUMBER_OR_NULL, "description": "Of the mean scores; null where they are incompatible."},
            "why": {**_list(_TEXT), "description": "What makes its outcomes incompatible."},
        }
    )
    return _object(
        {
            "name": _TEXT,
            "change": {"enum": list(CHANGES)},
            "base": _or_null(appearance),
            "candidate": _or_null(appearance),
            "asks_anew": {
                "type": ["boolean", "null"],
                "description": "Whether it asks something else; null: unknown.",
            },
            "hides": {"type": "boolean", "description": "Whether it could be a regression that cannot be seen."},
            "why": {**_list(_TEXT), "description": "What keeps its outcomes from being compared."},
            "difference": {**_NUMBER_OR_NULL, "description": "Of the shares of passes among decided trials."},
            "assertions": _list(assertion),
        }
    )


def comparison_schema() -> dict[str, Json]:
    """The schema of what `jurat compare --format json` writes."""
    properties: dict[str, Json] = {
        "jurat_comparison": {"const": COMPARISON_VERSION},
        "base": _side("The run that is compared with."),
        "candidate": _side("The run that is compared."),
        "regression": {**_REGRESSION, "description": "Whether a case regressed."},
        "significant_regression": {
            **_REGRESSION,
            "description": "Whether the pass rate fell beyond chance.",
        },
        "summary": _summary(),
        "cases": _list(_case()),
    }
    return {"$schema": _DRAFT, "title": "A comparison of two runs", **_object(properties)}
