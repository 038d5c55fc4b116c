"""What was found on a trial, as the record keeps it: verdicts and assessments become result maps with their cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jurat.assertions import Assertion
from jurat.errors import ErrorCategory
from jurat.evaluation import Assessment, Finding, Severity, TypedError, error_assessment
from jurat.jsontext import Json
from jurat.judge import NOTHING_SENT, Judge, Opinion, Spending, Verdict
from jurat.report.record import AssessmentRecord
from jurat.report.result_map import assessment_map, verdict_map
from jurat.vocabulary import Status

__all__ = ["assessed", "failed", "judged", "skipped"]

_USUAL_RANGE = (0.0, 100.0)


def judged(assertion: Assertion, verdict: Verdict) -> AssessmentRecord:
    """A judge's verdict; what was decided is turned round where the assertion negates it."""
    status, score = assertion.turned(verdict.status, verdict.score)
    if status is not verdict.status:
        verdict = replace(verdict, opinion=replace(verdict.opinion, status=status, score=score))
    result = verdict_map(verdict)
    if assertion.negate:
        result["metadata"]["negate"] = True
    return _record(assertion, status, score, result, verdict.opinion.spending)


def assessed(assertion: Assertion, assessment: Assessment) -> AssessmentRecord:
    """Any other evaluator's assessment, which bears the assertion's name already."""
    result = assessment_map(assertion.type, assessment)
    if assertion.score_range != _USUAL_RANGE:
        result["metadata"]["score_range"] = list(assertion.score_range)
    return _record(assertion, assessment.status, assessment.score, result, NOTHING_SENT)


def failed(assertion: Assertion, error: TypedError, spending: Spending = NOTHING_SENT) -> AssessmentRecord:
    """An assertion that could not be decided."""
    if isinstance(assertion.evaluator, Judge):
        opinion = Opinion(status=Status.ERROR, error=error, spending=spending)
        return judged(assertion, Verdict(judge=assertion.evaluator.facts, opinion=opinion))
    return assessed(assertion, error_assessment(assertion.name, assertion.revision, error.type, error.message))


def skipped(assertion: Assertion, why: ErrorCategory) -> AssessmentRecord:
    """An assertion that was not asked, since the subject gave no answer."""
    finding = Finding(
        code="no_answer",
        message=f"the subject gave no answer ({why}), so there is nothing to look at",
        severity=Severity.WARNING,
    )
    if isinstance(assertion.evaluator, Judge):
        opinion = Opinion(status=Status.SKIPPED, findings=(finding,), spending=NOTHING_SENT)
        return judged(assertion, Verdict(judge=assertion.evaluator.facts, opinion=opinion))
    return assessed(
        assertion,
        Assessment(evaluator=assertion.name, revision=assertion.revision, status=Status.SKIPPED, findings=(finding,)),
    )


def _record(
    assertion: Assertion, status: Status, score: float | None, result: Mapping[str, Json], spending: Spending
) -> AssessmentRecord:
    return AssessmentRecord(
        name=assertion.name,
        type=assertion.type,
        status=status,
        result=result,
        score=score,
        weight=assertion.weight,
        required=assertion.required,
        spending=spending,
    )
