"""What tests of runs share: records made in a line each, and one run that has something of everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurat.errors import ErrorCategory
from jurat.evaluation import Assessment, Finding, Severity, TypedError
from jurat.judge import NOTHING_SENT, Spending
from jurat.metrics import RunTally
from jurat.metrics.policy import Policy
from jurat.provider.protocol import Usage
from jurat.report import assessment_map
from jurat.report.record import (
    AssessmentRecord,
    CaseRecord,
    RunRecord,
    RunStatus,
    SubjectRecord,
    TrialRecord,
)
from jurat.vocabulary import Status

HASH = "sha256:" + "0" * 64
NAME = "01JDZQ0000000000000000000A"
Rows = Sequence[tuple[CaseRecord, Sequence[TrialRecord]]]


def run(**changes: Any) -> RunRecord:
    """A completed run of one trial a case."""
    fields: dict[str, Any] = {
        "id": NAME,
        "suite": "capital-cities",
        "suite_hash": HASH,
        "status": RunStatus.COMPLETED,
        "created_at": "2026-11-30T12:00:00Z",
        "finished_at": "2026-11-30T12:00:09Z",
        "samples": 1,
        "reducer": "all",
        "cases": 1,
        "provenance": {"jurat": "0.1.0", "python": "3.11.7"},
        "snapshots": {"suite": (HASH,)},
    }
    return RunRecord(**{**fields, **changes})


def case(index: int = 0, name: str | None = None, **changes: Any) -> CaseRecord:
    """A case's place."""
    return CaseRecord(case_index=index, name=name or f"case-{index}", case_hash=HASH, **changes)


def spent(cost: float | None = 0.001, **changes: Any) -> Spending:
    """One request of 100 tokens in and 20 out."""
    fields: dict[str, Any] = {
        "usage": Usage(input_tokens=100, output_tokens=20),
        "cost_usd": cost,
        "duration_ms": 400.0,
        "attempts": 1,
        "models": ("judge-1",),
    }
    return Spending(**{**fields, **changes})


def check(name: str = "contains", status: Status = Status.PASS, reason: str = "the text occurs") -> AssessmentRecord:
    """The finding of a plain check, with nothing spent."""
    score = {Status.PASS: 100.0, Status.FAIL: 0.0}.get(status)
    missing = (Finding(code="empty_output", message="the output is empty", severity=Severity.WARNING),)
    found = Assessment(
        evaluator=name,
        revision="1",
        status=status,
        score=score,
        reason=reason if status.decided else None,
        findings=missing if status is Status.UNVERIFIED else (),
        error=_error(ErrorCategory.EVALUATOR_EXCEPTION) if status is Status.ERROR else None,
    )
    result = assessment_map("contains", found)
    return AssessmentRecord(name=name, type="contains", status=status, score=score, result=result)


def verdict(
    score: float | None = None,
    *,
    name: str = "rubric_judge",
    threshold: float = 80,
    error: str | None = None,
    message: str = "the judge did not answer",
    reason: str | None = "It is so.",
    quotes: Sequence[str] = (),
    scale: tuple[float, float] = (0, 100),
    template: str | None = "correctness",
    spending: Spending | None = None,
    **changes: Any,
) -> AssessmentRecord:
    """A rubric judge's verdict: decided by its score, or an error, or unverified."""
    status = Status.ERROR if error else Status.UNVERIFIED
    if score is not None:
        status = Status.PASS if score >= threshold else Status.FAIL
    paid = spending or spent()
    result: dict[str, Any] = {
        "type": "rubric_judge",
        "status": status.value,
        "passed": status is Status.PASS,
        "score": score,
        "reason": reason if score is not None else None,
        "evidence": [{"message_index": 1, "quote": quote} for quote in quotes],
        "metadata": {
            "schema_version": 1,
            "threshold": threshold,
            "rubric": "Is it right?",
            "template": template,
            "template_revision": None if template is None else "v1",
            "score_range": list(scale),
            "contract": "score/v1",
            "strategy": "answer",
            "judge": HASH,
            "truncated_fields": [],
        },
        "evaluator": {
            "status": "error" if error else "completed",
            "provider": "judge",
            "model": "judge-1",
            "input_tokens": paid.usage.input_tokens,
            "output_tokens": paid.usage.output_tokens,
            "cost_usd": paid.cost_usd,
            "duration_ms": paid.duration_ms,
            "attempts": paid.attempts,
            "cached": paid.cached,
        },
    }
    if error:
        result["evaluator"]["error"] = {"type": error, "message": message}
    result.update(changes)
    return AssessmentRecord(name=name, type="rubric_judge", status=status, score=score, result=result, spending=paid)


