"""PostgreSQL as the store: the server's absence, its restarts, and what is never said about it."""

from __future__ import annotations

import asyncio
import socket
import sys

import pytest
from store_samples import child, execute, key_of, replies, reply

from jurat.errors import StoreError
from jurat.store import ResponseStore
from jurat.store.postgres import UPGRADE_LOCK
from jurat.store.postgres_errors import explain


@pytest.mark.postgres
async def test_a_connection_that_the_server_cuts_is_made_anew(postgres_place: str) -> None:
    store = await ResponseStore.open(postgres_place)
    await store.commit([reply("a")])
    assert await store.recall([key_of("a")]) == dict([reply("a")])
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    await execute(postgres_place, cut + "pg_backend_pid()")
    await store.commit([reply("b")])
    assert await store.recall([key_of("a"), key_of("b")]) == dict([reply("a"), reply("b")])
    await store.aclose()


@pytest.mark.postgres
async def test_commits_are_durable_where_the_server_has_that_switched_off(postgres_place: str) -> None:
    await execute(
        postgres_place,
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
    )
    store = await ResponseStore.open(postgres_place)
    lane = store._database._writer  # type: ignore[attr-defined]
    assert await lane.run(lambda connection: connection.fetchval("SHOW synchronous_commit")) == "on"
    await store.aclose()


@pytest.mark.postgres
async def test_two_processes_open_an_empty_database_at_once(postgres_place: str) -> None:
    with child(postgres_place, "a", "3", "1") as one, child(postgres_place, "b", "3", "1") as two:
        for process in (one, two):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        await asyncio.gather(*(asyncio.to_thread(process.communicate, "go\nclose\n") for process in (one, two)))
        assert [process.returncode for process in (one, two)] == [0, 0]
    store = await ResponseStore.open(postgres_place)
    assert await store.recall([key for key, _ in replies("b", 3)]) == dict(replies("b", 3))
    assert (await store.stats()).kept == 6
    await store.aclose()


@pytest.mark.postgres
async def test_whoever_comes_second_waits_until_the_first_has_made_the_tables(postgres_place: str) -> None:
    import asyncpg

    first = await asyncpg.connect(postgres_place)
    async with first.transaction():
        await first.execute(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})")
        opening = asyncio.create_task(ResponseStore.open(postgres_place))
        waits = (
            "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database "
            "WHERE locktype = 'advisory' AND NOT granted AND d.datname = current_database()"
        )
        while not (waiting := await first.fetchval(waits)) and not opening.done():
            pass
    assert waiting == 1
    await first.close()
    store = await opening
    await store.commit([reply("a")])
    await store.aclose()


@pytest.mark.postgres
async def test_another_program_s_table_is_not_taken_over(postgres_place: str) -> None:
    await execute(postgres_place, "CREATE TABLE responses (name text)")
    with pytest.raises(StoreError, match="holds a table of another program by the name of one of jurat's"):
        await ResponseStore.open(postgres_place)


@pytest.mark.postgres
async def test_a_database_that_is_not_there_is_reported(postgres_place: str) -> None:
    with pytest.raises(StoreError, match=r"the server has no such database; create it \(createdb\)"):
        await ResponseStore.open(postgres_place.replace("jurat_test_", "jurat_absent_"))


@pytest.mark.postgres
async def test_a_user_who_may_not_create_tables_is_told_so(postgres_place: str) -> None:
    await execute(postgres_place, "ALTER DATABASE " + postgres_place.partition("?")[0].rpartition("/")[2] + (
        " SET default_transaction_read_only = on"
    ))  # fmt: skip
    with pytest.raises(StoreError, match="the server takes reads only; name the primary server"):
        await ResponseStore.open(postgres_place)


async def test_a_server_that_cannot_be_reached_is_reported_without_the_password() -> None:
    with socket.socket() as taken:  # bound, but not listening: nobody else can take the port either
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StoreError) as caught:
            await ResponseStore.open(f"postgresql://me:s3cr3t-word@127.0.0.1:{port}/evals")
    assert str(caught.value) == (
        f"PostgreSQL database evals at 127.0.0.1:{port}: the server cannot be reached; "
        "check that it runs, and host and port in the store's address"
    )


async def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(StoreError, match=r"found none; run: pip install 'jurat\[postgres\]'"):
        await ResponseStore.open("postgresql://me:s3cr3t-word@127.0.0.1/evals")


class ServerSaid(Exception):
    """What the driver raises for an error of the server's."""

    def __init__(self, code: str) -> None:
        self.sqlstate = code
        super().__init__("a text that may hold a value")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("28P01", "the server refused the user or the password"),
        ("53100", "the server's disk is full"),
        ("53300", "too many connections"),
        ("53200", "out of memory or another resource"),
        ("57P01", "the server cut the connection off or is not ready"),
        ("42501", "the user may not do this"),
        ("42601", "the server failed (SQLSTATE 42601)"),
    ],
)
def test_each_trouble_has_its_sentence(code: str, sentence: str) -> None:
    told = str(explain(ServerSaid(code), "PostgreSQL database evals at db.local"))
    assert told.startswith("PostgreSQL database evals at db.local: ")
    assert sentence in told
    assert "a text" not in told


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (TimeoutError(), "the server did not answer in time"),
        (ConnectionRefusedError(), "the server cannot be reached"),
        (ValueError("postgresql://me:s3cr3t-word@host"), "the driver failed (ValueError)"),
    ],
)
def test_troubles_of_the_network_and_the_driver_have_theirs(error: Exception, sentence: str) -> None:
    assert str(explain(error, "there")).startswith(f"there: {sentence}")
