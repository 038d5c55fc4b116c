"""Where a store is, as people write it; and that a password is never shown."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import StoreError
from jurat.store.address import PostgresAddress, SqliteAddress, parse_address


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("a.db", Path.cwd() / "a.db"),
        (".jurat/store.db", Path.cwd() / ".jurat" / "store.db"),
        ("/data/store.db", Path("/data/store.db")),
        (Path("/data/a?b.db"), Path("/data/a?b.db")),
        ("~/store.db", Path.home() / "store.db"),
        ("sqlite:///a.db", Path.cwd() / "a.db"),
        ("sqlite:////data/with%20space.db", Path("/data/with space.db")),
        ("SQLite+aiosqlite:////data/store.db", Path("/data/store.db")),
        ("postgres.db", Path.cwd() / "postgres.db"),
    ],
)
def test_a_path_or_a_sqlite_url_is_a_file(place: str | Path, path: Path) -> None:
    assert parse_address(place) == SqliteAddress(path=path)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("postgresql://db.local/evals", "PostgreSQL database evals at db.local"),
        ("postgres://me:pw@db.local:6543/evals", "PostgreSQL database evals at db.local:6543"),
        ("postgresql+asyncpg://me@db.local/my%20evals?sslmode=require", "PostgreSQL database my evals at db.local"),
        ("postgresql://me@/evals?host=/run/postgresql", "PostgreSQL database evals at /run/postgresql"),
        ("postgresql:///evals", "PostgreSQL database evals at the local socket"),
    ],
)
def test_a_postgresql_url_is_a_server_and_shown_without_user(place: str, shown: str) -> None:
    found = parse_address(place)
    assert isinstance(found, PostgresAddress)
    assert found.shown == shown
    assert found.dsn == "postgresql://" + place.partition("://")[2]


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("", "found no file"),
        (":memory:", "found no file"),
        ("sqlite://", "expected sqlite:/// and a path"),
        ("sqlite://host/a.db", "expected sqlite:/// and a path"),
        ("sqlite:///", "found no file"),
        ("sqlite:///a.db?mode=ro", "without host or options"),
        ("sqlite:a.db", "found a scheme without //"),
        ("postgresql:evals", "found a scheme without //"),
        ("mysql://host/evals", "found mysql://"),
        ("a\x00b", "a NUL character"),
        ("~nobody-of-this-name/a.db", "a ~ that stands for no known home folder"),
        ("postgresql://host", "cannot be read so"),
        ("postgresql://host:port/evals", "cannot be read so"),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(place: str, found: str) -> None:
    with pytest.raises(StoreError, match="store address: expected") as caught:
        parse_address(place)
    assert found in str(caught.value)


def told_of(place: str) -> str:
    """All that is ever shown of an address, or the refusal of it."""
    try:
        found = parse_address(place)
    except StoreError as error:
        return str(error)
    return f"{found.shown} {found!r}"


@given(st.text(max_size=20))
def test_a_password_is_shown_nowhere_however_it_is_written(rest: str) -> None:
    for password in (f"Zq9{rest}Zq9", quote(f"Zq9{rest}Zq9", safe="", errors="replace")):
        assert "Zq9" not in told_of(f"postgresql://me:{password}@db.local/evals")


@given(st.text(max_size=60) | st.text(max_size=60).map("postgresql://{}".format))
def test_any_text_is_an_address_or_refused(place: str) -> None:
    assert told_of(place)
