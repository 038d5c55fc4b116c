"""What the tests of runs share: plans of a few cases, subjects and judges that can be held, and a run to its end."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jobs import quiet as quiet

from judging import answer, rubric
from jurat.assertions import Assertion, build_assertions
from jurat.engine import Journal, MemoryJournal, MemoryRecorder, Plan, PlannedCase, RunJob
from jurat.errors import ErrorCategory, ProviderError
from jurat.evaluation.subject import SubjectReply, Task
from jurat.judge import Judge, JudgeSettings
from jurat.provider import Call, Capabilities, ProviderSettings, Raw, ScriptedProvider, ScriptedReply, Usage
from jurat.report.record import TrialRecord
from jurat.subject import ProviderSubject
from jurat.suite.case import Case
from jurat.suite.suite import Limits, Prompt

USAGE = Usage(input_tokens=10, output_tokens=2)
PRICES = {"input": 1.0, "output": 10.0}
COST = 30e-6
"""What one call of USAGE costs at PRICES, in USD."""
PROMPT = Prompt(name="ask", text="{{q}}")
CONTAINS = {"type": "contains", "value": "good"}
JUDGED = {"type": "rubric_judge", "rubric": "Is it good?"}
PASS = ScriptedReply(text=answer(evidence=[]), usage=USAGE)
POOR = ScriptedReply(text=answer(score=0, evidence=[]), usage=USAGE)
BROKEN = ScriptedReply(text="zq7canary", usage=USAGE)


def settings(name: str) -> ProviderSettings:
    """A priced model that can do everything."""
    able = Capabilities(top_logprobs=20)
    return ProviderSettings(name=name, kind="openai_compatible", model=f"{name}-1", capabilities=able, prices=PRICES)


class Model(ScriptedProvider):
    """Says what a function of the user's text says. Texts that are held wait for `release`.

    Attributes:
        asked: the user's texts in the order of the calls.
        peak: the most calls that were in flight together.
    """

    def __init__(self, say: Callable[[str], Any] | Any, *, name: str = "model", hold: Iterable[str] = ()) -> None:
        super().__init__("unused", settings=settings(name))
        self._say: Callable[[str], Any] = say if callable(say) else lambda _: say
        self._gates = {text: asyncio.Event() for text in hold}
        self._news = asyncio.Condition()
        self.asked: list[str] = []
        self.answered = self.in_flight = self.peak = 0

    async def send(self, call: Call) -> Raw:
        user: str = json.loads(call.body)["messages"][-1]["content"]
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.asked.append(user)
        await self._tell()
        try:
            for text, gate in self._gates.items():
                if text in user:
                    await gate.wait()
            return await ScriptedProvider(self._say(user), settings=self.settings).send(call)
        finally:
            self.in_flight -= 1
            self.answered += 1
            await self._tell()

    def release(self, *texts: str) -> None:
        for text in texts or self._gates:
            self._gates[text].set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Come back when the condition holds, looked at whenever something is asked or answered."""
        async with self._news:
            await self._news.wait_for(condition)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()


