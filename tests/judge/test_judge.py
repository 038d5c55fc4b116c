"""The judge: what it refuses before it asks, what it makes of an answer, and settings that say what they mean."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from judging import CONTEXT, PRICED, answer, provider_with, rubric
from jurat.errors import ErrorCategory, ProviderError
from jurat.evaluation import Evaluator, Quote, run_evaluator
from jurat.evidence import Context
from jurat.judge import Judge, JudgeSettings, Verdict
from jurat.provider import (
    Call,
    Raw,
    ScriptedProvider,
    ScriptedReply,
    Usage,
)
from jurat.report.result_map import verdict_map
from jurat.rubric import Criterion
from jurat.vocabulary import Contract, EvidenceRule, Status, Strategy


async def judged(provider: ScriptedProvider, context: Context | str = CONTEXT, **settings: Any) -> Verdict:
    return await Judge(rubric(), provider, JudgeSettings(**settings)).judge(context)


def error_of(verdict: Verdict) -> tuple[str, str]:
    assert verdict.status is Status.ERROR
    assert verdict.score is None
    assert verdict.opinion.error is not None
    return verdict.opinion.error.type.value, verdict.opinion.error.message


# --- A verdict -------------------------------------------------------------------------------------------------------


async def test_a_judge_gives_score_reason_and_verified_quotes() -> None:
    usage = Usage(input_tokens=100, output_tokens=20)
    provider = provider_with(ScriptedReply(text=answer(), usage=usage, latency_ms=12.0), prices=PRICED)

    verdict = await judged(provider)

    assert (verdict.status, verdict.score, verdict.opinion.reason) == (Status.PASS, 0.75, "It gives the hour.")
    assert verdict.opinion.quotes == (Quote(message_index=1, quote="at 9"),)
    assert verdict.opinion.spending.usage == usage
    assert verdict.opinion.spending.cost_usd == pytest.approx(100e-6 + 200e-6)
    assert (verdict.opinion.spending.attempts, verdict.opinion.spending.duration_ms) == (1, 12.0)
    assert verdict.rejected == {}


@pytest.mark.parametrize(("score", "status"), [(0.5, "pass"), (0.49999999999999994, "fail"), (0, "fail"), (1, "pass")])
async def test_pass_is_a_score_at_or_above_the_midpoint_unless_a_threshold_is_given(score: float, status: str) -> None:
    assert (await judged(provider_with(answer(score=score)))).status == status


async def test_a_threshold_of_the_judge_wins_over_the_rubrics_even_when_it_is_zero() -> None:
    strict = rubric(threshold=0.9)

    assert (await Judge(strict, provider_with()).judge(CONTEXT)).status is Status.FAIL
    assert (await Judge(strict, provider_with(), JudgeSettings(threshold=0)).judge(CONTEXT)).status is Status.PASS


async def test_a_plain_string_is_judged_as_the_output() -> None:
    verdict = await judged(provider_with(answer(evidence=[{"message_index": 0, "quote": "at 9"}])), "We open at 9.")

    assert verdict.status is Status.PASS


async def test_a_judge_is_an_evaluator_under_its_identity() -> None:
    judge = Judge(rubric(), provider_with(), name="hours judge")
    assert isinstance(judge, Evaluator)

    assessment = await run_evaluator(judge, CONTEXT)

    assert (assessment.evaluator, assessment.revision) == ("hours judge", judge.facts.identity)
    assert (assessment.status, assessment.score, assessment.reason) == (Status.PASS, 0.75, "It gives the hour.")


async def test_a_required_criterion_under_its_midpoint_fails_a_score_over_the_threshold() -> None:
    two = rubric(
        Criterion(id="facts", description="True.", weight=9),
        Criterion(id="tone", description="Kind.", required=True),
    )
    parts = {"facts": {"evidence": [], "reason": "x", "score": 1}, "tone": {"evidence": [], "reason": "y", "score": 0}}
    provider = provider_with(json.dumps({"criteria": parts}))

    verdict = await Judge(two, provider, JudgeSettings(contract=Contract.CRITERIA_V1)).judge(CONTEXT)

    assert (verdict.status, verdict.score) == (Status.FAIL, 0.9)
    assert [finding.code for finding in verdict.opinion.findings] == ["required_criterion_failed"]
    assert [(item.id, item.score) for item in verdict.opinion.criteria] == [("facts", 1.0), ("tone", 0.0)]


# --- What never reaches the model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["", " ", "\n\t", "\u3000"])
async def test_an_empty_output_never_reaches_the_model_and_is_unverified(output: str) -> None:
    provider = provider_with()

    verdict = await judged(provider, Context(output=output, expected="9"))

    assert provider.calls == 0
    assert (verdict.status, verdict.score) == (Status.UNVERIFIED, None)
    assert [finding.code for finding in verdict.opinion.findings] == ["empty_output"]
    assert (verdict.opinion.spending.cost_usd, verdict.opinion.spending.attempts) == (0.0, 0)


@pytest.mark.parametrize("strategy", [Strategy.ANSWER, Strategy.BOTH])
async def test_a_model_without_structured_output_is_not_asked_for_it(strategy: Strategy) -> None:
    provider = provider_with(structured_output=False)

    category, message = error_of(await judged(provider, strategy=strategy))

    assert provider.calls == 0
    assert category == "unsupported_structured_output"
    assert "oracle-1" in message
    assert "reasoned/v1" in message


async def test_reasoned_answers_are_asked_for_without_a_schema_where_the_author_chose_them() -> None:
    provider = provider_with(json.dumps({"score": 0.9, "reasoning": "ok", "verdict": "no"}), structured_output=False)
    judge = Judge(rubric(), provider, JudgeSettings(contract=Contract.REASONED_V1))

    call = next(judge.steps(CONTEXT))[0]
    verdict = await judge.judge(CONTEXT)

    assert "response_format" not in json.loads(call.body)
    assert (verdict.status, verdict.score, verdict.judge.contract) == (Status.PASS, 0.9, Contract.REASONED_V1)


async def test_reasoned_answers_are_never_a_fall_back() -> None:
    provider = provider_with(json.dumps({"score": 0.9, "reasoning": "ok"}))

    assert error_of(await judged(provider))[0] == "schema_violation"


async def test_what_does_not_fit_the_models_context_is_found_before_the_call() -> None:
    provider = provider_with(context_tokens=8_000)

    category, message = error_of(await judged(provider, Context(output="word " * 9_000)))

    assert provider.calls == 0
    assert category == "context_too_large"
    assert "8,000" in message
    assert (await judged(provider, CONTEXT)).status is Status.PASS


async def test_a_model_that_reports_no_probabilities_is_not_asked_for_them() -> None:
    provider = provider_with(top_logprobs=0)

    category, message = error_of(await judged(provider, strategy="logprob"))

    assert (provider.calls, category) == (0, "request_invalid")
    assert "capabilities.top_logprobs" in message


async def test_what_a_provider_refuses_to_prepare_is_an_error_of_that_judgement() -> None:
    plain = provider_with()
    provider = ScriptedProvider(answer(), settings=replace(plain.settings, extra={"temperature": 1}))

    verdict = await judged(provider, samples=3)

    assert error_of(verdict)[0] == "request_invalid"
    assert provider.calls == 0


# --- Evidence that is required ---------------------------------------------------------------------------------------


async def test_a_verdict_without_quotes_is_unverified_where_they_are_required() -> None:
    verdict = await judged(provider_with(answer(evidence=[])), evidence=EvidenceRule.REQUIRED)

    assert (verdict.status, verdict.score) == (Status.UNVERIFIED, None)
    assert [finding.code for finding in verdict.opinion.findings] == ["no_quotes"]
    assert verdict.opinion.reason == "It gives the hour."
    assert verdict.opinion.spending.attempts == 1


async def test_a_verdict_with_quotes_counts_where_they_are_required() -> None:
    assert (await judged(provider_with(), evidence=EvidenceRule.REQUIRED)).status is Status.PASS


async def test_a_word_in_plain_text_means_the_same_as_the_closed_word() -> None:
    verdict = await judged(provider_with(answer(evidence=[])), evidence="required", contract="score/v1")
    answered = Judge(rubric(), provider_with(), JudgeSettings(strategy="answer"))  # type: ignore[arg-type]

    assert verdict.status is Status.UNVERIFIED
    assert answered.strategy is Strategy.ANSWER


# --- Failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "category", ["missing_api_key", "auth_error", "rate_limited", "overloaded", "timeout", "network_error", "api_error"]
)
async def test_a_providers_failure_keeps_its_category_and_is_never_a_score(category: str) -> None:
    verdict = await judged(provider_with(ScriptedReply(error=ErrorCategory(category))))

    assert error_of(verdict)[0] == category


async def test_what_a_failed_request_cost_is_unknown_and_what_was_never_sent_cost_nothing() -> None:
    class Failing(ScriptedProvider):
        attempts = 3

        async def send(self, _: Call) -> Raw:
            raise ProviderError(ErrorCategory.OVERLOADED, "busy", attempts=self.attempts)

    free = (await judged(Failing(answer()))).opinion.spending
    paid = replace(Failing(answer()).settings, prices={"input": 1.0, "output": 1.0})
    provider = Failing(answer(), settings=paid)
    tried = (await judged(provider)).opinion.spending
    provider.attempts = 0
    unsent = (await judged(provider)).opinion.spending

    assert (free.attempts, free.cost_usd, free.usage.input_tokens) == (3, 0.0, None)  # a script is never paid
    assert (tried.attempts, tried.cost_usd, tried.usage.input_tokens) == (3, None, None)
    assert (unsent.attempts, unsent.cost_usd, unsent.usage.input_tokens) == (0, 0.0, 0)


async def test_an_exception_that_no_provider_may_raise_is_contained_without_its_text() -> None:
    class Broken(ScriptedProvider):
        async def send(self, _: Call) -> Raw:
            raise KeyError("zq7canary")

    category, message = error_of(await judged(Broken(answer())))

    assert category == "api_error"
    assert "KeyError" in message
    assert "zq7canary" not in message


async def test_bytes_that_are_no_reply_are_an_error_of_the_provider() -> None:
    class Html(ScriptedProvider):
        async def send(self, _: Call) -> Raw:
            return Raw(body=b"<html>zq7canary</html>", latency_ms=1.0, attempts=2)

    verdict = await judged(Html(answer()))

    category, message = error_of(verdict)
    assert category == "api_error"
    assert "zq7canary" not in message
    assert verdict.opinion.spending.attempts == 2


@pytest.mark.parametrize(
    "text",
    [
        "zq7canary",
        answer(score="zq7canary"),
        answer(zq7canary=1),
        answer(reason="zq7canary", score=7),
        answer(evidence=[{"message_index": 0, "quote": "zq7canary"}]),
        '{"score": 1, "reason": "zq7canary',
    ],
)
@pytest.mark.parametrize("settings", [{}, {"samples": 2}, {"strategy": "both"}])
async def test_an_invalid_reply_appears_nowhere_in_the_result(text: str, settings: dict[str, Any]) -> None:
    reply = ScriptedReply(text=text, refusal="zq7canary" if text == "zq7canary" else None)

    verdict = await judged(provider_with(reply), **settings)

    assert verdict.status is Status.ERROR
    assert "zq7canary" not in json.dumps(verdict_map(verdict))
    assert "zq7canary" not in repr(verdict)


async def test_a_rejected_reply_is_named_by_its_key_with_its_own_account() -> None:
    usage = Usage(input_tokens=10, output_tokens=1)
    provider = provider_with(
        ScriptedReply(text=answer(), usage=usage), ScriptedReply(text="no", usage=usage), prices=PRICED
    )
    judge = Judge(rubric(), provider, JudgeSettings(samples=2))

    keys = [call.key for call in next(judge.steps(CONTEXT))]
    verdict = await judge.judge(CONTEXT)

    assert list(verdict.rejected) == [keys[1]]
    kept = verdict.rejected[keys[1]]
    assert kept.error.type is ErrorCategory.MALFORMED_JSON
    assert kept.spending.usage == usage
    assert kept.spending.cost_usd == pytest.approx(20e-6)
    assert verdict.opinion.spending.cost_usd == pytest.approx(40e-6)
