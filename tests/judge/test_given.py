"""What a judge is told with one question alone: a reference answer and a grounding text."""

from __future__ import annotations

from typing import Any

import pytest

from judging import answer, provider_with, rubric
from jurat.assertions import Given, build_assertion
from jurat.evidence import Context
from jurat.judge import Judge, JudgeSettings
from jurat.provider import Call, Raw, ScriptedProvider


class Asked(ScriptedProvider):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(answer(evidence=[]), settings=provider_with().settings)
        self.bodies: list[str] = []

    async def send(self, call: Call) -> Raw:
        self.bodies.append(call.body.decode())
        return await super().send(call)


def shown(judge: Judge, **given: Any) -> list[tuple[str | None, str]]:
    """The labelled entries of what a judge is shown."""
    entries = judge.number(Context(output="four", expected="the context's"), **given).entries
    return [(entry.label, entry.text) for entry in entries if entry.label]


def test_what_is_given_with_the_question_comes_before_the_settings_and_those_before_the_context() -> None:
    provider = provider_with()
    bare, set_ = Judge(rubric(), provider), Judge(rubric(), provider, JudgeSettings(expected="set", grounding="page"))

    assert shown(bare) == [("expected", "the context's")]
    assert shown(set_) == [("expected", "set"), ("context", "page")]
    assert shown(set_, expected={"n": 4}, grounding="other page") == [
        ("expected", '{"n":4}'),
        ("context", "other page"),
    ]
    assert shown(bare, grounding="a page") == [("expected", "the context's"), ("context", "a page")]


async def test_a_judge_is_told_what_the_assertion_gives() -> None:
    model = Asked()
    judge = Judge(rubric(), model)
    value = {"type": "rubric_judge", "rubric": "x", "expected": "four", "context": "a page"}
    made = build_assertion(value, judge_factory=lambda *_: judge)

    found = made.evaluate(Context(output="4"))
    assessment = await found  # type: ignore[misc]  # a judge is awaited

    assert made.given == Given(expected="four", grounding="a page")
    assert assessment.score == 0.75
    assert "four" in model.bodies[0]
    assert "a page" in model.bodies[0]


async def test_one_judge_tells_apart_what_two_assertions_give() -> None:
    model = Asked()
    judge = Judge(rubric(), model)
    for expected in ("alpha", "beta"):
        value = {"type": "rubric_judge", "rubric": "x", "expected": expected}
        await build_assertion(value, judge_factory=lambda *_: judge).evaluate("4")  # type: ignore[misc]

    assert ["alpha" in body for body in model.bodies] == [True, False]
    assert ["beta" in body for body in model.bodies] == [False, True]


def test_where_nothing_is_given_the_judge_is_asked_as_it_is() -> None:
    judge = Judge(rubric(), provider_with())
    made = build_assertion({"type": "rubric_judge", "rubric": "x"}, judge_factory=lambda *_: judge)

    assert made.given == Given()
    assert made.waits(Context(output="x"))


@pytest.mark.parametrize("expected", [0, False, "", [], {}])
def test_a_reference_answer_that_counts_for_nothing_elsewhere_is_one_all_the_same(expected: Any) -> None:
    judge = Judge(rubric(), provider_with())

    assert shown(judge, expected=expected)[0][0] == "expected"
    assert shown(judge, expected=expected)[0][1] != "the context's"
