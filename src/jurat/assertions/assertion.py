"""An assertion: a check under the author's name, with a weight, ready to be asked like any other evaluator.

Whatever the check is (ours, a person's function, a judge), what leaves here bears the assertion's own name and
revision, and `negate` has been applied: a pass becomes a fail and the other way round, the score is mirrored in its
range. What is undecided stays so; not knowing is not the opposite of anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, cast

from jurat.assertions.outcome import Check
from jurat.evaluation import Assessment, Evaluator, run_evaluator
from jurat.evidence import Context, as_context
from jurat.jsontext import Json
from jurat.threads import call_user_code, in_thread
from jurat.vocabulary import Status

__all__ = ["Assertion", "Given", "asking", "asking_judge", "asking_user_code"]

_OPPOSITE = {Status.PASS: Status.FAIL, Status.FAIL: Status.PASS}


def _never(_: Context) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an assertion tells its judge beside the context, so that one judge serves assertions of many cases.

    Attributes:
        expected: the reference answer, any JSON value; None: the context's own.
        grounding: the grounding text, or None.
    """

    expected: Json = None
    grounding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One assertion of a case, as an evaluator.

    Attributes:
        type: what kind of check it is (`contains`, `rubric_judge`, …).
        name: unique within its case; the type unless the author gave a name.
        revision: the check's own revision.
        check: context to assessment, under whatever name.
        heavy: whether the check of this context runs in a thread, since it would hold up the event loop.
        weight: above 0, finite; how much it counts in a weighted mean.
        required: whether the case cannot pass without it, whatever the policy says of the others.
        negate: whether the verdict is turned round.
        score_range: within which the score lies, and is mirrored by `negate`.
        evaluator: the judge or other evaluator behind the check, for who would rather drive it in its own way.
        given: what a judge is told with each question, which is no part of the judge.
    """

    type: str
    name: str
    revision: str
    check: Check
    heavy: Callable[[Context], bool] = _never
    weight: float = 1.0
    required: bool = False
    negate: bool = False
    score_range: tuple[float, float] = (0.0, 100.0)
    evaluator: Evaluator | None = None
    given: Given = Given()

    def waits(self, context: Context) -> bool:
        """Whether evaluating this context takes waiting: for a model, a thread, or a person's code."""
        return self.evaluator is not None or self.type == "python" or self.heavy(context)

    def evaluate(self, context: Context | str) -> Assessment | Awaitable[Assessment]:
        """The assessment at once, or something to await.

        Raises:
            EvaluationError: when it could not be decided; `jurat.evaluation.run_evaluator` records that as `error`.
        """
        context = as_context(context)
        if self.heavy(context):
            return self._beside(context)
        found = self.check(context)
        return self._own(found) if isinstance(found, Assessment) else self._later(found)

    async def _beside(self, context: Context) -> Assessment:
        found = await in_thread(partial(self.check, context))
        return self._own(found if isinstance(found, Assessment) else await found)

    async def _later(self, found: Awaitable[Assessment]) -> Assessment:
        return self._own(await found)

    def _own(self, found: Assessment) -> Assessment:
        status, score = self.turned(found.status, found.score)
        details = {**found.details, "negate": True} if self.negate else found.details
        return replace(found, evaluator=self.name, revision=self.revision, status=status, score=score, details=details)

    def turned(self, status: Status, score: float | None) -> tuple[Status, float | None]:
        """A verdict after `negate`: what was decided is turned round, the rest is left as it is."""
        if not self.negate or score is None:
            return status, score
        low, high = self.score_range
        # The bounds guard against the rounding of the sum alone: a score lies in the range before and after.
        return _OPPOSITE[status], min(max(low + high - score, low), high)


class GivenEvaluator(Evaluator, Protocol):
    """An evaluator that can be told more than the context: a judge."""

    def evaluate(
        self, context: Context, grounding: str | None = None, expected: Json = None
    ) -> Assessment | Awaitable[Assessment]: ...


def asking(evaluator: Evaluator) -> Check:
    """The check that asks an evaluator, with its trouble contained and its identity checked."""

    def check(context: Context) -> Awaitable[Assessment]:
        return run_evaluator(evaluator, context)

    return check


def asking_judge(judge: Evaluator, given: Given) -> Check:
    """The same for a judge, which is told what the assertion gives. One that nothing is given may be any evaluator."""
    return asking(judge if given == Given() else _Told(cast(GivenEvaluator, judge), given))


class _Told:
    """A judge, and what it is told beside each context."""

    __slots__ = ("_given", "_judge")

    def __init__(self, judge: GivenEvaluator, given: Given) -> None:
        self._judge, self._given = judge, given

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def revision(self) -> str:
        return self._judge.revision

    def evaluate(self, context: Context) -> Assessment | Awaitable[Assessment]:
        return self._judge.evaluate(context, self._given.grounding, self._given.expected)


def asking_user_code(evaluator: Evaluator) -> Check:
    """The same for an evaluator that a person wrote: one that blocks is run in a thread."""
    return asking(_Beside(evaluator))


class _Beside:
    """An evaluator of a person's making, asked so that it cannot hold up the event loop."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Evaluator) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def revision(self) -> str:
        return self._inner.revision

    async def evaluate(self, context: Context) -> Assessment:
        # run_evaluator, who asks us, refuses what is no Assessment.
        return await call_user_code(self._inner.evaluate, context)  # type: ignore[return-value]
