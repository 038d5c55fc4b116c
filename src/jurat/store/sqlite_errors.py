"""What SQLite complains of, in sentences that say which file, what stands in the way, and what to do about it."""

from __future__ import annotations

import sqlite3

from jurat.errors import StoreError

__all__ = ["explain", "is_busy"]

_NETWORK = (
    "its file system does not support SQLite's write-ahead log, as network file systems do not; keep the store on a "
    "local disk, or use a PostgreSQL server"
)
_CLOSED_OFF = "it cannot be opened for writing; check that file, folder and disk are there and may be written to"
_DAMAGED = "the file is damaged; keep a copy of it, and go on with a backup or a new file"
# By the name of SQLite's result code, the longest first: `SQLITE_IOERR_SHMMAP` is more than a `SQLITE_IOERR`.
_FULL = "the disk is full; make room, then try again: what was committed before stays"
_SENTENCES = (
    ("SQLITE_IOERR_SHMSIZE", _FULL),  # no room for the file of its locks
    ("SQLITE_IOERR_SHM", _NETWORK),
    ("SQLITE_IOERR_LOCK", _NETWORK),
    ("SQLITE_PROTOCOL", _NETWORK),
    ("SQLITE_IOERR", "the disk reported a fault while it was read or written; check the disk, then try again"),
    ("SQLITE_FULL", _FULL),
    ("SQLITE_NOTADB", "the file is no SQLite database; name another file"),
    ("SQLITE_CORRUPT", _DAMAGED),
    ("SQLITE_READONLY", _CLOSED_OFF),
    ("SQLITE_CANTOPEN", _CLOSED_OFF),
    ("SQLITE_PERM", _CLOSED_OFF),
    ("SQLITE_BUSY", "another program holds it locked; wait for that program or end it, then try again"),
    ("SQLITE_LOCKED", "another program holds it locked; wait for that program or end it, then try again"),
    ("SQLITE_TOOBIG", "a reply is larger than a SQLite database can hold (1 GB)"),
)


def explain(error: sqlite3.Error, shown: str) -> StoreError:
    """The sentence for an error. SQLite's own message is left out: it may repeat a statement."""
    name = _name(error)
    for start, sentence in _SENTENCES:
        if name.startswith(start):
            return StoreError(f"{shown}: {sentence}")
    return StoreError(f"{shown}: SQLite failed ({name or type(error).__name__})")


def is_busy(error: sqlite3.Error) -> bool:
    """Whether waiting may help."""
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", None) or ""
