"""Calls that must not be begun: the budget is spent, or the provider has refused our key three times."""

from __future__ import annotations

import pytest
from runs import (
    CONTAINS,
    COST,
    JUDGED,
    answerer,
    assertions,
    cases,
    costs,
    errors,
    job,
    judging_model,
    plan,
    run,
    says,
    statuses,
)

from jurat.engine import MemoryJournal, MemoryRecorder, Silent
from jurat.errors import ErrorCategory
from jurat.provider import ScriptedReply


class Notes(Silent):
    """What a person was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def notice(self, message: str) -> None:
        self.told.append(message)


# --- The budget ------------------------------------------------------------------------------------------------------


async def test_once_the_budget_is_spent_no_call_is_begun() -> None:
    subject, notes = answerer(), Notes()
    made = plan(cases(10, assertions(CONTAINS)))
    recorder = MemoryRecorder()
    spending = job(made, subject, recorder=recorder, limits={"concurrency": 1, "budget_usd": 2.5 * COST}, watcher=notes)

    await spending.run()
    trials = recorder.in_order()

    assert len(subject.asked) == 3
    assert statuses(trials) == ["pass"] * 3 + ["error"] * 7
    assert errors(trials) == [None] * 3 + ["budget_exhausted"] * 7
    assert costs(trials) == [1] * 3 + [0] * 7
    assert spending.spent_usd == pytest.approx(3 * COST, rel=1e-12)
    assert notes.told == [
        "the budget of 7.5e-05 USD is spent: no further call is made",
        "1.5e-05 USD went over the budget, by calls in flight when it was spent",
    ]


async def test_a_budget_of_ten_calls_lasts_for_ten_calls_however_floats_add_up() -> None:
    subject = answerer()

    await run(plan(cases(15)), subject, limits={"concurrency": 1, "budget_usd": 0.0003})

    assert sum([COST] * 10) != 0.0003
    assert len(subject.asked) == 10


async def test_a_budget_is_exceeded_by_the_calls_in_flight_at_most() -> None:
    subject = answerer()

    await run(plan(cases(50)), subject, limits={"concurrency": 4, "budget_usd": 10 * COST})

    assert 10 <= len(subject.asked) <= 13


async def test_judges_that_cannot_be_paid_any_more_are_errors_of_their_own_and_the_answer_stays() -> None:
    judge = judging_model()
    checks = assertions(CONTAINS, JUDGED, model=judge)

    (trial,) = await run(plan(cases(1, checks)), answerer(), limits={"budget_usd": COST})

    assert trial.subject.output == "a good answer to q0;"
    assert [found.status.value for found in trial.assessments] == ["pass", "error"]
    assert trial.assessments[1].result["evaluator"]["error"]["type"] == "budget_exhausted"
    assert judge.asked == []


async def test_what_was_spent_before_counts_against_the_budget_of_a_resumed_run() -> None:
    subject = answerer()

    await run(plan(cases(5)), subject, resumed=True, spent_usd=0.00027, limits={"concurrency": 1, "budget_usd": 0.0003})

    assert len(subject.asked) == 1


async def test_replies_that_cost_nothing_leave_the_budget_as_it_is() -> None:
    first = MemoryJournal()
    await run(plan(cases(3)), answerer(), first)

    trials = await run(
        plan(cases(3)), answerer(), MemoryJournal(others=first.kept), cache_read=True, limits={"budget_usd": COST / 2}
    )

    assert errors(trials) == [None] * 3


# --- Refused keys ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", [ErrorCategory.AUTH_ERROR, ErrorCategory.MISSING_API_KEY])
async def test_after_three_refused_keys_in_a_row_a_provider_is_asked_no_more(category: ErrorCategory) -> None:
    subject, notes = answerer(ScriptedReply(error=category)), Notes()

    trials = await run(plan(cases(20)), subject, watcher=notes, limits={"concurrency": 1})

    assert len(subject.asked) == 3
    assert errors(trials) == [category.value] * 20
    assert costs(trials) == [0] * 20  # a key that is refused is charged for by nobody
    assert len(notes.told) == 1
    assert "answerer" in notes.told[0]


async def test_a_reply_in_between_begins_the_count_anew() -> None:
    refused = ScriptedReply(error=ErrorCategory.AUTH_ERROR)
    turns = iter([refused, refused, says("good"), refused, refused, says("good"), refused, refused, says("good")])

    trials = await run(plan(cases(9)), answerer(lambda _: next(turns)), limits={"concurrency": 1})

    assert errors(trials) == ["auth_error", "auth_error", None] * 3


async def test_another_failure_is_no_refused_key() -> None:
    subject = answerer(ScriptedReply(error=ErrorCategory.OVERLOADED))

    await run(plan(cases(9)), subject, limits={"concurrency": 1})

    assert len(subject.asked) == 9


async def test_a_judge_whose_key_is_refused_costs_the_subject_nothing_but_its_verdicts() -> None:
    judge = judging_model(ScriptedReply(error=ErrorCategory.AUTH_ERROR))
    checks = assertions(CONTAINS, JUDGED, model=judge)

    trials = await run(plan(cases(9, checks)), answerer(), limits={"concurrency": 1})

    assert len(judge.asked) == 3
    assert errors(trials) == [None] * 9
    assert statuses(trials) == ["error"] * 9
