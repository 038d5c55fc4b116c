"""A person's own functions: found when built, contained when asked, never on the event loop's time."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.assertions import build_assertion, in_thread
from jurat.errors import AuthoringError, ErrorCategory, EvaluatorFault
from jurat.evaluation import Assessment, run_evaluator
from jurat.evidence import Context
from jurat.vocabulary import Status

MODULE = """
import asyncio, threading
from jurat.errors import ErrorCategory, EvaluatorFault
from jurat.evaluation import Assessment, Finding
from jurat.vocabulary import Status

number = 3
on = []

def returns(context, *, what):
    return what

def long_enough(context, minimum=3):
    return len(context.output) >= minimum

async def slowly(context):
    await asyncio.sleep(0)
    on.append(threading.current_thread().name)
    return True

def where(context):
    on.append(threading.current_thread().name)
    return True

def promises(context):
    return slowly(context)

def raises(context):
    raise KeyError(context.output)

def leaves(context):
    raise SystemExit(3)

def stops(context):
    raise StopIteration

async def leaves_async(context):
    raise SystemExit(3)

def cannot(context):
    raise EvaluatorFault(ErrorCategory.RATE_LIMITED, "later")

def undecided(context):
    finding = Finding(code="no_source", message="there is no source")
    return Assessment(evaluator="x", revision="y", status=Status.UNVERIFIED, findings=(finding,))

def scored(context):
    return Assessment(evaluator="x", revision="y", status=Status.PASS, score=len(context.output), reason="long")

def bytes_(context):
    return b"yes"

def nothing(context):
    return None

class Tools:
    @staticmethod
    def fine(context):
        return True

def no_arguments():
    return True
"""


@pytest.fixture(autouse=True)
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module `my_checks` of a person's own, on the import path."""
    (tmp_path / "my_checks.py").write_text(MODULE)
    (tmp_path / "my_broken.py").write_text("x = 1\nraise ZeroDivisionError('SECRET')\n")
    (tmp_path / "my_exit.py").write_text("raise SystemExit(1)\n")
    (tmp_path / "my_needs.py").write_text("import surely_not_installed\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("my_checks")
    for name in [name for name in sys.modules if name.startswith("my_")]:
        del sys.modules[name]


def asked(function: str, output: str = "text", **more: Any) -> Assessment:
    assertion = build_assertion({"type": "python", "function": f"my_checks:{function}", **more})
    return asyncio.run(run_evaluator(assertion, Context(output=output)))


def returned(what: Any, **more: Any) -> Assessment:
    return asked("returns", arguments={"what": what}, **more)


@pytest.mark.parametrize(
    ("what", "more", "status", "score"),
    [
        (True, {}, Status.PASS, 100.0),
        (False, {}, Status.FAIL, 0.0),
        (80, {"threshold": 80}, Status.PASS, 80.0),
        (79.99, {"threshold": 80}, Status.FAIL, 79.99),
        (0, {"threshold": 0}, Status.PASS, 0.0),
        ({"passed": True}, {}, Status.PASS, 100.0),
        ({"passed": False, "score": 30}, {}, Status.FAIL, 30.0),
        ({"score": 30, "reason": "meh"}, {"threshold": 20}, Status.PASS, 30.0),
        (True, {"negate": True}, Status.FAIL, 0.0),
        (30, {"threshold": 20, "negate": True}, Status.FAIL, 70.0),
    ],
)
def test_what_a_function_returns_becomes_a_verdict(
    what: Any, more: dict[str, Any], status: Status, score: float
) -> None:
    assessment = returned(what, **more)
    assert (assessment.evaluator, assessment.status, assessment.score) == ("python", status, score)


def test_the_reason_that_a_function_gives_is_kept() -> None:
    assert returned({"passed": True, "reason": "polite"}).reason == "polite"


@pytest.mark.parametrize(
    ("what", "more", "says"),
    [
        (80, {}, "a boolean, since the assertion has no threshold for a score, it returned a number"),
        (101, {"threshold": 80}, "a score from 0 to 100, it returned 101.0"),
        (-1, {"threshold": 80}, "a score from 0 to 100, it returned -1.0"),
        ("80", {"threshold": 80}, "a boolean, a number, an object or an Assessment, it returned text"),
        (None, {}, "a boolean, a number, an object or an Assessment, it returned null"),
        ([True], {}, "a boolean, a number, an object or an Assessment, it returned an array"),
        ({}, {}, "an object with passed or score, it returned neither"),
        ({"passed": 1}, {}, "true or false as passed, it returned a number"),
        ({"passed": True}, {"threshold": 80}, "a score, for the threshold decides, it returned passed"),
        ({"score": "80"}, {"threshold": 80}, "a number as score, it returned text"),
        ({"score": 80}, {}, "a boolean, since the assertion has no threshold for a score, it returned a number"),
        ({"passed": True, "note": "x"}, {}, "an object of passed, reason, score, it returned another key"),
        ({"passed": True, "reason": 3}, {}, "a reason of at most 4,000 characters, it returned a number"),
    ],
)
def test_nonsense_is_an_error_and_never_a_score(what: Any, more: dict[str, Any], says: str) -> None:
    assessment = returned(what, **more)
    assert (assessment.status, assessment.score) == (Status.ERROR, None)
    assert assessment.error is not None
    assert assessment.error.type is ErrorCategory.INVALID_RESULT
    assert assessment.error.message == f"the function must return {says}"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400])
