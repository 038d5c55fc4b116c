"""From settings to frames: the trusted messages, the schema and the limits that each strategy sends.

A frame is made once per judge, so that its bytes are the same from call to call.
"""

from __future__ import annotations

from collections.abc import Sequence

from jurat.evidence import Evidence
from jurat.judge.answer_schema import answer_schema
from jurat.judge.opinions import Terms
from jurat.judge.probability import log_odds
from jurat.judge.prompt import (
    WorkedExample,
    YesNoQuestion,
    answer_messages,
    criterion_question,
    explain_messages,
    study_messages,
    yes_no_messages,
)
from jurat.judge.settings import JudgeSettings
from jurat.judge.strategy import AnswerStrategy, Asked, BothStrategy, LogprobStrategy, Strategist
from jurat.judge.study import STUDY_TOKENS, Study
from jurat.judge.tuning import Tuning, tuning_for
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
    questions, study = _questions(terms, settings, examples), _study(terms, settings)
    scorer = LogprobStrategy(terms=terms, questions=questions, study=study)
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
    rubric, tuning = terms.rubric, _tuning(terms)
    if tuning is None:
        questions = [(criterion_question(rubric, item), item) for item in rubric.criteria]
        return tuple(
            _asked(question, item, _yes_no_frame(terms, settings, examples, question)) for question, item in questions
        )
    closing = f"\n{tuning.question}" if tuning.question else ""
    question = YesNoQuestion(instruction=tuning.instruction, closing=closing, words=tuning.words)
    seen = tuning.seen if settings.examples is None else None
    frame = _yes_no_frame(terms, settings, examples, question, seen)
    return (_asked(question, None, frame, _shift(tuning.cut, rubric)),)


def _asked(question: YesNoQuestion, criterion: Criterion | None, frame: Frame, shift: float = 0.0) -> Asked:
    return Asked(frame=frame, closing=question.closing, criterion=criterion, shift=shift, words=question.words)


def _tuning(terms: Terms) -> Tuning | None:
    return tuning_for(terms.rubric) if terms.provider.settings.wants_examples else None


def _study(terms: Terms, settings: JudgeSettings) -> Study | None:
    tuning = _tuning(terms)
    if tuning is None:
        return None
    frame = Frame(
        messages=study_messages(tuning.lookup.instruction, tuning.lookup.turns, settings.persona),
        temperature=settings.temperature,
        max_output_tokens=STUDY_TOKENS,
    )
    return Study(frame=frame, kind=tuning.lookup.kind)


def _shift(cut: float, rubric: Rubric) -> float:
    """What is added to the log-odds of yes, so that the cut falls on the rubric's own threshold."""
    low, high = rubric.score_range
    threshold = (rubric.pass_threshold - low) / (high - low)
    return log_odds(threshold) - log_odds(cut)


def _yes_no_frame(
    terms: Terms,
    settings: JudgeSettings,
    examples: Sequence[WorkedExample],
    question: YesNoQuestion,
    seen: Sequence[Evidence] | None = None,
) -> Frame:
    return Frame(
        messages=yes_no_messages(terms.rubric, question, examples, settings.persona, seen),
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
