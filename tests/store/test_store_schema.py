"""The schema: brought up by numbered steps, equal to the tables, and refused when it is newer."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.schema import CreateTable
from store_samples import WITHHELD, execute, key_of, reply

from jurat.errors import StoreError
from jurat.store import ResponseStore, Store, run_statements, schema, statements
from jurat.store.address import PostgresAddress, parse_address
from jurat.store.postgres import connect
from jurat.store.sqlite_schema import take_steps
from jurat.store.statements import COMMIT, WITHHOLD
from jurat.store.tables import metadata, responses, withheld


async def on_connection(place: str, work: Callable[[sa.Connection], Any]) -> Any:  # what the work gives
    """Do some work in one transaction of SQLAlchemy's."""
    address = parse_address(place)
    if isinstance(address, PostgresAddress):
        engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: connect(address, 10.0))
        async with engine.begin() as connection:
            found = await connection.run_sync(work)
        await engine.dispose()
        return found
    address.path.parent.mkdir(exist_ok=True)
    plain = sa.create_engine(f"sqlite:///{address.path}", poolclass=sa.NullPool)
    with plain.begin() as held:
        return work(held)


def differences(connection: sa.Connection) -> list[Any]:
    """How the database differs from the tables."""
    context = MigrationContext.configure(
        connection, opts={"version_table": schema.VERSION_TABLE, "compare_type": True, "compare_server_default": True}
    )
    return list(compare_metadata(context, metadata))


def steps() -> ScriptDirectory:
    """The numbered steps."""
    return ScriptDirectory(str(Path(schema.__file__).with_name("migrations")))


async def test_the_steps_from_the_first_on_come_to_the_tables(place: str) -> None:
    for step in reversed(list(steps().walk_revisions())):
        await on_connection(place, partial(schema.upgrade, to=step.revision))
    assert await on_connection(place, differences) == []
    store = await ResponseStore.open(place)
    await store.commit([reply("a")])
    assert await store.recall([key_of("a")]) == dict([reply("a")])
    await store.aclose()


async def test_a_store_that_was_just_opened_has_the_tables(place: str) -> None:
    store = await ResponseStore.open(place)
    await store.aclose()
    assert await on_connection(place, differences) == []


REPLY_OF_0001 = (
    "INSERT INTO responses (key, body, body_sha256, body_bytes, latency_ms, attempts, request_id, created_at) "
    "VALUES ('{key}', {body}, '{digest}', {size}, 12.5, 1, 'req-{name}', CURRENT_TIMESTAMP)"
)
ACCOUNT_OF_0001 = (
    "INSERT INTO withheld (key, error_category, error_message, input_tokens, output_tokens, cached_input_tokens, "
    "cache_write_tokens, reasoning_tokens, cost_usd, duration_ms, attempts, models, created_at) VALUES ('{key}', "
    "'malformed_json', 'expected one JSON object, found other text', 120, 24, 100, 0, NULL, 0.00042, 431.25, 2, "
    '\'["judge-model-2026", "judge-model-mini"]\', CURRENT_TIMESTAMP)'
)


async def test_replies_of_the_first_schema_are_all_there_after_the_steps_to_this_one(place: str) -> None:
    await on_connection(place, partial(schema.upgrade, to="0001"))
    blob = "decode('{}', 'hex')" if place.startswith("postgresql") else "x'{}'"
    for name in ("a", "b"):
        key, raw = reply(name)
        told = {"key": key, "name": name, "digest": sha256(raw.body).hexdigest(), "size": len(raw.body)}
        await execute(place, REPLY_OF_0001.format(body=blob.format(raw.body.hex()), **told))
    await execute(place, ACCOUNT_OF_0001.format(key=key_of("b")))
    await execute(place, f"UPDATE responses SET body = {blob.format('00' * len(raw.body))} WHERE key = '{key_of('b')}'")

    store = await Store.open(place)

    assert await store.responses.recall([key_of("a"), key_of("b")]) == {
        key_of("a"): reply("a")[1],
        key_of("b"): WITHHELD,
    }
    assert await store.responses.verify() == []
    assert await store.runs.runs() == []
    assert await store.responses.journal("a job").recall([key_of("a")]) == {}  # nobody noted whose it was
    assert await on_connection(place, differences) == []
    await store.aclose()


