"""From what a `rubric_judge` assertion says to a judge: rubric, provider and settings, or every fault in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jurat.assertions import Assertion, build_assertion, build_assertions
from jurat.errors import AuthoringError, ErrorCategory, RequestError
from jurat.judge import Judge
from jurat.judgefactory import JudgeFactory, is_rubric_file
from jurat.testing import ScriptedProvider
from jurat.workbench import Workbench

PROVIDER = ScriptedProvider("x")
JUDGE: dict[str, Any] = {"type": "rubric_judge", "template": "correctness", "provider": PROVIDER}


def factory(**more: Any) -> JudgeFactory:
    return JudgeFactory(Workbench(), **more)


def judge_of(assertion: Assertion) -> Judge:
    assert isinstance(assertion.evaluator, Judge)
    return assertion.evaluator


def test_what_the_assertion_says_is_what_the_judge_does() -> None:
    made = build_assertion(
        {
            **JUDGE,
            "threshold": 70,
            "evidence": "required",
            "samples": 3,
            "reducer": "majority",
            "persona": "A teacher.",
        },
        judge_factory=factory(),
    )

    judge = judge_of(made)
    assert (judge.rubric.name, judge.threshold, judge.provider) == ("correctness", 70, PROVIDER)
    assert (judge.settings.samples, judge.settings.persona) == (3, "A teacher.")
    assert judge.settings.expected is None


def test_the_reference_answer_and_the_grounding_stay_with_the_assertion() -> None:
    made = factory()
    first, second = (
        build_assertion({**JUDGE, "expected": word, "context": f"about {word}"}, judge_factory=made)
        for word in ("Paris", "Rome")
    )

    assert first.evaluator is second.evaluator
    assert (second.given.expected, second.given.grounding) == ("Rome", "about Rome")
    assert list(made.judges.values()) == [""]


@pytest.mark.parametrize(
    "more",
    [
        {"threshold": 10},
        {"evidence": "required"},
        {"contract": "criteria/v1"},
        {"samples": 2},
        {"samples": 2, "reducer": "any"},
        {"persona": "A teacher."},
        {"provider": ScriptedProvider("x")},
        {"template": "relevance"},
        {"examples": [{"evidence": {"output": "a"}, "reason": "b", "score": 1}]},
    ],
)
def test_who_asks_in_another_way_is_another_judge(more: dict[str, Any]) -> None:
    made = factory()

    plain, other = build_assertions([JUDGE, {**JUDGE, **more}], judge_factory=made)

    assert plain.evaluator is not other.evaluator
    assert len(made.judges) == 2


def test_a_rubric_in_words_is_made_once() -> None:
    made = factory()
    asks = {"type": "rubric_judge", "rubric": "Is it kind?", "provider": PROVIDER}

    one, two = build_assertions([asks, {**asks, "weight": 2}], judge_factory=made)

    assert one.evaluator is two.evaluator
    assert judge_of(one).rubric.score_range == (0, 100)


@pytest.mark.parametrize(
    ("word", "file"),
    [
        ("tone.yaml", True),
        ("rubrics/TONE.JSON", True),
        ("faithfulness@v1", False),
        ("Does it follow house.yaml", False),
        ("Is it valid.json?", False),
    ],
)
def test_a_rubric_is_a_file_when_its_name_ends_like_one_and_is_one_word(word: str, file: bool) -> None:
    assert is_rubric_file(word) is file


@pytest.mark.parametrize("key", ["rubric", "template"])
def test_a_rubric_file_is_read_by_whoever_knows_the_folder(key: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "name: own\ndefinition: d\ncriteria:\n  - {id: a, description: b, min: 0, max: 5}\n"
    )
    bench = Workbench(tmp_path)

    made = build_assertion(
        {"type": "rubric_judge", key: "own.yaml", "provider": PROVIDER}, judge_factory=JudgeFactory(bench)
    )

    assert judge_of(made).rubric.score_range == (0, 5)


def faults_of(value: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    with pytest.raises(AuthoringError) as caught:
        build_assertion(value, path="cases[1].assertions[0]", judge_factory=factory(**more))
    return [(fault.path, fault.found) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"template": "correctnes"}, ".template"),
        ({"threshold": 101}, ".threshold"),
        ({"provider": {"kind": "scripted", "name": "s"}}, ".provider.replies"),
        ({"provider": "nobody"}, ".provider"),
        ({"evidence": "required", "contract": "reasoned/v1"}, ".evidence"),
        ({"examples": [{"reason": 1}]}, ".examples[0].reason"),
    ],
)
def test_what_is_wrong_is_told_where_it_stands(more: dict[str, Any], path: str) -> None:
    assert f"cases[1].assertions[0]{path}" in [where for where, _ in faults_of({**JUDGE, **more}, collect=True)]


def test_what_is_wrong_with_rubric_and_provider_is_told_together() -> None:
    found = faults_of({**JUDGE, "template": "correctnes", "provider": "nobody"}, collect=True)

    assert [path for path, _ in found] == ["cases[1].assertions[0].template", "cases[1].assertions[0].provider"]


def test_a_rubric_as_an_object_is_told_member_by_member() -> None:
    value = {"type": "rubric_judge", "rubric": {"name": "x", "criteria": []}, "provider": PROVIDER}

    assert [path for path, _ in faults_of(value)] == [
        "cases[1].assertions[0].rubric.definition",
        "cases[1].assertions[0].rubric.criteria",
    ]


def test_for_one_evaluation_a_provider_that_does_not_exist_is_an_error_of_its_own() -> None:
    with pytest.raises(RequestError) as caught:
        build_assertion({**JUDGE, "provider": "nobody"}, judge_factory=factory())

    assert caught.value.category is ErrorCategory.PROVIDER_NOT_FOUND
