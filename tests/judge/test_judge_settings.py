"""A judge's settings: they say what they mean, or are refused when the judge is made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judging import CONTEXT, answer, provider_with, rubric
from jurat.errors import AuthoringError
from jurat.judge import Judge, JudgeSettings
from jurat.provider import Call, ModelRequest, ProviderSettings, Raw, Reply
from jurat.vocabulary import Status, Strategy


def faults_of(**settings: Any) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        Judge(rubric(), provider_with(), JudgeSettings(**settings))
    return [fault.path for fault in caught.value.faults]


@pytest.mark.parametrize(
    "settings",
    [
        *({"threshold": value} for value in (True, "0.5", -0.1, 1.1, float("nan"), float("inf"))),
        *({"samples": value} for value in (0, 21, True, 1.0, "3", None)),
        *({"temperature": value} for value in (True, "0", -0.1, 2.1, float("nan"))),
        *({"max_output_tokens": value} for value in (0, -1, True, 1.5, "500")),
        *({"evidence": value} for value in ("require", None, True, 1)),
        *({"contract": value} for value in ("score", "yes_no/v1", "explained/v1", None)),
        *({"strategy": value} for value in ("answers", 1, True)),
        *({"reducer": value} for value in ("majority", None)),
        *({"persona": value} for value in (1, "\ud800")),
        *({"grounding": value} for value in (b"x", "\ud800")),
        *({"expected": value} for value in (b"x", float("nan"), {1}, "\ud800")),
    ],
)
def test_a_setting_that_cannot_be_is_refused_when_the_judge_is_made(settings: dict[str, Any]) -> None:
    assert faults_of(**settings) == list(settings)


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"contract": "reasoned/v1", "evidence": "required"}, "evidence"),
        ({"strategy": "logprob", "evidence": "required"}, "evidence"),
        ({"strategy": "logprob", "contract": "criteria/v1"}, "contract"),
        ({"strategy": "both", "contract": "reasoned/v1"}, "contract"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, Any], path: str) -> None:
    assert faults_of(**settings) == [path]


def test_all_faults_come_together_and_near_words_are_named() -> None:
    with pytest.raises(AuthoringError) as caught:
        Judge(rubric(), provider_with(), JudgeSettings(evidence="requierd", samples=0, threshold=7))  # type: ignore[arg-type]

    assert [fault.path for fault in caught.value.faults] == ["evidence", "threshold", "samples"]
    assert "Did you mean required?" in str(caught.value)


def test_an_unknown_template_is_an_authoring_error() -> None:
    with pytest.raises(AuthoringError, match="groundedness"):
        Judge("groundednes", provider_with())


@pytest.mark.parametrize(
    ("default", "settings", "strategy"),
    [
        ("answer", {}, Strategy.ANSWER),
        ("logprob", {}, Strategy.LOGPROB),
        ("logprob", {"evidence": "required"}, Strategy.BOTH),
        ("logprob", {"contract": "criteria/v1"}, Strategy.ANSWER),
        ("both", {"contract": "reasoned/v1"}, Strategy.ANSWER),
        ("both", {"strategy": "answer"}, Strategy.ANSWER),
    ],
)
def test_the_models_default_strategy_gives_way_to_what_the_author_chose(
    default: str, settings: dict[str, Any], strategy: Strategy
) -> None:
    assert Judge(rubric(), provider_with(default_strategy=default), JudgeSettings(**settings)).strategy is strategy


def test_a_request_says_what_the_settings_say() -> None:
    judge = Judge(rubric(), provider_with(), JudgeSettings(temperature=0.25, max_output_tokens=77))
    plain = Judge(rubric(), provider_with(temperature=False), JudgeSettings(max_output_tokens=None))

    sent, bare = (json.loads(next(one.steps(CONTEXT))[0].body) for one in (judge, plain))

    assert (sent["temperature"], sent["max_tokens"], sent["response_format"]["json_schema"]["strict"]) == (
        0.25,
        77,
        True,
    )
    assert list(sent["response_format"]["json_schema"]["schema"]["properties"]) == ["evidence", "reason", "score"]
    assert not {"temperature", "max_tokens"} & set(bare)


def test_changing_what_was_handed_in_later_changes_nothing() -> None:
    expected = {"hour": [9]}
    judge = Judge(rubric(), provider_with(), JudgeSettings(expected=expected))
    before = next(judge.steps(CONTEXT))[0]
    expected["hour"].append(10)

    assert next(judge.steps(CONTEXT))[0] == before


class NoProvider:
    """What a judge needs of a provider, and no more: the protocol is enough."""

    settings = ProviderSettings(name="mine", kind="mine", model="m", prices={})

    def prepare(self, request: ModelRequest) -> Call:
        return Call(key="0" * 64, body=request.user.encode())

    async def send(self, _: Call) -> Raw:
        return Raw(body=answer().encode(), latency_ms=2.0)

    def read(self, raw: Raw) -> Reply:
        return Reply(text=raw.body.decode())

    def check(self) -> None:
        return None

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_any_object_of_the_protocols_shape_can_be_asked() -> None:
    verdict = await Judge(rubric(), NoProvider()).judge(CONTEXT)

    assert (verdict.status, verdict.score, verdict.opinion.spending.cost_usd) == (Status.PASS, 0.75, None)
