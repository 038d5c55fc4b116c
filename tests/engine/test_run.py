"""A run: every trial in its place, three kinds of bad apart, one trial's trouble nobody else's."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import (
    BROKEN,
    CONTAINS,
    COST,
    JUDGED,
    PASS,
    POOR,
    PROMPT,
    AwaitedRecorder,
    Model,
    Plain,
    answerer,
    assertions,
    cases,
    errors,
    job,
    judging_model,
    plan,
    run,
    says,
    statuses,
)

from jurat.assertions import Assertion, build_assertions
from jurat.engine import MemoryJournal, MemoryRecorder, Plan, PlannedCase
from jurat.errors import ErrorCategory, StoreError
from jurat.evaluation import Assessment, TypedError
from jurat.evidence import Context, Message, Role
from jurat.judge import Spending
from jurat.provider import FinishReason, Raw, ScriptedReply
from jurat.report.record import SubjectRecord, TrialRecord
from jurat.suite.case import Case, CaseDocument
from jurat.suite.suite import Prompt
from jurat.vocabulary import Status

# --- A trial ---------------------------------------------------------------------------------------------------------


async def test_a_trial_is_recorded_whole() -> None:
    checks = assertions(CONTAINS, {**JUDGED, "name": "quality", "weight": 2}, model=judging_model())

    (trial,) = await run(plan(cases(1, checks)), answerer())

    assert (trial.case_index, trial.trial_index, trial.status) == (0, 0, Status.PASS)
    assert trial.subject.output == "a good answer to q0;"
    assert trial.subject.rendered_input == "q0;"
    assert trial.subject.messages == ({"role": "user", "content": "q0;"},)
    assert dict(trial.subject.execution) == {
        "latency_ms": 0.0,
        "cost_usd": COST,
        "tool_calls": (),
        "finish_reason": "stop",
    }
    assert (trial.subject.spending.cost_usd, trial.subject.spending.attempts) == (COST, 1)
    assert trial.subject.spending.models == ("answerer-1",)
    contains, quality = trial.assessments
    assert (contains.name, contains.type, contains.status, contains.score) == ("contains", "contains", "pass", 100.0)
    assert contains.spending.cost_usd == 0.0
    assert (quality.name, quality.type, quality.score, quality.weight) == ("quality", "rubric_judge", 0.75, 2.0)
    assert quality.spending.cost_usd == COST
    assert quality.result["evaluator"]["provider"] == "oracle"
    assert len(trial.paid) == 2


async def test_an_evaluator_sees_every_field_of_the_trial() -> None:
    seen: list[Context] = []

    class Looker:
        name, revision = "looker", "1"

        def evaluate(self, context: Context) -> Assessment:
            seen.append(context)
            return Assessment(evaluator="looker", revision="1", status=Status.PASS, score=100.0)

    looker = Looker()
    check = Assertion(type="looker", name="looker", revision="1", check=looker.evaluate)
    case = Case(
        name="one",
        variables={"q": "Why?"},
        messages=(Message(role=Role.USER, content="Hello"), Message(role=Role.ASSISTANT, content="Hi {{q}}")),
        documents=(CaseDocument(name="page.txt", media_type="text/plain", text="It says so."),),
        expected={"yes": True},
        metadata={"tier": 1},
    )
    prompt = Prompt(name="ask", system="Be brief, {{q}}", text="Now: {{q}}")

    await run(plan([PlannedCase(case_index=0, case=case, assertions=(check,))], prompt=prompt), answerer())

    (context,) = seen
    assert context.output == "a good answer to Now: Why?"
    assert context.expected == {"yes": True}
    assert (context.rendered_input, context.prompt_template) == ("Now: Why?", "Now: {{q}}")
    assert context.variables == {"q": "Why?"}
    assert [(message.role, message.content) for message in context.messages] == [
        ("system", "Be brief, Why?"),
        ("user", "Hello"),
        ("assistant", "Hi Why?"),
        ("user", "Now: Why?"),
    ]
    assert [(document.name, document.text) for document in context.documents] == [("page.txt", "It says so.")]
    assert context.metadata == {"tier": 1}
    assert (context.provider, context.prompt_version) == ("answerer", "ask@1")
    assert context.execution["cost_usd"] == COST
    assert context.execution["tool_calls"] == ()


async def test_each_repeat_is_a_question_of_its_own() -> None:
    subject = Plain(lambda _, repeat: f"good {repeat}")

    trials = await run(plan(cases(2, assertions(CONTAINS)), samples=3), subject)

    assert sorted(subject.asked) == [("q0;", 0), ("q0;", 1), ("q0;", 2), ("q1;", 0), ("q1;", 1), ("q1;", 2)]
    assert [(trial.case_index, trial.trial_index, trial.subject.output) for trial in trials] == [
        (case, repeat, f"good {repeat}") for case in range(2) for repeat in range(3)
    ]


async def test_a_value_that_looks_like_a_placeholder_is_never_filled() -> None:
    planned = cases(1, variables={"q": "{{secret}}", "secret": "zq7canary"})

    (trial,) = await run(plan(planned), answerer())

    assert trial.subject.rendered_input == "{{secret}}"


async def test_a_negated_judge_turns_its_verdict_round_and_says_so() -> None:
    checks = assertions({**JUDGED, "negate": True}, model=judging_model())

    (trial,) = await run(plan(cases(1, checks)), answerer())

    (found,) = trial.assessments
    assert (found.status, found.score) == ("fail", 0.25)
    assert found.result["metadata"]["negate"] is True
    assert (found.result["status"], found.result["score"], found.result["passed"]) == ("fail", 0.25, False)


async def test_one_judge_serves_assertions_that_give_it_different_answers_to_compare_with() -> None:
    model = judging_model()
    checks = assertions({**JUDGED, "expected": "four"}, {**JUDGED, "expected": "five", "context": "maths"}, model=model)

    await run(plan(cases(1, checks)), answerer())

    assert checks[0].evaluator is checks[1].evaluator
    first, second = sorted(model.asked)
    assert '"label":"expected","text":"five"' in first
    assert '"label":"context","text":"maths"' in first
    assert '"label":"expected","text":"four"' in second
    assert '"label":"context"' not in second


# --- Three kinds of bad ----------------------------------------------------------------------------------------------


async def test_a_subject_that_fails_is_an_error_and_its_judges_are_not_asked() -> None:
    model = judging_model()
    subject = answerer(lambda q: ScriptedReply(error=ErrorCategory.OVERLOADED) if q == "q1;" else says("good"))
    checks = assertions({"type": "not_contains", "value": "prices"}, JUDGED, model=model)

    trials = await run(plan(cases(3, checks)), subject)

    assert statuses(trials) == ["pass", "error", "pass"]
    assert errors(trials) == [None, "overloaded", None]
    failed = trials[1]
    assert failed.subject.output is None
    assert [found.status.value for found in failed.assessments] == ["skipped", "skipped"]
    assert [found.score for found in failed.assessments] == [None, None]
    assert failed.assessments[0].result["findings"][0]["code"] == "no_answer"
    assert failed.subject.spending.cost_usd is None, "a request that failed may have been charged for"
    assert len(model.asked) == 2


async def test_a_judge_that_fails_touches_its_own_assertion_alone() -> None:
    checks = assertions(CONTAINS, JUDGED, model=judging_model(BROKEN))

    (trial,) = await run(plan(cases(1, checks)), answerer())

    assert trial.status is Status.ERROR
    assert [found.status.value for found in trial.assessments] == ["pass", "error"]
    assert trial.assessments[1].result["evaluator"]["error"]["type"] == "malformed_json"
    assert trial.assessments[1].spending.cost_usd == COST, "a reply that is no verdict was paid for all the same"
    assert "zq7canary" not in str(trial)


async def test_a_poor_answer_is_a_failure_and_no_error() -> None:
    (trial,) = await run(plan(cases(1, assertions(JUDGED, model=judging_model(POOR)))), answerer())

    assert (trial.status, trial.assessments[0].score) == ("fail", 0.0)


async def test_an_error_of_one_case_stays_with_it() -> None:
    judge = judging_model(lambda user: ScriptedReply(error=ErrorCategory.RATE_LIMITED) if "q0;" in user else PASS)

    trials = await run(plan(cases(3, assertions(JUDGED, model=judge))), answerer(), limits={"concurrency": 1})

    assert statuses(trials) == ["error", "pass", "pass"]


async def test_a_case_without_assertions_is_unverified() -> None:
    assert statuses(await run(plan(cases(1)), answerer())) == ["unverified"]


async def test_an_evaluator_that_raises_is_an_error_that_names_the_type_alone() -> None:
    def burst(context: Context) -> Assessment:
        raise RuntimeError(f"zq7canary {context.output}")

    check = Assertion(type="mine", name="mine", revision="1", check=burst)
    (trial,) = await run(plan(cases(1, (check, *assertions(CONTAINS)))), answerer())

    assert [found.status.value for found in trial.assessments] == ["error", "pass"]
    assert trial.assessments[0].result["evaluator"]["error"] == {
        "type": "evaluator_exception",
        "message": "the evaluator mine raised RuntimeError",
    }


async def test_an_evaluator_that_cancels_itself_is_an_error_and_ends_nothing() -> None:
    class Jumpy:
        name, revision = "jumpy", "1"

        async def evaluate(self, context: Context) -> Assessment:
            raise asyncio.CancelledError

    check = Assertion(type="jumpy", name="jumpy", revision="1", check=Jumpy().evaluate, evaluator=Jumpy())
    trials = await run(plan(cases(2, (check, *assertions(CONTAINS)))), answerer())

    assert [[found.status.value for found in trial.assessments] for trial in trials] == [["error", "pass"]] * 2


async def test_every_failing_repeat_of_every_case_is_kept() -> None:
    subject = Plain(lambda q, _: "good" if q == "q0;" else "bad")

    trials = await run(plan(cases(2, assertions(CONTAINS)), samples=4), subject)

    assert statuses(trials) == ["pass"] * 4 + ["fail"] * 4


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


# --- The plan and its order ------------------------------------------------------------------------------------------


async def test_trials_that_the_record_holds_already_are_not_made_again() -> None:
    subject = Plain()
    done = {(0, 0), (0, 1), (1, 1)}

    trials = await run(plan(cases(3, assertions(CONTAINS)), samples=2), subject, done=done)

    assert [(trial.case_index, trial.trial_index) for trial in trials] == [(1, 0), (2, 0), (2, 1)]
    assert sorted(subject.asked) == [("q1;", 0), ("q2;", 0), ("q2;", 1)]


async def test_a_plan_without_cases_is_a_run_without_trials() -> None:
    assert await run(plan([]), answerer()) == []


@pytest.mark.parametrize("samples", [0, 21, True])
def test_a_plan_has_one_to_twenty_trials_a_case(samples: int) -> None:
    with pytest.raises(ValueError, match="expected 1 to 20 samples"):
        Plan(cases=[], samples=samples)


@pytest.mark.parametrize("concurrency", [0, -1, True, 1.5, "4"])
def test_a_bound_that_is_none_is_refused_before_the_run(concurrency: Any) -> None:
    with pytest.raises(ValueError, match="expected a whole number of calls in flight, from 1"):
        job(plan([]), answerer(), limits={"concurrency": concurrency})


class Jumbled:
    """Lets calls wait, and answers them in an order that somebody draws."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []

    def model(self, made: Model) -> Model:
        inner = made.send

        async def send(call: Any) -> Raw:
            turn = asyncio.get_running_loop().create_future()
            self.waiting.append(turn)
            await turn
            return await inner(call)

        made.send = send  # type: ignore[method-assign]
        return made

    async def drive(self, running: asyncio.Task[Any], draw: Callable[[int], int]) -> None:
        while not running.done():
            for _ in range(draw(4)):
                await asyncio.sleep(0)
            if self.waiting:
                self.waiting.pop(draw(len(self.waiting))).set_result(None)
            await asyncio.sleep(0)


