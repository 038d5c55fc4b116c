"""From settings to frames: the trusted messages, the schema and the limits that each strategy sends.

A frame is made once per judge, so that its bytes are the same from call to call.
"""

from __future__ import annotations

from collections.abc import Sequence

from jurat.judge.answer import answer_schema
from jurat.judge.prompt import (
    WorkedExample,
    YesNoQuestion,
    answer_messages,
    criterion_question,
    explain_messages,
    yes_no_messages,
)
from jurat.judge.settings import JudgeSettings
from jurat.judge.strategy import AnswerStrategy, Asked, BothStrategy, LogprobStrategy, Strategist, Terms, log_odds
from jurat.judge.tuning import tuning_for
from jurat.provider.protocol import Frame, ResponseSchema
from jurat.rubric import Criterion, Rubric
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
    scorer = LogprobStrategy(terms=terms, questions=_questions(terms, settings, examples))
    if strategy is Strategy.LOGPROB:
        return scorer
    return BothStrategy(terms=terms, scorer=scorer, explain_frame=_explain_frame(terms, settings, examples))


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


def _questions(terms: Terms, settings: JudgeSettings, examples: Sequence[WorkedExample]) -> tuple[Asked, ...]:
    """One question for each criterion; for a template that is tuned for small models, one about the whole."""
    rubric = terms.rubric
    tuning = tuning_for(rubric) if terms.provider.settings.wants_examples else None
    if tuning is None:
        asked: list[tuple[YesNoQuestion, Criterion | None, float]] = [
            (criterion_question(rubric, item), item, 0.0) for item in rubric.criteria
        ]
    else:
        closing = f"\n{tuning.question}" if tuning.question else ""
        question = YesNoQuestion(instruction=tuning.instruction, closing=closing)
        asked = [(question, None, _shift(tuning.cut, rubric))]
    return tuple(
        Asked(
            frame=_yes_no_frame(terms, settings, examples, question),
            closing=question.closing,
            criterion=item,
            shift=shift,
        )
        for question, item, shift in asked
    )


def _shift(cut: float, rubric: Rubric) -> float:
    """What is added to the log-odds of yes, so that the cut falls on the rubric's own threshold."""
    low, high = rubric.score_range
    threshold = (rubric.pass_threshold - low) / (high - low)
    return log_odds(threshold) - log_odds(cut)


def _yes_no_frame(
    terms: Terms, settings: JudgeSettings, examples: Sequence[WorkedExample], question: YesNoQuestion
) -> Frame:
    return Frame(
        messages=yes_no_messages(terms.rubric, question, examples, settings.persona),
        temperature=settings.temperature,
        max_output_tokens=1,
        top_logprobs=min(_ALTERNATIVES, terms.provider.settings.capabilities.top_logprobs),
    )


def _explain_frame(terms: Terms, settings: JudgeSettings, examples: Sequence[WorkedExample]) -> Frame:
    return Frame(
        messages=explain_messages(terms.rubric, examples, settings.persona),
        schema=_schema(Contract.EXPLAINED_V1, terms),
        temperature=settings.temperature,
        max_output_tokens=settings.max_output_tokens,
    )
