"""The judge: asks a model, by a rubric, and believes only what it has checked.

A judge is made once, checked when made, and then asked about many contexts. `steps` is its whole behaviour as a
generator that never waits: it yields the calls that it wants made and is sent their outcomes. `evaluate` drives it for
one context; the engine drives thousands, and commits every reply to the response store on the way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Protocol

from jurat.errors import ErrorCategory, EvaluationError, ProviderError, RequestError
from jurat.evaluation import Assessment, Finding, Severity
from jurat.evidence import Context, Evidence, as_context, estimate_tokens, number_evidence
from jurat.jsontext import Json, canonical
from jurat.judge.frames import build_strategy
from jurat.judge.opinions import Outcome, Price, Terms
from jurat.judge.prompt import INSTRUCTION_REVISION, WorkedExample, check_examples, render_evidence
from jurat.judge.repeats import combine_opinions
from jurat.judge.settings import JudgeSettings, checked_settings, strategy_for
from jurat.judge.strategy import Steps, Strategist
from jurat.judge.tuning import default_examples
from jurat.judge.verdict import NOTHING_SENT, JudgeFacts, Opinion, Verdict
from jurat.provider.pricing import Pricer, is_free
from jurat.provider.protocol import Call, ChatMessage, Provider, Raw
from jurat.provider.registry import make_provider
from jurat.rubric import Rubric, find
from jurat.vocabulary import Contract, Status, Strategy, content_id

__all__ = ["Judge", "JudgeSettings", "VerdictSteps", "ask_one", "drive"]

VerdictSteps = Generator[Sequence[Call], Sequence[Outcome], Verdict]


class Judge:
    """A rubric, a provider and the way of asking, checked once.

    Args:
        rubric: a Rubric, or the name of a template (`groundedness`, `faithfulness@v1`).
        provider: the model that judges, or a shorthand (`local`, `openai:MODEL`).
        settings: how it asks.
        name: the evaluator's name, unique within a case.
        price: USD for a usage, None when unknown; by default the provider's own prices.

    Raises:
        AuthoringError: with every fault of the settings, or an unknown template.
    """

    def __init__(
        self,
        rubric: Rubric | str,
        provider: Provider | str,
        settings: JudgeSettings | None = None,
        *,
        name: str = "rubric_judge",
        price: Price | None = None,
    ) -> None:
        self.rubric = find(rubric) if isinstance(rubric, str) else rubric
        self.provider = make_provider(provider) if isinstance(provider, str) else provider
        self.settings = checked_settings(settings or JudgeSettings(), self.rubric)
        self.name = name
        given = self.settings.threshold
        self.threshold = self.rubric.pass_threshold if given is None else float(given)
        self.strategy = strategy_for(self.settings, self.provider.settings.default_strategy)
        self.examples = self._examples()
        terms = Terms(
            rubric=self.rubric,
            provider=self.provider,
            price=price or Pricer(self.provider.settings).cost,
            threshold=self.threshold,
            evidence=self.settings.evidence,
            free=price is None and is_free(self.provider.settings),
        )
        self._strategist: Strategist = build_strategy(self.strategy, terms, self.settings, self.examples)
        self._frame_tokens = max(_frame_tokens(frame.messages) for frame in self._strategist.frames)

    def _examples(self) -> tuple[WorkedExample, ...]:
        if self.settings.examples is not None:
            return check_examples(self.settings.examples, self.rubric)
        return default_examples(self.rubric) if self.provider.settings.wants_examples else ()

    @property
    def revision(self) -> str:
        """The judge identity, which is this evaluator's revision."""
        return self.facts.identity

    @property
    def score_range(self) -> tuple[float, float]:
        """Within which every score lies."""
        return self.rubric.score_range

    @cached_property
    def facts(self) -> JudgeFacts:
        """Who judges, as every verdict records it."""
        custom = self.rubric.name == "custom"
        return JudgeFacts(
            name=self.name,
            identity=self._identity(),
            rubric=self.rubric.definition,
            template=None if custom else self.rubric.name,
            template_revision=None if custom else self.rubric.revision,
            rubric_hash=self.rubric.content_hash,
            score_range=self.rubric.score_range,
            threshold=self.threshold,
            contract=self._contract,
            strategy=self.strategy,
            provider=self.provider.settings.name,
            model=self.provider.settings.model,
        )

    @property
    def _contract(self) -> Contract:
        by_strategy = {Strategy.LOGPROB: Contract.YES_NO_V1, Strategy.BOTH: Contract.EXPLAINED_V1}
        return by_strategy.get(self.strategy, self.settings.contract)

    def _identity(self) -> str:
        """Everything that can change an answer: the rubric, the words, the contract, the model and its settings."""
        frames = [
            {
                "messages": [[message.role, message.content] for message in frame.messages],
                "schema": frame.schema.schema if frame.schema else None,
                "temperature": frame.temperature,
                "max_output_tokens": frame.max_output_tokens,
                "extra": frame.extra,
            }
            for frame in self._strategist.frames
        ]
        parts = {
            "rubric": self.rubric.content_hash,
            "instruction": INSTRUCTION_REVISION,
            "contract": self._contract,
            "strategy": self.strategy,
            "provider": self.provider.settings.identity,
            "frames": frames,
            "questions": self._strategist.settings,
        }
        return content_id(canonical(parts).encode())

    def check(self) -> None:
        """Find out, before anything is spent, whether this judge can ask its provider at all.

        Raises:
            RequestError: `unsupported_structured_output`, or `request_invalid` for missing log-probabilities.
        """
        self._strategist.check()

    def number(self, context: Context, grounding: str | None = None, expected: Json = None) -> Evidence:
        """What this judge is shown of a context."""
        text = self.settings.grounding if grounding is None else grounding
        wanted = self.settings.expected if expected is None else expected
        return number_evidence(context, expected=wanted, grounding=text)

    def steps(self, context: Context, grounding: str | None = None, expected: Json = None) -> VerdictSteps:
        """Judge one context, leaving the waiting to the caller. Never raises an EvaluationError: it returns one.

        `grounding` and `expected` are this context's own grounding text and reference answer, where they differ from
        case to case; None takes those of the settings.
        """
        evidence = self.number(context, grounding, expected)
        verdict = partial(
            Verdict,
            judge=self.facts,
            truncated_fields=evidence.truncated_fields,
            unseen_fields=evidence.unseen_fields,
        )
        if not context.output.strip():
            return verdict(opinion=_empty_output())
        try:
            self.check()
            self._refuse_too_large(evidence)
        except EvaluationError as error:
            return verdict(opinion=Opinion.failed(error.category, str(error)))
        if self.settings.samples == 1:
            opinion = yield from _alone(self._strategist.steps(evidence, 0))
            return verdict(opinion=_told_unseen(opinion, evidence))
        asking = [self._strategist.steps(evidence, repeat) for repeat in range(self.settings.samples)]
        opinions = yield from side_by_side(asking)
        combined, repeats = combine_opinions(opinions, self.settings.reducer)
        return verdict(opinion=_told_unseen(combined, evidence), repeats=repeats, opinions=tuple(opinions))

    def _refuse_too_large(self, evidence: Evidence) -> None:
        window = self.provider.settings.capabilities.context_tokens
        if window is None:
            return
        wanted = (
            self._frame_tokens + estimate_tokens(render_evidence(evidence)) + (self.settings.max_output_tokens or 0)
        )
        if wanted > window:
            message = (
                f"the request needs about {wanted:,} tokens, the model's context holds {window:,}; "
                "shorten the evidence or take a model with a larger context"
            )
            raise RequestError(ErrorCategory.CONTEXT_TOO_LARGE, message)

    async def judge(self, context: Context | str, grounding: str | None = None, expected: Json = None) -> Verdict:
        """Judge one context or plain output, asking the provider directly."""
        return await drive(self.steps(as_context(context), grounding, expected), self._ask)

    async def evaluate(self, context: Context | str, grounding: str | None = None, expected: Json = None) -> Assessment:
        """As `judge`, in the words that all evaluators share."""
        return (await self.judge(context, grounding, expected)).assessment()

    async def _ask(self, calls: Sequence[Call]) -> Sequence[Outcome]:
        if len(calls) == 1:
            return (await ask_one(self.provider, calls[0]),)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask_one(self.provider, call)) for call in calls]
        return [task.result() for task in tasks]


