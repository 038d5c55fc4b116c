"""The calls of a run: one bound, made once, paid for once, and none begun that must not be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from runs import (
    BROKEN,
    CONTAINS,
    COST,
    JUDGED,
    PASS,
    POOR,
    AwaitedRecorder,
    Plain,
    answerer,
    assertions,
    cases,
    errors,
    job,
    judging_model,
    plan,
    quiet,
    run,
    says,
    statuses,
)

from jurat.engine import MemoryJournal, MemoryRecorder, Silent
from jurat.engine.caller import Caller, Target
from jurat.engine.recall import Seen
from jurat.engine.slots import Slots
from jurat.errors import ErrorCategory, ProviderError, StoreError
from jurat.evaluation.subject import Task
from jurat.evidence import Message, Role
from jurat.judge import Withheld
from jurat.provider import Raw, ScriptedProvider, ScriptedReply
from jurat.report.record import TrialRecord
from jurat.subject import ProviderSubject

TASK = Task(messages=(Message(role=Role.USER, content="Why?"),))


def costs(trials: Sequence[TrialRecord]) -> list[float | None]:
    """What each trial cost its subject and its judges, in units of one call; None is unknown."""
    made: list[float | None] = []
    for trial in trials:
        parts = [trial.subject.spending.cost_usd, *(one.spending.cost_usd for one in trial.assessments)]
        made.append(None if None in parts else round(sum(part or 0.0 for part in parts) / COST, 6))
    return made


# --- The bound -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_subject_and_judges_share_one_bound_which_five_trials_of_a_case_use_to_the_full(concurrency: int) -> None:
    in_flight = most = 0

    class Shared:
        async def __aenter__(self) -> None:
            nonlocal in_flight, most
            in_flight += 1
            most = max(most, in_flight)
            await quiet()

        async def __aexit__(self, *_: object) -> None:
            nonlocal in_flight
            in_flight -= 1

    def bounded(model: Any) -> Any:
        inner = model.send

        async def send(call: Any) -> Raw:
            async with Shared():
                return await inner(call)  # type: ignore[no-any-return]

        model.send = send
        return model

    subject = bounded(answerer())
    judge = bounded(judging_model())
    checks = assertions(JUDGED, {**JUDGED, "expected": "x"}, model=judge, samples=3)

    trials = await run(plan(cases(2, checks), samples=5), subject, limits={"concurrency": concurrency})

    assert statuses(trials) == ["pass"] * 10
    assert most == concurrency


async def test_a_case_with_more_trials_than_slots_is_finished_one_by_one() -> None:
    subject = answerer(hold=["q0;"])
    running = asyncio.create_task(
        run(plan(cases(1, assertions(CONTAINS)), samples=8), subject, limits={"concurrency": 4})
    )
    await subject.until(lambda: subject.in_flight == 4)
    await quiet()
    subject.release()
    trials = await running

    assert statuses(trials) == ["pass"] * 8
    assert subject.peak == 4


def test_the_bound_is_one_runs_own_in_whatever_thread_and_loop_it_runs() -> None:
    class Counted(Plain):
        in_flight = peak = 0

        async def send(self, call: Any) -> Raw:
            self.in_flight += 1
            self.peak = max(self.peak, self.in_flight)
            await quiet()
            self.in_flight -= 1
            return await super().send(call)

    subjects, checks = [Counted(), Counted()], assertions(CONTAINS, JUDGED, model=provider())

    def work(subject: Counted) -> list[TrialRecord]:
        return asyncio.run(run(plan(cases(20, checks)), subject, limits={"concurrency": 1}))

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(work, subjects)

    assert first == second
    assert [subject.peak for subject in subjects] == [1, 1]


def provider() -> Any:
    """A judge's model that holds nothing of any loop."""
    return ScriptedProvider(PASS, settings=judging_model().settings)


async def test_a_call_counts_until_its_reply_is_durable() -> None:
    class Held(MemoryJournal):
        entered, release = asyncio.Event(), asyncio.Event()

        async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
            self.entered.set()
            await self.release.wait()
            await super().commit(replies)

    journal, subject = Held(), answerer()
    running = asyncio.create_task(job(plan(cases(20)), subject, journal, limits={"concurrency": 3}).run())
    await journal.entered.wait()
    await quiet()
    paid = len(subject.asked)
    journal.release.set()
    await running

    assert paid == 3
    assert len(journal.kept) == 20


