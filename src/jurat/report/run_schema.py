"""The JSON Schema (draft 2020-12) of a run's report. Closed: what it does not name, a report does not have.

It says what every part looks like; that the parts agree with each other is `jurat.metrics.report_check`'s to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from jurat.errors import ErrorCategory
from jurat.evaluation import reducer_schema
from jurat.jsontext import Json
from jurat.report.record import RunStatus
from jurat.report.redaction import Withheld
from jurat.report.result_schema import result_schema
from jurat.vocabulary import Status

__all__ = ["case_schema", "head_schema", "report_schema"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}
_FLAG: Json = {"type": "boolean"}
_NUMBER: Json = {"type": "number"}
_NUMBER_OR_NULL: Json = {"type": ["number", "null"]}
_COUNT: Json = {"type": "integer", "minimum": 0}
_COUNT_OR_NULL: Json = {"type": ["integer", "null"], "minimum": 0}
_AMOUNT: Json = {"type": "number", "minimum": 0}
_AMOUNT_OR_NULL: Json = {"type": ["number", "null"], "minimum": 0}
_SHARE_OR_NULL: Json = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_HASH: Json = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_TIME: Json = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
_OBJECT: Json = {"type": "object"}


def _object(properties: dict[str, Json], optional: Sequence[str] = (), **more: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        **more,
    }


def _list(of: Json, **more: Json) -> dict[str, Json]:
    return {"type": "array", "items": of, **more}


def _or_null(schema: Json) -> dict[str, Json]:
    return {"oneOf": [schema, {"type": "null"}]}


def _map(of: Json) -> dict[str, Json]:
    return {"type": "object", "additionalProperties": of}


def _pair(of: Json) -> dict[str, Json]:
    return {"type": ["array", "null"], "items": of, "minItems": 2, "maxItems": 2}


_STATUS: Json = {"enum": [status.value for status in Status]}
_CATEGORY: Json = {"enum": [category.value for category in ErrorCategory]}
_ERROR = _object({"type": _CATEGORY, "message": _TEXT})
_ERRORS: Json = {"type": "object", "propertyNames": _CATEGORY, "additionalProperties": _COUNT}
_SHARES = _pair({"type": "number", "minimum": 0, "maximum": 1})


# --- run and gate --------------------------------------------------------------------------------------------------


def _run() -> dict[str, Json]:
    return _object(
        {
            "id": {"type": "string", "minLength": 1},
            "suite": _TEXT,
            "suite_hash": _HASH,
            "status": {"enum": [status.value for status in RunStatus]},
            "created_at": _TIME,
            "finished_at": _or_null(_TIME),
            "samples": {"type": "integer", "minimum": 1, "maximum": 20},
            "reducer": reducer_schema(),
            "cases": _COUNT,
            "options": {**_OBJECT, "description": "What decided the run beside the suite."},
            "provenance": {**_OBJECT, "description": "Versions of the program and of what it stands on."},
            "snapshots": {**_map(_list(_HASH)), "description": "By kind, what the run rests on, by its content."},
            "parent": {**_TEXT_OR_NULL, "description": "The run whose outputs were judged anew."},
        },
        description="The run, without its trials.",
    )


def _gate() -> dict[str, Json]:
    outcome: Json = {"enum": ["passed", "failed", "undecided"]}
    rule = _object(
        {
            "rule": {**_OBJECT, "description": "As it was written; empty: every case has to pass."},
            "outcome": outcome,
            "actual": {**_NUMBER_OR_NULL, "description": "Over what is decided."},
            "bounds": {**_pair(_NUMBER), "description": "What it could be, were everything decided."},
            "limit": _NUMBER,
            "n": _COUNT,
            "undecided": _COUNT,
            "reason": _TEXT,
        }
    )
    return _object(
        {
            "schema_version": {"const": 1},
            "outcome": outcome,
            "reason": _TEXT,
            "policy": _or_null(_HASH),
            "rules": _list(rule),
        },
        description="What the policy came to; null while the run is not completed.",
    )


# --- the summary ---------------------------------------------------------------------------------------------------

_RATE = _object(
    {
        "value": {**_SHARE_OR_NULL, "description": "Of the decided alone."},
        "interval": {**_SHARES, "description": "95 %; trials of one case count as one cluster."},
        "decided": _COUNT,
        "undecided": _COUNT,
        "bounds": {**_SHARES, "description": "Had all the undecided failed, and had they all passed."},
    }
)
_OUTCOMES: dict[str, Json] = {
    "total": _COUNT,
    "counts": _object({status.value: _COUNT for status in Status}),
    "unfinished": _COUNT,
    "pass_rate": _RATE,
}
_FLIPS = _object({"value": _SHARE_OR_NULL, "groups": _COUNT, "decided": _COUNT})
_TOKEN_KINDS = ("input", "output", "cached_input", "cache_write", "reasoning", "unknown")
_TOKENS = _object(dict.fromkeys(_TOKEN_KINDS, _COUNT))
_COST = _object({"known": _AMOUNT, "unknown": {**_COUNT, "description": "How many have an unknown cost."}})
_ATTEMPTS = _object({"asked": _COUNT, "made": _COUNT, "retried": _COUNT, "failed": _ERRORS, "cached": _COUNT})
_LATENCY = _object(
    {
        "n": _COUNT,
        "unknown": _COUNT,
        "mean": _AMOUNT_OR_NULL,
        "p50": {**_AMOUNT_OR_NULL, "description": "Within one per cent, like the other quantiles."},
        "p95": _AMOUNT_OR_NULL,
        "p99": _AMOUNT_OR_NULL,
        "max": _AMOUNT_OR_NULL,
    }
)
_SCORE = _object(
    {
        "range": _pair(_NUMBER),
        "n": _COUNT,
        "mean": _NUMBER_OR_NULL,
        "spread": {**_AMOUNT_OR_NULL, "description": "Sample standard deviation."},
        "lowest": _NUMBER_OR_NULL,
        "highest": _NUMBER_OR_NULL,
    }
)
_ASSERTION = _object(
    {
        "name": _TEXT,
        "type": _TEXT,
        "template": _TEXT_OR_NULL,
        **_OUTCOMES,
        "score": _SCORE,
        "errors": _ERRORS,
        "flip_rate": _object({"trials": _FLIPS, "judge": _FLIPS}),
    }
)
_GROUP = _object({"name": _TEXT, "cases": _object(_OUTCOMES), "trials": _object(_OUTCOMES)})


def _by_side(of: Json, **more: Json) -> dict[str, Json]:
    return _object({"subject": of, "judge": of, **more})


def _summary() -> dict[str, Json]:
    return _object(
        {
            "schema_version": {"const": 1},
            "cases": _object(_OUTCOMES),
            "trials": _object({**_OUTCOMES, "flip_rate": _FLIPS}),
            "errors": _object({"subject": _ERRORS, "evaluators": _ERRORS}),
            "assertions": _list(_ASSERTION),
            "labels": _list(_GROUP),
            "metadata": _list(_GROUP),
            "left_out": _object({"labels": _COUNT, "assertions": _COUNT}),
            "tokens": _by_side(_TOKENS),
            "cost_usd": _by_side(_COST, total=_COST),
            "attempts": _by_side(_ATTEMPTS),
            "models": _by_side(_map(_map(_COUNT)), mixed_judge_models=_FLAG),
            "latency_ms": _by_side(_LATENCY),
        },
        description="Everything that was counted. It can be computed again from the cases.",
    )


# --- cases ---------------------------------------------------------------------------------------------------------

_SPENDING = _or_null(
    _object(
        {
            "input_tokens": _COUNT_OR_NULL,
            "output_tokens": _COUNT_OR_NULL,
            "cached_input_tokens": _COUNT_OR_NULL,
            "cache_write_tokens": _COUNT_OR_NULL,
            "reasoning_tokens": _COUNT_OR_NULL,
            "cost_usd": _AMOUNT_OR_NULL,
            "duration_ms": _AMOUNT,
            "attempts": _COUNT,
            "cached": _FLAG,
            "models": _list(_TEXT),
        },
        optional=("cached_input_tokens", "cache_write_tokens", "reasoning_tokens"),
    )
)
_SUBJECT = _object(
    {
        "error": _or_null(_ERROR),
        "recorded": _FLAG,
        "execution": _OBJECT,
        "spending": _SPENDING,
        "output": _TEXT_OR_NULL,
        "rendered_input": _TEXT_OR_NULL,
        "messages": _list(_OBJECT),
    },
    optional=("output", "rendered_input", "messages"),
    description="The subject's stage. Answers and conversations only where they were asked for.",
)


def _trial() -> dict[str, Json]:
    assessment = _object(
        {
            "name": _TEXT,
            "weight": {"type": "number", "exclusiveMinimum": 0},
            "required": _FLAG,
            "spending": _SPENDING,
            "result": result_schema(),
        }
    )
    return _object(
        {
            "trial_index": _COUNT,
            "status": _STATUS,
            "subject": _SUBJECT,
            "assessments": _list(assessment),
        }
    )


def _case() -> dict[str, Json]:
    sampling = _object(
        {
            "planned": _COUNT,
            "made": _COUNT,
            "passed": _COUNT,
            "failed": _COUNT,
            "undecided": _COUNT,
            "pass_rate": _SHARE_OR_NULL,
            "bounds": _SHARES,
            "flip_rate": _SHARE_OR_NULL,
            "tied": {**_FLAG, "description": "Exactly half of the decided passed: there is no majority."},
        }
    )
    return _object(
        {
            "case_index": _COUNT,
            "name": _TEXT,
            "case_hash": _HASH,
            "content": {
                **_object({"asked": _HASH, "assertions": _map(_HASH), "pass_threshold": _NUMBER_OR_NULL}),
                "description": "What the case asks and how it is measured, as hashes.",
            },
            "labels": _list(_TEXT),
            "metadata": _OBJECT,
            "file": _TEXT_OR_NULL,
            "line": {"type": ["integer", "null"], "minimum": 1},
            "status": {"enum": [*(status.value for status in Status), None]},
            "sampling": sampling,
            "trials": _list(_trial()),
        },
        optional=("content",),
    )


# --- the whole -----------------------------------------------------------------------------------------------------


def head_schema() -> dict[str, Json]:
    """Of a report without its cases."""
    return {"$schema": _DRAFT, **_object(_head(), optional=("withheld",))}


def case_schema() -> dict[str, Json]:
    """Of one case."""
    return {"$schema": _DRAFT, **_case()}


def _head() -> dict[str, Json]:
    return {
        "jurat_report": {"const": 1},
        "withheld": {
            **_list({"enum": [part.value for part in Withheld]}, uniqueItems=True),
            "description": "What a report that is handed on keeps back.",
        },
        "run": _run(),
        "gate": _or_null(_gate()),
        "summary": _summary(),
    }


def report_schema() -> dict[str, Json]:
    """Of a whole report."""
    return {
        "$schema": _DRAFT,
        "title": "Jurat report",
        "description": "The whole record of a run, with how it was summed up and what its policy came to.",
        **_object({**_head(), "cases": _list(_case())}, optional=("withheld",)),
    }
