"""Runs, cases and trials as rows, and back. Pure: what goes in comes out equal, on every database.

JSON values come back in plain dicts and lists. One exception to equality: a token count that no model can have is
unknown afterwards, as for replies.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from jurat.errors import ErrorCategory, StoreError
from jurat.evaluation import TypedError
from jurat.jsontext import Json
from jurat.judge import NOTHING_SENT, Spending
from jurat.provider.protocol import Usage
from jurat.report.record import (
    AssessmentRecord,
    CaseRecord,
    RunRecord,
    RunStatus,
    Snapshot,
    SubjectRecord,
    TrialRecord,
)
from jurat.store.rows import Row, token_count
from jurat.store.seals import seal_of
from jurat.store.shared import part_of, shared_part, whole
from jurat.store.texts import keep_canonical, keep_json, keep_text, read_json, read_text
from jurat.vocabulary import Status

_COLUMNS_OF_ASSESSMENT = 22
_E = TypeVar("_E", bound=StrEnum)

__all__ = [
    "answer_row",
    "assessment_rows",
    "case_row",
    "error_category",
    "read_assessment",
    "read_case",
    "read_run",
    "read_snapshot",
    "read_trial",
    "run_row",
    "snapshot_row",
    "text_rows",
    "trial_row",
    "whole_rows",
]


def run_row(run: RunRecord) -> Row:
    """The arguments of `ADD_RUN`."""
    return (
        keep_text(run.id),
        keep_text(run.suite),
        run.suite_hash,
        run.status.value,
        run.created_at,
        run.samples,
        keep_json(run.reducer),
        run.cases,
        run.finished_at,
        keep_json(run.options),
        keep_json(run.provenance),
        keep_json(run.snapshots),
        None if run.parent is None else keep_text(run.parent),
        None if run.gate is None else keep_json(run.gate),
    )


def read_run(row: Sequence[Any]) -> RunRecord:
    """What the columns of a run say."""
    identity, suite, suite_hash, status, created_at, samples, reducer, cases, finished_at, *more = row
    options, provenance, snapshots, parent, gate = more
    return RunRecord(
        id=read_text(identity),
        suite=read_text(suite),
        suite_hash=suite_hash,
        status=_word(RunStatus, status),
        created_at=created_at,
        samples=samples,
        reducer=read_json(reducer),
        cases=cases,
        finished_at=finished_at,
        options=read_json(options),
        provenance=read_json(provenance),
        snapshots={kind: tuple(hashes) for kind, hashes in read_json(snapshots).items()},
        parent=None if parent is None else read_text(parent),
        gate=None if gate is None else read_json(gate),
    )


def case_row(case: CaseRecord) -> Row:
    """The arguments of `ADD_CASE` after the run."""
    return (
        case.case_index,
        keep_text(case.name),
        case.case_hash,
        keep_json(case.labels),
        keep_json(case.metadata),
        None if case.file is None else keep_text(case.file),
        case.line,
        None if case.status is None else case.status.value,
    )


def read_case(row: Sequence[Any]) -> CaseRecord:
    """What a row of `CASES_OF` says."""
    index, name, case_hash, labels, metadata, file, line, status = row
    return CaseRecord(
        case_index=index,
        name=read_text(name),
        case_hash=case_hash,
        labels=tuple(read_json(labels)),
        metadata=read_json(metadata),
        file=None if file is None else read_text(file),
        line=line,
        status=None if status is None else _word(Status, status),
    )


def snapshot_row(snapshot: Snapshot) -> Row:
    """The arguments of `ADD_SNAPSHOT`."""
    return snapshot.hash, snapshot.kind, keep_canonical(snapshot.body)


def read_snapshot(row: Sequence[Any]) -> Snapshot:
    """What a row of `SNAPSHOT` says."""
    return Snapshot(hash=row[0], kind=row[1], body=read_json(row[2]))


def trial_row(run: int, trial: TrialRecord) -> Row:
    """The arguments of `ADD_TRIAL`, but for the seal."""
    subject, error = trial.subject, trial.subject.error
    return (
        run,
        trial.case_index,
        trial.trial_index,
        trial.status.value,
        len(trial.assessments),
        subject.recorded,
        None if error is None else error.type.value,
        None if error is None else keep_text(error.message),
        keep_json(trial.paid) if trial.paid else None,
        *_spending_columns(subject.spending),
    )


def answer_row(run: int, trial: TrialRecord) -> Row:
    """The arguments of `ADD_ANSWER`."""
    subject = trial.subject
    return (
        run,
        trial.case_index,
        trial.trial_index,
        None if subject.output is None else keep_text(subject.output),
        None if subject.rendered_input is None else keep_text(subject.rendered_input),
        keep_json(subject.messages) if subject.messages else None,
        keep_json(subject.execution) if subject.execution else None,
    )


def assessment_rows(run: int, trial: TrialRecord) -> Iterable[Row]:
    """The arguments of `ADD_ASSESSMENT`."""
    place = (trial.case_index, trial.trial_index)
    for position, one in enumerate(trial.assessments):
        shared = shared_part(one.result)
        yield (
            run,
            *place,
            position,
            keep_text(one.name),
            keep_text(one.type),
            one.status.value,
            one.score,
            one.weight,
            one.required,
            error_category(one.result),
            *_spending_columns(one.spending),
            keep_json(one.result if shared is None else part_of(one.result, shared)),
            position,
            run,
            *place,
        )


def whole_rows(run_id: str, run: int, trial: TrialRecord) -> tuple[Row, Row, list[Row]]:
    """The arguments of `ADD_TRIAL`, `ADD_ANSWER` and `ADD_ASSESSMENT`, the first with the seal on all three."""
    own, answer, assessments = trial_row(run, trial), answer_row(run, trial), list(assessment_rows(run, trial))
    seal = seal_of(run_id, own[1:], answer[3:], [row[4:_COLUMNS_OF_ASSESSMENT] for row in assessments])
    return (*own, seal), answer, assessments


def text_rows(trials: Iterable[TrialRecord]) -> list[Row]:
    """The arguments of `ADD_SNAPSHOT` for what the trials' result maps share, each once."""
    found = {one.hash: one for trial in trials for each in trial.assessments if (one := shared_part(each.result))}
    return [snapshot_row(found[name]) for name in sorted(found)]


