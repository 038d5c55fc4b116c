"""The whole store: the replies that were paid for, and the runs that they belong to, in one database."""

from __future__ import annotations

from pathlib import Path

from jurat.store.address import SqliteAddress, parse_address
from jurat.store.grouping import Grouped
from jurat.store.postgres import PostgresDatabase
from jurat.store.responses import ResponseStore
from jurat.store.runs import RunStore
from jurat.store.sqlite import SqliteDatabase

__all__ = ["Store"]


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
    async def open(cls, place: str | Path, patience_s: float = 30.0) -> Store:
        """Open a SQLite file or a PostgreSQL database, as `ResponseStore.open` does.

        Raises:
            StoreError: with the store's name, what stands in the way, and what to do; never with a password.
        """
        address = parse_address(place)
        if isinstance(address, SqliteAddress):
            return cls(Grouped(await SqliteDatabase.open(address, patience_s)))
        return cls(Grouped(await PostgresDatabase.open(address, patience_s)))

    @property
    def shown(self) -> str:
        """How messages call the store: file, or server and database."""
        return self._database.shown

    async def aclose(self) -> None:
        """Let go of runs and database; a second time does nothing."""
        self.runs.let_go()
        await self._database.aclose()
