"""Several askings of one judge: mean, spread, flips, and what a failed repeat may and may not do."""

from __future__ import annotations

from typing import Any

import pytest

from judging import CONTEXT, PRICED, answer, provider_with, rubric
from jurat.errors import ErrorCategory
from jurat.evaluation import Reducer, ReducerRule
from jurat.judge import Judge, JudgeSettings, Verdict
from jurat.provider import ScriptedReply, Usage
from jurat.vocabulary import Status

FAILED = ScriptedReply(error=ErrorCategory.OVERLOADED)


def said(score: float, **fields: Any) -> ScriptedReply:
    return ScriptedReply(text=answer(score=score, reason=f"It is {score}."), **fields)


async def judged(*replies: Any, rule: str = "all", rate: float | None = None, **settings: Any) -> Verdict:
    reducer = Reducer(rule=ReducerRule(rule), rate=rate)
    provider = provider_with(*replies, prices=PRICED)
    asked = JudgeSettings(samples=len(replies), reducer=reducer, **settings)
    return await Judge(rubric(), provider, asked).judge(CONTEXT)


async def test_one_asking_has_no_repeats() -> None:
    verdict = await judged(said(0.8))

    assert (verdict.score, verdict.repeats, verdict.opinions) == (0.8, None, ())


async def test_repeats_report_mean_spread_and_flip_rate() -> None:
    verdict = await judged(said(0.9), said(0.7), said(0.2), said(0.6), rule="majority")

    assert verdict.repeats is not None
    assert verdict.repeats.mean == pytest.approx(0.6)
    assert verdict.repeats.spread == pytest.approx(0.29439202887759)
    assert (verdict.repeats.flip_rate, verdict.repeats.decided, verdict.repeats.undecided) == (0.25, 4, 0)
    assert [opinion.score for opinion in verdict.opinions] == [0.9, 0.7, 0.2, 0.6]
    assert verdict.status is Status.PASS
    assert verdict.score == pytest.approx(0.6)


async def test_the_reason_is_that_of_the_agreeing_repeat_nearest_to_the_mean() -> None:
    verdict = await judged(said(0.9), said(0.7), said(0.2), rule="majority")

    assert verdict.score == pytest.approx(0.6)
    assert verdict.opinion.reason == "It is 0.7."


@pytest.mark.parametrize(
    ("scores", "rule", "rate", "status"),
    [
        ((0.9, 0.9, 0.1), "all", None, "fail"),
        ((0.9, 0.1, 0.1), "any", None, "pass"),
        ((0.9, 0.1), "majority", None, "fail"),
        ((0.9, 0.9, 0.1), "minimum_pass_rate", 0.6, "pass"),
        ((0.9, 0.9, 0.1), "minimum_pass_rate", 0.7, "fail"),
    ],
)
async def test_the_reducer_decides(scores: tuple[float, ...], rule: str, rate: float | None, status: str) -> None:
    assert (await judged(*map(said, scores), rule=rule, rate=rate)).status == status


async def test_a_failed_repeat_is_no_failure_and_does_not_enter_the_mean() -> None:
    verdict = await judged(said(0.9), FAILED, said(0.7), rule="majority")

    assert verdict.status is Status.PASS
    assert verdict.score == pytest.approx(0.8)
    assert verdict.repeats is not None
    assert (verdict.repeats.decided, verdict.repeats.undecided) == (2, 1)


async def test_where_a_failed_repeat_could_have_turned_it_the_whole_is_an_error() -> None:
    verdict = await judged(said(0.9), FAILED, said(0.1), rule="majority")

    assert (verdict.status, verdict.score) == (Status.ERROR, None)
    assert verdict.opinion.error is not None
    assert verdict.opinion.error.type is ErrorCategory.OVERLOADED
    assert verdict.opinion.error.message.startswith("1 of 3 repeats failed")


async def test_empty_replies_among_repeats_are_errors_of_their_own() -> None:
    verdict = await judged(said(0.8), "", ScriptedReply(text=None), rule="any")

    assert [opinion.status for opinion in verdict.opinions] == [Status.PASS, Status.ERROR, Status.ERROR]
    assert [opinion.error.type for opinion in verdict.opinions if opinion.error] == ["empty_response"] * 2
    assert verdict.repeats is not None
    assert (verdict.repeats.mean, verdict.repeats.decided) == (0.8, 1)
    assert len(verdict.rejected) == 2


async def test_unverified_repeats_leave_the_whole_unverified_unless_the_others_settle_it() -> None:
    bare = answer(evidence=[])

    whole = await judged(said(0.9), bare, rule="all", evidence="required")
    settled = await judged(said(0.9), bare, rule="any", evidence="required")

    assert (whole.status, whole.score) == (Status.UNVERIFIED, None)
    assert [finding.code for finding in whole.opinion.findings] == ["no_quotes"]
    assert (settled.status, settled.score) == (Status.PASS, 0.9)


async def test_all_repeats_are_paid_for_and_wait_side_by_side() -> None:
    usage = Usage(input_tokens=10, output_tokens=2)

    verdict = await judged(*(said(0.8, usage=usage, latency_ms=ms) for ms in (5.0, 9.0, 7.0)))

    spent = verdict.opinion.spending
    assert spent.usage == Usage(input_tokens=30, output_tokens=6)
    assert (spent.attempts, spent.duration_ms) == (3, 9.0)
    assert spent.cost_usd == pytest.approx(3 * 30e-6)


async def test_every_repeat_is_a_call_of_its_own() -> None:
    judge = Judge(rubric(), provider_with(), JudgeSettings(samples=20))

    calls = next(judge.steps(CONTEXT))

    assert len({call.key for call in calls}) == 20
    assert len({call.body for call in calls}) == 1
