"""What a suite would ask for, worked out from its plan and from earlier runs of the same suite. Nothing is asked.

An answer that is not there yet counts as a hundred tokens where a judge is to be shown it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jurat.engine import Plan, PlannedCase
from jurat.engine.ready import ReadyCase
from jurat.errors import AuthoringError, EvaluationError
from jurat.evaluation.subject import Task
from jurat.evidence import Context, estimate_tokens, message_from_json
from jurat.forecast import Forecast, Side
from jurat.jsontext import thaw
from jurat.judge import Judge, Spending
from jurat.judge.foresee import foreseen
from jurat.provider.protocol import Usage
from jurat.report.record import RunStatus, TrialRecord
from jurat.store import Store
from jurat.subject import ProviderSubject
from jurat.suiterun.prepare import Prepared

__all__ = ["foresee"]

_RUNS, _TRIALS = 3, 300
_ANSWER = "word " * 80


async def foresee(prepared: Prepared, store: Store | None) -> Forecast:
    """The forecast of a run.

    Args:
        store: where earlier runs are looked for; None where there is none.

    Raises:
        StoreError: when it cannot be read.
    """
    sides = _Sides(prepared)
    for planned in prepared.cases:
        sides.add(planned)
    if store is not None:
        await sides.learn(store)
    trials = len(prepared.cases) * prepared.samples
    return Forecast.of(prepared.suite.name, trials, sides.every)


class _Sides:
    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._plan = Plan(cases=prepared.cases, samples=prepared.samples, prompt=prepared.prompt)
        subject = prepared.subject
        settings = subject.provider.settings if isinstance(subject, ProviderSubject) else None
        self._subject = Side(settings=settings, name=settings.name if settings else _name(subject), purpose="subject")
        self._judges: dict[str, Side] = {}

    @property
    def every(self) -> list[Side]:
        return [self._subject, *self._judges.values()]

    def add(self, planned: PlannedCase) -> None:
        """Count the calls of one case, all of its trials together."""
        samples = self._prepared.samples
        ready = ReadyCase(planned, self._plan, None)
        subject = self._prepared.subject
        if planned.case.output is None and subject is not None and ready.fault is None:
            self._subject.add(*_asked(subject, ready), times=samples, unseen=_shows(ready.task))
        output = planned.case.output if planned.case.output is not None else _ANSWER
        try:
            context = ready.context.answered(output, planned.case.execution, None)
        except AuthoringError:
            return  # an answer that cannot be judged: the run will say so
        for assertion in planned.assertions:
            if isinstance(assertion.evaluator, Judge):
                self._judge(assertion.evaluator, context, assertion.given.grounding, assertion.given.expected)

    def _judge(self, judge: Judge, context: Context, grounding: str | None, expected: Any) -> None:
        settings = judge.provider.settings
        side = self._judges.setdefault(
            judge.facts.identity, Side(settings=settings, name=settings.name, purpose="judge")
        )
        for tokens, limit in foreseen(judge, context, grounding, expected):
            side.add(tokens, limit, times=self._prepared.samples)

    # --- history ---------------------------------------------------------------------------------------------------

    async def learn(self, store: Store) -> None:
        """Look at what the latest runs of this suite spent."""
        left = _TRIALS
        for run in await store.runs.runs(limit=_RUNS, suite=self._prepared.suite.name):
            if run.status is not RunStatus.COMPLETED:
                continue
            subject = self._prepared.subject
            same = subject is not None and run.provenance.get("subject") == thaw(dict(subject.identity))
            async for trial in store.runs.trials(run.id):
                self._look(trial, same_subject=same)
                left -= 1
                if left <= 0:
                    return

    def _look(self, trial: TrialRecord, *, same_subject: bool) -> None:
        # What calls without pictures took says nothing of calls that show some.
        if same_subject and not trial.subject.recorded and (not self._subject.unseen or _showed(trial)):
            _note(self._subject, trial.subject.spending)
        for made in trial.assessments:
            metadata = made.result.get("metadata")
            side = self._judges.get(str(metadata.get("judge"))) if isinstance(metadata, Mapping) else None
            if side is not None:
                _note(side, made.spending)


def _name(subject: object) -> str:
    return str(getattr(subject, "name", "the subject"))


def _shows(task: Task) -> bool:
    return bool(task.attached) or any(True for message in task.messages for _ in message.pictures())


def _showed(trial: TrialRecord) -> bool:
    read = (message_from_json(message, "message", []) for message in trial.subject.messages)
    return any(True for message in read if message is not None for _ in message.pictures())


def _asked(subject: Any, ready: ReadyCase) -> tuple[int, int | None]:
    if _shows(ready.task):  # what a picture takes is the vendor's own reckoning: only the text is counted
        texts = [ready.task.system or "", *(message.spoken_text for message in ready.task.messages)]
        return sum(map(estimate_tokens, texts)), getattr(subject, "output_limit", None)
    try:
        body = subject.prepare(ready.task).body
    except (AuthoringError, EvaluationError):
        return 0, 0
    return estimate_tokens(body.decode("utf-8", "replace")), getattr(subject, "output_limit", None)


def _note(side: Side, spent: Spending) -> None:
    """What one answer or verdict used, for each of its calls."""
    calls = spent.attempts - len(spent.failed)
    used = spent.usage
    if calls < 1 or spent.cached or used.input_tokens is None or used.output_tokens is None:
        return
    parts = {
        name: None if (count := getattr(used, name)) is None else round(count / calls)
        for name in ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")
    }
    side.known.append(Usage(**parts))
