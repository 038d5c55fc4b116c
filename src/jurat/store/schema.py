"""Which shape the store has, and how it is brought to the one that this version knows.

The shape has a number, `HEAD`, kept in the table `jurat_version`. A store that already has it costs one look. An older
one is brought up by the numbered steps of `jurat.store.migrations`, through Alembic; a newer one is refused. An empty
SQLite file is filled with `CREATE`, which is what all the steps together come to (a test holds the two together):
importing SQLAlchemy and Alembic takes most of a second, and every new project starts with an empty file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jurat.errors import StoreError
from jurat.store.sqlite_create import CREATE

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["CREATE", "HEAD", "VERSION_TABLE", "needs_upgrade", "upgrade"]

HEAD = "0004"
VERSION_TABLE = "jurat_version"


def needs_upgrade(version: str | None, shown: str) -> bool:
    """Whether a store of that version (None: an empty one) has to be brought up to `HEAD`.

    Raises:
        StoreError: when it is newer than this code.
    """
    if version is None:
        return True
    if not (version.isascii() and version.isdigit()):
        raise StoreError(f"{shown}: expected a schema number in the table {VERSION_TABLE}, found another word there")
    if int(version) > int(HEAD):
        raise StoreError(
            f"{shown}: the store has schema {version}, this version of jurat knows schemas up to {HEAD}; upgrade jurat"
        )
    return version != HEAD


def upgrade(connection: Connection, to: str = HEAD) -> None:
    """Take the steps up to `to`, inside the transaction that the connection is in. The caller holds the lock.

    Raises:
        StoreError: when the store is at a step that never was.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config(attributes={"connection": connection})
    folder = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", folder.replace("%", "%%"))
    try:
        command.upgrade(config, to)
    except CommandError as error:
        raise StoreError(
            f"expected in the table {VERSION_TABLE} the number of a step up to {HEAD}, found another; the store was "
            "changed by hand or by another program: restore a backup, or name another store"
        ) from error
