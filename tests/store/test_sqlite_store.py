"""SQLite as the store: the file, its folder, its locks, what stands in the way, and what is left in it."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from store_samples import INVALID, SPENT, child, key_of, remount, replies, reply

from jurat.errors import StoreError
from jurat.provider.protocol import Raw
from jurat.store import ResponseStore, StoreFault
from jurat.store.sqlite_errors import explain

INTACT = 32 * 4096


@pytest.fixture
def sealed(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Path]:
    """A folder with a store in it, that nothing can be written to any more once it is asked for."""
    # Permissions do not hold root back, a read-only file system does.
    folder: Path = tmp_path if os.getuid() != 0 else request.getfixturevalue("small_disk")

    async def fill() -> None:
        store = await ResponseStore.open(folder / "old" / "store.db")
        await store.commit([reply("a")])
        await store.aclose()

    asyncio.run(fill())

    def seal() -> Path:
        if os.getuid() == 0:
            remount(folder, "ro")
        else:
            (folder / "old" / "store.db").chmod(0o444)
            (folder / "old").chmod(0o555)
            folder.chmod(0o555)
        return folder

    return seal


def names_in(folder: Path) -> list[str]:
    """The names of the files of a folder."""
    return sorted(path.name for path in folder.iterdir())


def rewrite(file: str, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of a file."""
    path = Path(file)
    path.write_bytes(change(path.read_bytes()))


def left_behind(folder: Path, pattern: bytes) -> set[bytes]:
    """What matches in the files of a folder: the database, its log, its index, and whatever else is there."""
    return {found for path in folder.iterdir() for found in re.findall(pattern, path.read_bytes())}


async def test_a_new_jurat_folder_keeps_itself_out_of_version_control(tmp_path: Path) -> None:
    store = await ResponseStore.open(tmp_path / "project" / ".jurat" / "store.db")
    await store.aclose()
    assert (tmp_path / "project" / ".jurat" / ".gitignore").read_text() == "*\n"


async def test_other_folders_and_existing_ignore_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".jurat").mkdir()
    (tmp_path / ".jurat" / ".gitignore").write_text("store.db\n")
    for folder in (".jurat", "elsewhere"):
        store = await ResponseStore.open(tmp_path / folder / "store.db")
        await store.aclose()
    assert (tmp_path / ".jurat" / ".gitignore").read_text() == "store.db\n"
    assert names_in(tmp_path / "elsewhere") == ["store.db"]


async def test_a_closed_store_is_one_file(sqlite_place: str) -> None:
    store = await ResponseStore.open(f"sqlite:///{sqlite_place}")
    await store.commit(replies("a", 3))
    assert store.shown == sqlite_place
    await store.aclose()
    assert names_in(Path(sqlite_place).parent) == [".gitignore", "store.db"]