class Sender(Protocol):
    """Whoever a call is sent to: a provider, or a subject."""

    async def send(self, call: Call) -> Raw: ...


async def ask_one(provider: Sender, call: Call) -> Raw | EvaluationError:
    """Send one call. What a provider raises is an outcome; what it must not raise is one too, without its text."""
    try:
        sent: object = await provider.send(call)
    except EvaluationError as error:
        return error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        fault = "raised CancelledError though nobody cancelled it"  # it would end whoever asked, without a word
    except Exception as error:
        fault = f"raised {type(error).__name__}"
    else:
        if isinstance(sent, Raw):
            return sent
        fault = f"gave a {type(sent).__name__}, not a Raw"
    who = f"provider {provider.settings.name}" if isinstance(provider, Provider) else "the subject"
    return ProviderError(ErrorCategory.API_ERROR, f"{who} {fault}, which is a fault in its adapter")


async def drive(steps: VerdictSteps, ask: Callable[[Sequence[Call]], Awaitable[Sequence[Outcome]]]) -> Verdict:
    """Run a judge's steps to their end; `ask` makes the calls and gives an outcome for each, in order."""
    try:
        calls = next(steps)
        while True:
            calls = steps.send(await ask(calls))
    except StopIteration as stop:
        verdict: Verdict = stop.value
        return verdict


