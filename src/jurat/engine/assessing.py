"""The second stage of a trial: every assertion looks at the answer, and one's trouble never reaches another.

What can be decided at once is; what has to be waited for (models, threads, a person's code) is waited for side by side.
A judge is driven as the generator that it is: each of its calls goes through the caller, so that the bound holds and
every reply is durable before the judge looks at it. A time limit touches the one assertion that it is set for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from jurat.assertions import Assertion
from jurat.engine.answering import Rejected
from jurat.engine.caller import Allowance, Caller, Target
from jurat.engine.committer import Committer
from jurat.engine.found import assessed, failed, judged
from jurat.engine.ready import TrialWork
from jurat.engine.slots import Slots
from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError, run_evaluator
from jurat.evidence import Context
from jurat.judge import Judge, Outcome, Verdict
from jurat.provider.protocol import Call, Provider, Raw
from jurat.report.record import AssessmentRecord

__all__ = ["Assessing", "Targets"]


class Targets:
    """The one target of each provider, so that what it does is counted together."""

    def __init__(self) -> None:
        self._made: dict[int, Target] = {}

    def of(self, provider: Provider) -> Target:
        """The provider's target; the provider is kept with it, so that its identity stays its own."""
        target = self._made.get(id(provider))
        if target is None:
            target = self._made[id(provider)] = _target(provider)
        return target


def _target(provider: Provider) -> Target:
    from jurat.provider.pricing import is_free, price_of_replies

    settings = provider.settings
    return Target(
        name=settings.name,
        sender=provider,
        cost=price_of_replies(provider),
        endpoint=settings.endpoint,
        keyed=settings.keyed,
        free=is_free(settings),
    )


class Assessing:
    """Asks the assertions of a run.

    Args:
        caller: makes the judges' calls.
        targets: where those are counted.
        withhold: takes replies that are no verdicts.
        timeout_s: for one assertion on one trial.
        beside: how many checks may run in threads or a person's code at once.
    """

    def __init__(
        self,
        caller: Caller,
        withhold: Committer[Rejected],
        targets: Targets,
        *,
        timeout_s: float | None,
        beside: int,
    ) -> None:
        self._caller, self._withhold, self._targets = caller, withhold, targets
        self._timeout_s = timeout_s
        self._beside = Slots(beside)

    async def assess(self, work: TrialWork, context: Context) -> None:
        """Fill the slot of every assertion.

        Raises:
            StoreError: when a reply cannot be kept.
        """
        waiting: list[int] = []
        assertions = work.ready.planned.assertions
        for index, assertion in enumerate(assertions):
            if assertion.waits(context):
                waiting.append(index)
            else:
                work.found[index] = assessed(assertion, await run_evaluator(assertion, context))
        if len(waiting) == 1:
            await self._one(work, waiting[0], context)
        elif waiting:
            async with asyncio.TaskGroup() as group:
                for index in waiting:
                    group.create_task(self._one(work, index, context))

    async def _one(self, work: TrialWork, index: int, context: Context) -> None:
        assertion = work.ready.planned.assertions[index]
        judge = assertion.evaluator
        if isinstance(judge, Judge):
            await self._judged(work, index, assertion, judge, context)
        else:
            work.found[index] = await self._evaluated(assertion, context)

    # --- a person's code, and what is heavy ------------------------------------------------------------------------

    async def _evaluated(self, assertion: Assertion, context: Context) -> AssessmentRecord:
        await self._beside.take(urgent=True)
        try:
            async with asyncio.timeout(self._timeout_s):
                return assessed(assertion, await run_evaluator(assertion, context))
        except TimeoutError:
            message = f"{assertion.name} did not decide within {self._timeout_s:g} s"
            return failed(assertion, TypedError(type=ErrorCategory.TIMEOUT, message=message))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            message = f"the evaluator {assertion.name} raised CancelledError though nobody cancelled it"
            return failed(assertion, TypedError(type=ErrorCategory.EVALUATOR_EXCEPTION, message=message))
        finally:
            self._beside.give_back()

    # --- judges ----------------------------------------------------------------------------------------------------

    async def _judged(self, work: TrialWork, index: int, assertion: Assertion, judge: Judge, context: Context) -> None:
        verdict = await self._verdict(work, index, assertion, judge, context)
        if isinstance(verdict, TypedError):
            work.found[index] = failed(assertion, verdict)
            return
        for key, kept in verdict.rejected.items():
            await self._withhold.commit((key, kept.error, kept.spending), alone=False)
        work.found[index] = judged(assertion, verdict)

    async def _verdict(
        self, work: TrialWork, index: int, assertion: Assertion, judge: Judge, context: Context
    ) -> Verdict | TypedError:
        target, left = self._targets.of(judge.provider), self._timeout_s
        steps = judge.steps(context, assertion.given.grounding, assertion.given.expected)
        outcomes: Sequence[Outcome] | None = None
        while True:
            try:
                calls = next(steps) if outcomes is None else steps.send(outcomes)
            except StopIteration as stop:
                verdict: Verdict = stop.value
                return verdict
            except Exception as error:
                message = f"the judge {assertion.name} raised {type(error).__name__}"
                return TypedError(type=ErrorCategory.EVALUATOR_EXCEPTION, message=message)
            allowance = Allowance(left) if left is not None else None
            try:
                outcomes = await self._asked(target, calls, allowance)
            except asyncio.CancelledError:
                work.lost[index] = tuple(why for call in calls for why in self._caller.cut_off.get(call.key, ()))
                raise
            if left is not None and allowance is not None:
                left = max(left - allowance.longest, 0.0)
            work.paid += (call.key for call, outcome in zip(calls, outcomes, strict=True) if _paid(outcome))

    async def _asked(self, target: Target, calls: Sequence[Call], allowance: Allowance | None) -> Sequence[Outcome]:
        ask = self._caller.ask
        if len(calls) == 1:
            return (await ask(target, calls[0], urgent=True, allowance=allowance),)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(target, call, urgent=True, allowance=allowance)) for call in calls]
        return [task.result() for task in tasks]


def _paid(outcome: Outcome) -> bool:
    """Whether a reply's cost stands with whoever asked for it."""
    if isinstance(outcome, Raw):
        return not outcome.cached
    return not isinstance(outcome, Exception) and not outcome.spending.cached
