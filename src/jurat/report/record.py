"""The record of a run as data: what the engine hands on, the store keeps, and reports are made of.

Three kinds of bad stay apart: the subject's error, an evaluator's error, and a poor answer. An assessment is kept as
its result map, the one shape that every face shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from jurat.evaluation import TypedError
from jurat.jsontext import Json
from jurat.judge import NOTHING_SENT, Spending
from jurat.report.content import Content
from jurat.vocabulary import Status

__all__ = [
    "AssessmentRecord",
    "CaseRecord",
    "RunRecord",
    "RunStatus",
    "Snapshot",
    "SubjectRecord",
    "TrialRecord",
]

_NOTHING: Mapping[str, Json] = MappingProxyType({})


class RunStatus(StrEnum):
    """How far a run came. Whether it passed is its gate's word, not this one's."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRecord:
    """The subject's stage of a trial.

    Attributes:
        output: what it answered; None exactly when there is an error.
        messages: the whole conversation before the output as JSON, tool calls on the way included.
        rendered_input: the filled prompt, or None.
        execution: `latency_ms`, `cost_usd`, `tool_calls`, …: what the context's `execution` holds.
        error: why there is no answer: the subject's trouble, never a judge's.
        recorded: whether the answer was recorded in the case, or taken from another run.
        spending: what the answer cost.
    """

    output: str | None = None
    messages: tuple[Mapping[str, Json], ...] = ()
    rendered_input: str | None = None
    execution: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    error: TypedError | None = None
    recorded: bool = False
    spending: Spending = NOTHING_SENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentRecord:
    """One assertion's finding: its name and weight, the result map, and what it cost.

    `type`, `status` and `score` stand in the result map too.
    """

    name: str
    type: str
    status: Status
    result: Mapping[str, Json]
    score: float | None = None
    weight: float = 1.0
    required: bool = False
    spending: Spending = NOTHING_SENT


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One trial: its place in the plan, what became of it, and why.

    `paid` are the keys of the calls whose cost stands here (a reply that several trials share is paid for in one of
    them alone); it serves whoever resumes the run, and no report.
    """

    case_index: int
    trial_index: int
    status: Status
    subject: SubjectRecord
    assessments: tuple[AssessmentRecord, ...] = ()
    paid: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """A case's place in a run: what it is, and its outcome over all trials (None until the run is completed).

    `content` is known where it was looked up, or a report tells it.
    """

    case_index: int
    name: str
    case_hash: str
    labels: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    file: str | None = None
    line: int | None = None
    status: Status | None = None
    content: Content | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Something immutable that a run rests on, named by its content: `sha256:…` of its canonical JSON.

    `kind` is `suite`, `case`, `prompt`, `provider` or `rubric`; `places` says where assertions were written, which
    decides nothing.
    """

    hash: str
    kind: str
    body: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run, without its trials.

    Attributes:
        id: sorts by time; a prefix that is unique is enough to name it.
        suite: the suite's name; `suite_hash` names its snapshot.
        created_at, finished_at: UTC, ISO 8601 with seconds and `Z`.
        samples, reducer: trials a case, and how they become one outcome.
        cases: how many; the plan has `cases * samples` trials.
        options: what decided the run beside the suite (concurrency, cache, overrides), as plain data.
        provenance: jurat's and Python's version, the platform, the price table's version, git's commit where known.
        snapshots: hashes by kind of all that the run rests on.
        parent: the run whose outputs were judged anew, or None.
        gate: the policy's outcome as plain data, once completed.
    """

    id: str
    suite: str
    suite_hash: str
    status: RunStatus
    created_at: str
    samples: int
    reducer: Json
    cases: int
    finished_at: str | None = None
    options: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    provenance: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    snapshots: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    parent: str | None = None
    gate: Mapping[str, Json] | None = None
