"""How a judge asks: the settings, checked together with the rubric, every fault at once.

Words may be written as plain text (`evidence="required"`); they are turned into the closed words here, so that nothing
later can mistake one for another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.evaluation.reducers import Reducer
from jurat.evidence.conversation import json_or_fault, text_or_fault
from jurat.jsontext import Json, found_word, type_name
from jurat.judge.prompt import WorkedExample
from jurat.rubric import Rubric
from jurat.vocabulary import Contract, EvidenceRule, Strategy, nearest

__all__ = ["ANSWER_TOKENS", "MAX_SAMPLES", "JudgeSettings", "checked_settings", "strategy_for"]

ANSWER_TOKENS = 500
"""The default output limit of a structured answer, in tokens."""
MAX_SAMPLES = 20
"""How often a judge may be asked about one context."""
_MAX_TEMPERATURE = 2.0
_WORDS: tuple[tuple[str, type[StrEnum]], ...] = (
    ("evidence", EvidenceRule),
    ("contract", Contract),
    ("strategy", Strategy),
)
_NOT_CHOSEN = (Contract.YES_NO_V1, Contract.EXPLAINED_V1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """How a judge asks. Everything has a default that suits most rubrics.

    Attributes:
        threshold: pass from this score on; None: the rubric's own.
        evidence: `required` makes a verdict without quotes `unverified`.
        contract: the shape of the answer (strategy `answer`).
        strategy: None: the one that was measured to suit the provider's model best, as far as the rest allows it.
        samples: how often the judge itself is asked, 1 to 20.
        reducer: how repeats become one.
        examples: trusted worked examples, at most 8.
        persona: trusted text before the instruction, or None.
        expected: the reference answer; None: the context's own.
        grounding: the grounding text, shown to the judge under the label `context`.
        temperature: from 0 to 2; None sends none.
        max_output_tokens: of the structured answer, from 1; None sends none.
    """

    threshold: float | None = None
    evidence: EvidenceRule = EvidenceRule.OPTIONAL
    contract: Contract = Contract.SCORE_V1
    strategy: Strategy | None = None
    samples: int = 1
    reducer: Reducer = field(default_factory=Reducer)
    examples: tuple[WorkedExample, ...] | None = None
    persona: str | None = None
    expected: Json = None
    grounding: str | None = None
    temperature: float | None = 0.0
    max_output_tokens: int | None = ANSWER_TOKENS


def checked_settings(settings: JudgeSettings, rubric: Rubric) -> JudgeSettings:
    """The settings in closed words and frozen values.

    Raises:
        AuthoringError: with every fault.
    """
    faults: list[Fault] = []
    settings = replace(settings, **_words(settings, faults), expected=_frozen(settings.expected, faults))
    for name in ("persona", "grounding"):
        if (text := getattr(settings, name)) is not None:
            text_or_fault(text, name, faults)
    faults += _number_faults(settings, rubric)
    reducer: object = settings.reducer
    if not isinstance(reducer, Reducer):
        faults.append(Fault(path="reducer", expected="a Reducer", found=found_word(reducer)))
    faults += _choice_faults(settings)
    if faults:
        raise AuthoringError("judge", faults)
    return settings


def strategy_for(settings: JudgeSettings, default: str) -> Strategy:
    """The strategy: the author's; else the model's default, unless the author's other choices rule it out.

    Another contract than `score/v1` is an answer's contract, so it means the strategy `answer`; required quotes turn
    `logprob`, which has none, into `both`.
    """
    if settings.strategy is not None:
        return settings.strategy
    if settings.contract is not Contract.SCORE_V1:
        return Strategy.ANSWER
    usual = Strategy(default)
    no_quotes = usual is Strategy.LOGPROB and settings.evidence is EvidenceRule.REQUIRED
    return Strategy.BOTH if no_quotes else usual


def _words(settings: JudgeSettings, faults: list[Fault]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, kind in _WORDS:
        value = getattr(settings, name)
        known = [word.value for word in kind if word not in _NOT_CHOSEN]
        if value is None and name == "strategy":
            continue
        if isinstance(value, str) and value in known:
            made[name] = kind(value)
            continue
        near = nearest(value, known) if isinstance(value, str) else None
        hint = f"Did you mean {near}?" if near else None
        faults.append(Fault(path=name, expected="one of " + ", ".join(known), found=found_word(value), hint=hint))
    return made


def _frozen(value: Json, faults: list[Fault]) -> Json:
    return None if value is None else json_or_fault(value, "expected", faults)


def _number_faults(settings: JudgeSettings, rubric: Rubric) -> Iterator[Fault]:
    low, high = rubric.score_range
    if settings.threshold is not None:
        yield from _outside("threshold", settings.threshold, low, high)
    if settings.temperature is not None:
        yield from _outside("temperature", settings.temperature, 0.0, _MAX_TEMPERATURE)
    if not _whole(settings.samples) or not 1 <= settings.samples <= MAX_SAMPLES:
        found = found_word(settings.samples)
        yield Fault(path="samples", expected=f"an integer from 1 to {MAX_SAMPLES}", found=found)
    tokens = settings.max_output_tokens
    if tokens is not None and (not _whole(tokens) or tokens < 1):
        yield Fault(path="max_output_tokens", expected="an integer from 1", found=found_word(tokens))


def _outside(path: str, value: object, low: float, high: float) -> Iterator[Fault]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield Fault(path=path, expected="a number", found=type_name(value))
    elif not math.isfinite(value) or not low <= value <= high:
        yield Fault(path=path, expected=f"a number from {low:g} to {high:g}", found=found_word(value))


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _choice_faults(settings: JudgeSettings) -> Iterator[Fault]:
    if settings.evidence is EvidenceRule.REQUIRED:
        if settings.contract is Contract.REASONED_V1:
            yield Fault(path="evidence", expected="optional", found="required", hint="reasoned/v1 has no quotes")
        if settings.strategy is Strategy.LOGPROB:
            hint = "the strategy logprob has no quotes; take both"
            yield Fault(path="evidence", expected="optional", found="required", hint=hint)
    if settings.strategy in (Strategy.LOGPROB, Strategy.BOTH) and settings.contract in _ANSWERS_BUT_SCORE:
        hint = "contracts belong to the strategy answer"
        yield Fault(path="contract", expected="none", found=settings.contract, hint=hint)


_ANSWERS_BUT_SCORE = (Contract.CRITERIA_V1, Contract.REASONED_V1)
