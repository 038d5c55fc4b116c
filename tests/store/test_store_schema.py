"""The schema: brought up by numbered steps, equal to the tables, and refused when it is newer."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
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
from store_samples import execute, key_of, reply

from jurat.errors import StoreError
from jurat.store import ResponseStore, schema
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


def test_steps_are_numbered_without_gaps_and_the_last_is_the_head() -> None:
    numbers = [step.revision for step in reversed(list(steps().walk_revisions()))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
    assert numbers[-1] == schema.HEAD


def squeezed(sql: str) -> str:
    """The statement without its layout."""
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(sql.split()))


def shape_of(path: Path) -> list[str]:
    """Every statement that made the file, and the version it is stamped with."""
    with closing(sqlite3.connect(path)) as file:
        made = [squeezed(sql) for (sql,) in file.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
        return sorted(made) + [version for (version,) in file.execute("SELECT version_num FROM jurat_version")]


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
    set_anew = re.findall(r"(\w+) = excluded\.(\w+)", statement.sqlite)
    assert set_anew == [(name, name) for name in columns if name != "key"]
    assert statement.sqlite.count("?") == len(columns) - 1  # the time is the database's own
