"""Judges among assertions: what their factory is given, and what comes of its faults and of theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from built import Judge, faults_of

from jurat.assertions import build_assertion, build_assertions
from jurat.errors import AuthoringError, ErrorCategory, EvaluatorFault, Fault, RubricInvalid
from jurat.evaluation import Assessment, Reducer, ReducerRule, run_evaluator
from jurat.evidence import Context
from jurat.jsontext import thaw
from jurat.vocabulary import Status


def test_the_judge_factory_gets_the_values_that_were_read_under_their_main_names() -> None:
    seen: list[tuple[dict[str, Any], str]] = []

    def factory(value: Mapping[str, Any], path: str, faults: list[Fault]) -> Judge:
        seen.append(({key: thaw(part) if key != "reducer" else part for key, part in value.items()}, path))
        return Judge(value["name"])

    rubric = {"type": "rubric_judge", "template": "safety", "provider_id": "p", "samples": 2, "reducer": "any"}
    made = build_assertions([rubric, {**rubric, "weight": 3}], judge_factory=factory)
    read = {"template": "safety", "provider": "p", "samples": 2, "reducer": Reducer(rule=ReducerRule.ANY)}
    assert seen == [
        ({**read, "name": "rubric_judge"}, "assertions[0]"),
        ({**read, "name": "rubric_judge#2"}, "assertions[1]"),
    ]
    assert [(assertion.name, assertion.revision, assertion.weight) for assertion in made] == [
        ("rubric_judge", "sha256:0", 1.0),
        ("rubric_judge#2", "sha256:0", 3.0),
    ]
    assert isinstance(made[0].evaluator, Judge)


@pytest.mark.parametrize(
    ("status", "expected"), [(Status.PASS, (Status.FAIL, 0.125)), (Status.UNVERIFIED, (Status.UNVERIFIED, None))]
)
def test_a_negated_judge_is_mirrored_in_its_own_range_and_left_alone_when_undecided(
    status: Status, expected: tuple[Status, float | None]
) -> None:
    value = {"type": "rubric_judge", "rubric": "Kind?", "negate": True}
    assertion = build_assertion(value, judge_factory=lambda *_: Judge(status=status))
    assessment = asyncio.run(run_evaluator(assertion, Context(output="x")))
    assert (assessment.status, assessment.score) == expected


def test_a_rubric_or_provider_made_in_python_reaches_the_factory_as_it_is() -> None:
    rubric, provider = object(), object()
    seen: list[Mapping[str, Any]] = []

    def factory(value: Mapping[str, Any], path: str, faults: list[Fault]) -> Judge:
        seen.append(value)
        return Judge()

    build_assertion({"type": "rubric_judge", "rubric": rubric, "provider": provider}, judge_factory=factory)
    assert seen[0]["rubric"] is rubric
    assert seen[0]["provider"] is provider


def test_the_faults_of_a_factory_are_the_authors_too() -> None:
    def adding(value: Mapping[str, Any], path: str, faults: list[Fault]) -> None:
        faults.append(Fault(path=f"{path}.provider", expected="a provider", found="nothing"))

    def raising(value: Mapping[str, Any], path: str, faults: list[Fault]) -> None:
        raise RubricInvalid("rubric", [Fault(path=f"{path}.rubric", expected="criteria", found="none")])

    value = {"type": "rubric_judge", "rubric": "Kind?"}
    assert faults_of(value, path="a", judge_factory=adding) == [("a.provider", "a provider", "nothing")]
    assert faults_of(value, path="a", judge_factory=lambda *_: None) == [
        ("a", "a judge that can be made", "none, for reasons not given")
    ]
    assert faults_of(value, path="a", judge_factory=raising) == [("a.rubric", "criteria", "none")]


def test_without_a_judge_factory_a_judge_is_a_fault_and_the_neighbours_are_still_read() -> None:
    with pytest.raises(AuthoringError) as caught:
        build_assertions([{"type": "rubric_judge", "rubric": "Kind?"}, {"type": "contains"}])
    assert [fault.path for fault in caught.value.faults] == ["assertions[0].type", "assertions[1].value"]


def test_a_judge_that_raises_or_speaks_in_another_name_is_contained() -> None:
    class Raising(Judge):
        def evaluate(self, _: Context) -> Assessment:
            raise EvaluatorFault(ErrorCategory.TIMEOUT, "too late")

    class Impostor(Judge):
        def evaluate(self, _: Context) -> Assessment:
            return Assessment(evaluator="another", revision=self.revision, status=Status.PASS, score=1.0)

    value = {"type": "rubric_judge", "rubric": "Kind?", "name": "kind", "negate": True}
    for judge, category in ((Raising("kind"), ErrorCategory.TIMEOUT), (Impostor("kind"), ErrorCategory.INVALID_RESULT)):
        assertion = build_assertion(value, judge_factory=lambda *_, judge=judge: judge)
        assessment = asyncio.run(run_evaluator(assertion, Context(output="x")))
        assert assessment.evaluator == "kind"
        assert assessment.error is not None
        assert assessment.error.type is category
