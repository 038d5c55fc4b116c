"""The answers of a run: what a model says, what was recorded earlier, and what of it is an answer at all."""

from __future__ import annotations

from typing import Any

import pytest
from runs import (
    CONTAINS,
    COST,
    JUDGED,
    Plain,
    answerer,
    assertions,
    cases,
    errors,
    judging_model,
    plan,
    run,
    says,
    statuses,
)

from jurat.engine import MemoryJournal
from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.provider import FinishReason, Raw, ScriptedReply
from jurat.report.record import SubjectRecord
from jurat.vocabulary import Status

# --- What a model says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "output", "known"),
    [
        (ScriptedReply(text=None, refusal="I must not."), "I must not.", {"refused": True}),
        (ScriptedReply(text="half an", finish_reason=FinishReason.LENGTH), "half an", {"finish_reason": "length"}),
        (ScriptedReply(text=None), "", {"finish_reason": "stop"}),
        (ScriptedReply(text="  "), "  ", {"finish_reason": "stop"}),
        (
            ScriptedReply(text="cut", finish_reason=FinishReason.CONTENT_FILTER),
            "cut",
            {"finish_reason": "content_filter"},
        ),
    ],
)
async def test_what_a_model_says_is_its_answer(reply: ScriptedReply, output: str, known: dict[str, Any]) -> None:
    (trial,) = await run(plan(cases(1)), answerer(reply))

    assert (trial.subject.output, trial.subject.error) == (output, None)
    assert {name: trial.subject.execution[name] for name in known} == known


async def test_an_empty_answer_is_unverified_and_costs_no_judge() -> None:
    model = judging_model()

    (trial,) = await run(plan(cases(1, assertions(CONTAINS, JUDGED, model=model))), answerer(says("")))

    assert [found.status.value for found in trial.assessments] == ["unverified", "unverified"]
    assert trial.status is Status.UNVERIFIED
    assert model.asked == []


async def test_an_answer_that_a_filter_took_away_is_an_error_whose_cost_is_known_and_whose_reply_is_withheld() -> None:
    journal = MemoryJournal()
    reply = ScriptedReply(text=None, finish_reason=FinishReason.CONTENT_FILTER, usage=says("").usage)

    (trial,) = await run(plan(cases(1)), answerer(reply), journal)

    assert errors([trial]) == ["refusal"]
    assert trial.subject.spending.cost_usd == COST
    assert not any(isinstance(kept, Raw) for kept in journal.kept.values())


async def test_an_answer_that_is_no_unicode_is_the_subjects_error() -> None:
    subject = answerer(says("lone \ud800"))

    (trial,) = await run(plan(cases(1, assertions(CONTAINS))), subject)

    assert errors([trial]) == ["invalid_result"]
    assert [found.status.value for found in trial.assessments] == ["skipped"]


async def test_a_reply_that_cannot_be_read_is_the_subjects_error_and_is_withheld() -> None:
    journal = MemoryJournal()

    (trial,) = await run(plan(cases(1)), Plain(lambda *_: "unreadable"), journal)

    assert errors([trial]) == ["api_error"]
    assert not any(isinstance(kept, Raw) for kept in journal.kept.values())


# --- Recorded answers ------------------------------------------------------------------------------------------------


async def test_a_recorded_answer_is_judged_without_asking_anybody() -> None:
    subject = answerer()
    planned = cases(1, assertions(CONTAINS), output="a good one", execution={"latency_ms": 7})

    (trial,) = await run(plan(planned), subject)

    assert (trial.status, trial.subject.output, trial.subject.recorded) == ("pass", "a good one", True)
    assert dict(trial.subject.execution) == {"latency_ms": 7}
    assert trial.subject.spending.cost_usd == 0.0
    assert subject.asked == []


async def test_a_recorded_empty_answer_is_an_answer() -> None:
    (trial,) = await run(plan(cases(1, assertions(CONTAINS), output="")))

    assert (trial.status, trial.subject.output) == ("unverified", "")


async def test_without_a_subject_a_case_without_an_answer_is_an_error_of_its_own() -> None:
    planned = [*cases(1, assertions(CONTAINS), output="good"), *cases(2, assertions(CONTAINS))[1:]]

    trials = await run(plan(planned))

    assert statuses(trials) == ["pass", "error"]
    assert errors(trials) == [None, "request_invalid"]


class Earlier:
    """Another run's answers."""

    def __init__(self, records: dict[tuple[int, int], SubjectRecord]) -> None:
        self._records = records

    async def answer(self, case_index: int, trial_index: int) -> SubjectRecord | None:
        return self._records.get((case_index, trial_index))


async def test_answers_of_another_run_are_judged_anew_with_all_that_was_known_of_them() -> None:
    tools = {"type": "required_tool", "tool": "search"}
    call = {"type": "tool_call", "id": "1", "name": "search", "arguments": {}}
    messages = ({"role": "user", "content": "Hm?"}, {"role": "assistant", "content": [call]})
    known = SubjectRecord(output="a good old one", messages=messages, execution={"cost_usd": 2.0})
    lost = SubjectRecord(error=TypedError(type=ErrorCategory.TIMEOUT, message="it was late"))
    subject = answerer()
    source = Earlier({(0, 0): known, (1, 0): lost})

    trials = await run(plan(cases(3, assertions(CONTAINS, tools))), subject, source=source)

    assert statuses(trials)[:2] == ["pass", "error"]
    assert errors(trials) == [None, "timeout", None]
    assert trials[0].subject.recorded
    assert trials[0].subject.messages == messages
    assert (trials[0].subject.spending.cost_usd, trials[0].subject.execution["cost_usd"]) == (0.0, 2.0)
    assert subject.asked == ["q2;"]