def test_a_score_that_is_not_finite_is_nonsense(number: float, checks: Any) -> None:
    checks.number_of = lambda _: number
    assessment = asked("number_of", threshold=50)
    assert assessment.error is not None
    assert assessment.error.type is ErrorCategory.INVALID_RESULT


def test_an_assessment_of_a_function_bears_the_name_of_the_assertion() -> None:
    assessment = asked("undecided", name="sourced")
    assert (assessment.evaluator, assessment.status) == ("sourced", Status.UNVERIFIED)
    assert [finding.code for finding in assessment.findings] == ["no_source"]
    assessment = asked("scored", name="long")
    assert (assessment.evaluator, assessment.score, assessment.reason) == ("long", 4.0, "long")
    assessment = asked("scored", output="x" * 101)
    assert assessment.error is not None
    assert assessment.error.type is ErrorCategory.INVALID_RESULT


@pytest.mark.parametrize(
    ("function", "category", "says"),
    [
        ("raises", ErrorCategory.EVALUATOR_EXCEPTION, "the evaluator python raised KeyError at my_checks.py:29"),
        ("leaves", ErrorCategory.EVALUATOR_EXCEPTION, "the evaluator's code raised SystemExit at my_checks.py:32"),
        (
            "leaves_async",
            ErrorCategory.EVALUATOR_EXCEPTION,
            "the evaluator's code raised SystemExit at my_checks.py:38",
        ),
        ("stops", ErrorCategory.EVALUATOR_EXCEPTION, "the evaluator's code raised StopIteration at my_checks.py:35"),
        ("cannot", ErrorCategory.RATE_LIMITED, "later"),
        (
            "bytes_",
            ErrorCategory.INVALID_RESULT,
            "the function must return a boolean, a number, an object or an Assessment, it returned bytes",
        ),
    ],
)
def test_what_a_function_raises_is_contained_and_never_quoted(
    function: str, category: ErrorCategory, says: str
) -> None:
    assessment = asked(function, output="SECRET")
    assert assessment.error is not None
    assert (assessment.error.type, assessment.error.message) == (category, says)


def test_a_function_may_be_async_and_one_that_is_not_runs_in_a_thread(checks: Any) -> None:
    assert asked("slowly").passed
    assert asked("where").passed
    assert asked("promises").passed
    assert checks.on == ["MainThread", "jurat-check", "MainThread"]


def test_arguments_reach_the_function_as_plain_lists_and_dicts(checks: Any) -> None:
    checks.plain = lambda _, *, items: type(items) is list and type(items[0]) is dict
    assert asked("plain", arguments={"items": [{"a": 1}]}).passed


