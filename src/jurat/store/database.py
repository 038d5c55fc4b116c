"""The window to a database: write durably, read what is committed, close. SQLite and PostgreSQL implement it alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from jurat.store.rows import Row
from jurat.store.statements import Statement

__all__ = ["Change", "Database"]

Change = tuple[Statement, Sequence[Row]]
"""A statement, and the arguments of each time that it is to be carried out."""


class Database(Protocol):
    """One open database. Every method raises StoreError and nothing else (but lets cancellation through)."""

    @property
    def shown(self) -> str:
        """How messages call it; never holds a password."""
        ...

    async def write(self, changes: Sequence[Change]) -> None:
        """Carry out all changes or none, in one transaction that is on the disk when this returns.

        Whoever is cancelled while waiting does not know whether it happened; every change here may be made twice.
        """
        ...

    async def read(self, statement: Statement, *arguments: Any) -> list[Row]:
        """All rows of one query, seeing what any process has committed until now."""
        ...

    async def check(self) -> list[str]:
        """What the database itself finds wrong with its file, in sentences; empty when all is well."""
        ...

    async def aclose(self) -> None:
        """Let go of it; a second time does nothing."""
        ...
