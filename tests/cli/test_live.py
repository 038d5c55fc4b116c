"""The live view: what it counts, and that a case counts as decided when the last of its trials is there."""

from __future__ import annotations

from typing import Any

import pytest

from jurat.cli._live import Standing, live_view
from jurat.errors import ErrorCategory
from jurat.evaluation import Reducer, TypedError
from jurat.judge import Spending
from jurat.report.record import AssessmentRecord, SubjectRecord, TrialRecord
from jurat.vocabulary import Status


def trial(case: int, number: int, status: Status, *, cost: float | None = 0.0, error: str | None = None) -> TrialRecord:
    result: dict[str, Any] = {"evaluator": {"error": {"type": error}} if error else {}}
    judged = Status.ERROR if error else Status.PASS
    one = AssessmentRecord(
        name="j", type="rubric_judge", status=judged, result=result, spending=Spending(cost_usd=cost)
    )
    return TrialRecord(
        case_index=case,
        trial_index=number,
        status=status,
        subject=SubjectRecord(output="x", spending=Spending(cost_usd=0.5)),
        assessments=(one,),
    )


def test_a_case_is_decided_when_the_last_of_its_trials_is_there() -> None:
    standing = Standing(2, 2, Reducer(rule="any"))  # type: ignore[arg-type]  # the word may be written as text

    standing.trial(trial(0, 1, Status.PASS))
    standing.trial(trial(1, 0, Status.FAIL))
    assert (standing.trials, standing.decided) == (2, 0)

    standing.trial(trial(0, 0, Status.FAIL))
    assert standing.lines(0.0) == ["1 of 2 cases  1 passed  0 failed  $1.5000"]


def test_a_cost_that_is_not_known_is_marked_and_errors_are_counted_by_category() -> None:
    standing = Standing(4, 1, Reducer())
    standing.trial(trial(0, 0, Status.ERROR, cost=None, error="timeout"))
    standing.trial(trial(1, 0, Status.ERROR, cost=0.25, error="timeout"))
    broken = SubjectRecord(error=TypedError(type=ErrorCategory.NETWORK_ERROR, message="x"))
    standing.trial(TrialRecord(case_index=2, trial_index=0, status=Status.ERROR, subject=broken))
    standing.calls = 3

    assert standing.lines(2.0) == [
        "3 of 4 cases  0 passed  0 failed  3 undecided  $1.2500+  1.5/s  3 calls",
        "errors: 2 × timeout, 1 × network_error",
    ]


def test_what_an_earlier_part_of_the_run_has_left_is_no_part_of_the_rate() -> None:
    standing = Standing(3, 1, Reducer())

    standing.before([(0, Status.PASS), (1, Status.FAIL)])

    assert standing.lines(10.0) == ["2 of 3 cases  1 passed  1 failed  $0.0000"]


def test_without_a_terminal_nothing_is_drawn_but_notices_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    standing = Standing(1, 1, Reducer())

    with live_view("suite", standing) as view:
        view.call_started("judge")
        view.notice("the key of judge was refused\x1b[2J")
        view.call_ended("judge", None)
        view.trial(trial(0, 0, Status.PASS))

    assert capsys.readouterr().err == "the key of judge was refused\\x1b[2J\n"
    assert (standing.calls, standing.decided) == (0, 1)
