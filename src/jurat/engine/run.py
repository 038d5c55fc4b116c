"""A run: every trial of the plan, in bounded space, into a record whose places are the plan's.

So many workers as trials may be in work take them in the plan's order and carry each to its end; the bound on calls in
flight is the caller's (`jurat.engine.caller`). A trial is committed when its last assessment is done, a few dozen of
them in one write; which of them are done first changes nothing in the record.

Three kinds of bad stay apart: the subject's error, an evaluator's error, a poor answer; one trial's trouble is nobody
else's. When the time of the run is over, finished trials stay as they are, and the rest is recorded as the error
`timeout`. When the run is cancelled, no further call is begun, and everything that was reached is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from jurat.engine.answering import Answering, OutputSource, Rejected
from jurat.engine.assessing import Assessing, Targets
from jurat.engine.caller import Caller, Target
from jurat.engine.committer import ENOUGH, Committer
from jurat.engine.found import failed, skipped
from jurat.engine.journal import Journal
from jurat.engine.plan import Place, Plan
from jurat.engine.ready import ReadyCase, TrialWork
from jurat.engine.recorder import Recorder, RunWatcher, Silent
from jurat.engine.status import trial_status
from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.evaluation.subject import Subject
from jurat.judge import NOTHING_SENT, Spending
from jurat.provider.protocol import Raw
from jurat.report.record import TrialRecord
from jurat.subject import ProviderSubject
from jurat.suite.suite import Limits
from jurat.vocabulary import Status

__all__ = ["CONCURRENCY", "RunJob"]

CONCURRENCY = 16
"""Calls in flight, where the author sets no bound."""


class RunJob:
    """Executes a plan.

    Args:
        plan: what is to be done.
        journal: keeps every reply as it arrives.
        recorder: keeps every trial when it is finished.
        subject: who answers; None where every answer is recorded.
        source: recorded answers that come before the subject and the cases' own outputs.
        limits: the bounds of the run.
        cache_read: whether valid replies of other runs are used.
        done: the trials that the record holds already.
        resumed: whether another process began this run, so that the journal may know any of its calls.
        spent_usd: what that process is known to have spent, for the budget.
        borne: the keys of the calls whose cost stands in the trials that are done (`TrialRecord.paid`), so that none is
            counted twice.
        watcher: is told what happens.

    Attributes:
        timed_out: whether the time of the run was over before its work.

    Raises:
        ValueError: for a bound that is none.
    """

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        recorder: Recorder,
        *,
        subject: Subject | None = None,
        source: OutputSource | None = None,
        limits: Limits | None = None,
        cache_read: bool = False,
        done: Collection[Place] = frozenset(),
        resumed: bool = False,
        spent_usd: float = 0.0,
        borne: Iterable[str] = (),
        watcher: RunWatcher | None = None,
    ) -> None:
        limits = limits or Limits()
        concurrency = CONCURRENCY if limits.concurrency is None else limits.concurrency
        self._watcher = watcher or Silent()
        self._caller = Caller(
            journal,
            self._watcher,
            concurrency=concurrency,
            cache_read=cache_read,
            resumed=resumed,
            budget_usd=limits.budget_usd,
            spent_usd=spent_usd,
            borne=borne,
        )
        self._withhold: Committer[Rejected] = Committer(self._caller.guarding(journal.withhold))
        self._finished: Committer[TrialRecord] = Committer(self._caller.guarding(recorder.commit_trials))
        targets = Targets()
        self._answering = Answering(
            self._caller,
            self._withhold,
            subject=subject,
            target=_target(subject, targets),
            source=source,
            timeout_s=limits.subject_timeout_s,
        )
        self._assessing = Assessing(
            self._caller, self._withhold, targets, timeout_s=limits.evaluator_timeout_s, beside=concurrency
        )
        self._run_timeout_s = limits.run_timeout_s
        self._workers = min(2 * concurrency + 2 * ENOUGH, max(plan.trials, 1))
        self._work = _works(plan, done, subject.name if subject is not None else None)
        self._open: set[TrialWork] = set()
        self.timed_out = False

    @property
    def spent_usd(self) -> float:
        """What is known to be spent; kept only where there is a budget."""
        return self._caller.spent_usd

    async def run(self) -> None:
        """Make every trial that is not done yet.

        Raises:
            StoreError: when the record cannot be kept; what was committed before stays.
        """
        limit = asyncio.timeout(self._run_timeout_s)
        try:
            async with limit:
                await self._all()
        except TimeoutError:
            if not limit.expired():
                raise
            self.timed_out = True
            await self._expire()
        finally:
            await self._close()

    async def _all(self) -> None:
        with _one_failure():
            async with asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._worker())

    async def _worker(self) -> None:
        for work in self._work:
            self._open.add(work)
            context = await self._answering.answer(work)
            if context is not None:
                await self._assessing.assess(work, context)
            await self._hand_in(work)

    async def _hand_in(self, work: TrialWork) -> None:
        record = _record(work)
        self._open.remove(work)
        await self._finished.commit(record, alone=not self._open)
        self._watcher.trial(record)

    async def _close(self) -> None:
        """Make durable what was reached."""
        await self._caller.close()
        await self._withhold.close()
        await self._finished.close()

    async def _expire(self) -> None:
        """Record what is not finished as it stands; what is not decided by now is an error."""
        why = TypedError(
            type=ErrorCategory.TIMEOUT, message=f"the run's time of {self._run_timeout_s:g} s was over before this"
        )
        unfinished = sorted(self._open, key=lambda work: (work.ready.planned.case_index, work.trial_index))
        for chunk in _chunks(unfinished, self._work):
            self._open.update(chunk)
            for work in chunk:
                _give_up(work, why)
            with _one_failure():
                async with asyncio.TaskGroup() as group:
                    for work in chunk:
                        group.create_task(self._hand_in(work))


def _chunks(unfinished: list[TrialWork], rest: Iterator[TrialWork]) -> Iterator[list[TrialWork]]:
    chunk: list[TrialWork] = []
    for works in (unfinished, rest):
        for work in works:
            chunk.append(work)
            if len(chunk) == ENOUGH:
                yield chunk
                chunk = []
    if chunk:
        yield chunk


def _works(plan: Plan, done: Collection[Place], subject: str | None) -> Iterator[TrialWork]:
    """Every trial to be made, in the plan's order. What a case's trials share goes with the last of them."""
    for planned, trials in plan.places(done):
        ready = ReadyCase(planned, plan, subject)
        for trial in trials:
            yield TrialWork(ready, trial)


def _target(subject: Subject | None, targets: Targets) -> Target | None:
    if subject is None:
        return None
    if isinstance(subject, ProviderSubject):
        return targets.of(subject.provider)

    def cost(raw: Raw) -> float | None:
        try:
            return subject.read(raw).cost_usd
        except Exception:
            return None  # what is no answer has no price that anybody knows

    return Target(
        name=subject.name, sender=subject, cost=cost, endpoint=str(subject.identity.get("url", "")), keyed=True
    )


def _record(work: TrialWork) -> TrialRecord:
    planned, subject = work.ready.planned, work.subject
    if subject is None:
        raise RuntimeError("a trial is finished when its subject's stage is over")
    if subject.error is not None:
        status = Status.ERROR
        found = tuple(skipped(assertion, subject.error.type) for assertion in planned.assertions)
    else:
        found = tuple(one for one in work.found if one is not None)
        status = trial_status(found, planned.case.pass_threshold)
    return TrialRecord(
        case_index=planned.case_index,
        trial_index=work.trial_index,
        status=status,
        subject=subject,
        assessments=found,
        paid=tuple(work.paid),
    )


def _give_up(work: TrialWork, why: TypedError) -> None:
    """Fill the empty slots of a trial with an error. What was cut off on its way may have been charged for."""
    if work.subject is None:
        work.subject = work.ready.failed(why, _lost(work.subject_lost))
    for index, assertion in enumerate(work.ready.planned.assertions):
        if work.found[index] is None:
            work.found[index] = failed(assertion, why, _lost(work.lost[index]))


def _lost(failed: tuple[ErrorCategory, ...]) -> Spending:
    return Spending(attempts=len(failed), failed=tuple(sorted(failed))) if failed else NOTHING_SENT


@contextmanager
def _one_failure() -> Iterator[None]:
    """Of the failures of several tasks the first: the others are its consequences."""
    try:
        yield
    except ExceptionGroup as failures:
        found: Exception = failures
        while isinstance(found, ExceptionGroup):
            found = found.exceptions[0]
        raise found from None
