"""From settings to frames: the trusted messages, the schema and the limits that each strategy sends.

A frame is made once per judge, so that its bytes are the same from call to call.
"""

from __future__ import annotations

from collections.abc import Sequence

from jurat.judge.answer import answer_schema
from jurat.judge.prompt import WorkedExample, answer_messages, explain_messages, yes_no_messages
from jurat.judge.settings import JudgeSettings
from jurat.judge.strategy import AnswerStrategy, BothStrategy, LogprobStrategy, Strategist, Terms
from jurat.provider.protocol import Frame, ResponseSchema
from jurat.rubric import Criterion
from jurat.vocabulary import Contract, Strategy

__all__ = ["build_strategy"]

_ALTERNATIVES = 20
"""How many alternatives a yes/no question asks for, where the model reports so many."""


def build_strategy(
    strategy: Strategy, terms: Terms, settings: JudgeSettings, examples: Sequence[WorkedExample]
) -> Strategist:
    """The strategy, with its frames made."""
    if strategy is Strategy.ANSWER:
        return AnswerStrategy(terms=terms, frame=_answer_frame(terms, settings, examples), contract=settings.contract)
    frames = tuple(_yes_no_frame(terms, settings, examples, item) for item in terms.rubric.criteria)
    scorer = LogprobStrategy(terms=terms, criterion_frames=frames)
    if strategy is Strategy.LOGPROB:
        return scorer
    met, unmet = (_explain_frame(terms, settings, examples, outcome) for outcome in (True, False))
    return BothStrategy(terms=terms, scorer=scorer, pass_frame=met, fail_frame=unmet)


def _answer_frame(terms: Terms, settings: JudgeSettings, examples: Sequence[WorkedExample]) -> Frame:
    contract, rubric = settings.contract, terms.rubric
    return Frame(
        messages=answer_messages(rubric, contract, examples, settings.persona),
        schema=_schema(contract, terms),
        temperature=settings.temperature,
        max_output_tokens=settings.max_output_tokens,
    )


def _schema(contract: Contract, terms: Terms) -> ResponseSchema | None:
    """None for `reasoned/v1`, which is for models that offer no strict structured output."""
    if contract is Contract.REASONED_V1:
        return None
    name = contract.value.replace("/", "_")
    return ResponseSchema(name=name, schema=answer_schema(contract, terms.rubric))


def _yes_no_frame(
    terms: Terms, settings: JudgeSettings, examples: Sequence[WorkedExample], criterion: Criterion
) -> Frame:
    return Frame(
        messages=yes_no_messages(terms.rubric, criterion, examples, settings.persona),
        temperature=settings.temperature,
        max_output_tokens=1,
        top_logprobs=min(_ALTERNATIVES, terms.provider.settings.capabilities.top_logprobs),
    )


def _explain_frame(terms: Terms, settings: JudgeSettings, examples: Sequence[WorkedExample], met: bool) -> Frame:
    return Frame(
        messages=explain_messages(terms.rubric, met, examples, settings.persona),
        schema=_schema(Contract.EXPLAINED_V1, terms),
        temperature=settings.temperature,
        max_output_tokens=settings.max_output_tokens,
    )
