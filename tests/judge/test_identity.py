"""The judge identity: it names everything that can change an answer, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judging import CONTEXT, provider_with, rubric
from jurat.evidence import Context
from jurat.judge import Judge, JudgeSettings, WorkedExample
from jurat.provider import ProviderSettings, ScriptedProvider
from jurat.rubric import Rubric

BASE = rubric()
EXAMPLE = WorkedExample(context=Context(output="At 9."), reason="It says so.", score=1)
OTHER_EXAMPLE = replace(EXAMPLE, reason="It does.")


def identity(against: Rubric = BASE, provider: ProviderSettings | None = None, **settings: Any) -> str:
    scripted = ScriptedProvider("{}", settings=provider) if provider else provider_with()
    return Judge(against, scripted, JudgeSettings(**settings)).facts.identity


def test_the_same_judge_made_twice_has_one_identity() -> None:
    assert identity() == identity()
    assert identity(examples=(EXAMPLE,), persona="A baker.") == identity(examples=(EXAMPLE,), persona="A baker.")


ORACLE = provider_with().settings


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"against": rubric(definition="Does it say when we close?")}, id="definition"),
        pytest.param({"against": rubric(revision="v2")}, id="revision"),
        pytest.param({"examples": (EXAMPLE,)}, id="an example"),
        pytest.param({"examples": (OTHER_EXAMPLE,)}, id="another example"),
        pytest.param({"examples": (EXAMPLE, OTHER_EXAMPLE)}, id="two examples"),
        pytest.param({"examples": (OTHER_EXAMPLE, EXAMPLE)}, id="their order"),
        pytest.param({"persona": "A baker."}, id="persona"),
        pytest.param({"contract": "criteria/v1"}, id="contract criteria"),
        pytest.param({"contract": "reasoned/v1"}, id="contract reasoned"),
        pytest.param({"strategy": "logprob"}, id="strategy logprob"),
        pytest.param({"strategy": "both"}, id="strategy both"),
        pytest.param({"temperature": 0.5}, id="temperature"),
        pytest.param({"temperature": None}, id="no temperature"),
        pytest.param({"max_output_tokens": 400}, id="token limit"),
        pytest.param({"provider": replace(ORACLE, model="oracle-2")}, id="model"),
        pytest.param({"provider": replace(ORACLE, kind="openai")}, id="kind"),
        pytest.param({"provider": replace(ORACLE, endpoint="http://127.0.0.1/v1")}, id="endpoint"),
        pytest.param({"provider": replace(ORACLE, extra={"seed": 1})}, id="an extra setting"),
    ],
)
def test_what_can_change_an_answer_changes_the_identity(changed: dict[str, Any]) -> None:
    seen = {identity()}

    assert identity(**changed) not in seen


def test_all_those_identities_differ_from_each_other() -> None:
    marks = test_what_can_change_an_answer_changes_the_identity.pytestmark
    changes = [param.values[0] for mark in marks for param in mark.args[1]]

    assert len({identity(**changed) for changed in changes}) == len(changes) == 18


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"provider": replace(ORACLE, name="other")}, id="the provider's name"),
        pytest.param({"provider": replace(ORACLE, prices={"input": 1.0})}, id="prices"),
        pytest.param({"provider": replace(ORACLE, api_key_env="KEY")}, id="where the key is found"),
        pytest.param({"against": rubric(purpose="For shops.")}, id="the rubric's purpose"),
        pytest.param({"expected": "9"}, id="the reference answer"),
        pytest.param({"grounding": "9 to 5"}, id="the grounding text"),
        pytest.param({"threshold": 0.9}, id="the threshold"),
        pytest.param({"strategy": "answer"}, id="the default strategy by name"),
    ],
)
def test_what_cannot_change_an_answer_does_not(changed: dict[str, Any]) -> None:
    assert identity(**changed) == identity()


def test_the_identity_is_the_same_in_every_process() -> None:
    program = "from test_identity import identity, EXAMPLE; print(identity(examples=(EXAMPLE,), persona='A baker.'))"
    here = Path(__file__).resolve().parent
    found = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
        found.add(done.stdout.decode().strip())

    assert found == {identity(examples=(EXAMPLE,), persona="A baker.")}


async def test_every_verdict_names_the_judge_and_the_whole_of_what_it_stands_for() -> None:
    facts = (await Judge("groundedness", provider_with(), name="grounded").judge(CONTEXT)).judge

    assert facts.identity.startswith("sha256:")
    assert (facts.name, facts.template, facts.template_revision) == ("grounded", "groundedness", "v1")
    assert (facts.provider, facts.model, facts.score_range, facts.threshold) == ("oracle", "oracle-1", (0.0, 1.0), 0.5)
    assert facts.rubric_hash.startswith("sha256:")
