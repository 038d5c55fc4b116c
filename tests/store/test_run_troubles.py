"""What stands in the way of a run's record is told in a sentence, and nothing is ever half written."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from run_samples import ENDED, a_run, a_trial, begun, every_trial, some_cases, trials_of
from store_samples import execute, remount, replies, reply

from jurat.engine import trial_status
from jurat.errors import StoreError
from jurat.report.record import RunStatus, TrialRecord
from jurat.store import Store
from jurat.store.database import Change
from jurat.store.grouping import Grouped
from jurat.store.rows import Row
from jurat.store.statements import COMMIT, RECALL, REINSTATE, WITHHOLD, Statement
from jurat.vocabulary import Status

RUN = "20261130-a"


async def whole(store: Store) -> list[TrialRecord]:
    """The trials of the run, each of which has everything that belongs to it."""
    assert [fault async for fault in store.verify(trial_status)] == []
    return await trials_of(store, RUN)


# --- SQLite ----------------------------------------------------------------------------------------------------------


async def test_on_a_full_disk_trials_are_there_whole_or_not_at_all(small_disk: Path) -> None:
    store = await Store.open(small_disk / "store.db")
    await begun(store, cases=1_000)
    trials = [a_trial(case, output="x" * 1_000) for case in range(1_000)]
    done = 0

    async def fill() -> None:
        nonlocal done
        while done < len(trials):
            await store.runs.commit_trials(RUN, trials[done : done + 7])
            done += 7

    with pytest.raises(StoreError, match="the disk is full; make room"):
        await fill()
    assert done >= 70
    assert await whole(store) == trials[:done]
    remount(small_disk, "size=8m")
    await store.runs.commit_trials(RUN, trials)
    assert await whole(store) == trials
    await store.aclose()


async def test_on_a_full_disk_a_run_is_begun_whole_or_not_at_all(small_disk: Path) -> None:
    store = await Store.open(small_disk / "store.db")
    with pytest.raises(StoreError, match="the disk is full"):
        await store.runs.begin(a_run(cases=20_000), some_cases(20_000), [])
    assert await store.runs.runs() == []
    await begun(store, cases=2)
    remount(small_disk, "size=32m")  # what was rolled back takes room in the log until the store is closed
    await store.aclose()


async def test_a_locked_file_is_waited_for_then_reported_and_survived(sqlite_place: str) -> None:
    store = await Store.open(sqlite_place, patience_s=0.02)
    await begun(store)
    with closing(sqlite3.connect(sqlite_place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"another program holds it locked; wait for that program"):
            await store.runs.commit_trials(RUN, [a_trial(0)])
        assert await store.runs.keys(RUN) == set()  # reading goes on meanwhile
        other.execute("ROLLBACK")
    await store.runs.commit_trials(RUN, every_trial())
    assert await whole(store) == every_trial()
    await store.aclose()


async def test_a_file_that_vanished_is_noticed_with_the_next_trial(sqlite_place: str) -> None:
    store = await Store.open(sqlite_place)
    await begun(store)
    os.remove(sqlite_place)  # noqa: PTH107  pathlib is no better here
    with pytest.raises(StoreError, match="the file was removed or replaced while it was in use"):
        await store.runs.commit_trials(RUN, [a_trial(0)])
    await store.aclose()


def test_a_damaged_store_is_an_error_and_never_taken_for_an_empty_one(sqlite_place: str) -> None:
    async def fill() -> None:
        store = await Store.open(sqlite_place)
        await begun(store, cases=300)
        await store.runs.commit_trials(RUN, every_trial(300))
        await store.aclose()

    async def read() -> None:
        store = await Store.open(sqlite_place)
        try:
            await trials_of(store, RUN)
        finally:
            await store.aclose()

    asyncio.run(fill())
    path = Path(sqlite_place)
    path.write_bytes(path.read_bytes()[: 40 * 4096])
    before = path.read_bytes()
    with pytest.raises(StoreError, match="the file is damaged; keep a copy of it"):
        asyncio.run(read())
    assert path.read_bytes() == before


async def test_a_newer_store_is_refused_with_what_to_do(place: str) -> None:
    await (await Store.open(place)).aclose()
    await execute(place, "UPDATE jurat_version SET version_num = '9999'")
    with pytest.raises(StoreError, match=r"the store has schema 9999, .*; upgrade jurat"):
        await Store.open(place)


async def test_a_closed_store_says_so(place: str) -> None:
    store = await Store.open(place)
    await begun(store)
    await store.aclose()
    await store.aclose()
    for use in (store.runs.commit_trials(RUN, [a_trial()]), store.runs.runs(), store.stats()):
        with pytest.raises(StoreError, match="the store is closed"):
            await use


# --- memory ----------------------------------------------------------------------------------------------------------


async def test_whatever_is_read_of_a_run_is_read_in_pages(runs: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await begun(runs, cases=60, samples=2)
    await runs.runs.commit_trials(RUN, every_trial(60, 2))
    largest: list[int] = []
    read = Grouped.read

    async def watched(self: Grouped, statement: Statement, *arguments: Any) -> list[Row]:
        found = await read(self, statement, *arguments)
        largest.append(len(found))
        return found

    monkeypatch.setattr(Grouped, "read", watched)
    assert len([trial async for trial in runs.runs.trials(RUN, page=7)]) == 120
    assert len([case async for case in runs.runs.cases(RUN, page=7)]) == 60
    assert max(largest) == 7


# --- one writer ------------------------------------------------------------------------------------------------------


class Held:
    """A database that keeps what is written until it is let go."""

    shown = "held"

    def __init__(self, broken: Sequence[str] = ()) -> None:
        self.written: list[list[str]] = []
        self.go = asyncio.Event()
        self._broken = broken

    async def write(self, changes: Sequence[Change]) -> None:
        names = [str(row[0]) for _, rows in changes for row in rows]
        await self.go.wait()
        if set(names) & set(self._broken):
            raise StoreError(f"broken: {names}")
        self.written.append(names)

    async def read(self, statement: Statement, *arguments: Any) -> list[Row]:
        return [(statement.sqlite, *arguments)]

    async def check(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        self.written.append(["closed"])


def some(name: str) -> list[Change]:
    return [(COMMIT, [(name,)])]


async def test_what_waits_during_one_write_goes_out_with_the_next() -> None:
    held = Held()
    grouped = Grouped(held)
    waiting = [asyncio.create_task(grouped.write(some(name))) for name in "abcd"]
    await asyncio.sleep(0)
    waiting.append(asyncio.create_task(grouped.write(some("e"))))
    held.go.set()
    await asyncio.gather(*waiting)
    assert [name for names in held.written for name in names] == list("abcde")
    assert len(held.written) <= 2
    assert await grouped.read(RECALL, 1) == [(RECALL.sqlite, 1)]


async def test_what_many_do_by_the_same_statements_is_done_at_once_and_each_in_its_own_order() -> None:
    held = Held()
    grouped = Grouped(held)
    trial = [(COMMIT, [("c1",)]), (WITHHOLD, [("w1",)]), (REINSTATE, [])]
    other = [(WITHHOLD, [("w2",)]), (COMMIT, [("c2",)])]
    again = [(COMMIT, [("c3",), ("c4",)]), (WITHHOLD, [("w3",)])]
    waiting = [asyncio.create_task(grouped.write(changes)) for changes in (some("first"), trial, other, again)]
    held.go.set()
    await asyncio.gather(*waiting)
    assert [name for names in held.written for name in names] == [
        "first", "c1", "c3", "c4", "w1", "w3", "w2", "c2"
    ]  # fmt: skip


async def test_when_a_group_fails_each_is_tried_by_itself_and_told_its_own() -> None:
    held = Held(broken="c")
    grouped = Grouped(held)
    waiting = [asyncio.create_task(grouped.write(some(name))) for name in "abcd"]
    held.go.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(one) for one in found] == ["None", "None", "broken: ['c']", "None"]
    assert held.written == [["a"], ["b"], ["d"]]


async def test_a_caller_that_is_cancelled_takes_nobody_with_it_and_what_it_gave_is_written() -> None:
    held = Held()
    grouped = Grouped(held)
    waiting = [asyncio.create_task(grouped.write(some(name))) for name in "abc"]
    await asyncio.sleep(0)
    waiting[1].cancel()
    held.go.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(one) for one in found] == [type(None), asyncio.CancelledError, type(None)]
    assert [name for names in held.written for name in names] == ["a", "b", "c"]


async def test_closing_waits_for_what_is_being_written() -> None:
    held = Held()
    grouped = Grouped(held)
    write = asyncio.create_task(grouped.write(some("a")))
    await asyncio.sleep(0)
    close = asyncio.create_task(grouped.aclose())
    await asyncio.sleep(0)
    held.go.set()
    await asyncio.gather(write, close)
    assert held.written == [["a"], ["closed"]]


async def test_replies_and_trials_of_many_callers_are_all_there(runs: Store) -> None:
    await begun(runs, cases=80)
    journal = runs.runs.journal(RUN)
    await asyncio.gather(
        *(runs.runs.commit_trials(RUN, [trial]) for trial in every_trial(80)),
        *(journal.commit([one]) for one in replies("a", 80)),
        runs.responses.commit([reply("other")]),
    )
    assert await whole(runs) == every_trial(80)
    assert await journal.recall([key for key, _ in replies("a", 80)]) == dict(replies("a", 80))


@pytest.fixture
async def full_disk(small_disk: Path) -> Path:
    """A store with a completed run, on a disk that has no room for another byte."""
    place = small_disk / "jurat.db"
    store = await Store.open(place)
    await begun(store)
    await store.runs.commit_trials(RUN, every_trial())
    await store.runs.finish(RUN, RunStatus.COMPLETED, ENDED, [Status.PASS] * 2, {"passed": True})
    await store.aclose()
    with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 512):
            pass
    return place


async def test_who_reads_needs_no_room_on_the_disk(full_disk: Path) -> None:
    store = await Store.open(full_disk, reads=True)

    assert [run.id for run in await store.runs.runs()] == [RUN]
    assert await trials_of(store, RUN) == every_trial()
    assert [fault async for fault in store.verify(trial_status)] == []
    with pytest.raises(StoreError, match="open to be read alone"):
        await store.runs.interrupt(RUN, ENDED)
    await store.aclose()


async def test_who_writes_is_told_that_the_disk_is_full(full_disk: Path) -> None:
    with pytest.raises(StoreError, match="the disk is full; make room"):
        await Store.open(full_disk)


async def test_a_store_that_others_write_to_meanwhile_is_not_read_as_it_stood(full_disk: Path) -> None:
    store = await Store.open(full_disk, reads=True)
    (full_disk.parent / "filler").unlink()
    other = await Store.open(full_disk)
    await begun(other, "20261130-b")

    with pytest.raises(StoreError, match="written to while it was read; try again"):
        await store.runs.runs()
    await other.aclose()
    await store.aclose()


@pytest.mark.parametrize("content", [b"no database", b""])
async def test_a_file_that_is_no_store_is_refused_to_readers_too(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "other.db"
    with closing(sqlite3.connect(place)) as file:
        file.execute("CREATE TABLE other (a)")
    if content:
        place.write_bytes(content)
    with pytest.raises(StoreError, match=r"another program's SQLite database|no SQLite database"):
        await Store.open(place, reads=True)
