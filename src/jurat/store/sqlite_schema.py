"""Bringing a SQLite file to the schema that this version knows. Safe when several processes open a new file at once.

An empty file is filled from `jurat.store.schema.CREATE`, an older one goes through Alembic. Either happens under the
file's write lock, and looks again once it holds it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from jurat.errors import StoreError
from jurat.store.schema import CREATE, HEAD, VERSION_TABLE, needs_upgrade, upgrade

__all__ = ["bring_up", "is_current", "take_steps"]


def bring_up(connection: sqlite3.Connection, path: Path) -> None:
    """
    Raises:
        StoreError: when the file is a newer jurat's store, or another program's database.
        sqlite3.Error: as it comes.
    """
    shown = str(path)
    if not needs_upgrade(_version(connection, shown), shown):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection, shown) is None:
            for statement in CREATE:
                connection.execute(statement)
            connection.execute(f"INSERT INTO {VERSION_TABLE} VALUES (?)", (HEAD,))  # noqa: S608  a constant
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if needs_upgrade(_version(connection, shown), shown):
        take_steps(path)


def is_current(connection: sqlite3.Connection, shown: str) -> bool:
    """Whether the file has the schema of this version.

    Raises:
        StoreError: as `bring_up`.
    """
    return not needs_upgrade(_version(connection, shown), shown)


def _version(connection: sqlite3.Connection, shown: str) -> str | None:
    """The schema's number, or None for a file without any table."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return None
    if VERSION_TABLE in tables:
        row = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()  # noqa: S608  a constant
        if row is not None:
            return str(row[0])
    raise StoreError(f"{shown}: expected a store of jurat, found another program's SQLite database; name another file")


def take_steps(path: Path) -> None:
    """Bring a file up step by step, through Alembic, under the file's write lock.

    Raises:
        StoreError: when it is not at a step that this version knows.
        sqlite3.Error: as it comes.
    """
    import sqlalchemy as sa

    # A connection of its own, without `foreign_keys`: a step may have to rebuild a table that others refer to.
    engine = sa.create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(path, timeout=60.0, isolation_level=None), poolclass=sa.NullPool
    )
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA secure_delete=ON")
            connection.exec_driver_sql("PRAGMA synchronous=FULL")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            driver: Any = connection.connection.driver_connection
            if needs_upgrade(_version(driver, str(path)), str(path)):  # nobody did it in the meantime
                upgrade(connection)
            connection.commit()
    except sa.exc.DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise error.orig from error
        raise
