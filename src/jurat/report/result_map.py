"""The result map: what the API, files, the command line and the dashboard show of one assessment.

One shape for a rubric judge, whatever became of it; `schema_version` numbers the shape. A verdict that is not decided
has `passed` false and `score` null, and says under `evaluator` whether the asking itself went wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from jurat.evaluation import Assessment, Finding, Quote, TypedError
from jurat.evaluation.reducers import RepeatSummary
from jurat.jsontext import Json, thaw
from jurat.judge import JudgeFacts, Opinion, Verdict
from jurat.vocabulary import EvaluatorState, Status

__all__ = ["SCHEMA_VERSION", "assessment_map", "unavailable_map", "verdict_map"]

SCHEMA_VERSION = 1


def verdict_map(verdict: Verdict) -> dict[str, Json]:
    """The result map of a rubric judge's verdict, as plain JSON."""
    found = verdict.opinion
    made: dict[str, Json] = {
        "type": "rubric_judge",
        "status": found.status.value,
        "passed": found.status is Status.PASS,
        "score": found.score,
        "reason": found.reason,
        "evidence": _quotes(found.quotes),
        "metadata": _metadata(verdict),
        "evaluator": _evaluator(verdict.judge, found),
    }
    if found.findings:
        made["findings"] = _findings(found.findings)
    if found.criteria:
        made["criteria"] = [
            {"id": item.id, "score": item.score, "reason": item.reason, "evidence": _quotes(item.evidence)}
            for item in found.criteria
        ]
    if verdict.repeats is not None:
        made["repeats"] = _repeats(verdict.repeats, verdict.opinions)
    return made


def _metadata(verdict: Verdict) -> dict[str, Json]:
    judge = verdict.judge
    made: dict[str, Json] = {
        "schema_version": SCHEMA_VERSION,
        "threshold": judge.threshold,
        "rubric": judge.rubric,
        "template": judge.template,
        "template_revision": judge.template_revision,
        "score_range": list(judge.score_range),
        "contract": judge.contract.value,
        "strategy": judge.strategy.value,
        "judge": judge.identity,
        "truncated_fields": list(verdict.truncated_fields),
    }
    return {**made, "unseen_fields": list(verdict.unseen_fields)} if verdict.unseen_fields else made


def _evaluator(judge: JudgeFacts, found: Opinion) -> dict[str, Json]:
    spent = found.spending
    state = EvaluatorState.ERROR if found.error else EvaluatorState.COMPLETED
    made: dict[str, Json] = {
        "status": state.value,
        "provider": judge.provider,
        "model": judge.model,
        "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens,
        "cost_usd": spent.cost_usd,
        "duration_ms": round(spent.duration_ms, 3),
        "attempts": spent.attempts,
        "cached": spent.cached,
    }
    if spent.failed:
        made["failed_attempts"] = dict(spent.failed_attempts)
    if spent.models and spent.models != (judge.model,):
        made["response_model"] = ", ".join(spent.models)
    if spent.usage.cached_input_tokens is not None:
        made["cached_input_tokens"] = spent.usage.cached_input_tokens
    if spent.usage.reasoning_tokens is not None:
        made["reasoning_tokens"] = spent.usage.reasoning_tokens
    if found.error:
        made["error"] = _error(found.error)
    return made


def assessment_map(kind: str, assessment: Assessment) -> dict[str, Json]:
    """The result map of any other evaluator's assessment; `kind` is the assertion's type."""
    evaluator: dict[str, Json] = {
        "status": (EvaluatorState.ERROR if assessment.error else EvaluatorState.COMPLETED).value,
        "name": assessment.evaluator,
        "revision": assessment.revision,
    }
    if assessment.error:
        evaluator["error"] = _error(assessment.error)
    made: dict[str, Json] = {
        "type": kind,
        "status": assessment.status.value,
        "passed": assessment.passed,
        "score": assessment.score,
        "reason": assessment.reason,
        "evidence": _quotes(assessment.quotes),
        "metadata": {"schema_version": SCHEMA_VERSION, **thaw(assessment.details)},
        "evaluator": evaluator,
    }
    if assessment.findings:
        made["findings"] = _findings(assessment.findings)
    if assessment.measurements:
        made["measurements"] = [
            {"name": item.name, "value": item.value, "unit": item.unit} for item in assessment.measurements
        ]
    return made


def unavailable_map(kind: str, error: TypedError) -> dict[str, Json]:
    """The result map where there is nobody to ask: provider or evaluator type unknown."""
    return {
        "type": kind,
        "status": Status.ERROR.value,
        "passed": False,
        "score": None,
        "reason": None,
        "evidence": [],
        "metadata": {"schema_version": SCHEMA_VERSION},
        "evaluator": {"status": EvaluatorState.UNAVAILABLE.value, "error": _error(error)},
    }


def _repeats(summary: RepeatSummary, opinions: Sequence[Opinion]) -> dict[str, Json]:
    return {
        "mean": summary.mean,
        "spread": summary.spread,
        "flip_rate": summary.flip_rate,
        "decided": summary.decided,
        "undecided": summary.undecided,
        "attempts": [
            {
                "status": opinion.status.value,
                "score": opinion.score,
                "reason": opinion.reason,
                "evidence": _quotes(opinion.quotes),
                "error": _error(opinion.error) if opinion.error else None,
            }
            for opinion in opinions
        ],
    }


def _quotes(quotes: Sequence[Quote]) -> list[Json]:
    return [{"message_index": quote.message_index, "quote": quote.quote} for quote in quotes]


def _findings(findings: Sequence[Finding]) -> list[Json]:
    return [{"code": item.code, "severity": item.severity.value, "message": item.message} for item in findings]


def _error(error: TypedError) -> dict[str, Json]:
    return {"type": error.type.value, "message": error.message}
