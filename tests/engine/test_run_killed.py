"""A run that dies at any write and is gone on with: nothing is lost, nothing paid for twice but what was in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

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
    answerer,
    assertions,
    cases,
    job,
    judging_model,
    plan,
    says,
)

from jurat.engine import MemoryJournal, MemoryRecorder
from jurat.engine.answering import Rejected
from jurat.errors import StoreError
from jurat.judge import Spending
from jurat.provider import Raw, ScriptedReply
from jurat.report.record import TrialRecord


class Disk:
    """Takes so many writes, and then none any more: what was written stays, as it does when a process is killed."""

    def __init__(self, writes: int) -> None:
        self.left = writes

    def take(self) -> None:
        if self.left == 0:
            raise StoreError("the process was killed")
        self.left -= 1


class MortalJournal(MemoryJournal):
    """A journal on such a disk, with the replies of an earlier process."""

    def __init__(self, disk: Disk, earlier: MemoryJournal | None = None) -> None:
        super().__init__()
        self._disk = disk
        self.kept.update(earlier.kept if earlier else {})

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        self._disk.take()
        await asyncio.sleep(0)
        await super().commit(replies)

    async def withhold(self, items: Sequence[Rejected]) -> None:
        self._disk.take()
        await super().withhold(items)


class MortalRecorder(MemoryRecorder):
    """A record on such a disk, with the trials of an earlier process."""

    def __init__(self, disk: Disk, earlier: MemoryRecorder | None = None) -> None:
        super().__init__()
        self._disk = disk
        self.trials.update(earlier.trials if earlier else {})

    async def commit_trials(self, trials: Sequence[TrialRecord]) -> None:
        self._disk.take()
        await asyncio.sleep(0)
        await super().commit_trials(trials)


def answers(question: str) -> ScriptedReply:
    """Good answers, and empty ones."""
    return says("" if question.startswith("q3") else f"a good answer to {question}")


def verdicts(user: str) -> ScriptedReply:
    """Verdicts of all kinds."""
    return (PASS, POOR, BROKEN)[int(user.split('"text":"q')[1].split(";")[0]) % 3]


class Life:
    """One process at work on a run, until it is done or killed."""

    def __init__(self, writes: int, samples: int, earlier: Life | None = None) -> None:
        disk = Disk(writes)
        self.journal: MortalJournal = MortalJournal(disk, earlier.journal if earlier else None)
        self.recorder: MortalRecorder = MortalRecorder(disk, earlier.recorder if earlier else None)
        self.subject, self.judge = answerer(answers), judging_model(verdicts)
        checks = assertions(CONTAINS, JUDGED, model=self.judge, samples=2)
        self._job = job(
            plan(cases(7, checks), samples=samples),
            self.subject,
            self.journal,
            self.recorder,
            {"concurrency": 3},
            done=set(self.recorder.trials),
            resumed=earlier is not None,
            borne=[key for trial in self.recorder.trials.values() for key in trial.paid],
        )

    @property
    def calls(self) -> int:
        return len(self.subject.asked) + len(self.judge.asked)

    def live(self) -> bool:
        """Whether it came to its end."""
        try:
            asyncio.run(self._job.run())
        except StoreError:
            return False
        return True


@lru_cache
def undisturbed(samples: int) -> Life:
    life = Life(10_000, samples)
    assert life.live()
    return life


def spent(trials: Sequence[TrialRecord]) -> int:
    """What all trials cost together, in calls; every call costs the same."""
    parts = [trial.subject.spending for trial in trials]
    parts += [one.spending for trial in trials for one in trial.assessments]
    return round(sum(part.cost_usd or 0.0 for part in parts) / COST)


def without_bearer(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The record without which of several trials bears the cost of a reply that they share."""
    return [
        replace(
            trial,
            assessments=tuple(
                replace(one, spending=Spending(), result={**one.result, "evaluator": None}) for one in trial.assessments
            ),
        )
        for trial in trials
    ]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 12), max_size=4))
def test_a_run_killed_at_any_writes_ends_with_the_record_of_one_that_was_not(lives: list[int]) -> None:
    whole = undisturbed(1)
    life, calls, killed = None, 0, 0
    for writes in [*lives, 10_000]:
        life = Life(writes, 1, life)
        done = life.live()
        calls += life.calls
        killed += not done
        if done:
            break

    assert life is not None
    assert life.recorder.in_order() == whole.recorder.in_order()
    assert whole.calls <= calls <= whole.calls + 3 * killed
    assert spent(life.recorder.in_order()) == whole.calls


@settings(max_examples=60)
@given(st.lists(st.integers(0, 12), max_size=4))
def test_replies_that_trials_share_are_paid_for_once_however_often_the_run_is_killed(lives: list[int]) -> None:
    whole = undisturbed(3)
    life, calls, killed = None, 0, 0
    for writes in [*lives, 10_000]:
        life = Life(writes, 3, life)
        done = life.live()
        calls += life.calls
        killed += not done
        if done:
            break

    assert life is not None
    assert without_bearer(life.recorder.in_order()) == without_bearer(whole.recorder.in_order())
    assert whole.calls <= calls <= whole.calls + 3 * killed
    assert spent(life.recorder.in_order()) == spent(whole.recorder.in_order()) == whole.calls


def test_the_run_that_is_killed_here_has_shared_replies_and_all_kinds_of_outcomes() -> None:
    assert undisturbed(1).calls == 7 + 2 * 6
    assert undisturbed(3).calls == 3 * 7 + 2 * 6, "three trials of a case give one answer, which is judged once"
    assert {trial.status.value for trial in undisturbed(1).recorder.in_order()} == {
        "pass",
        "fail",
        "error",
        "unverified",
    }


@pytest.mark.parametrize("writes", range(8))
def test_a_killed_process_leaves_no_trial_whose_replies_are_not_there(writes: int) -> None:
    life = Life(writes, 1)
    life.live()

    kept = life.journal.kept.keys()
    assert all(key in kept for trial in life.recorder.in_order() for key in trial.paid)