class AwaitedRecorder(MemoryRecorder):
    """A record that tells when it holds so many trials."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Condition()

    async def commit_trials(self, trials: Sequence[TrialRecord]) -> None:
        await super().commit_trials(trials)
        async with self._news:
            self._news.notify_all()

    async def until(self, count: int) -> None:
        async with self._news:
            await self._news.wait_for(lambda: len(self.trials) >= count)


def says(text: str) -> ScriptedReply:
    """A priced reply."""
    return ScriptedReply(text=text, usage=USAGE)


def answerer(say: Callable[[str], Any] | Any = None, **options: Any) -> Model:
    """A model that is under evaluation: it gives a good answer to each question, unless told otherwise."""
    return Model(say or (lambda q: says(f"a good answer to {q}")), **{"name": "answerer", **options})


def judging_model(say: Callable[[str], Any] | Any = PASS, **options: Any) -> Model:
    """A model that judges: it finds everything good, unless told otherwise."""
    return Model(say, **{"name": "oracle", **options})


def assertions(
    *values: Mapping[str, Any], model: ScriptedProvider | None = None, **judge: Any
) -> tuple[Assertion, ...]:
    """Assertions as a suite has them; all judges are one, of the model."""
    made = Judge(rubric(), model, JudgeSettings(**judge)) if model is not None else None
    return build_assertions(list(values), judge_factory=lambda *_: made)


def cases(count: int, checks: tuple[Assertion, ...] = (), **fields: Any) -> list[PlannedCase]:
    """So many cases whose questions are `q0;`, `q1;`, …"""
    return [
        PlannedCase(
            case_index=index,
            case=Case(**{"name": f"case-{index}", "variables": {"q": f"q{index};"}, **fields}),
            assertions=checks,
        )
        for index in range(count)
    ]


def plan(planned: Sequence[PlannedCase], samples: int = 1, prompt: Prompt | None = PROMPT) -> Plan:
    """A plan with a small prompt."""
    return Plan(cases=planned, samples=samples, prompt=prompt, prompt_version="ask@1")


def job(
    made: Plan,
    subject: Any = None,
    journal: Journal | None = None,
    recorder: MemoryRecorder | None = None,
    limits: Mapping[str, Any] | None = None,
    **options: Any,
) -> RunJob:
    """A run; models are taken as subjects."""
    asked = ProviderSubject(subject) if isinstance(subject, ScriptedProvider) else subject
    return RunJob(
        made,
        MemoryJournal() if journal is None else journal,
        MemoryRecorder() if recorder is None else recorder,
        subject=asked,
        limits=Limits(**(limits or {})),
        **options,
    )


async def run(made: Plan, subject: Any = None, journal: Journal | None = None, **options: Any) -> list[TrialRecord]:
    """Run a plan to its end; the record in the plan's order."""
    recorder = options.pop("recorder", None) or MemoryRecorder()
    await job(made, subject, journal, recorder, **options).run()
    return recorder.in_order()


def statuses(trials: Sequence[TrialRecord]) -> list[str]:
    """What became of the trials."""
    return [trial.status.value for trial in trials]


def errors(trials: Sequence[TrialRecord]) -> list[str | None]:
    """The subject's errors."""
    return [trial.subject.error.type.value if trial.subject.error else None for trial in trials]


def costs(trials: Sequence[TrialRecord]) -> list[float | None]:
    """What each trial cost its subject and its judges, in units of one call; None is unknown."""
    made: list[float | None] = []
    for trial in trials:
        parts = [trial.subject.spending.cost_usd, *(one.spending.cost_usd for one in trial.assessments)]
        made.append(None if None in parts else round(sum(part or 0.0 for part in parts) / COST, 6))
    return made


class Plain:
    """A subject of the simplest kind: an answer by the question, with a key that names question and repeat."""

    name = "plain"
    identity: Mapping[str, Any] = {}

    def __init__(self, answers: Callable[[str, int], str] = lambda q, _: f"a good answer to {q}") -> None:
        self._answers = answers
        self.asked: list[tuple[str, int]] = []

    def check(self) -> None:
        """Nothing is needed."""

    def prepare(self, task: Task) -> Call:
        body = json.dumps([task.rendered_input, task.repeat]).encode()
        return Call(key=hashlib.sha256(body).hexdigest(), body=body)

    async def send(self, call: Call) -> Raw:
        question, repeat = json.loads(call.body)
        self.asked.append((question, repeat))
        return Raw(body=self._answers(question, repeat).encode(), latency_ms=1.0)

    def read(self, raw: Raw) -> SubjectReply:
        if raw.body == b"unreadable":
            raise ProviderError(ErrorCategory.API_ERROR, "the reply is none")
        return SubjectReply(output=raw.body.decode(), cost_usd=0.5)

    async def aclose(self) -> None:
        """Nothing is open."""
