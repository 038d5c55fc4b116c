"""The whole store: the replies that were paid for, and the runs that they belong to, in one database."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from jurat.errors import StoreError
from jurat.store.address import SqliteAddress, parse_address
from jurat.store.database import Database
from jurat.store.grouping import Grouped
from jurat.store.postgres import PostgresDatabase
from jurat.store.responses import ResponseStore, StoreFault, StoreStats
from jurat.store.run_statements import COUNTS
from jurat.store.runs import RunStore
from jurat.store.sqlite import SqliteDatabase
from jurat.store.sqlite_reading import ReadingDatabase
from jurat.store.verification import TrialRule, verify_runs

__all__ = ["RecordStats", "Store"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordStats:
    """How many there are of each, and how many bytes the database takes (its log, and what it may reuse, included)."""

    runs: int
    cases: int
    trials: int
    assessments: int
    snapshots: int
    replies: StoreStats
    bytes: int


class Store:
    """An open store. One for each event loop; open it with `await Store.open(…)`, close it after use.

    Attributes:
        responses: every reply, by the key of its call.
        runs: every run, with its trials.
    """

    def __init__(self, database: Grouped) -> None:
        self._database = database
        self.responses = ResponseStore(database)
        self.runs = RunStore(database)

    @classmethod
    async def open(
        cls, place: str | Path, patience_s: float = 30.0, *, must_exist: bool = False, reads: bool = False
    ) -> Store:
        """Open a SQLite file or a PostgreSQL database, as `ResponseStore.open` does.

        With `must_exist` a file that is not there is not made. With `reads` nothing will be written, so that a file is
        opened also where its disk is full or its folder closed to us.

        Raises:
            StoreError: with the store's name, what stands in the way, and what to do; never with a password.
        """
        address = parse_address(place)
        if isinstance(address, SqliteAddress):
            if must_exist and not _is_there(address.path):
                raise StoreError(
                    f"{address.shown}: there is no store; a first run makes one, or name another by --store"
                )
            return cls(Grouped(await _opened(address, patience_s, reads=reads)))
        return cls(Grouped(await PostgresDatabase.open(address, patience_s)))

    @property
    def shown(self) -> str:
        """How messages call the store: file, or server and database."""
        return self._database.shown

    async def verify(self, rule: TrialRule | None = None) -> AsyncIterator[StoreFault]:
        """Derive anew what can be: hashes, counts, statuses. Gives each fault as it is found; nothing when all is well.

        Args:
            rule: how assessments become a trial's status (`jurat.engine.trial_status`); None leaves that out.
        """
        async for fault in self.responses.faults():
            yield fault
        async for fault in verify_runs(self._database, self.runs, rule):
            yield fault

    async def stats(self) -> RecordStats:
        """How much is stored."""
        runs, cases, trials, assessments, snapshots, size = (await self._database.read(COUNTS))[0]
        replies = await self.responses.stats()
        return RecordStats(
            runs=runs,
            cases=cases,
            trials=trials,
            assessments=assessments,
            snapshots=snapshots,
            replies=replies,
            bytes=int(size),
        )

    async def aclose(self) -> None:
        """Let go of runs and database; a second time does nothing."""
        self.runs.let_go()
        await self._database.aclose()


async def _opened(address: SqliteAddress, patience_s: float, *, reads: bool) -> Database:
    try:
        return await SqliteDatabase.open(address, patience_s)
    except StoreError as error:
        if not (reads and isinstance(error.__cause__, sqlite3.Error | OSError) and _is_there(address.path)):
            raise
        found = await ReadingDatabase.open(address)
        if found is None:
            raise
        return found


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return True  # opening it tells what stands in the way