def error_category(result: Mapping[str, Json]) -> str | None:
    """The category of the error that a result map tells, if it tells one."""
    evaluator = result.get("evaluator")
    error = evaluator.get("error") if isinstance(evaluator, Mapping) else None
    category = error.get("type") if isinstance(error, Mapping) else None
    return category if isinstance(category, str) else None


def read_trial(
    trial: Sequence[Any], answer: Sequence[Any], assessments: Iterable[Sequence[Any]], texts: Mapping[str, Json]
) -> TrialRecord:
    """What rows of `TRIALS_OF`, `ANSWERS_OF` and `ASSESSMENTS_OF` say of one trial, the latter two without its place.

    `texts` are the bodies of the snapshots that the result maps name.
    """
    case_index, trial_index, status, _, recorded, category, message, paid, *spent = trial
    output, rendered_input, messages, execution = answer
    error = None if category is None else TypedError(type=_word(ErrorCategory, category), message=read_text(message))
    subject = SubjectRecord(
        output=None if output is None else read_text(output),
        messages=() if messages is None else tuple(read_json(messages)),
        rendered_input=None if rendered_input is None else read_text(rendered_input),
        execution={} if execution is None else read_json(execution),
        error=error,
        recorded=bool(recorded),
        spending=_read_spending(spent, {} if recorded or execution is None else read_json(execution)),
    )
    return TrialRecord(
        case_index=case_index,
        trial_index=trial_index,
        status=_word(Status, status),
        subject=subject,
        assessments=tuple(read_assessment(row, texts) for row in assessments),
        paid=() if paid is None else tuple(read_json(paid)),
    )


def read_assessment(row: Sequence[Any], texts: Mapping[str, Json]) -> AssessmentRecord:
    """What a row of `ASSESSMENTS_OF` says, without its place."""
    name, kind, status, score, weight, required, _, *spent, stored = row
    result = whole(read_json(stored), texts)
    return AssessmentRecord(
        name=read_text(name),
        type=read_text(kind),
        status=_word(Status, status),
        result=result,
        score=score,
        weight=weight,
        required=bool(required),
        spending=_read_spending(spent, result.get("evaluator")),
    )


def _spending_columns(spent: Spending) -> Row:
    used = spent.usage
    return (
        token_count(used.input_tokens),
        token_count(used.output_tokens),
        token_count(used.cached_input_tokens),
        token_count(used.cache_write_tokens),
        token_count(used.reasoning_tokens),
        spent.cost_usd,
        spent.duration_ms,
        spent.attempts,
        spent.cached,
        keep_json(spent.models) if spent.models else None,
    )


def _read_spending(columns: Sequence[Any], told: Json) -> Spending:
    """What columns say, and why attempts failed, which stands with what is told of the call (`failed_attempts`)."""
    given, made, from_cache, written, reasoning, cost_usd, duration_ms, attempts, cached, models = columns
    if not attempts and cost_usd == 0.0 and tuple(columns) == _NOTHING:  # as of all that code decides
        return NOTHING_SENT
    return Spending(
        usage=Usage(
            input_tokens=given,
            output_tokens=made,
            cached_input_tokens=from_cache,
            cache_write_tokens=written,
            reasoning_tokens=reasoning,
        ),
        cost_usd=cost_usd,
        duration_ms=duration_ms,
        attempts=attempts,
        failed=_read_failed(told) if attempts else (),
        cached=bool(cached),
        models=() if models is None else _read_models(models),
    )


def _read_failed(told: Json) -> tuple[str, ...]:
    counts = told.get("failed_attempts") if isinstance(told, dict) else None
    if not isinstance(counts, dict):
        return ()
    return tuple(name for name in sorted(counts) if isinstance(counts[name], int) for _ in range(counts[name]))


_NOTHING = _spending_columns(NOTHING_SENT)


@functools.lru_cache(maxsize=256)
def _read_models(stored: str) -> tuple[str, ...]:
    return tuple(json.loads(read_text(stored)))


def _word(words: type[_E], found: str) -> _E:
    try:
        return words(found)
    except ValueError:
        raise StoreError(
            f"the store holds a word for a {words.__name__} that this version of jurat does not know: it was written "
            "by a newer one; upgrade jurat"
        ) from None