async def test_judges_go_before_subjects_so_that_what_is_begun_is_finished() -> None:
    order: list[str] = []

    class Watcher(Silent):
        def call_started(self, name: str) -> None:
            order.append(name)

    checks = assertions(JUDGED, model=judging_model())
    await run(plan(cases(4, checks)), answerer(), watcher=Watcher(), limits={"concurrency": 1})

    assert order == ["answerer", "answerer", "oracle", "oracle"] * 2


async def test_a_slot_goes_to_the_urgent_first_and_to_nobody_who_has_left() -> None:
    slots, got = Slots(1), []

    async def take(name: str, *, urgent: bool) -> None:
        await slots.take(urgent=urgent)
        got.append(name)

    await slots.take(urgent=False)
    late = asyncio.create_task(take("late", urgent=False))
    gone = asyncio.create_task(take("gone", urgent=True))
    soon = asyncio.create_task(take("soon", urgent=True))
    await quiet()
    gone.cancel()
    await quiet()
    for _ in range(3):
        slots.give_back()
        await quiet()
    await asyncio.gather(late, soon)

    assert got == ["soon", "late"]


async def test_a_slot_that_is_given_to_somebody_who_is_just_being_cancelled_is_not_lost() -> None:
    slots = Slots(1)
    await slots.take(urgent=True)
    waiting = asyncio.create_task(slots.take(urgent=True))
    await quiet()

    slots.give_back()
    waiting.cancel()
    await asyncio.wait((waiting,))

    await asyncio.wait_for(slots.take(urgent=True), 5)


# --- Made once -------------------------------------------------------------------------------------------------------


async def test_identical_calls_in_flight_are_made_once_and_one_trial_bears_the_cost() -> None:
    subject, judge = answerer(), judging_model(hold=["same"])
    planned = cases(1, assertions(JUDGED, model=judge), output="a good answer that is the same")
    running = asyncio.create_task(run(plan(planned, samples=6), subject))
    await judge.until(lambda: len(judge.asked) == 1)
    await quiet()
    judge.release()
    trials = await running

    assert len(judge.asked) == 1
    assert statuses(trials) == ["pass"] * 6
    spent = [trial.assessments[0].spending for trial in trials]
    assert [(one.cost_usd, one.attempts, one.cached) for one in spent] == [(COST, 1, False), *[(0.0, 0, True)] * 5]
    assert [one.usage.input_tokens for one in spent] == [10] * 6, "the original usage is kept for reference"
    assert [len(trial.paid) for trial in trials] == [1, 0, 0, 0, 0, 0]


async def test_identical_calls_one_after_the_other_are_made_once() -> None:
    judge = judging_model()
    planned = cases(30, assertions(JUDGED, model=judge), output="good", variables={"q": "the same"})

    trials = await run(plan(planned, samples=3), None, limits={"concurrency": 1})

    assert len(judge.asked) == 1
    assert sum(cost or 0.0 for cost in costs(trials)) == 1
    assert statuses(trials) == ["pass"] * 90


async def test_a_reply_that_is_no_verdict_is_shared_like_any_other_and_its_text_is_not_kept() -> None:
    judge, journal = judging_model(BROKEN), MemoryJournal()
    planned = cases(2, assertions(JUDGED, model=judge), output="good", variables={"q": "the same"})

    trials = await run(plan(planned, samples=3), None, journal, limits={"concurrency": 1})

    assert len(judge.asked) == 1
    assert statuses(trials) == ["error"] * 6
    assert costs(trials) == [1, 0, 0, 0, 0, 0]
    (kept,) = journal.kept.values()
    assert isinstance(kept, Withheld)
    assert kept.spending.cost_usd == COST


async def test_a_call_that_failed_is_no_reply_and_is_made_again_for_the_next_who_asks() -> None:
    turns = iter([ScriptedReply(error=ErrorCategory.TIMEOUT), says("good")])
    model = answerer(lambda _: next(turns))
    caller = Caller(MemoryJournal(), Silent(), concurrency=2)
    target = Target(name="answerer", sender=model, cost=lambda _: 0.0)
    call = ProviderSubject(model).prepare(TASK)

    first = await caller.ask(target, call, urgent=False)
    second = await caller.ask(target, call, urgent=False)
    third = await caller.ask(target, call, urgent=False)

    assert isinstance(first, ProviderError)
    assert isinstance(second, Raw)
    assert third == replace(second, cached=True, attempts=0)
    assert len(model.asked) == 2


