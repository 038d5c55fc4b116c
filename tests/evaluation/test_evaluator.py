"""Assessments that cannot contradict themselves, and one way of asking that contains whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import ErrorCategory, RequestError
from jurat.evaluation import Assessment, Evaluator, Measurement, TypedError, run_evaluator
from jurat.evidence import Context
from jurat.vocabulary import Status

CONTEXT = Context(output="x")
ERROR = TypedError(type=ErrorCategory.TIMEOUT, message="too late")


def assessment(**changes: Any) -> Assessment:
    return Assessment(**{"evaluator": "mine", "revision": "v1", "status": Status.PASS, "score": 1.0, **changes})


class Mine:
    """A user's evaluator that does what it is told."""

    name, revision = "mine", "v1"

    def __init__(self, answer: Callable[[Context], Any]) -> None:
        self._answer = answer

    def evaluate(self, context: Context) -> Any:
        return self._answer(context)


# --- Assessments -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.PASS, "score": None},
        {"status": Status.FAIL, "score": None},
        {"status": Status.UNVERIFIED},
        {"status": Status.SKIPPED, "score": 0.0},
        {"status": Status.ERROR, "error": ERROR},
        {"status": Status.ERROR, "score": None},
        {"status": Status.UNVERIFIED, "score": None, "error": ERROR},
        {"score": float("nan")},
        {"score": float("inf")},
        {"error": ERROR},
    ],
)
def test_an_assessment_whose_parts_contradict_each_other_cannot_be_made(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"mine: expected a finite score|mine: a score stands|mine: an error stands"):
        assessment(**changes)


@pytest.mark.parametrize("status", list(Status))
def test_only_a_pass_has_passed(status: Status) -> None:
    score = 0.5 if status.decided else None
    error = ERROR if status is Status.ERROR else None

    assert assessment(status=status, score=score, error=error).passed is (status is Status.PASS)


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), True, "1", None])
def test_a_measurement_is_a_finite_number(value: Any) -> None:
    with pytest.raises(ValueError, match="measurement wait: expected a finite number"):
        Measurement(name="wait", value=value, unit="ms")


# --- Asking ----------------------------------------------------------------------------------------------------------


async def later(found: Any) -> Any:
    return found


@pytest.mark.parametrize("answer", [lambda _: assessment(), lambda _: later(assessment())])
async def test_an_evaluator_may_answer_at_once_or_be_awaited(answer: Callable[[Context], Any]) -> None:
    assert isinstance(Mine(answer), Evaluator)
    assert await run_evaluator(Mine(answer), CONTEXT) == assessment()


def raising(error: BaseException) -> Callable[[Context], Any]:
    def answer(_: Context) -> Any:
        raise error

    return answer


def raising_later(error: BaseException) -> Callable[[Context], Any]:
    async def answer(_: Context) -> Any:
        raise error

    return answer


@pytest.mark.parametrize("way", [raising, raising_later])
async def test_what_an_evaluator_raises_is_an_error_by_its_type_and_place_and_never_by_its_text(
    way: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    line = way(ValueError()).__code__.co_firstlineno + 1

    found = await run_evaluator(Mine(way(ValueError("zq7canary"))), CONTEXT)

    assert (found.status, found.score) == (Status.ERROR, None)
    assert found.error == TypedError(
        type=ErrorCategory.EVALUATOR_EXCEPTION,
        message=f"the evaluator mine raised ValueError at test_evaluator.py:{line}",
    )


async def test_an_evaluation_error_keeps_its_own_category() -> None:
    error = RequestError(ErrorCategory.CONTEXT_TOO_LARGE, "too long")

    found = await run_evaluator(Mine(raising_later(error)), CONTEXT)

    assert found.error == TypedError(type=ErrorCategory.CONTEXT_TOO_LARGE, message="too long")


@pytest.mark.parametrize(
    "given", [None, True, 0.5, {"status": "pass"}, assessment(evaluator="other"), assessment(revision="v2")]
)
async def test_what_is_no_assessment_or_speaks_in_anothers_name_is_an_invalid_result(given: Any) -> None:
    found = await run_evaluator(Mine(lambda _: given), CONTEXT)

    assert (found.evaluator, found.revision, found.status) == ("mine", "v1", Status.ERROR)
    assert found.error is not None
    assert found.error.type is ErrorCategory.INVALID_RESULT


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(3)])
async def test_cancellation_and_exits_pass_through(error: BaseException) -> None:
    with pytest.raises(type(error)):
        await run_evaluator(Mine(raising(error)), CONTEXT)
