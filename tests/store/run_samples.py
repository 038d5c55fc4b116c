"""Sample runs, cases and trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from store_samples import SPENT

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.jsontext import Json, canonical
from jurat.report.record import (
    AssessmentRecord,
    CaseRecord,
    RunRecord,
    RunStatus,
    Snapshot,
    SubjectRecord,
    TrialRecord,
)
from jurat.store import Store
from jurat.vocabulary import Status, content_id

BEGUN, ENDED = "2026-11-30T12:00:00Z", "2026-11-30T12:05:00Z"
TIMEOUT = TypedError(type=ErrorCategory.TIMEOUT, message="expected an answer within 30 s, found none")


def snapshot(kind: str, body: Json) -> Snapshot:
    """A snapshot under its right name."""
    return Snapshot(hash=content_id(canonical(body).encode()), kind=kind, body=body)


SUITE = snapshot("suite", {"suite": "capitals", "cases": ["france", "spain"]})
RUBRIC = snapshot("rubric", {"name": "correctness", "é": [1, 2.5, None, True]})


def case_snapshot(name: str, pass_threshold: float | None = None) -> Snapshot:
    """What a case is, as far as the store looks at it."""
    return snapshot("case", {"name": name, "pass_threshold": pass_threshold})


def a_run(identity: str = "20261130-a", *, cases: int = 2, samples: int = 1, reducer: Json = "all") -> RunRecord:
    """A run that has just begun."""
    return RunRecord(
        id=identity,
        suite="capitals",
        suite_hash=SUITE.hash,
        status=RunStatus.RUNNING,
        created_at=BEGUN,
        samples=samples,
        reducer=reducer,
        cases=cases,
        options={"concurrency": 4, "cache": "off"},
        provenance={"jurat": "0.1.0", "git": None},
        snapshots={"suite": (SUITE.hash,), "rubric": (RUBRIC.hash,)},
    )


def some_cases(count: int = 2) -> list[CaseRecord]:
    """So many cases."""
    return [
        CaseRecord(
            case_index=index,
            name=f"case {index}",
            case_hash=case_snapshot(f"case {index}").hash,
            labels=("smoke", "é"),
            metadata={"tier": index},
            file="capitals.yaml",
            line=10 + index,
        )
        for index in range(count)
    ]


def assessed(status: Status = Status.PASS, *, name: str = "right", required: bool = False) -> AssessmentRecord:
    """A rubric judge's assessment of that status."""
    score = {Status.PASS: 92.0, Status.FAIL: 12.0}.get(status)
    evaluator: dict[str, Json] = {"status": "completed", "input_tokens": 120}
    if status is Status.ERROR:
        evaluator = {"status": "error", "error": {"type": "timeout", "message": "late"}}
    result = {"type": "rubric_judge", "status": status.value, "score": score, "evaluator": evaluator}
    return AssessmentRecord(
        name=name,
        type="rubric_judge",
        status=status,
        result=result,
        score=score,
        weight=2.0,
        required=required,
        spending=SPENT,
    )


def a_trial(
    case_index: int = 0,
    trial_index: int = 0,
    status: Status = Status.PASS,
    *,
    output: str | None = "Paris",
    assessments: Sequence[AssessmentRecord] | None = None,
) -> TrialRecord:
    """A trial of that status, for the reason that its assessment has it."""
    subject = SubjectRecord(
        output=output,
        messages=({"role": "user", "content": "What is the capital of France?"},),
        rendered_input="What is the capital of France?",
        execution={"latency_ms": 431.25, "tool_calls": []},
        spending=SPENT,
    )
    found = (assessed(status),) if assessments is None else tuple(assessments)
    return TrialRecord(
        case_index=case_index, trial_index=trial_index, status=status, subject=subject, assessments=found
    )


def unanswered(case_index: int = 0, trial_index: int = 0) -> TrialRecord:
    """A trial whose subject gave no answer."""
    whole = a_trial(case_index, trial_index, assessments=[replace(assessed(Status.SKIPPED), spending=SPENT)])
    subject = SubjectRecord(error=TIMEOUT, spending=replace(SPENT, cost_usd=None, models=()))
    return replace(whole, status=Status.ERROR, subject=subject)


def every_trial(cases: int = 2, samples: int = 1) -> list[TrialRecord]:
    """All trials of a plan, each passed, in its order."""
    return [a_trial(case, trial) for case in range(cases) for trial in range(samples)]


async def begun(store: Store, identity: str = "20261130-a", *, cases: int = 2, samples: int = 1) -> str:
    """A run in the store that has just begun; its id."""
    kept = [SUITE, RUBRIC, *(case_snapshot(f"case {index}") for index in range(cases))]
    await store.runs.begin(a_run(identity, cases=cases, samples=samples), some_cases(cases), kept)
    return identity


async def trials_of(store: Store, run_id: str, case_index: int | None = None, page: int = 256) -> list[TrialRecord]:
    """What the store holds of a run, all of it at once."""
    return [trial async for trial in store.runs.trials(run_id, case_index, page)]
