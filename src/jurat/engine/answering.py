"""The first stage of a trial: the subject answers, or its answer is taken from where it was recorded.

Whatever goes wrong here is the subject's trouble: it is recorded as such, under its category, and no judge is asked.
What a subject raises is never taken for what it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from jurat.engine.caller import Allowance, Caller, Target
from jurat.engine.committer import Committer
from jurat.engine.ready import TrialWork
from jurat.errors import AuthoringError, ErrorCategory, EvaluationError
from jurat.evaluation import TypedError
from jurat.evaluation.subject import Subject, SubjectReply
from jurat.evidence import Context, message_to_json
from jurat.jsontext import Json
from jurat.judge import NOTHING_SENT, Outcome, Spending, Withheld, spent_in_vain
from jurat.provider.protocol import Call, Raw
from jurat.raised import raised
from jurat.report.record import SubjectRecord

__all__ = ["Answering", "OutputSource", "Rejected"]

Rejected = tuple[str, TypedError, Spending]
"""A reply whose text is not to be kept: the key of its call, why, and what it cost."""


class OutputSource(Protocol):
    """Where answers stand that need not be asked for: another run's record, for one. None: ask the subject."""

    async def answer(self, case_index: int, trial_index: int) -> SubjectRecord | None: ...


class Answering:
    """Brings the answers of a run.

    Args:
        caller: makes the calls.
        subject: who answers; None where every answer is recorded. `target` is where its calls are counted.
        source: recorded answers that come first.
        withhold: takes replies that are no answers.
        timeout_s: for one answer, its retries included.
    """

    def __init__(
        self,
        caller: Caller,
        withhold: Committer[Rejected],
        *,
        subject: Subject | None,
        target: Target | None,
        source: OutputSource | None,
        timeout_s: float | None,
    ) -> None:
        self._caller, self._withhold = caller, withhold
        self._subject, self._target, self._source = subject, target, source
        self._timeout_s = timeout_s

    async def answer(self, work: TrialWork) -> Context | None:
        """Fill the trial's first slot. The trial's context; None when there is no answer.

        Raises:
            StoreError: when a reply cannot be kept, or a recorded answer not be read.
        """
        recorded = await self._recorded(work)
        if recorded is not None:
            return _from_record(work, recorded)
        ready = work.ready
        if ready.fault is not None:
            work.subject = ready.failed(ready.fault)
            return None
        if self._subject is None or self._target is None:
            why = "there is nobody to answer: neither a recorded output nor a subject"
            work.subject = ready.failed(TypedError(type=ErrorCategory.REQUEST_INVALID, message=why))
            return None
        prepared = _prepared(self._subject, work)
        if isinstance(prepared, TypedError):
            work.subject = ready.failed(prepared)
            return None
        return await self._asked(self._subject, self._target, prepared, work)

    async def _recorded(self, work: TrialWork) -> SubjectRecord | None:
        planned = work.ready.planned
        if self._source is not None:
            found = await self._source.answer(planned.case_index, work.trial_index)
            if found is not None:
                return replace(found, recorded=True, spending=NOTHING_SENT)
        if planned.case.output is None:
            return None
        return SubjectRecord(
            output=planned.case.output,
            messages=work.ready.messages,
            rendered_input=work.ready.task.rendered_input,
            execution=planned.case.execution,
            recorded=True,
        )

    async def _asked(self, subject: Subject, target: Target, call: Call, work: TrialWork) -> Context | None:
        allowance = Allowance(self._timeout_s) if self._timeout_s is not None else None
        try:
            outcome = await self._caller.ask(target, call, urgent=False, allowance=allowance)
        except asyncio.CancelledError:
            work.subject_lost = self._caller.cut_off.get(call.key, ())
            raise
        if isinstance(outcome, Raw):
            if not outcome.cached:
                work.paid.append(call.key)
            return await self._read(subject, target, call, outcome, work)
        work.subject = work.ready.failed(*_why(outcome, free=target.free))
        if isinstance(outcome, Withheld) and not outcome.spending.cached:
            work.paid.append(call.key)
        return None

    async def _read(self, subject: Subject, target: Target, call: Call, raw: Raw, work: TrialWork) -> Context | None:
        reply = _reading(subject, raw)
        if isinstance(reply, TypedError):
            unread = _spending(raw, SubjectReply(output="", cost_usd=target.cost(raw)))
            await self._reject(work, call, reply, unread, target.cost(raw))
            return None
        spending = _spending(raw, reply)
        if reply.error is not None:
            await self._reject(work, call, reply.error, spending, reply.cost_usd)
            return None
        execution = {"latency_ms": raw.latency_ms, "cost_usd": reply.cost_usd, **reply.execution}
        if spending.failed:
            execution["failed_attempts"] = spending.failed_attempts
        told = work.ready.messages
        before: Sequence[object] | None = None
        if reply.messages:
            told = (*told, *(message_to_json(message) for message in reply.messages))
            before = told
        context = _context(work, reply.output, execution, before)
        if isinstance(context, TypedError):
            await self._reject(work, call, context, spending, reply.cost_usd)
            return None
        work.subject = SubjectRecord(
            output=reply.output,
            messages=told,
            rendered_input=work.ready.task.rendered_input,
            execution=context.execution,
            spending=spending,
        )
        return context

    async def _reject(
        self, work: TrialWork, call: Call, error: TypedError, spending: Spending, paid_usd: float | None
    ) -> None:
        """A reply that is no answer: an error, and its text is not to be kept. Its account says what it once cost."""
        work.subject = work.ready.failed(error, spending)
        account = replace(spending, cached=False, cost_usd=paid_usd)
        await self._withhold.commit((call.key, error, account), alone=False)


