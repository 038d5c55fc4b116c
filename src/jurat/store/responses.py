"""The response store: every reply that was paid for, by the key of its call.

What `commit` was given is on the disk when it returns, before anybody has looked at it; cache, resume and replay are
all one `recall`. A reply that proves to be no valid answer is withheld: its bytes are overwritten, and hash, length,
error and cost stay, so that it is neither asked for again nor kept. How soon overwritten bytes are gone from the disk
is told in `jurat.store.sqlite` and `jurat.store.postgres`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from jurat.evaluation import TypedError
from jurat.judge import Spending, Withheld
from jurat.provider.protocol import Raw
from jurat.store.address import SqliteAddress, parse_address
from jurat.store.database import Database
from jurat.store.journals import ScopedJournal, recall_replies
from jurat.store.postgres import PostgresDatabase
from jurat.store.rows import read_reply, reply_rows, withheld_rows
from jurat.store.sqlite import SqliteDatabase
from jurat.store.statements import BLANK, COMMIT, COUNT_KEPT, COUNT_WITHHELD, LATEST, PAGE, RECALL, REINSTATE, WITHHOLD

__all__ = ["ResponseStore", "StoreFault", "StoreStats"]

_PAGE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFault:
    """One thing wrong with what is stored. `key` is None where it is about the whole file."""

    key: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """How much is stored: replies that are kept and that were withheld, and the bytes that came with each."""

    kept: int
    kept_bytes: int
    withheld: int
    withheld_bytes: int


class ResponseStore:
    """Replies in a database. One for each event loop; open it with `await ResponseStore.open(…)`, close it after use.

    Every method raises StoreError when the database cannot do it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, place: str | Path, *, patience_s: float = 30.0) -> ResponseStore:
        """Open a SQLite file (a path, or `sqlite:///path`) or a `postgresql://` database, made ready as needed.

        Missing folders and a missing file are made; an older schema is brought up to date. `patience_s` is how long
        to wait for a file that another program holds locked, or for a server to answer.

        Raises:
            StoreError: with the store's name, what stands in the way, and what to do; never with a password.
        """
        address = parse_address(place)
        if isinstance(address, SqliteAddress):
            return cls(await SqliteDatabase.open(address, patience_s))
        return cls(await PostgresDatabase.open(address, patience_s))

    @property
    def shown(self) -> str:
        """How messages call the store: file, or server and database."""
        return self._database.shown

    async def recall(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]:
        """What is known under these keys, whichever process committed it; a key that is not known is left out."""
        return await recall_replies(self._database, RECALL, keys)

    async def latest(self, scope: str, limit: int) -> list[Raw]:
        """The latest replies that are kept of jobs whose name begins so, at most so many."""
        rows = await self._database.read(LATEST, len(scope), scope, limit)
        return [raw for row in rows if isinstance(raw := read_reply((*row, None)), Raw)]

    def journal(self, scope: str) -> ScopedJournal:
        """The store as one job sees it, which finds again what it asked for itself. `scope` names the job."""
        return ScopedJournal(self._database, scope)

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        """Keep replies; they are durable when this returns. Of two under one key the later one stays."""
        if replies:
            rows = reply_rows(replies)
            await self._database.write(((COMMIT, rows), (REINSTATE, [row[:1] for row in rows])))

    async def withhold(self, items: Sequence[tuple[str, TypedError, Spending]]) -> None:
        """Overwrite the bytes of replies that were no valid answers, and keep why, and what they cost.

        Raises:
            StoreError: also when a key was never committed; then nothing of this call is done.
        """
        if items:
            rows = withheld_rows(items)
            await self._database.write(((WITHHOLD, rows), (BLANK, [row[:1] for row in rows])))

    async def verify(self) -> list[StoreFault]:
        """Derive every hash and length anew, and have the database look at itself. Empty when all is well."""
        return [fault async for fault in self.faults()]

    async def faults(self) -> AsyncIterator[StoreFault]:
        """What `verify` finds, as it is found; a page of replies is held at once."""
        for text in await self._database.check():
            yield StoreFault(key=None, message=text)
        last = ""
        while rows := await self._database.read(PAGE, last, _PAGE):
            for row in rows:
                if fault := _fault(*row[1:]):
                    yield StoreFault(key=row[0], message=fault)
            last = rows[-1][0]

    async def stats(self) -> StoreStats:
        """How many replies there are, and how many bytes they came with."""
        ((kept, kept_bytes),) = await self._database.read(COUNT_KEPT)
        ((withheld, withheld_bytes),) = await self._database.read(COUNT_WITHHELD)
        return StoreStats(kept=kept, kept_bytes=int(kept_bytes), withheld=withheld, withheld_bytes=int(withheld_bytes))

    async def aclose(self) -> None:
        """Let go of the database; a second time does nothing."""
        await self._database.aclose()


def _fault(body: Any, digest: str, length: int, category: str | None) -> str | None:
    if len(body) != length:
        return f"expected {length} bytes, found {len(body)}"
    if category is not None:
        return "expected the bytes to be withheld, found some" if any(body) else None
    return None if sha256(body).hexdigest() == digest else "the bytes are not those whose hash was stored"
