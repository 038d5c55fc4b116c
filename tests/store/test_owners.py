"""Whose a run is: the process at work on it, until it ends, is killed or falls silent."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from run_samples import ENDED, a_run, a_trial, begun, every_trial, some_cases, trials_of
from store_samples import child, execute

from jurat.errors import StoreError
from jurat.report.record import RunStatus
from jurat.store import Store, owners
from jurat.store.owners import SILENCE_S, Owner, hold, is_gone, let_go, new_owner
from jurat.vocabulary import Status

RUN = "20261130-a"


@contextmanager
def holder(place: str, action: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A process at work on the run, told to go."""
    with child(place, action, RUN, *more, program="run_holder.py") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("go\n")
        process.stdin.flush()
        yield process


def told(process: subprocess.Popen[str]) -> str:
    """The next line that a process says."""
    assert process.stdout is not None
    return process.stdout.readline()


def end(process: subprocess.Popen[Any]) -> None:
    """Kill a process, and leave it as it is found then: dead, and nobody has asked after it yet."""
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


# --- a process, and whether it is there ----------------------------------------------------------------------------


def test_this_process_is_there_while_it_holds_and_gone_once_it_lets_go() -> None:
    owner = new_owner()
    hold(owner)
    assert not is_gone(owner)
    let_go(owner.token)
    let_go(owner.token)
    assert is_gone(owner)


def test_a_process_that_ended_is_gone_and_one_that_lives_is_not() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owner = replace(new_owner(), pid=process.pid, started=owners._start_of(process.pid) or "")
        assert not is_gone(replace(owner, silent_s=10 * SILENCE_S))  # a process that is there may be silent
        end(process)
        assert is_gone(owner)
    assert is_gone(owner)


def test_a_number_that_another_process_was_given_deceives_nobody() -> None:
    owner = replace(new_owner(), pid=os.getppid(), started="an earlier moment")
    assert is_gone(owner)


@pytest.mark.parametrize(("silent_s", "gone"), [(0.0, False), (SILENCE_S - 1, False), (SILENCE_S + 1, True)])
def test_a_process_on_another_machine_is_gone_after_a_minute_s_silence(silent_s: float, gone: bool) -> None:
    elsewhere = Owner(token="t", machine="other/boot", host="other", pid=os.getpid(), started="1", silent_s=silent_s)
    assert is_gone(elsewhere) is gone


# --- runs and their owners -----------------------------------------------------------------------------------------


async def test_a_run_belongs_to_whoever_began_it_and_nobody_else_may_claim_it(runs: Store, place: str) -> None:
    await begun(runs)
    other = await Store.open(place)
    with pytest.raises(StoreError) as caught:
        await other.runs.claim(RUN)
    assert f"run {RUN}: process {os.getpid()} on " in str(caught.value)
    assert "is at work on it (last sign of life 0 s ago); wait for that process or end it" in str(caught.value)
    assert (await other.runs.get(RUN)).status is RunStatus.RUNNING
    await other.aclose()


async def test_a_run_whose_process_was_killed_shows_as_interrupted_and_can_be_claimed_at_once(
    runs: Store, place: str
) -> None:
    with holder(place, "begin") as process:
        assert told(process) == "begun\n"
        assert (await runs.runs.get(RUN)).status is RunStatus.RUNNING
        with pytest.raises(StoreError, match=f"process {process.pid} on "):
            await runs.runs.claim(RUN)
        end(process)
        assert (await runs.runs.get(RUN)).status is RunStatus.INTERRUPTED
        assert [run.status for run in await runs.runs.runs()] == [RunStatus.INTERRUPTED]
        await runs.runs.claim(RUN)
    assert (await runs.runs.get(RUN)) == a_run(RUN)


async def test_a_run_whose_store_was_closed_shows_as_interrupted_even_in_the_same_process(
    runs: Store, place: str
) -> None:
    other = await Store.open(place)
    await begun(other)
    await other.aclose()
    assert (await runs.runs.get(RUN)).status is RunStatus.INTERRUPTED
    await runs.runs.claim(RUN)
    assert (await runs.runs.get(RUN)).status is RunStatus.RUNNING


async def test_an_ended_run_can_be_claimed_and_is_running_again(runs: Store) -> None:
    await begun(runs)
    await runs.runs.commit_trials(RUN, every_trial())
    await runs.runs.finish(RUN, RunStatus.COMPLETED, ENDED, [Status.PASS, Status.ERROR], {"passed": None})
    await runs.runs.claim(RUN)
    assert await runs.runs.get(RUN) == a_run(RUN)
    await runs.runs.interrupt(RUN, ENDED)
    assert (await runs.runs.get(RUN)).status is RunStatus.INTERRUPTED