def _from_record(work: TrialWork, recorded: SubjectRecord) -> Context | None:
    work.subject = recorded
    if recorded.output is None:
        return None
    same = recorded.messages is work.ready.messages
    context = _context(work, recorded.output, recorded.execution, None if same else recorded.messages)
    if isinstance(context, TypedError):
        work.subject = replace(recorded, output=None, error=context)
        return None
    if context.rendered_input != recorded.rendered_input:
        return replace(context, rendered_input=recorded.rendered_input)
    return context


def _context(
    work: TrialWork, output: str, execution: Mapping[str, Json], messages: Sequence[object] | None
) -> Context | TypedError:
    try:
        return work.ready.context.answered(output, execution, messages)
    except AuthoringError as error:
        return TypedError(type=ErrorCategory.INVALID_RESULT, message=f"the answer cannot be used: {error}")


def _prepared(subject: Subject, work: TrialWork) -> Call | TypedError:
    try:
        return subject.prepare(work.task)
    except EvaluationError as error:
        return TypedError(type=error.category, message=str(error))
    except AuthoringError as error:
        return TypedError(type=ErrorCategory.REQUEST_INVALID, message=str(error))
    except Exception as error:
        message = f"the subject {subject.name} {raised(error)} while its request was made"
        return TypedError(type=ErrorCategory.REQUEST_INVALID, message=message)


def _reading(subject: Subject, raw: Raw) -> SubjectReply | TypedError:
    try:
        return subject.read(raw)
    except EvaluationError as error:
        return TypedError(type=error.category, message=str(error))
    except Exception as error:
        message = f"the subject {subject.name} {raised(error)} over a reply"
        return TypedError(type=ErrorCategory.API_ERROR, message=message)


def _why(outcome: Outcome, *, free: bool) -> tuple[TypedError, Spending]:
    if isinstance(outcome, Withheld):
        return outcome.error, outcome.spending
    if isinstance(outcome, Raw):
        raise TypeError("a reply is no error")
    return TypedError(type=outcome.category, message=str(outcome)), spent_in_vain(outcome, free=free)


def _spending(raw: Raw, reply: SubjectReply) -> Spending:
    return Spending(
        usage=reply.usage,
        cost_usd=0.0 if raw.cached else reply.cost_usd,
        duration_ms=raw.latency_ms,
        attempts=raw.attempts,
        failed=tuple(sorted(raw.failed)),
        cached=raw.cached,
        models=(reply.model,) if reply.model else (),
    )