def varied(question: str) -> ScriptedReply:
    """Good answers, failures and empty ones."""
    number = int(question.strip("q;"))
    if number % 5 == 1:
        return ScriptedReply(error=ErrorCategory.OVERLOADED)
    return says("" if number % 5 == 2 else f"a good answer to {question}")


def strict(user: str) -> ScriptedReply:
    """Verdicts of all kinds."""
    first = int(json.loads(next(line for line in user.splitlines() if line.startswith("{")))["text"].strip("q;"))
    return (PASS, POOR, BROKEN)[first % 3]


async def jumbled_run(draw: Callable[[int], int], concurrency: int, count: int, samples: int) -> list[TrialRecord]:
    order, recorder = Jumbled(), MemoryRecorder()
    judge = order.model(judging_model(strict))
    checks = assertions(CONTAINS, JUDGED, {**JUDGED, "expected": "x"}, model=judge, samples=2)
    made = job(
        plan(cases(count, checks), samples=samples),
        order.model(answerer(varied)),
        recorder=recorder,
        limits={"concurrency": concurrency},
    )
    running = asyncio.create_task(made.run())
    await order.drive(running, draw)
    await running
    return recorder.in_order()


@lru_cache
def undisturbed(count: int, samples: int) -> tuple[TrialRecord, ...]:
    return tuple(asyncio.run(jumbled_run(lambda _: 0, 1, count, samples)))


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 9))
def test_the_record_is_the_same_whatever_the_order_of_the_replies_and_the_bound(seed: int, concurrency: int) -> None:
    found = asyncio.run(jumbled_run(random.Random(seed).randrange, concurrency, 11, 1))  # noqa: S311

    assert tuple(found) == undisturbed(11, 1)
    assert sorted(set(statuses(found))) == ["error", "fail", "pass", "unverified"]


