"""A SQLite file as the store: one thread that writes, one that reads, each with a connection that it keeps.

Durable: write-ahead log with `synchronous=FULL`, so that a commit is on the disk when it returns. Any number of
processes may share the file; who finds it locked waits. The standard library's driver is used as it is, on threads of
our own: a transaction is one trip to the thread, where SQLAlchemy over aiosqlite makes five, and a cancelled caller
never leaves one half done.

Bytes that were overwritten are gone from the file and its log once the store is closed: `secure_delete` blanks what
SQLite frees, and the log is emptied on closing (by the last process, when several have the file open). After a crash
the log may hold them until the store is next opened and closed.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from jurat.errors import StoreError
from jurat.store.address import SqliteAddress
from jurat.store.database import Change
from jurat.store.rows import Row
from jurat.store.sqlite_errors import explain, is_busy
from jurat.store.sqlite_schema import bring_up
from jurat.store.statements import Statement

__all__ = ["SqliteDatabase"]

_T = TypeVar("_T")
_WAIT_S = 5.0  # SQLite's own wait for a lock; some locks it does not wait for at all
_PRAGMAS = ("synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY", "foreign_keys=ON")


class _Lane:
    """One connection and the one thread that uses it, opened with the first work; `makes` a file that is missing."""

    def __init__(self, path: Path, patience_s: float, *, makes: bool) -> None:
        self._path, self._patience_s, self._makes = path, patience_s, makes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="jurat-store")
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._patiently, work)
        except sqlite3.Error as error:
            raise explain(error, str(self._path)) from error

    def _patiently(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        until = time.monotonic() + self._patience_s
        while True:
            try:
                return work(self._connected())
            except sqlite3.Error as error:
                if not is_busy(error) or time.monotonic() >= until:
                    raise
            time.sleep(random.uniform(0.005, 0.05))  # noqa: S311  two that wait should not come back together

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _connect(self._path, min(_WAIT_S, self._patience_s), makes=self._makes)
        return self._connection

    async def aclose(self, last_work: Callable[[sqlite3.Connection], None] | None = None) -> None:
        """Do the last work, if the connection was ever opened, and close, whatever comes of it."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close, last_work)
        except sqlite3.Error as error:
            raise explain(error, str(self._path)) from error
        finally:
            self._thread.shutdown(wait=False)

    def _close(self, last_work: Callable[[sqlite3.Connection], None] | None) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if last_work is not None:
                last_work(connection)
        finally:
            connection.close()


def _connect(path: Path, wait_s: float, *, makes: bool) -> sqlite3.Connection:
    place = f"{path.as_uri()}?mode={'rwc' if makes else 'rw'}"
    connection = sqlite3.connect(place, timeout=wait_s, isolation_level=None, uri=True)
    try:
        if connection.execute("PRAGMA journal_mode=WAL").fetchone() != ("wal",):
            raise StoreError(
                f"{path}: expected a file system that supports SQLite's write-ahead log, found one that does not "
                "(a network file system?); keep the store on a local disk, or use a PostgreSQL server"
            )
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


class SqliteDatabase:
    """A SQLite file, open for this process. See the module's text for what it promises."""

    def __init__(self, path: Path, patience_s: float) -> None:
        self._path = path
        self._writer, self._reader = _Lane(path, patience_s, makes=True), _Lane(path, patience_s, makes=False)
        self._file: tuple[int, int] | None = None
        self._closed = False

    @property
    def shown(self) -> str:
        return str(self._path)

    @classmethod
    async def open(cls, address: SqliteAddress, patience_s: float) -> SqliteDatabase:
        """Open the file, making it and its folder where they are missing, and bring its schema up to date.

        Raises:
            StoreError: when it cannot be opened, is no store, or is a newer jurat's.
        """
        database = cls(address.path, patience_s)
        try:
            _make_room(address.path)
            await database._writer.run(lambda connection: bring_up(connection, address.path))
            database._file = _identity(address.path)
        except BaseException:
            await database._writer.aclose()
            raise
        return database

    async def write(self, changes: Sequence[Change]) -> None:
        await self._lane(self._writer).run(lambda connection: _write(connection, changes, self.shown))
        self._refuse_another_file()

    async def read(self, statement: Statement, *arguments: Any) -> list[Row]:
        try:
            return await self._lane(self._reader).run(
                lambda connection: connection.execute(statement.sqlite, arguments).fetchall()
            )
        except StoreError:
            self._refuse_another_file()
            raise

    async def check(self) -> list[str]:
        rows = await self._lane(self._reader).run(
            lambda connection: connection.execute("PRAGMA integrity_check(20)").fetchall()
        )
        return [] if rows == [("ok",)] else [f"SQLite finds the file damaged: {text}" for (text,) in rows]

    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._reader.aclose()
        finally:
            await self._writer.aclose(_empty_the_log)

    def _refuse_another_file(self) -> None:
        if _identity(self._path) != self._file and not self._closed:
            raise StoreError(
                f"{self._path}: the file was removed or replaced while it was in use, and what was written since is "
                "lost; leave the store alone while a run uses it, and run again"
            )

    def _lane(self, lane: _Lane) -> _Lane:
        if self._closed:
            raise StoreError(f"{self._path}: the store is closed")
        return lane


def _write(connection: sqlite3.Connection, changes: Sequence[Change], shown: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement, rows in changes:
            try:
                connection.executemany(statement.sqlite, rows)
            except sqlite3.IntegrityError as error:
                raise StoreError(f"{shown}: {statement.refused}") from error
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # after some faults SQLite has rolled back by itself
            connection.execute("ROLLBACK")
        raise


def _empty_the_log(connection: sqlite3.Connection) -> None:
    # Not waited for: where another process has the file open, its own closing does this.
    connection.execute("PRAGMA busy_timeout=0")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  half the time of Path.stat, once a commit
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _make_room(path: Path) -> None:
    """Make the folder; a new `.jurat` is kept out of version control, since it holds what models said."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ignore = path.parent / ".gitignore"
        if path.parent.name == ".jurat" and not path.exists() and not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"{path}: the folder {path.parent} cannot be made or written to ({error.strerror}); "
            "check its permissions, or keep the store elsewhere"
        ) from error
