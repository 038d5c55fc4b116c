"""Every test of the store that takes a `place` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from postgres_cluster import find_binaries, private_server

from jurat.store import ResponseStore, Store


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server on which databases may be made: the one that is named, or one of our own."""
    named = os.environ.get("JURAT_TEST_POSTGRES")
    if named:
        yield named
        return
    binaries = find_binaries()
    if binaries is None:
        reason = "no PostgreSQL: JURAT_TEST_POSTGRES names none, and initdb and pg_ctl are not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with private_server(binaries) as address:
        yield address


@pytest.fixture(scope="session")
def postgres_copies(postgres_server: str) -> Iterator[str]:
    """How a database is made that has a store's tables: as a copy of one."""
    import asyncpg

    name = f"jurat_test_{uuid.uuid4().hex}"

    async def make() -> str:
        connection = await asyncpg.connect(postgres_server)
        await connection.execute(f"CREATE DATABASE {name}")
        await (await Store.open(database_at(postgres_server, name))).aclose()
        by_file = connection.get_server_version().major >= 15  # before, there was no other way, and no word for it
        await connection.close()
        return f"TEMPLATE {name} STRATEGY FILE_COPY" if by_file else f"TEMPLATE {name}"

    async def drop() -> None:
        connection = await asyncpg.connect(postgres_server)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await connection.close()

    yield asyncio.run(make())
    asyncio.run(drop())


def database_at(server: str, name: str) -> str:
    """The address of one of a server's databases."""
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


@pytest.fixture
def postgres_source(request: pytest.FixtureRequest) -> str:
    """How the test's database is made: with the tables, where it begins with an open store anyway; or empty."""
    opened = {"store", "runs"} & set(request.fixturenames)
    return str(request.getfixturevalue("postgres_copies")) if opened else ""


@pytest.fixture
async def postgres_place(postgres_server: str, postgres_source: str) -> AsyncIterator[str]:
    """A new database."""
    import asyncpg

    name = f"jurat_test_{uuid.uuid4().hex}"
    connection = await asyncpg.connect(postgres_server)
    try:
        await connection.execute(f"CREATE DATABASE {name} {postgres_source}")
        yield database_at(postgres_server, name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()


@pytest.fixture
def sqlite_place(tmp_path: Path) -> str:
    """A file that is not there yet, in a folder that is not there yet."""
    return str(tmp_path / ".jurat" / "store.db")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest) -> str:
    """Where the store is to be, on each database in turn."""
    found: str = request.getfixturevalue(f"{request.param}_place")
    return found


@pytest.fixture
async def store(place: str) -> AsyncIterator[ResponseStore]:
    """An empty store on each database in turn."""
    opened = await ResponseStore.open(place)
    yield opened
    await opened.aclose()


@pytest.fixture
async def runs(place: str) -> AsyncIterator[Store]:
    """The same, with its runs."""
    opened = await Store.open(place)
    yield opened
    await opened.aclose()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for one megabyte; needs root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system of its own can only be mounted by root, and not in every container")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
