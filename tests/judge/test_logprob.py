"""Scores from the probability of one word, alone and with an explanation beside it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from judging import CONTEXT, PRICED, answer, provider_with, rubric, without
from jurat.errors import AnswerError, ErrorCategory
from jurat.evaluation import Quote
from jurat.judge import Judge, JudgeSettings, Verdict
from jurat.judge.probability import probability_of_yes
from jurat.provider import FinishReason, Reply, ScriptedReply, TokenLogprobs, Usage
from jurat.rubric import Criterion
from jurat.vocabulary import Contract, Status, Strategy

EXPLAINED = without("score")
USAGE = Usage(input_tokens=100, output_tokens=1)


def word(usage: Usage | None = None, **chances: float) -> ScriptedReply:
    """A reply of one token with the chances of its alternatives."""
    top = {name.replace("_", " "): math.log(chance) for name, chance in chances.items()}
    logprobs = (TokenLogprobs(token="yes", top=top),)
    return ScriptedReply(text="yes", finish_reason=FinishReason.LENGTH, logprobs=logprobs, usage=usage)


def reply(top: dict[str, float], text: str = "yes", **fields: Any) -> Reply:
    return Reply(text=text, logprobs=(TokenLogprobs(token=text, top=top),), **fields)


def chance(**chances: float) -> float:
    return probability_of_yes(reply({name.replace("_", " "): math.log(p) for name, p in chances.items()}))


async def judged(*replies: Any, **settings: Any) -> Verdict:
    provider = provider_with(*replies, prices=PRICED)
    return await Judge(rubric(), provider, JudgeSettings(**{"strategy": "logprob", **settings})).judge(CONTEXT)


# --- The probability -------------------------------------------------------------------------------------------------


def test_the_chance_of_yes_is_normalised_over_yes_and_no_alone() -> None:
    assert chance(yes=0.6, no=0.2, maybe=0.2) == pytest.approx(0.75)
    assert chance(yes=0.03, no=0.01, The=0.9) == pytest.approx(0.75)


def test_every_spelling_of_the_two_words_counts() -> None:
    assert chance(yes=0.1, Yes=0.2, YES=0.1, _yes=0.1, _Yes=0.1, no=0.1, No=0.05, _NO=0.05) == pytest.approx(0.75)


def test_words_that_only_begin_alike_do_not_count() -> None:
    assert chance(yes=0.3, no=0.1, yesterday=0.3, not_=0.1, none=0.1) == pytest.approx(0.75)


@pytest.mark.parametrize(("chances", "share"), [({"yes": 0.4}, 1.0), ({"no": 0.4}, 0.0)])
def test_a_word_that_is_not_among_the_alternatives_has_no_chance(chances: dict[str, float], share: float) -> None:
    assert chance(**chances) == share


def test_a_logarithm_a_little_above_zero_is_certainty() -> None:
    assert probability_of_yes(reply({"yes": 1.2e-7, "no": -20.0})) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "given",
    [
        reply({"The": -0.1, "maybe": -3.0}),
        reply({}),
        reply({"yes": -9999.0, "no": -9999.0}),
        reply({"yes": 12.5, "no": 3.0}),
        Reply(text="yes"),
    ],
)
def test_where_neither_word_has_a_chance_there_is_no_score(given: Reply) -> None:
    with pytest.raises(AnswerError) as caught:
        probability_of_yes(given)

    assert caught.value.category is ErrorCategory.SCHEMA_VIOLATION


@pytest.mark.parametrize(
    ("fields", "category"),
    [
        ({"refusal": "no"}, "refusal"),
        ({"finish_reason": FinishReason.CONTENT_FILTER}, "refusal"),
        ({"text": " "}, "empty_response"),
    ],
)
def test_the_signals_come_first_here_too(fields: dict[str, Any], category: str) -> None:
    with pytest.raises(AnswerError) as caught:
        probability_of_yes(reply({"yes": -0.1}, **fields))

    assert caught.value.category == category


# --- Strategy logprob ------------------------------------------------------------------------------------------------


async def test_a_score_is_the_chance_of_yes_from_one_token() -> None:
    verdict = await judged(word(yes=0.6, no=0.2, usage=USAGE))

    assert verdict.score == pytest.approx(0.75)
    assert verdict.status is Status.PASS
    assert verdict.opinion.reason == "clarity: yes with probability 0.75"
    assert (verdict.judge.strategy, verdict.judge.contract) == (Strategy.LOGPROB, Contract.YES_NO_V1)
    assert verdict.opinion.quotes == ()


async def test_each_criterion_is_asked_by_itself_and_mapped_to_its_own_range() -> None:
    two = rubric(
        Criterion(id="facts", description="True.", min=0, max=10, weight=3),
        Criterion(id="tone", description="Kind.", min=1, max=5, required=True),
    )
    provider = provider_with(word(yes=0.8, no=0.2, usage=USAGE), word(yes=0.25, no=0.75, usage=USAGE), prices=PRICED)

    verdict = await Judge(two, provider, JudgeSettings(strategy=Strategy.LOGPROB)).judge(CONTEXT)

    assert [item.id for item in verdict.opinion.criteria] == ["facts", "tone"]
    assert [item.score for item in verdict.opinion.criteria] == [pytest.approx(8.0), pytest.approx(2.0)]
    assert verdict.score == pytest.approx(10 * (3 * 0.8 + 0.25) / 4)
    assert verdict.status is Status.FAIL
    assert [finding.code for finding in verdict.opinion.findings] == ["required_criterion_failed"]
    assert verdict.opinion.spending.usage == Usage(input_tokens=200, output_tokens=2)
    assert verdict.opinion.spending.attempts == 2


async def test_one_criterion_that_fails_makes_the_whole_an_error_and_every_call_counts() -> None:
    two = rubric(Criterion(id="facts", description="True."), Criterion(id="tone", description="Kind."))
    provider = provider_with(word(yes=0.8, no=0.2, usage=USAGE), ScriptedReply(text="yes", usage=USAGE), prices=PRICED)
    judge = Judge(two, provider, JudgeSettings(strategy=Strategy.LOGPROB))
    keys = [call.key for call in next(judge.steps(CONTEXT))]

    verdict = await judge.judge(CONTEXT)

    assert (verdict.status, verdict.score) == (Status.ERROR, None)
    assert list(verdict.rejected) == [keys[1]]
    assert verdict.rejected[keys[1]].spending.usage == USAGE
    assert verdict.opinion.spending.usage == Usage(input_tokens=200, output_tokens=2)


async def test_a_reply_without_probabilities_is_a_schema_violation_never_a_word_that_was_read() -> None:
    verdict = await judged("yes")

    assert verdict.opinion.error is not None
    assert verdict.opinion.error.type is ErrorCategory.SCHEMA_VIOLATION


# --- Strategy both ---------------------------------------------------------------------------------------------------


async def test_the_score_is_the_words_and_the_reason_the_explanations() -> None:
    explained = ScriptedReply(text=EXPLAINED, usage=USAGE, latency_ms=5.0)

    verdict = await judged(word(yes=0.9, no=0.1, usage=USAGE), explained, strategy="both")

    assert verdict.score == pytest.approx(0.9)
    assert verdict.opinion.reason == "It gives the hour."
    assert verdict.opinion.quotes == (Quote(message_index=1, quote="at 9"),)
    assert verdict.judge.contract is Contract.EXPLAINED_V1
    assert verdict.opinion.spending.usage == Usage(input_tokens=200, output_tokens=2)
    (finding,) = verdict.opinion.findings
    assert (finding.code, finding.severity) == ("reason_unchecked", "info")
    assert "the reason was asked for afterwards and may contradict it" in finding.message


async def test_a_reason_that_contradicts_the_score_changes_nothing_and_is_said_to_be_unchecked() -> None:
    denied = json.loads(EXPLAINED) | {"reason": "The hour is missing, so this has to fail."}

    verdict = await judged(word(yes=0.9, no=0.1), ScriptedReply(text=json.dumps(denied)), strategy="both")

    assert verdict.status is Status.PASS
    assert verdict.score == pytest.approx(0.9)
    assert [finding.code for finding in verdict.opinion.findings] == ["reason_unchecked"]


@pytest.mark.parametrize(("yes", "words"), [(0.9, "meets the rubric"), (0.1, "does not meet the rubric")])
async def test_the_explanation_is_asked_for_knowing_the_outcome(yes: float, words: str) -> None:
    provider = provider_with(word(yes=yes, no=1 - yes), EXPLAINED)
    steps = Judge(rubric(), provider, JudgeSettings(strategy=Strategy.BOTH)).steps(CONTEXT)
    (first,) = next(steps)

    (second,) = steps.send([await provider.send(first)])

    assert f"the work {words}" in second.body.decode()


@pytest.mark.parametrize("bad", [answer(), "no", EXPLAINED.replace("at 9", "at 10"), ScriptedReply(text="")])
async def test_a_bad_explanation_takes_nothing_from_the_score(bad: Any) -> None:
    verdict = await judged(word(yes=0.9, no=0.1), bad, strategy="both")

    assert verdict.status is Status.PASS
    assert verdict.score == pytest.approx(0.9)
    assert verdict.opinion.quotes == ()
    assert [finding.code for finding in verdict.opinion.findings] == ["explanation_rejected"]
    assert len(verdict.rejected) == 1


async def test_a_bad_explanation_leaves_the_verdict_unverified_where_quotes_are_required() -> None:
    verdict = await judged(word(yes=0.9, no=0.1), "no", strategy="both", evidence="required")

    assert (verdict.status, verdict.score) == (Status.UNVERIFIED, None)
    assert [finding.code for finding in verdict.opinion.findings] == ["no_quotes", "explanation_rejected"]


async def test_an_explanation_that_never_came_is_counted_and_leaves_the_score() -> None:
    failing = ScriptedReply(error=ErrorCategory.TIMEOUT)

    verdict = await judged(word(yes=0.9, no=0.1, usage=USAGE), failing, strategy="both")

    assert verdict.status is Status.PASS
    assert "timeout" in verdict.opinion.findings[0].message
    assert verdict.opinion.spending.attempts == 2
    assert verdict.opinion.spending.cost_usd is None
    assert verdict.rejected == {}


async def test_the_account_of_a_rejected_explanation_is_its_own_call_alone() -> None:
    usage = Usage(input_tokens=7, output_tokens=3)
    verdict = await judged(word(yes=0.9, no=0.1, usage=USAGE), ScriptedReply(text="no", usage=usage), strategy="both")

    (kept,) = verdict.rejected.values()
    assert kept.spending.usage == usage


async def test_without_a_score_no_explanation_is_asked_for() -> None:
    provider = provider_with("yes", EXPLAINED)

    verdict = await Judge(rubric(), provider, JudgeSettings(strategy=Strategy.BOTH)).judge(CONTEXT)

    assert (verdict.status, provider.calls) == (Status.ERROR, 1)
