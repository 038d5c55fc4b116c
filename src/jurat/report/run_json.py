"""Runs, cases and trials as JSON, as reports hold them; and back again.

What a model wrote as its answer, and the conversation around it, is written only where it was asked for. Times stand in
fields of their own (`created_at`, `duration_ms`, `latency_ms`), so that they can be left out of a comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.jsontext import Json
from jurat.judge import NOTHING_SENT, Spending
from jurat.provider.protocol import Usage
from jurat.report.content import content_from_json, content_to_json
from jurat.report.record import (
    AssessmentRecord,
    CaseRecord,
    RunRecord,
    RunStatus,
    SubjectRecord,
    TrialRecord,
)
from jurat.report.sampling import sampling_of
from jurat.vocabulary import Status

__all__ = ["case_from_json", "case_json", "plain", "run_from_json", "run_json", "trial_from_json", "trial_json"]

_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")
_ALWAYS_TOLD = ("latency_ms", "cost_usd", "finish_reason", "refused", "failed_attempts")
"""What of an answer's execution is told even where the answer is not: numbers and words of ours."""


def plain(value: Json) -> Json:
    """A copy in dicts and lists, which is what can be written. Records hold JSON already; it is not checked again."""
    kind = type(value)
    if kind in _LEAVES:  # most parts are; an abstract class takes ten times as long to say so
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


_LEAVES = frozenset({str, int, float, bool, type(None)})


def run_json(run: RunRecord) -> dict[str, Json]:
    """The run without its trials."""
    return {
        "id": run.id,
        "suite": run.suite,
        "suite_hash": run.suite_hash,
        "status": run.status.value,
        "created_at": run.created_at,
        "finished_at": run.finished_at,
        "samples": run.samples,
        "reducer": plain(run.reducer),
        "cases": run.cases,
        "options": plain(run.options),
        "provenance": plain(run.provenance),
        "snapshots": {kind: list(hashes) for kind, hashes in run.snapshots.items()},
        "parent": run.parent,
    }


def case_json(
    case: CaseRecord, trials: Sequence[TrialRecord], samples: int, *, include_output: bool = False
) -> dict[str, Json]:
    """A case with all of its trials.

    Args:
        samples: how many trials the plan has for it.
        include_output: whether answers, conversations and tool calls are told.
    """
    content = {} if case.content is None else {"content": content_to_json(case.content)}
    return {
        "case_index": case.case_index,
        "name": case.name,
        "case_hash": case.case_hash,
        **content,
        "labels": list(case.labels),
        "metadata": plain(case.metadata),
        "file": case.file,
        "line": case.line,
        "status": None if case.status is None else case.status.value,
        "sampling": sampling_of(trials, samples),
        "trials": [trial_json(trial, include_output=include_output) for trial in trials],
    }


def trial_json(trial: TrialRecord, *, include_output: bool = False) -> dict[str, Json]:
    """One trial: the subject's stage, then each assertion's finding with what it cost."""
    return {
        "trial_index": trial.trial_index,
        "status": trial.status.value,
        "subject": _subject(trial.subject, include_output),
        "assessments": [_assessment(made) for made in trial.assessments],
    }


def _subject(subject: SubjectRecord, include_output: bool) -> dict[str, Json]:
    execution = subject.execution
    if not include_output:
        execution = {name: execution[name] for name in _ALWAYS_TOLD if name in execution}
    made: dict[str, Json] = {
        "error": _error(subject.error),
        "recorded": subject.recorded,
        "execution": plain(execution),
        "spending": _spending(subject.spending),
    }
    if include_output:
        made["output"] = subject.output
        made["rendered_input"] = subject.rendered_input
        made["messages"] = plain(subject.messages)
    return made


def _error(error: TypedError | None) -> Json:
    return None if error is None else {"type": error.type.value, "message": error.message}


def _assessment(made: AssessmentRecord) -> dict[str, Json]:
    return {
        "name": made.name,
        "weight": made.weight,
        "required": made.required,
        "spending": _spending(made.spending),
        "result": plain(made.result),
    }


def _spending(spent: Spending) -> dict[str, Json] | None:
    """Null where no request was made and it is known that nothing was spent."""
    if spent == NOTHING_SENT:
        return None
    counts = {name: getattr(spent.usage, name) for name in _TOKENS}
    told = {name: count for name, count in counts.items() if count is not None or name in _TOKENS[:2]}
    return {
        **told,
        "cost_usd": spent.cost_usd,
        "duration_ms": spent.duration_ms,
        "attempts": spent.attempts,
        "cached": spent.cached,
        "models": list(spent.models),
    }


# --- back again ----------------------------------------------------------------------------------------------------


def run_from_json(value: Mapping[str, Any], gate: Mapping[str, Json] | None) -> RunRecord:
    """The run that `run_json` wrote; of what the schema of reports accepts, nothing raises."""
    snapshots = {kind: tuple(hashes) for kind, hashes in value["snapshots"].items()}
    return RunRecord(
        id=value["id"],
        suite=value["suite"],
        suite_hash=value["suite_hash"],
        status=RunStatus(value["status"]),
        created_at=value["created_at"],
        finished_at=value["finished_at"],
        samples=value["samples"],
        reducer=value["reducer"],
        cases=value["cases"],
        options=value["options"],
        provenance=value["provenance"],
        snapshots=MappingProxyType(snapshots),
        parent=value["parent"],
        gate=gate,
    )


def case_from_json(value: Mapping[str, Any]) -> CaseRecord:
    """The case without its trials."""
    return CaseRecord(
        case_index=value["case_index"],
        name=value["name"],
        case_hash=value["case_hash"],
        labels=tuple(value["labels"]),
        metadata=value["metadata"],
        file=value["file"],
        line=value["line"],
        status=None if value["status"] is None else Status(value["status"]),
        content=content_from_json(value["content"]) if "content" in value else None,
    )


def trial_from_json(value: Mapping[str, Any], case_index: int) -> TrialRecord:
    """One trial; what was not told of it is missing in it."""
    told = value["subject"]
    subject = SubjectRecord(
        output=told.get("output"),
        messages=tuple(told.get("messages", ())),
        rendered_input=told.get("rendered_input"),
        execution=told["execution"],
        error=_error_from(told["error"]),
        recorded=told["recorded"],
        spending=_spending_from(told["spending"]),
    )
    return TrialRecord(
        case_index=case_index,
        trial_index=value["trial_index"],
        status=Status(value["status"]),
        subject=subject,
        assessments=tuple(_assessment_from(made) for made in value["assessments"]),
    )


def _error_from(value: Mapping[str, Any] | None) -> TypedError | None:
    return None if value is None else TypedError(type=ErrorCategory(value["type"]), message=value["message"])


def _assessment_from(value: Mapping[str, Any]) -> AssessmentRecord:
    result = value["result"]
    return AssessmentRecord(
        name=value["name"],
        type=result["type"],
        status=Status(result["status"]),
        score=result["score"],
        weight=value["weight"],
        required=value["required"],
        spending=_spending_from(value["spending"]),
        result=result,
    )


def _spending_from(value: Mapping[str, Any] | None) -> Spending:
    if value is None:
        return NOTHING_SENT
    return Spending(
        usage=Usage(**{name: value.get(name) for name in _TOKENS}),
        cost_usd=value["cost_usd"],
        duration_ms=value["duration_ms"],
        attempts=value["attempts"],
        cached=value["cached"],
        models=tuple(value["models"]),
    )