def _alone(steps: Steps) -> Steps:
    """One asking; a provider that refuses to prepare the first call makes it an opinion, as in `side_by_side`."""
    try:
        calls = next(steps)
    except EvaluationError as error:
        return Opinion.failed(error.category, str(error))
    while True:
        outcomes = yield calls
        try:
            calls = steps.send(outcomes)
        except StopIteration as stop:
            opinion: Opinion = stop.value
            return opinion


def side_by_side(asking: Sequence[Steps]) -> Generator[Sequence[Call], Sequence[Outcome], list[Opinion]]:
    """Run several askings in step, so that the calls of one stage are yielded together."""
    done: list[Opinion | None] = [None] * len(asking)
    waiting: dict[int, Sequence[Call]] = {}
    for index, steps in enumerate(asking):
        try:
            waiting[index] = next(steps)
        except EvaluationError as error:  # the provider refused to prepare the call
            done[index] = Opinion.failed(error.category, str(error))
    while waiting:
        calls = [call for wanted in waiting.values() for call in wanted]
        answered = iter((yield calls))
        outcomes = {index: [next(answered) for _ in wanted] for index, wanted in waiting.items()}
        waiting = {}
        for index, given in outcomes.items():
            try:
                waiting[index] = asking[index].send(given)
            except StopIteration as stop:
                done[index] = stop.value
    return [opinion for opinion in done if opinion is not None]


def _empty_output() -> Opinion:
    finding = Finding(
        code="empty_output", message="the output is empty, so there is nothing to judge", severity=Severity.WARNING
    )
    return Opinion(status=Status.UNVERIFIED, findings=(finding,), spending=NOTHING_SENT)


def _told_unseen(opinion: Opinion, evidence: Evidence) -> Opinion:
    """An opinion that says of which pictures it knows no more than that they are there."""
    unseen = evidence.unseen_fields
    if not unseen or opinion.error is not None:
        return opinion
    shown = ", ".join(unseen[:3]) + (", …" if len(unseen) > 3 else "")
    pictures = "a picture" if len(unseen) == 1 else f"{len(unseen):,} pictures"
    message = f"the judge did not see {pictures}: a line stood in the place of {shown}"
    finding = Finding(code="images_unseen", message=message, severity=Severity.INFO)
    return replace(opinion, findings=(*opinion.findings, finding))


def _frame_tokens(messages: Sequence[ChatMessage]) -> int:
    return sum(estimate_tokens(message.content) for message in messages)
