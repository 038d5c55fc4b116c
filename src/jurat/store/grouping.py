"""One writer with group commit: what waits while one write is under way goes to the disk together with the next.

A write costs much the same however much it holds. Nobody waits for company: a write begins as soon as the one before is
done. When a write that was made of several fails, each is tried by itself, so that one caller's fault is no other's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from jurat.errors import StoreError
from jurat.store.database import Change, Database
from jurat.store.rows import Row
from jurat.store.statements import Statement

__all__ = ["Grouped"]

_MOST_ROWS = 4_096
"""A write takes in no further caller's changes beyond so many rows, so that nobody waits long for others."""

_Waiting = tuple[Sequence[Change], asyncio.Future[None]]


class Grouped:
    """A database whose writes are grouped; everything else goes straight through."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    @property
    def shown(self) -> str:
        return self._database.shown

    async def write(self, changes: Sequence[Change]) -> None:
        """As `Database.write`; a caller that is cancelled leaves, and its changes are written nevertheless."""
        loop = asyncio.get_running_loop()
        durable: asyncio.Future[None] = loop.create_future()
        self._waiting.append((changes, durable))
        if self._writing is None:
            self._writing = loop.create_task(self._write_all())
        await durable

    async def read(self, statement: Statement, *arguments: Any) -> list[Row]:
        return await self._database.read(statement, *arguments)

    async def check(self) -> list[str]:
        return await self._database.check()

    async def aclose(self) -> None:
        if self._writing is not None:
            await asyncio.wait((self._writing,))
        await self._database.aclose()

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                await self._write_group(self._take())
        finally:
            self._writing = None

    def _take(self) -> list[_Waiting]:
        taken, rows = 0, 0
        for changes, _ in self._waiting:
            if taken and rows > _MOST_ROWS:
                break
            rows += sum(len(some) for _, some in changes)
            taken += 1
        group, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return group

    async def _write_group(self, group: list[_Waiting]) -> None:
        try:
            await self._database.write(_together([changes for changes, _ in group]))
        except StoreError as error:
            if len(group) == 1:
                _settle(group[0], error)
            else:
                for one in group:
                    await self._write_group([one])
        except BaseException as error:
            for one in group:
                _settle(one, error)
            if not isinstance(error, Exception):
                raise
        else:
            for one in group:
                _settle(one, None)


def _together(group: Sequence[Sequence[Change]]) -> list[Change]:
    """The changes of several callers as few: what is done by the same statements in the same order is done at once.

    Callers that write at the same moment do not know of each other, so it is all one who comes first.
    """
    alike: dict[tuple[Statement, ...], list[list[Row]]] = {}
    for changes in group:
        some = [(statement, rows) for statement, rows in changes if rows]
        merged = alike.setdefault(tuple(statement for statement, _ in some), [[] for _ in some])
        for rows, more in zip(merged, some, strict=True):
            rows.extend(more[1])
    return [change for statements, merged in alike.items() for change in zip(statements, merged, strict=True)]


def _settle(waiting: _Waiting, failure: BaseException | None) -> None:
    durable = waiting[1]
    if durable.done():  # cancelled meanwhile
        return
    if failure is None:
        durable.set_result(None)
    elif isinstance(failure, asyncio.CancelledError):
        durable.cancel()
    else:
        durable.set_exception(failure)
