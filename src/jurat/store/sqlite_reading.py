"""A SQLite file that is read where nothing can be written: its disk is full, or its folder is closed to us.

SQLite wants a file for its locks beside the store, even to read. Where that is there already, or can be made, the store
is read with it. Where it cannot be made and there is no write-ahead log, the file itself is the whole store, and is
read as it stands; should a log appear meanwhile, what was read may be out of date, and is refused.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jurat.errors import StoreError
from jurat.store.address import SqliteAddress
from jurat.store.database import Change
from jurat.store.rows import Row
from jurat.store.sqlite_errors import explain
from jurat.store.sqlite_schema import is_current
from jurat.store.statements import Statement

__all__ = ["ReadingDatabase"]


class ReadingDatabase:
    """A SQLite file of this version's schema, open to be read; made by `open`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="jurat-store")
        self._connection: sqlite3.Connection | None = None
        self._still = False

    @property
    def shown(self) -> str:
        return str(self._path)

    @classmethod
    async def open(cls, address: SqliteAddress) -> ReadingDatabase | None:
        """The file, or None where it cannot be read so either, or is of another version."""
        database = cls(address.path)
        try:
            if await database._on_thread(database._connect):
                return database
        except (sqlite3.Error, StoreError):
            pass
        await database.aclose()
        return None

    async def write(self, changes: Sequence[Change]) -> None:
        del changes
        raise StoreError(f"{self._path}: the store is open to be read alone")

    async def read(self, statement: Statement, *arguments: Any) -> list[Row]:
        def work() -> list[Row]:
            assert self._connection is not None  # noqa: S101 (opened, or there would be none of us)
            return self._connection.execute(statement.sqlite, arguments).fetchall()

        return self._checked(await self._told(work))

    async def check(self) -> list[str]:
        def work() -> list[Row]:
            assert self._connection is not None  # noqa: S101
            return self._connection.execute("PRAGMA integrity_check(20)").fetchall()

        rows = self._checked(await self._told(work))
        return [] if rows == [("ok",)] else [f"SQLite finds the file damaged: {text}" for (text,) in rows]

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._on_thread(connection.close)
        self._thread.shutdown(wait=False)

    # --- on the thread -------------------------------------------------------------------------------------------

    async def _on_thread(self, work: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def _told(self, work: Any) -> list[Row]:
        if self._connection is None:
            raise StoreError(f"{self._path}: the store is closed")
        try:
            rows: list[Row] = await self._on_thread(work)
        except sqlite3.Error as error:
            raise explain(error, self.shown) from error
        return rows

    def _connect(self) -> bool:
        try:
            return self._try("mode=ro")
        except sqlite3.Error:
            if self._logged():
                raise
        self._still = True
        return self._try("mode=ro&immutable=1")

    def _try(self, how: str) -> bool:
        connection = sqlite3.connect(f"{self._path.as_uri()}?{how}", timeout=5.0, isolation_level=None, uri=True)
        try:
            connection.execute("PRAGMA query_only=ON")
            connection.execute("PRAGMA temp_store=MEMORY")
            current = is_current(connection, self.shown)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return current

    def _logged(self) -> bool:
        """Whether a write-ahead log holds something that the file does not."""
        try:
            return self._path.with_name(f"{self._path.name}-wal").stat().st_size > 0
        except OSError:
            return False

    def _checked(self, rows: list[Row]) -> list[Row]:
        if self._still and self._logged():
            raise StoreError(f"{self._path}: it was written to while it was read; try again")
        return rows