def test_a_function_may_take_arguments_and_live_in_a_class() -> None:
    assert asked("long_enough", arguments={"minimum": 4}).passed
    assert not asked("long_enough", arguments={"minimum": 5}).passed
    assert asked("Tools.fine").passed


@pytest.mark.parametrize(
    ("function", "found"),
    [
        ("my_checks", "'my_checks'"),
        ("my_checks:", "'my_checks:'"),
        ("my checks:returns", "'my checks:returns'"),
        ("my_checks:a:b", "'my_checks:a:b'"),
        ("surely_not_installed:f", "no module named 'surely_not_installed'"),
        ("my_needs:f", "no module named 'surely_not_installed' (my_needs.py, line 1)"),
        ("my_broken:f", "ZeroDivisionError while it was imported (my_broken.py, line 2)"),
        ("my_exit:f", "SystemExit while it was imported (my_exit.py, line 1)"),
        ("my_checks:rises", "no rises there"),
        ("my_checks:Tools.gone", "no gone there"),
        ("my_checks:number", "a number"),
        ("my_checks:no_arguments", "a function of ()"),
        ("my_checks:returns", "a function of (context, *, what)"),
    ],
)
def test_a_function_that_cannot_be_called_is_found_before_anything_is_asked(function: str, found: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        build_assertion({"type": "python", "function": function})
    assert [(fault.path, fault.found) for fault in caught.value.faults] == [("function", found)]
    assert "SECRET" not in str(caught.value)


def test_the_nearest_function_is_named() -> None:
    with pytest.raises(AuthoringError, match=r"Did you mean raises\?"):
        build_assertion({"type": "python", "function": "my_checks:rises"})


def test_arguments_that_the_function_does_not_take_are_found_before_anything_is_asked() -> None:
    with pytest.raises(AuthoringError, match=r"a function of \(context, minimum=3\)"):
        build_assertion({"type": "python", "function": "my_checks:long_enough", "arguments": {"maximum": 9}})


def test_code_can_be_kept_out(checks: Any) -> None:
    del sys.modules["my_checks"]
    with pytest.raises(AuthoringError, match="a type that runs no code"):
        build_assertion({"type": "python", "function": "my_checks:returns"}, allow_code=False)
    assert "my_checks" not in sys.modules


# --- threads -------------------------------------------------------------------------------------------------------


def test_a_function_that_hangs_holds_up_neither_the_loop_nor_a_cancelled_caller(checks: Any) -> None:
    release = threading.Event()
    checks.hangs = lambda _: release.wait()
    assertion = build_assertion({"type": "python", "function": "my_checks:hangs"})

    async def ask() -> list[str]:
        hanging = asyncio.ensure_future(run_evaluator(assertion, Context(output="x")))
        for _ in range(3):
            await asyncio.sleep(0)
        alive = [thread for thread in threading.enumerate() if thread.name == "jurat-check"]
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        return ["daemon" if thread.daemon else "blocks the exit" for thread in alive]

    try:
        assert asyncio.run(ask()) == ["daemon"]
    finally:
        release.set()


def test_a_result_that_comes_after_the_loop_is_closed_is_dropped() -> None:
    release, done = threading.Event(), threading.Event()

    def late() -> None:
        release.wait()
        done.set()

    async def ask() -> None:
        task = asyncio.ensure_future(in_thread(late))
        await asyncio.sleep(0)
        task.cancel()

    before = set(threading.enumerate())
    asyncio.run(ask())
    (worker,) = [thread for thread in threading.enumerate() if thread.name == "jurat-check" and thread not in before]
    release.set()
    worker.join(timeout=10)
    assert done.is_set()
    assert not worker.is_alive()


def test_context_variables_reach_the_thread() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("seen")
    assert asyncio.run(in_thread(variable.get)) == "seen"


def test_what_is_raised_in_the_thread_is_raised_to_the_caller() -> None:
    def fail() -> None:
        raise EvaluatorFault(ErrorCategory.TIMEOUT, "too late")

    with pytest.raises(EvaluatorFault, match="too late"):
        asyncio.run(in_thread(fail))