async def test_every_commit_is_synced_to_the_disk_through_the_log(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    lane = store._database._writer  # type: ignore[attr-defined]
    found = [await lane.run(lambda one, name=name: one.execute(f"PRAGMA {name}").fetchone()) for name in (
        "journal_mode", "synchronous", "secure_delete", "foreign_keys"
    )]  # fmt: skip
    await store.aclose()
    assert found == [("wal",), (2,), (1,), (1,)]


def test_opening_and_using_a_store_imports_no_sqlalchemy(sqlite_place: str) -> None:
    program = (
        "import asyncio, sys\n"
        "from jurat.store import ResponseStore\n"
        "async def main(place):\n"
        "    store = await ResponseStore.open(place)\n"
        "    await store.recall(['0' * 64])\n"
        "    await store.aclose()\n"
        "asyncio.run(main(sys.argv[1]))\n"
        "print(sorted({'sqlalchemy', 'alembic', 'asyncpg'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, sqlite_place], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


async def test_withheld_bytes_are_in_no_file_once_the_store_is_closed(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    await store.commit([(key_of("a"), Raw(body=b"PLANTED" * 5_000, latency_ms=1.0)), reply("b")])
    assert left_behind(Path(sqlite_place).parent, b"PLANTED") == {b"PLANTED"}
    await store.withhold([(key_of("a"), INVALID, SPENT)])
    await store.aclose()
    folder = Path(sqlite_place).parent
    assert left_behind(folder, b"LANTED|PLANTE") == set()
    assert left_behind(folder, b"the reply b") == {b"the reply b"}


async def test_withheld_bytes_are_gone_though_another_program_keeps_the_file_open(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    await store.commit([(key_of("a"), Raw(body=b"PLANTED" * 500, latency_ms=1.0))])
    with closing(sqlite3.connect(sqlite_place)) as other:
        assert other.execute("SELECT count(*) FROM responses").fetchone() == (1,)
        await store.withhold([(key_of("a"), INVALID, SPENT)])
        await store.aclose()
        assert left_behind(Path(sqlite_place).parent, b"LANTED|PLANTE") == set()


async def test_withheld_bytes_are_gone_after_kill_9_and_the_next_closing(sqlite_place: str) -> None:
    with child(sqlite_place, "withhold", "100", "10") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        while process.stdout.readline() != "withheld\n":
            assert process.poll() is None
        process.kill()
        process.wait()
    folder = Path(sqlite_place).parent
    assert left_behind(folder, b"the reply withhold") == {b"the reply withhold"}  # in the log that nobody emptied
    store = await ResponseStore.open(sqlite_place)
    await store.aclose()
    assert left_behind(folder, b"the reply") == set()


async def test_withheld_bytes_are_gone_whatever_their_size_and_the_order_of_things(sqlite_place: str) -> None:
    # When rows change their size, SQLite moves their neighbours between pages, and may leave stale copies of these.
    chance = random.Random(1)  # noqa: S311
    store = await ResponseStore.open(sqlite_place)
    live: list[bytes] = []
    gone: set[bytes] = set()
    for step in range(60):
        names = [b"<<SECRET%03d-%03d>>" % (step, number) for number in range(chance.randint(1, 40))]
        sizes = [chance.choice([20, 200, 700, 700, 700, 3_000, 6_000, 20_000]) // 17 + 1 for _ in names]
        wanted = [
            (key_of(name.decode()), Raw(body=name * size, latency_ms=1.0))
            for name, size in zip(names, sizes, strict=True)
        ]
        await store.commit(wanted)
        live += names
        chance.shuffle(live)
        chosen = chance.randint(0, len(live)) if chance.random() < 0.3 else min(20, len(live))
        await store.withhold([(key_of(name.decode()), INVALID, SPENT) for name in live[:chosen]])
        gone |= set(live[:chosen])
        live = live[chosen:]
    assert await store.verify() == []
    await store.aclose()
    assert len(gone) > 500
    found = left_behind(Path(sqlite_place).parent, rb"SECRET\d\d\d-\d\d\d")
    assert found == {name.strip(b"<>") for name in live}


async def test_a_commit_waits_for_another_program_s_lock(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    with closing(sqlite3.connect(sqlite_place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        commit = asyncio.create_task(store.commit([reply("a")]))
        assert await store.recall([key_of("a")]) == {}  # reading goes on meanwhile
        assert not commit.done()
        other.execute("COMMIT")
        await commit
    assert await store.recall([key_of("a")]) == dict([reply("a")])
    await store.aclose()


async def test_a_lock_that_sqlite_does_not_wait_for_is_tried_again(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    told: list[str] = ["SQLITE_BUSY_RECOVERY", "SQLITE_BUSY"]

    def work(connection: sqlite3.Connection) -> object:
        if told:
            error = sqlite3.OperationalError()
            error.sqlite_errorname = told.pop()
            raise error
        return connection.execute("SELECT 1").fetchone()

    assert await store._database._writer.run(work) == (1,)  # type: ignore[attr-defined]
    await store.aclose()


async def test_a_lock_that_is_never_let_go_is_reported_and_survived(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place, patience_s=0.02)
    with closing(sqlite3.connect(sqlite_place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"store\.db: another program holds it locked; wait for that program"):
            await store.commit([reply("a")])
        other.execute("ROLLBACK")
    await store.commit([reply("b")])
    assert await store.recall([key_of("a"), key_of("b")]) == dict([reply("b")])
    await store.aclose()


async def test_a_file_locked_before_it_was_ever_opened_is_reported(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="another program holds it locked"):
            await ResponseStore.open(tmp_path / "store.db", patience_s=0.02)


async def test_several_processes_open_a_new_file_at_once(sqlite_place: str) -> None:
    with (
        child(sqlite_place, "a", "3", "1") as one,
        child(sqlite_place, "b", "3", "1") as two,
        child(sqlite_place, "c", "3", "1") as three,
    ):
        processes = (one, two, three)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        await asyncio.gather(*(asyncio.to_thread(process.communicate, "go\nclose\n") for process in processes))
        assert [process.returncode for process in processes] == [0, 0, 0]
    store = await ResponseStore.open(sqlite_place)
    assert (await store.stats()).kept == 9
    await store.aclose()


async def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are my notes, and they are longer than the header of a database. " * 20)
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"notes\.txt: the file is no SQLite database; name another file"):
        await ResponseStore.open(file)
    assert file.read_bytes() == before


async def test_another_program_s_database_is_not_taken_over(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "app.db")) as other:
        other.execute("CREATE TABLE users (name TEXT)")
    with pytest.raises(StoreError, match="expected a store of jurat, found another program's SQLite database"):
        await ResponseStore.open(tmp_path / "app.db")


async def test_a_folder_in_the_file_s_place_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        await ResponseStore.open(tmp_path)


async def test_a_file_in_the_folder_s_place_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"the folder .*file cannot be made or written to \(File exists\)"):
        await ResponseStore.open(tmp_path / "file" / "store.db")


async def test_a_changed_byte_on_the_disk_is_found(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    await store.commit([reply("a"), reply("b")])
    await store.aclose()
    rewrite(sqlite_place, lambda whole: whole.replace(b"the reply b", b"the reply B"))
    store = await ResponseStore.open(sqlite_place)
    message = "the bytes are not those whose hash was stored"
    assert await store.verify() == [StoreFault(key=key_of("b"), message=message)]
    await store.aclose()


async def test_a_torn_file_is_reported_as_damaged(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    await store.commit(replies("a", 300))
    await store.aclose()
    rewrite(sqlite_place, lambda whole: whole[:INTACT] + b"\xa5" * (len(whole) - INTACT))  # the schema stays
    store = await ResponseStore.open(sqlite_place)
    with pytest.raises(StoreError, match="the file is damaged; keep a copy of it"):
        await store.recall([key for key, _ in replies("a", 300)])
    await store.aclose()


async def test_a_file_removed_while_in_use_is_noticed(sqlite_place: str) -> None:
    store = await ResponseStore.open(sqlite_place)
    await store.commit([reply("a")])
    os.remove(sqlite_place)  # noqa: PTH107  pathlib is no better here
    with pytest.raises(StoreError, match="the file was removed or replaced while it was in use"):
        await store.commit([reply("b")])
    await store.aclose()


async def test_a_full_disk_is_reported_and_what_was_committed_stays(small_disk: Path) -> None:
    store = await ResponseStore.open(small_disk / "store.db")
    durable: list[tuple[str, Raw]] = []

    async def commit_until_it_is_full() -> None:
        while len(durable) < 2_000:
            batch = [(key_of(f"{len(durable) + n}"), Raw(body=b"x" * 2_000, latency_ms=1.0)) for n in range(10)]
            await store.commit(batch)
            durable.extend(batch)

    with pytest.raises(StoreError, match="the disk is full; make room"):
        await commit_until_it_is_full()
    assert len(durable) >= 100
    assert await store.recall([key for key, _ in durable]) == dict(durable)
    remount(small_disk, "size=8m")
    await store.commit(replies("after", 10))
    await store.aclose()
    store = await ResponseStore.open(small_disk / "store.db")
    assert await store.recall([key for key, _ in durable]) == dict(durable)
    assert await store.recall([key for key, _ in replies("after", 10)]) == dict(replies("after", 10))
    assert await store.verify() == []
    await store.aclose()


def test_a_place_that_may_not_be_written_to_is_reported(sealed: Callable[[], Path]) -> None:
    folder = sealed()
    with pytest.raises(StoreError, match="it cannot be opened for writing; check that file, folder and disk"):
        asyncio.run(ResponseStore.open(folder / "old" / "store.db"))
    with pytest.raises(StoreError, match="cannot be made or written to"):
        asyncio.run(ResponseStore.open(folder / "new" / "store.db"))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("SQLITE_IOERR_SHMMAP", "as network file systems do not; keep the store on a local disk"),
        ("SQLITE_IOERR_LOCK", "as network file systems do not; keep the store on a local disk"),
        ("SQLITE_PROTOCOL", "as network file systems do not; keep the store on a local disk"),
        ("SQLITE_IOERR_FSYNC", "the disk reported a fault"),
        ("SQLITE_FULL", "the disk is full"),
        ("SQLITE_READONLY_DBMOVED", "cannot be opened for writing"),
        ("SQLITE_BUSY_RECOVERY", "another program holds it locked"),
        ("SQLITE_CONSTRAINT_NOTNULL", "SQLite failed (SQLITE_CONSTRAINT_NOTNULL)"),
    ],
)
def test_each_trouble_has_its_sentence(name: str, sentence: str) -> None:
    error = sqlite3.OperationalError("a statement that may hold a reply")
    error.sqlite_errorname = name
    told = str(explain(error, "/project/.jurat/store.db"))
    assert told.startswith("/project/.jurat/store.db: ")
    assert sentence in told
    assert "a statement" not in told
