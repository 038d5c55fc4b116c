"""Where a store is: a SQLite file, or a PostgreSQL server. Pure; reads no file and reaches no server.

An address may hold a password. `shown` is how messages call the store, and never holds one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from jurat.errors import StoreError

__all__ = ["PostgresAddress", "SqliteAddress", "parse_address"]

_EXPECTED = "expected a file path, sqlite:///path or postgresql://host/database"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteAddress:
    """A file, by its absolute path."""

    path: Path

    @property
    def shown(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresAddress:
    """A database of a server. `dsn` may hold a password and is for the driver alone."""

    dsn: str = field(repr=False)
    shown: str


def parse_address(place: str | Path) -> SqliteAddress | PostgresAddress:
    """Read a file path, `sqlite:///relative`, `sqlite:////absolute` or `postgresql://[user[:password]@]host/database`.

    Raises:
        StoreError: when it is none of these; the message repeats nothing that may be a secret.
    """
    if isinstance(place, Path):
        return _file(str(place))
    scheme, mark, rest = place.partition("://")
    if not mark:
        if re.match(r"(sqlite|postgres(ql)?):", place):
            raise StoreError(f"store address: {_EXPECTED}, found a scheme without //")
        return _file(place)
    kind = scheme.partition("+")[0].lower()
    if kind == "sqlite":
        return _file(_path_of(rest))
    if kind in ("postgres", "postgresql"):
        return _server(f"postgresql://{rest}")
    found = f"{kind}://" if re.fullmatch(r"[a-z][a-z0-9.-]{0,20}", kind) else "another scheme"
    raise StoreError(f"store address: {_EXPECTED}, found {found}")


def _file(path: str) -> SqliteAddress:
    if path in ("", ":memory:"):
        raise StoreError(f"store address: {_EXPECTED}, found no file: what is paid for has to be kept in one")
    if "\0" in path:
        raise StoreError(f"store address: {_EXPECTED}, found a path with a NUL character")
    try:
        return SqliteAddress(path=Path(path).expanduser().absolute())
    except RuntimeError:
        raise StoreError(f"store address: {_EXPECTED}, found a ~ that stands for no known home folder") from None


def _path_of(rest: str) -> str:
    if not rest.startswith("/") or "?" in rest:
        raise StoreError("store address: expected sqlite:/// and a path, without host or options")
    return unquote(rest[1:])


def _server(dsn: str) -> PostgresAddress:
    unreadable = StoreError(
        "store address: expected postgresql://[user[:password]@]host[:port]/database, found something that "
        "cannot be read so; write the characters @ : / ? # % of a user or password as %40 %3A %2F %3F %23 %25"
    )
    try:
        parts = urlsplit(dsn)
        shown = _shown(parts)
    except ValueError:
        raise unreadable from None
    # A password with a bare / or # or ? would end up in the part that is shown.
    if parts.fragment or "@" in parts.path + parts.query or not parts.path.strip("/"):
        raise unreadable
    return PostgresAddress(dsn=dsn, shown=shown)


def _shown(parts: SplitResult) -> str:
    host = parts.hostname or parse_qs(parts.query).get("host", ["the local socket"])[0]
    port = f":{parts.port}" if parts.port else ""
    return f"PostgreSQL database {unquote(parts.path.strip('/'))} at {host}{port}"
