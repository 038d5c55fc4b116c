"""Evaluators of other distributions: found by their entry points, loaded when asked for, held to their name."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.assertions import build_assertion, build_assertions, installed_types
from jurat.errors import AuthoringError, ErrorCategory
from jurat.evaluation import Assessment, run_evaluator
from jurat.evidence import Context
from jurat.vocabulary import Status

PLUGIN = """
import threading
from jurat.errors import AuthoringError, Fault
from jurat.evaluation import Assessment
from jurat.vocabulary import Status

threads = []

class Starts:
    revision = "7"
    def __init__(self, value, name="starts_with"):
        if not isinstance(value.get("value"), str):
            raise AuthoringError("starts_with", [Fault(path="value", expected="text", found="nothing")])
        self.value, self.name = value["value"], name
    def evaluate(self, context):
        threads.append(threading.current_thread().name)
        passed = context.output.startswith(self.value)
        status = Status.PASS if passed else Status.FAIL
        return Assessment(evaluator="starts_with", revision="7", status=status, score=100.0 if passed else 0.0)

class Async(Starts):
    async def evaluate(self, context):
        return super().evaluate(context)

def impostor(value):
    return Starts(value, name="somebody")

def raises(value):
    raise OSError("SECRET")

def no_evaluator(value):
    return 3
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution that adds evaluators, installed as a real one is; its module is forgotten afterwards."""
    root = tmp_path / "site"
    meta = root / "my_plugin-1.0.dist-info"
    meta.mkdir(parents=True)
    (root / "my_plugin.py").write_text(PLUGIN)
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text(
        "[jurat.evaluators]\n"
        "starts_with = my_plugin:Starts\nstarts_async = my_plugin:Async\nimpostor = my_plugin:impostor\n"
        "raises = my_plugin:raises\nno_evaluator = my_plugin:no_evaluator\ngone = my_plugin:gone\n"
        "contains = my_plugin:raises\n"
    )
    monkeypatch.syspath_prepend(root)
    yield
    sys.modules.pop("my_plugin", None)


def plugged(**assertion: Any) -> Assessment:
    return asyncio.run(run_evaluator(build_assertion(assertion), Context(output="Paris")))


@pytest.mark.usefixtures("installed")
def test_an_installed_evaluator_is_asked_like_our_own_and_in_a_thread() -> None:
    assessment = plugged(type="starts_with", value="Par", name="mine", weight=2)
    assert (assessment.evaluator, assessment.revision, assessment.status) == ("mine", "7", Status.PASS)
    assert plugged(type="starts_with", value="Par", negate=True).status is Status.FAIL
    assert plugged(type="starts_async", value="Par").passed
    assert sys.modules["my_plugin"].threads == ["jurat-check", "jurat-check", "MainThread"]


@pytest.mark.usefixtures("installed")
def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    assert installed_types() == (
        "contains",
        "gone",
        "impostor",
        "no_evaluator",
        "raises",
        "starts_async",
        "starts_with",
    )
    with pytest.raises(AuthoringError, match="Did you mean starts_with"):
        build_assertion({"type": "start_with", "value": "a"})
    assert plugged(type="contains", value="Paris").passed
    assert "my_plugin" not in sys.modules


@pytest.mark.usefixtures("installed")
def test_an_installed_evaluator_cannot_speak_in_another_name() -> None:
    assessment = plugged(type="impostor", value="Par")
    assert assessment.error is not None
    assert assessment.error.type is ErrorCategory.INVALID_RESULT


@pytest.mark.usefixtures("installed")
def test_what_is_wrong_with_an_installed_evaluator_is_found_when_it_is_built() -> None:
    with pytest.raises(AuthoringError) as caught:
        build_assertions(
            [
                {"type": "starts_with", "value": 3},
                {"type": "starts_with", "value": "a", "weight": -1},
                {"type": "raises"},
                {"type": "no_evaluator"},
                {"type": "gone"},
                {"type": "starts_with", "value": b"a"},
            ]
        )
    assert [(fault.path, fault.found) for fault in caught.value.faults] == [
        ("assertions[0].value", "nothing"),
        ("assertions[1].weight", "-1.0"),
        ("assertions[2].type", "it raised OSError"),
        ("assertions[3].type", "a number"),
        ("assertions[4].type", "it raised AttributeError"),
        ("assertions[5].value", "bytes"),
    ]
    assert "SECRET" not in str(caught.value)


@pytest.mark.usefixtures("installed")
def test_installed_evaluators_can_be_kept_out() -> None:
    with pytest.raises(AuthoringError, match="a type that runs no code"):
        build_assertion({"type": "starts_with", "value": "a"}, allow_code=False)
    assert "my_plugin" not in sys.modules


@pytest.mark.usefixtures("installed")
def test_two_distributions_that_claim_one_type_are_both_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = tmp_path / "other" / "other_plugin-1.0.dist-info"
    meta.mkdir(parents=True)
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: other-plugin\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[jurat.evaluators]\nstarts_with = other_plugin:Starts\n")
    monkeypatch.syspath_prepend(meta.parent)
    with pytest.raises(AuthoringError) as caught:
        build_assertion({"type": "starts_with", "value": "a"})
    assert [fault.found for fault in caught.value.faults] == ["my_plugin:Starts and other_plugin:Starts"]