async def test_whoever_shares_a_failed_call_has_sent_nothing() -> None:
    judge = judging_model(ScriptedReply(error=ErrorCategory.TIMEOUT), hold=["good"])
    planned = cases(1, assertions(JUDGED, model=judge), output="good")
    running = asyncio.create_task(run(plan(planned, samples=3), None))
    await judge.until(lambda: len(judge.asked) == 1)
    await quiet()
    judge.release()
    trials = await running

    assert statuses(trials) == ["error"] * 3
    assert [trial.assessments[0].spending.attempts for trial in trials] == [1, 0, 0]
    assert costs(trials) == [None, 0, 0]


async def test_when_whoever_made_a_call_is_cancelled_another_makes_it() -> None:
    subject = Plain()
    gate, begun = asyncio.Event(), asyncio.Event()
    inner = subject.send

    async def send(call: Any) -> Raw:
        begun.set()
        await gate.wait()
        return await inner(call)

    subject.send = send  # type: ignore[method-assign]
    caller = Caller(MemoryJournal(), Silent(), concurrency=2)
    target = Target(name="plain", sender=subject, cost=lambda _: 0.0)
    call = subject.prepare(TASK)
    first = asyncio.create_task(caller.ask(target, call, urgent=False))
    await begun.wait()
    second = asyncio.create_task(caller.ask(target, call, urgent=False))
    await quiet()
    first.cancel()
    await asyncio.wait((first,))
    gate.set()

    assert isinstance(await second, Raw)
    await caller.close()


def test_what_was_seen_is_never_taken_for_new() -> None:
    seen = Seen()
    keys = [f"{number:064x}" for number in range(0, 5_000_000_000, 1_000_003)]

    assert not any(seen.note(key * 1) for key in keys[:1])
    for key in keys[1:]:
        seen.note(key)

    assert all(seen.note(key) for key in keys)


# --- Resuming --------------------------------------------------------------------------------------------------------


def mixed(user: str) -> ScriptedReply:
    """Verdicts of all kinds, by the question's number."""
    number = int(user.split('"text":"q')[1].split(";")[0])
    return (PASS, BROKEN, POOR)[number % 3]


async def half_run(journal: MemoryJournal, recorder: AwaitedRecorder) -> None:
    """A run that is cancelled when four trials are finished, two wait for their judge and six for their subject."""
    subject = answerer(hold=[f"q{number};" for number in range(6, 12)])
    judge = judging_model(mixed, hold=["q4;", "q5;"])
    checks = assertions(CONTAINS, JUDGED, model=judge)
    made = job(plan(cases(12, checks)), subject, journal, recorder, limits={"concurrency": 12})
    running = asyncio.create_task(made.run())
    await subject.until(lambda: subject.answered == 6 and len(subject.asked) == 12)
    await judge.until(lambda: judge.answered == 4 and len(judge.asked) == 6)
    await recorder.until(4)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_cancelled_run_keeps_what_it_reached_and_its_resumption_repeats_no_call() -> None:
    journal, recorder = MemoryJournal(), AwaitedRecorder()
    await half_run(journal, recorder)
    early = dict(recorder.trials)

    subject, judge = answerer(), judging_model(mixed)
    checks = assertions(CONTAINS, JUDGED, model=judge)
    paid = [key for trial in early.values() for key in trial.paid]
    await job(plan(cases(12, checks)), subject, journal, recorder, done=set(early), resumed=True, borne=paid).run()
    undisturbed = await run(plan(cases(12, assertions(CONTAINS, JUDGED, model=judging_model(mixed)))), answerer())

    assert sorted(early) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert sorted(subject.asked) == sorted(f"q{number};" for number in range(6, 12))
    assert len(judge.asked) == 8
    assert recorder.in_order() == undisturbed
    assert costs(recorder.in_order()) == [2] * 12


async def test_a_shared_reply_that_a_finished_trial_bears_is_not_borne_again_after_a_kill() -> None:
    async def begin() -> tuple[MemoryJournal, MemoryRecorder]:
        journal, recorder = MemoryJournal(), MemoryRecorder()
        planned = cases(1, assertions(JUDGED, model=judging_model()), output="good")
        await run(plan(planned, samples=4), None, journal, recorder=recorder, limits={"concurrency": 1})
        return journal, recorder

    bearer_kept, bearer_lost = await begin(), await begin()
    del bearer_kept[1].trials[0, 2]
    del bearer_lost[1].trials[0, 0]
    for journal, recorder in (bearer_kept, bearer_lost):
        judge = judging_model()
        planned = cases(1, assertions(JUDGED, model=judge), output="good")
        paid = [key for trial in recorder.trials.values() for key in trial.paid]
        await job(
            plan(planned, samples=4), None, journal, recorder, done=set(recorder.trials), resumed=True, borne=paid
        ).run()

        assert judge.asked == []
        assert costs(recorder.in_order()) == [1, 0, 0, 0]