WRITES = {
    "ADD_SNAPSHOT": "snapshots", "ADD_RUN": "runs", "ADD_OWNER": "owners", "CLAIM": "owners", "ADD_CASE": "cases",
    "ADD_TRIAL": "trials", "ADD_ANSWER": "answers", "ADD_ASSESSMENT": "assessments", "HAND_OVER": "run_calls",
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_a_statement_that_adds_rows_names_every_column_of_its_table(name: str) -> None:
    statement = getattr(run_statements, name, None) or getattr(statements, name)
    named = re.search(r"INSERT INTO (\w+) \(([^)]*)\)", statement.sqlite)
    assert named is not None
    assert named[1] == WRITES[name]
    columns = {column.name for column in metadata.tables[WRITES[name]].columns}
    assert {name.strip() for name in named[2].split(",")} == columns - {"number"}  # the database's own


def test_steps_are_numbered_without_gaps_and_the_last_is_the_head() -> None:
    numbers = [step.revision for step in reversed(list(steps().walk_revisions()))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
    assert numbers[-1] == schema.HEAD


def squeezed(sql: str) -> str:
    """The statement without its layout."""
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(sql.split()))


def shape_of(path: Path) -> list[Any]:
    """Every column, key, index and view of the file, and the version that it is stamped with."""
    with closing(sqlite3.connect(path)) as file:
        names = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        tables = [
            (name, facet, file.execute(f"PRAGMA {facet}({name})").fetchall())
            for name in names
            for facet in ("table_info", "foreign_key_list", "index_list")
        ]
        kinds = file.execute("SELECT name, wr, strict FROM pragma_table_list ORDER BY name").fetchall()
        views = [squeezed(sql) for (sql,) in file.execute("SELECT sql FROM sqlite_master WHERE type = 'view'")]
        return [*tables, *kinds, *sorted(views), *file.execute("SELECT version_num FROM jurat_version")]


def test_a_new_file_is_what_the_steps_would_have_made_of_it(tmp_path: Path) -> None:
    async def open_new() -> None:
        await (await ResponseStore.open(tmp_path / "new.db")).aclose()

    asyncio.run(open_new())
    take_steps(tmp_path / "stepwise.db")
    assert shape_of(tmp_path / "new.db") == shape_of(tmp_path / "stepwise.db")


def test_a_new_file_is_written_as_sqlalchemy_writes_the_tables() -> None:
    wanted = [str(CreateTable(table).compile(dialect=sqlite.dialect())) for table in metadata.sorted_tables]
    made = [squeezed(sql) for sql in schema.CREATE]
    assert [sql for sql in made[1:] if sql.startswith("CREATE TABLE")] == [squeezed(sql) for sql in wanted]


def test_taking_the_steps_a_second_time_changes_nothing(tmp_path: Path) -> None:
    take_steps(tmp_path / "a.db")
    before = shape_of(tmp_path / "a.db")
    take_steps(tmp_path / "a.db")
    assert shape_of(tmp_path / "a.db") == before


async def test_a_newer_store_is_refused_with_what_to_do(place: str) -> None:
    await (await ResponseStore.open(place)).aclose()
    await execute(place, "UPDATE jurat_version SET version_num = '9999'")
    message = f"the store has schema 9999, this version of jurat knows schemas up to {schema.HEAD}; upgrade jurat"
    with pytest.raises(StoreError, match=message):
        await ResponseStore.open(place)


async def test_a_store_at_a_step_that_never_was_is_refused(place: str) -> None:
    await (await ResponseStore.open(place)).aclose()
    await execute(place, "UPDATE jurat_version SET version_num = '0000'")
    with pytest.raises(StoreError, match="expected in the table jurat_version the number of a step up to"):
        await ResponseStore.open(place)


async def test_a_version_that_is_no_number_is_refused(place: str) -> None:
    await (await ResponseStore.open(place)).aclose()
    await execute(place, "UPDATE jurat_version SET version_num = 'a1b2c3'")
    with pytest.raises(StoreError, match="expected a schema number in the table jurat_version, found another word"):
        await ResponseStore.open(place)


@pytest.mark.parametrize(("statement", "table"), [(COMMIT, responses), (WITHHOLD, withheld)])
def test_a_statement_that_writes_names_every_column_in_its_order(statement: Any, table: sa.Table) -> None:
    named = re.search(r"INSERT INTO (\w+) \(([^)]*)\)", statement.sqlite)
    assert named is not None
    assert named[1] == table.name
    columns = [column.name for column in table.columns]
    assert [name.strip() for name in named[2].split(",")] == columns
    set_anew = re.findall(r"(\w+) = (?:coalesce\()?excluded\.(\w+)", statement.sqlite)
    assert set_anew == [(name, name) for name in columns if name != "key"]
    assert statement.sqlite.count("?") == len(columns) - 1  # the time is the database's own
