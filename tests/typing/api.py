"""What a user's program may write, as a type checker sees it. Checked by mypy, never run.

Every `assert_type` is a promise: to change one is to change the face.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_type

import jurat
from jurat import rubrics, testing
from jurat.vocabulary import EvidenceRule


def one_assertion() -> None:
    context = jurat.Context(output="Paris", documents=(jurat.Document(text="Paris is the capital."),))
    result = jurat.evaluate(context, {"type": "contains", "value": "Paris"})
    assert_type(result, dict[str, Any])
    jurat.evaluate("Paris", "groundedness", providers={"judge": {"kind": "local"}})


async def one_judge(provider: testing.ScriptedProvider) -> None:
    settings = jurat.JudgeSettings(threshold=0.7, evidence=EvidenceRule.REQUIRED)
    judge = jurat.Judge("groundedness", provider, settings, name="grounded")
    verdict = await judge.judge("Paris")
    assert_type(verdict, jurat.Verdict)
    assert_type(verdict.status, jurat.Status)
    assert_type(verdict.score, float | None)
    assert_type(await judge.evaluate("Paris"), jurat.Assessment)
    assert_type(await jurat.aevaluate("Paris", {"type": "contains", "value": "Paris"}), dict[str, Any])


def own_rubric() -> None:
    rubric = jurat.Rubric(
        name="tone",
        definition="Is it kind?",
        criteria=(rubrics.Criterion(id="kind", description="It is kind."),),
    )
    assert_type(rubric.score_range, tuple[float, float])
    assert_type(rubrics.find("groundedness"), jurat.Rubric)


class Polite:
    """An evaluator of one's own."""

    name = "polite"
    revision = "1"

    def evaluate(self, context: jurat.Context) -> jurat.Assessment:
        found = "please" in context.output
        return jurat.Assessment(
            evaluator=self.name,
            revision=self.revision,
            status=jurat.Status.PASS if found else jurat.Status.FAIL,
            score=100.0 if found else 0.0,
        )


def errors(error: jurat.EvaluationError) -> None:
    assert_type(error.category, jurat.ErrorCategory)
    try:
        answer = testing.check_answer("{}", "Paris")
    except jurat.AnswerError as refused:
        assert_type(refused.category, jurat.ErrorCategory)
    else:
        assert_type(answer.score, float)
        assert_type(answer.passed, bool)


def scripted(replies: Mapping[str, Any]) -> testing.ScriptedProvider:
    return testing.ScriptedProvider(replies)


def one_suite(judge: testing.ScriptedProvider) -> None:
    run = jurat.run_suite(
        "suite.yaml",
        providers={"judge": judge, "subject": "openai:MODEL", "other": {"kind": "local"}},
        samples=3,
        reducer="majority",
        filter="label:smoke",
        cache="read",
        budget_usd=1.5,
    )
    assert_type(run, jurat.Run)
    assert_type(run.passed, bool)
    assert_type(run.gate, Mapping[str, Any])
    assert_type(run.record.id, str)
    assert_type(run.cases(), list[dict[str, Any]])
    assert_type(run.report(include_output=True), dict[str, Any])


async def one_suite_in_a_loop() -> None:
    assert_type(await jurat.arun_suite("suite.yaml", reducer={"minimum_pass_rate": 0.8}, timeout_s=60), jurat.Run)


def two_runs(run: jurat.Run) -> None:
    found = jurat.compare_runs("release.json", run)
    assert_type(found, jurat.Comparison)
    assert_type(found.regression, jurat.Regression)
    assert_type(found.counts[jurat.Change.REGRESSED], int)
    assert_type(found.named(jurat.Change.FIXED, "regressed"), tuple[str, ...])
    assert_type(found.pass_rate.interval, tuple[float, float] | None)
    assert_type(found.cases[0].change, jurat.Change)


async def two_runs_in_a_loop() -> None:
    assert_type(await jurat.acompare_runs("2026", store="runs.db"), jurat.Comparison)