def skipped(name: str = "rubric_judge", type_: str = "rubric_judge") -> AssessmentRecord:
    """An assertion that was never asked, since there was no answer."""
    found = Assessment(evaluator=name, revision="1", status=Status.SKIPPED)
    return AssessmentRecord(
        name=name, type=type_, status=Status.SKIPPED, result=assessment_map(type_, found), spending=NOTHING_SENT
    )


def trial(*assessments: AssessmentRecord, index: int = 0, case_index: int = 0, **subject: Any) -> TrialRecord:
    """A trial whose status follows from its assessments; `error` in the subject's fields makes it one."""
    if error := subject.pop("error", None):
        told = SubjectRecord(error=_error(error), **subject)
        status = Status.ERROR
    else:
        told = SubjectRecord(**{"output": "Paris.", "spending": spent(), **subject})
        status = _status([made.status for made in assessments])
    return TrialRecord(
        case_index=case_index, trial_index=index, status=status, subject=told, assessments=tuple(assessments)
    )


def _status(found: Sequence[Status]) -> Status:
    for word in (Status.FAIL, Status.ERROR):
        if word in found:
            return word
    return Status.PASS if found and set(found) == {Status.PASS} else Status.UNVERIFIED


def _error(category: ErrorCategory | str) -> TypedError:
    return TypedError(type=ErrorCategory(category), message="the connection was refused")


def tallied(record: RunRecord, rows: Rows, policy: Policy | None = None) -> RunTally:
    """The tally of these rows."""
    tally = RunTally(record, (policy or Policy()).watch)
    for place, trials in rows:
        tally.add(place, trials)
    return tally


def mixed() -> tuple[RunRecord, Rows]:
    """A run of five cases, three trials each, with something of everything in it."""
    record = run(samples=3, reducer="majority", cases=5)
    quotes = ("the region of Paris",)
    of_tone: dict[str, Any] = {"threshold": 0.8, "scale": (0, 1), "name": "tone", "template": "tone"}
    unclear, fine = verdict(0.7966, quotes=quotes, **of_tone), verdict(0.95, **of_tone)
    garbled = verdict(error="malformed_json", message="the answer is no JSON object", **of_tone)
    refused = verdict(
        error="auth_error",
        **of_tone,
        message="https://api.example refused the key (401). It came from the environment variable JUDGE_API_KEY; "
        "check that it is valid and may use model judge-1",
        spending=spent(None, usage=Usage()),
    )
    missed = check(status=Status.FAIL, reason="the text does not occur")
    lost = (skipped("contains", "contains"), skipped("tone"))
    sets = [
        ("france", [(check(), fine), (check(), fine), (check(), fine)]),
        ("germany", [(check(), unclear), (missed, unclear), (check(), fine)]),
        ("japan", [(check(), garbled), (check(), refused), (check(), fine)]),
        ("spain", [lost, (check(), fine), lost]),
        ("日本語のケース", [(missed, unclear), (check(), garbled), (missed, fine)]),
    ]
    rows = []
    for index, (name, made) in enumerate(sets):
        trials = [
            trial(*found, index=number, case_index=index, **({"error": "timeout"} if found is lost else {}))
            for number, found in enumerate(made)
        ]
        place = case(index, name, labels=("europe",) if index < 2 else (), file="capitals.yaml", line=12 + 6 * index)
        rows.append((place, trials))
    return record, rows