async def test_a_silent_process_elsewhere_loses_its_run_and_learns_of_it(runs: Store, place: str) -> None:
    await begun(runs)
    other = await Store.open(place)
    await execute(place, "UPDATE owners SET machine = 'other/boot', host = 'other', seen = seen - 59")
    with pytest.raises(StoreError, match=r"on other is at work on it \(last sign of life (59|60) s ago\)"):
        await other.runs.claim(RUN)
    await execute(place, "UPDATE owners SET seen = seen - 60")
    assert (await other.runs.get(RUN)).status is RunStatus.INTERRUPTED
    await other.runs.claim(RUN)
    with pytest.raises(StoreError, match=f"run {RUN}: process {os.getpid()} on .* is at work on it"):
        await runs.runs.touch(RUN)
    with pytest.raises(StoreError, match="is at work on it"):
        await runs.runs.commit_trials(RUN, [a_trial()])
    with pytest.raises(StoreError, match="is at work on it"):
        await runs.runs.interrupt(RUN, ENDED)
    assert (await other.runs.get(RUN)).status is RunStatus.RUNNING
    await other.runs.touch(RUN)
    await other.runs.commit_trials(RUN, [a_trial()])
    assert await trials_of(runs, RUN) == [a_trial()]
    await other.aclose()


async def test_nobody_ends_the_run_of_a_live_process_and_anybody_may_end_that_of_a_dead_one(
    runs: Store, place: str
) -> None:
    other = await Store.open(place)
    await begun(other)
    with pytest.raises(StoreError, match="is at work on it"):
        await runs.runs.finish(RUN, RunStatus.INTERRUPTED, ENDED, [])
    await other.aclose()
    await runs.runs.interrupt(RUN, ENDED)
    assert (await runs.runs.get(RUN)).finished_at == ENDED


async def test_a_sign_of_life_keeps_a_run(runs: Store, place: str) -> None:
    await begun(runs)
    await execute(place, "UPDATE owners SET machine = 'other/boot', seen = seen - 1000")
    assert (await runs.runs.get(RUN)).status is RunStatus.INTERRUPTED
    await runs.runs.touch(RUN)
    assert (await runs.runs.get(RUN)).status is RunStatus.RUNNING


async def test_committing_is_a_sign_of_life(runs: Store, place: str) -> None:
    await begun(runs)
    await execute(place, "UPDATE owners SET machine = 'other/boot', seen = seen - 1000")
    await runs.runs.commit_trials(RUN, [a_trial()])
    assert (await runs.runs.get(RUN)).status is RunStatus.RUNNING


async def test_a_heartbeat_gives_signs_of_life_and_stops_with_its_block(
    runs: Store, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jurat.store.runs.HEARTBEAT_S", 0.0)
    await begun(runs)
    await execute(place, "UPDATE owners SET machine = 'other/boot', seen = seen - 1000")
    before = asyncio.all_tasks()
    async with runs.runs.heartbeat(RUN):
        while (await runs.runs.get(RUN)).status is not RunStatus.RUNNING:
            pass
    assert [task for task in asyncio.all_tasks() - before if "beat" in str(task.get_coro())] == []


async def test_of_two_processes_that_claim_a_run_at_once_one_gets_it(runs: Store, place: str) -> None:
    await begun(runs)
    await runs.runs.interrupt(RUN, ENDED)
    with holder(place, "claim") as one, holder(place, "claim") as two:
        heard = sorted([await asyncio.to_thread(told, one), await asyncio.to_thread(told, two)], key=len)
    assert heard[0] == "claimed\n"
    assert "is at work on it" in heard[1]


async def test_claims_that_look_at_the_same_moment_cannot_both_win(place: str) -> None:
    stores = [await Store.open(place) for _ in range(4)]
    await begun(stores[0])
    await stores[0].runs.interrupt(RUN, ENDED)
    found = await asyncio.gather(*(store.runs.claim(RUN) for store in stores), return_exceptions=True)
    assert sorted(type(one).__name__ for one in found) == ["NoneType"] + ["StoreError"] * 3
    for store in stores:
        await store.aclose()


async def test_two_processes_fill_runs_of_one_store_and_lose_nothing(runs: Store, place: str) -> None:
    names = ("run one", "run two")
    with (
        child(place, "fill", names[0], "400", "7", program="run_holder.py") as one,
        child(place, "fill", names[1], "400", "1", program="run_holder.py") as two,
    ):
        processes = (one, two)
        done = [asyncio.create_task(asyncio.to_thread(process.communicate, "go\nclose\n")) for process in processes]
        while not all(task.done() for task in done):
            await runs.runs.runs()  # reading goes on meanwhile
            await asyncio.sleep(0)
        assert [process.returncode for process in processes] == [0, 0]
    for name in names:
        assert await trials_of(runs, name) == every_trial(400)
        assert [case async for case in runs.runs.cases(name)] == some_cases(400)


async def test_kill_9_in_the_middle_leaves_every_trial_that_was_committed_whole(runs: Store, place: str) -> None:
    with holder(place, "fill", "5000", "16") as process:
        assert told(process) == "begun\n"
        while told(process) != "committed 160\n":
            assert process.poll() is None
        process.kill()
        assert process.stdout is not None
        last = process.stdout.read().split()
    durable = int(last[-1]) if last and last[-1].isdigit() else 160
    found = await trials_of(runs, RUN)
    assert len(found) >= durable
    assert found == every_trial(len(found))
    assert (await runs.runs.get(RUN)).status is RunStatus.INTERRUPTED