async def test_errors_are_made_anew_when_their_trials_were_taken_out() -> None:
    journal, recorder = MemoryJournal(), MemoryRecorder()
    failing = answerer(lambda q: ScriptedReply(error=ErrorCategory.OVERLOADED) if q == "q1;" else says("good"))
    await run(plan(cases(3, assertions(CONTAINS))), failing, journal, recorder=recorder)
    del recorder.trials[1, 0]

    subject = answerer()
    await job(
        plan(cases(3, assertions(CONTAINS))), subject, journal, recorder, done=set(recorder.trials), resumed=True
    ).run()

    assert subject.asked == ["q1;"]
    assert statuses(recorder.in_order()) == ["pass"] * 3


# --- The cache -------------------------------------------------------------------------------------------------------


async def test_replies_of_other_runs_are_used_where_the_cache_is_read_and_cost_nothing_again() -> None:
    first = MemoryJournal()
    await run(plan(cases(3, assertions(JUDGED, model=judging_model()))), answerer(), first)
    subject, judge = answerer(), judging_model()

    trials = await run(
        plan(cases(3, assertions(JUDGED, model=judge))), subject, MemoryJournal(others=first.kept), cache_read=True
    )

    assert (subject.asked, judge.asked) == ([], [])
    assert costs(trials) == [0, 0, 0]
    assert all(trial.subject.spending.cached and trial.assessments[0].spending.cached for trial in trials)
    assert [trial.subject.execution["cost_usd"] for trial in trials] == [COST] * 3, "what the answer once cost"
    assert [trial.paid for trial in trials] == [()] * 3


async def test_without_the_cache_other_runs_are_not_looked_at() -> None:
    first = MemoryJournal()
    await run(plan(cases(3)), answerer(), first)
    subject = answerer()

    await run(plan(cases(3)), subject, MemoryJournal(others=first.kept))

    assert len(subject.asked) == 3


async def test_an_invalid_reply_of_another_run_is_asked_for_anew() -> None:
    first = MemoryJournal()
    await run(plan(cases(1, assertions(JUDGED, model=judging_model(BROKEN)), output="good")), None, first)
    judge = judging_model()

    trials = await run(
        plan(cases(1, assertions(JUDGED, model=judge), output="good")),
        None,
        MemoryJournal(others=first.kept),
        cache_read=True,
    )

    assert (len(judge.asked), statuses(trials)) == (1, ["pass"])


async def test_a_journal_that_cannot_be_read_ends_the_run() -> None:
    class Torn(MemoryJournal):
        async def recall_any(self, keys: Sequence[str]) -> Any:
            raise StoreError("the store cannot be read")

    with pytest.raises(StoreError, match="cannot be read"):
        await run(plan(cases(5)), answerer(), Torn(), cache_read=True)

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_keys_that_are_looked_up_at_once_are_one_question_to_the_journal() -> None:
    class Counting(MemoryJournal):
        asked: list[int] = []  # noqa: RUF012

        async def recall_any(self, keys: Sequence[str]) -> Any:
            self.asked.append(len(keys))
            return await super().recall_any(keys)

    journal = Counting()
    await run(plan(cases(40)), answerer(), journal, cache_read=True, limits={"concurrency": 8})

    assert sum(journal.asked) == 40
    assert len(journal.asked) < 10


# --- The budget ------------------------------------------------------------------------------------------------------


class Notes(Silent):
    """What a person was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def notice(self, message: str) -> None:
        self.told.append(message)


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
    assert len(notes.told) == 1
    assert "budget" in notes.told[0]


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


# --- What the key of a call names ------------------------------------------------------------------------------------


async def test_whatever_changes_a_request_changes_its_key() -> None:
    model = answerer()
    kinds = [
        ProviderSubject(model),
        ProviderSubject(model, temperature=0.0),
        ProviderSubject(model, max_output_tokens=16),
        ProviderSubject(model, max_output_tokens=4000),
        ProviderSubject(model, extra={"seed": 7}),
    ]
    keys = [subject.prepare(TASK).key for subject in kinds]
    keys += [kinds[0].prepare(replace(TASK, repeat=1)).key, kinds[0].prepare(replace(TASK, system="Be brief.")).key]

    assert len(set(keys)) == 7
    assert json.loads(kinds[0].prepare(TASK).body).keys() == {"model", "messages"}
