"""A case made ready: everything that its trials share, worked out once, and a trial's own slots.

The input is rendered once, its context checked once; a trial adds its answer and nothing else. What a trial's stages
come to is put down in its slots as it is reached, so that a run that is ended keeps what was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jurat.engine.plan import Plan, PlannedCase
from jurat.errors import AuthoringError, ErrorCategory
from jurat.evaluation import TypedError
from jurat.evaluation.subject import Task
from jurat.evidence import Context, Message, Role, message_to_json
from jurat.jsontext import Json
from jurat.judge import NOTHING_SENT, Spending
from jurat.report.record import AssessmentRecord, SubjectRecord
from jurat.subject import make_task

__all__ = ["ReadyCase", "TrialWork"]


class ReadyCase:
    """What the trials of one case share.

    Attributes:
        task: the input, of the first repeat.
        context: the trial without its answer.
        messages: the conversation before the answer, as JSON.
        fault: why there is no input, where there is none.
    """

    __slots__ = ("context", "fault", "messages", "planned", "task")

    def __init__(self, planned: PlannedCase, plan: Plan, subject: str | None) -> None:
        self.planned = planned
        self.task, self.context = Task(), _EMPTY
        self.messages: tuple[Mapping[str, Json], ...] = ()
        self.fault: TypedError | None = None
        try:
            self.task = make_task(planned.case, plan.prompt)
            self.context = _context(planned, plan, self.task, subject)
        except AuthoringError as error:
            self.fault = TypedError(type=ErrorCategory.REQUEST_INVALID, message=str(error))
        else:
            self.messages = tuple(message_to_json(message) for message in self.context.messages)

    def failed(self, error: TypedError, spending: Spending = NOTHING_SENT) -> SubjectRecord:
        """The subject's stage without an answer: what it was told, and why there is none."""
        told = self.task.rendered_input
        execution = {"failed_attempts": spending.failed_attempts} if spending.failed else {}
        return SubjectRecord(
            messages=self.messages, rendered_input=told, execution=execution, error=error, spending=spending
        )


_EMPTY = Context(output="")


def _context(planned: PlannedCase, plan: Plan, task: Task, subject: str | None) -> Context:
    system = (Message(role=Role.SYSTEM, content=task.system),) if task.system is not None else ()
    return Context(
        output="",
        expected=planned.case.expected,
        rendered_input=task.rendered_input,
        prompt_template=task.prompt_template,
        variables=task.variables,
        messages=(*system, *task.messages),
        documents=task.documents,
        metadata=task.metadata,
        provider=subject,
        prompt_version=plan.prompt_version,
    )


class TrialWork:
    """One trial in work.

    Attributes:
        subject: the subject's stage, once it is over.
        found: an assessment for each assertion, once it is reached.
        lost: of each assertion, why the requests of calls that were cut off failed; `subject_lost`: of the subject.
        paid: the keys of the calls whose cost stands in this trial.
    """

    __slots__ = ("found", "lost", "paid", "ready", "subject", "subject_lost", "trial_index")

    def __init__(self, ready: ReadyCase, trial_index: int) -> None:
        self.ready, self.trial_index = ready, trial_index
        self.subject: SubjectRecord | None = None
        self.subject_lost: tuple[ErrorCategory, ...] = ()
        self.found: list[AssessmentRecord | None] = [None] * len(ready.planned.assertions)
        self.lost: list[tuple[ErrorCategory, ...]] = [()] * len(ready.planned.assertions)
        self.paid: list[str] = []

    @property
    def task(self) -> Task:
        """This trial's own task."""
        return replace(self.ready.task, repeat=self.trial_index) if self.trial_index else self.ready.task
