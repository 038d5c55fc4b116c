"""A PostgreSQL database as the store: one connection that writes, one that reads, both renewed when they are lost.

Durable: `synchronous_commit` is switched on where a server has it off. Any number of processes on any number of
machines may share it. asyncpg is used as it is; SQLAlchemy comes in for the schema alone, when it has to be changed.

A reply that is withheld is overwritten in its row. The row's former version stays in the server's files until
PostgreSQL vacuums it away, and in its log and backups for as long as the server keeps those: that is the server's
retention, and nothing here can shorten it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from jurat.errors import StoreError
from jurat.store.address import PostgresAddress
from jurat.store.database import Change
from jurat.store.postgres_errors import explain, is_clash, is_outage, is_refusal
from jurat.store.rows import Row
from jurat.store.schema import VERSION_TABLE, needs_upgrade, upgrade
from jurat.store.statements import Statement

if TYPE_CHECKING:
    from asyncpg import Connection

__all__ = ["UPGRADE_LOCK", "PostgresDatabase", "connect"]

_T = TypeVar("_T")
UPGRADE_LOCK = 0x6A75726174  # "jurat" in ASCII: an advisory lock of our own


class _Lane:
    """One connection, used by one task at a time, opened with the first work.

    A connection on which anything went wrong, a cancellation included, is never used again: asyncpg may have a
    transaction open on it without knowing, and what came next would never be committed.
    """

    def __init__(self, address: PostgresAddress, patience_s: float) -> None:
        self._address, self._patience_s = address, patience_s
        self._turn = asyncio.Lock()
        self._connection: Connection | None = None
        self._has_answered = False

    async def run(self, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        async with self._turn:
            return await self._patiently(work)

    async def _patiently(self, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        # A server that has answered once is waited for (it may be restarting, and a reply in hand is paid for); one
        # that never has is reported at once: the address may be wrong.
        until = time.monotonic() + self._patience_s
        while True:
            try:
                return await self._once(work)
            except StoreError:
                raise
            except Exception as error:
                worth_it = is_clash(error) or (self._has_answered and is_outage(error))
                if not worth_it or time.monotonic() >= until:
                    raise explain(error, self._address.shown) from None  # the cause may hold the address
            await asyncio.sleep(random.uniform(0.01, 0.2))  # noqa: S311  two that clash should not come back together

    async def _once(self, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        try:
            return await work(await self._connected())
        except BaseException:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.terminate()
            raise

    async def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = await connect(self._address, self._patience_s, command_timeout=self._patience_s)
            if await self._connection.fetchval("SHOW synchronous_commit") == "off":
                await self._connection.execute("SET synchronous_commit = on")
            self._has_answered = True
        return self._connection

    async def aclose(self) -> None:
        async with self._turn:
            connection, self._connection = self._connection, None
            if connection is None or connection.is_closed():
                return
            try:
                await connection.close(timeout=self._patience_s)
            except Exception:
                connection.terminate()


async def connect(address: PostgresAddress, timeout_s: float, *, command_timeout: float | None = None) -> Connection:
    """A connection of asyncpg's.

    Raises:
        StoreError: when asyncpg is not installed.
        Exception: whatever the driver or the network raises; see `explain`.
    """
    try:
        import asyncpg
    except ImportError:
        raise StoreError(
            f"{address.shown}: expected the package asyncpg, found none; run: pip install 'jurat[postgres]'"
        ) from None
    return await asyncpg.connect(address.dsn, timeout=timeout_s, command_timeout=command_timeout)


class PostgresDatabase:
    """A PostgreSQL database, open for this process. See the module's text for what it promises."""

    def __init__(self, address: PostgresAddress, patience_s: float) -> None:
        self._address, self._patience_s = address, patience_s
        self._writer, self._reader = _Lane(address, patience_s), _Lane(address, patience_s)
        self._closed = False

    @property
    def shown(self) -> str:
        return self._address.shown

    @classmethod
    async def open(cls, address: PostgresAddress, patience_s: float) -> PostgresDatabase:
        """Connect, and bring the schema up to date.

        Raises:
            StoreError: when the server cannot be used, the driver is missing, or the schema is a newer jurat's.
        """
        database = cls(address, patience_s)
        try:
            if needs_upgrade(await database._writer.run(_version), address.shown):
                await database._upgrade()
        except BaseException:
            await database.aclose()
            raise
        return database

    async def write(self, changes: Sequence[Change]) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                for statement, rows in changes:
                    try:
                        await connection.executemany(statement.postgres, rows)
                    except Exception as error:
                        if is_refusal(error):
                            raise StoreError(f"{self.shown}: {statement.refused}") from None
                        raise

        await self._lane(self._writer).run(work)

    async def read(self, statement: Statement, *arguments: Any) -> list[Row]:
        async def work(connection: Connection) -> list[Row]:
            return [tuple(row) for row in await connection.fetch(statement.postgres, *arguments)]

        return await self._lane(self._reader).run(work)

    async def check(self) -> list[str]:
        return []  # the server looks after its own files

    async def aclose(self) -> None:
        self._closed = True
        try:
            await self._reader.aclose()
        finally:
            await self._writer.aclose()

    def _lane(self, lane: _Lane) -> _Lane:
        if self._closed:
            raise StoreError(f"{self.shown}: the store is closed")
        return lane

    async def _upgrade(self) -> None:
        import sqlalchemy as sa
        from sqlalchemy.ext.asyncio import create_async_engine

        engine = create_async_engine(
            "postgresql+asyncpg://", async_creator=lambda: connect(self._address, self._patience_s)
        )
        try:
            async with engine.begin() as connection:
                await connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": UPGRADE_LOCK})
                await connection.run_sync(_upgrade_once, self.shown)
        except StoreError:
            raise
        except Exception as error:
            raise explain(_root(error), self.shown) from None
        finally:
            await engine.dispose()


async def _version(connection: Connection) -> str | None:
    """The schema's number, or None where jurat has no tables yet."""
    if await connection.fetchval("SELECT to_regclass($1)", VERSION_TABLE) is None:
        return None
    version = await connection.fetchval(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608  a constant
    return None if version is None else str(version)


def _upgrade_once(connection: Any, shown: str) -> None:
    # Another process may have done it while this one waited for the lock.
    import sqlalchemy as sa

    there = connection.execute(sa.text("SELECT to_regclass(:name)"), {"name": VERSION_TABLE}).scalar()
    query = sa.text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608  a constant
    if needs_upgrade(connection.execute(query).scalar() if there else None, shown):
        upgrade(connection)


def _root(error: BaseException) -> BaseException:
    """The driver's own error inside those of SQLAlchemy."""
    inner = getattr(error, "orig", None) or error.__cause__
    return error if inner is None else _root(inner)