def without_bearer(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The record without which of several trials bears the cost of a reply that they share."""
    bare = []
    for trial in trials:
        found = [
            replace(one, spending=Spending(), result={**one.result, "evaluator": one.result["evaluator"].get("error")})
            for one in trial.assessments
        ]
        bare.append(replace(trial, assessments=tuple(found)))
    return bare


def totals(trials: Sequence[TrialRecord]) -> tuple[int, int, int]:
    """Requests, costs in millionths of a dollar, and trials that know all of theirs."""
    spent = [one.spending for trial in trials for one in trial.assessments]
    costs = [one.cost_usd for one in spent if one.cost_usd is not None]
    return sum(one.attempts for one in spent), round(sum(costs) * 1e6), len(costs)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 9))
def test_who_bears_a_shared_reply_may_depend_on_the_order_but_nothing_else_and_no_total(
    seed: int, concurrency: int
) -> None:
    found = asyncio.run(jumbled_run(random.Random(seed).randrange, concurrency, 6, 3))  # noqa: S311
    expected = undisturbed(6, 3)

    assert without_bearer(found) == without_bearer(expected)
    assert totals(found) == totals(expected)


# --- The record ------------------------------------------------------------------------------------------------------


async def test_a_trial_is_committed_when_its_last_assessment_is_done_whatever_the_others_do() -> None:
    subject, recorder = answerer(hold=["q0;"]), AwaitedRecorder()
    running = asyncio.create_task(
        job(plan(cases(3, assertions(CONTAINS))), subject, recorder=recorder, limits={"concurrency": 3}).run()
    )

    await recorder.until(2)
    early = sorted(recorder.trials)
    subject.release()
    await running

    assert early == [(1, 0), (2, 0)]
    assert sorted(recorder.trials) == [(0, 0), (1, 0), (2, 0)]


async def test_few_dozen_trials_are_written_together_and_one_write_at_a_time() -> None:
    class Counting(MemoryRecorder):
        writes: list[int] = []  # noqa: RUF012
        busy = False

        async def commit_trials(self, trials: Any) -> None:
            assert not self.busy
            self.busy = True
            self.writes.append(len(trials))
            await asyncio.sleep(0)
            await super().commit_trials(trials)
            self.busy = False

    recorder = Counting()
    await job(plan(cases(640, assertions(CONTAINS))), answerer(), recorder=recorder).run()

    assert len(recorder.trials) == 640
    assert sum(recorder.writes) == 640
    assert len(recorder.writes) <= 40


async def test_a_record_that_cannot_be_kept_ends_the_run_with_its_own_error_and_no_task_is_left() -> None:
    class Full(MemoryRecorder):
        async def commit_trials(self, trials: Any) -> None:
            raise StoreError("no space is left on the device")

    with pytest.raises(StoreError, match="no space"):
        await run(plan(cases(50, assertions(CONTAINS))), answerer(), recorder=Full())

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_reply_that_cannot_be_kept_ends_the_run_and_no_trial_stands_on_it() -> None:
    class Full(MemoryJournal):
        async def commit(self, replies: Any) -> None:
            raise StoreError("no space is left on the device")

    recorder = MemoryRecorder()
    with pytest.raises(StoreError, match="no space"):
        await run(plan(cases(50, assertions(CONTAINS))), answerer(), Full(), recorder=recorder)

    assert recorder.trials == {}
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_only_a_window_of_trials_is_in_work_however_many_there_are() -> None:
    taken = 0

    class Counted(list[PlannedCase]):
        def __iter__(self) -> Any:
            nonlocal taken
            for one in list.__iter__(self):
                taken += 1
                yield one

    subject = answerer(hold=["q0;"])
    planned = Counted(cases(2000, assertions(CONTAINS)))
    running = asyncio.create_task(job(plan(planned), subject, limits={"concurrency": 1}).run())
    await subject.until(lambda: len(subject.asked) == 1)
    for _ in range(200):
        await asyncio.sleep(0)
    early = taken
    subject.release()
    await running

    assert early <= 66
    assert taken == 2000


async def test_a_watcher_is_told_of_trials_that_are_durable_and_of_calls() -> None:
    told: list[str] = []
    recorder = MemoryRecorder()

    class Watcher:
        def trial(self, trial: TrialRecord) -> None:
            assert (trial.case_index, trial.trial_index) in recorder.trials
            told.append(f"trial {trial.case_index}")

        def call_started(self, name: str) -> None:
            told.append(f"{name} asked")

        def call_ended(self, name: str, error: ErrorCategory | None) -> None:
            told.append(f"{name} {error}")

        def notice(self, message: str) -> None:
            told.append(message)

    checks = assertions(JUDGED, model=judging_model())
    failing = answerer(lambda q: ScriptedReply(error=ErrorCategory.OVERLOADED) if q == "q1;" else says("good"))
    await run(plan(cases(2, checks)), failing, recorder=recorder, watcher=Watcher(), limits={"concurrency": 1})

    assert sorted(told) == [
        "answerer None",
        "answerer asked",
        "answerer asked",
        "answerer overloaded",
        "oracle None",
        "oracle asked",
        "trial 0",
        "trial 1",
    ]


def test_the_same_subject_and_judges_serve_one_event_loop_after_another() -> None:
    subject, checks = answerer(), assertions(CONTAINS, JUDGED, model=judging_model())

    first = asyncio.run(run(plan(cases(5, checks), samples=2), subject))
    second = asyncio.run(run(plan(cases(5, checks), samples=2), subject))

    assert first == second
    assert statuses(first) == ["pass"] * 10


async def test_two_runs_side_by_side_in_one_loop_do_not_disturb_each_other() -> None:
    checks = assertions(CONTAINS, JUDGED, model=judging_model())

    first, second = await asyncio.gather(
        run(plan(cases(20, checks)), answerer()), run(plan(cases(20, checks)), answerer())
    )

    assert first == second


async def test_checks_that_run_in_a_thread_give_what_they_would_give_on_the_loop() -> None:
    long = "good " * 100_000
    checks = build_assertions([CONTAINS, {"type": "regex", "value": "go+d"}])

    (trial,) = await run(plan(cases(1, checks, output=long)), None, limits={"concurrency": 1})

    assert [found.status.value for found in trial.assessments] == ["pass", "pass"]


def test_a_prompt_without_a_text_asks_what_the_case_ends_with() -> None:
    case = Case(name="one", messages=(Message(role=Role.USER, content="Well?"),))
    made = plan([PlannedCase(case_index=0, case=case)], prompt=Prompt(system="Be good."))

    (trial,) = asyncio.run(run(made, answerer()))

    assert trial.subject.output == "a good answer to Well?"
    assert trial.subject.rendered_input is None
    assert PROMPT.text == "{{q}}"
