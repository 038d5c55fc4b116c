"""Sample replies, and ways to look at a store from outside."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.judge import Spending, Withheld
from jurat.provider.protocol import Raw, Usage
from jurat.store.address import PostgresAddress, parse_address

INVALID = TypedError(type=ErrorCategory.MALFORMED_JSON, message="expected one JSON object, found other text")
SPENT = Spending(
    usage=Usage(
        input_tokens=120, output_tokens=24, cached_input_tokens=100, cache_write_tokens=0, reasoning_tokens=None
    ),
    cost_usd=0.00042,
    duration_ms=431.25,
    attempts=2,
    models=("judge-model-2026", "judge-model-mini"),
)
WITHHELD = Withheld(error=INVALID, spending=SPENT)


def key_of(name: str) -> str:
    """A key as a call has it."""
    return sha256(name.encode()).hexdigest()


def reply(name: str) -> tuple[str, Raw]:
    """A plain reply, different for every name."""
    body = f'{{"content": "the reply {name}"}}'.encode()
    return key_of(name), Raw(body=body, latency_ms=12.5, attempts=1, request_id=f"req-{name}")


def replies(tag: str, count: int) -> list[tuple[str, Raw]]:
    """So many plain replies."""
    return [reply(f"{tag}-{number}") for number in range(count)]


async def execute(place: str, statement: str, *arguments: object) -> None:
    """Change a store behind jurat's back; arguments are `?` in SQLite and `$1` in PostgreSQL."""
    address = parse_address(place)
    if isinstance(address, PostgresAddress):
        import asyncpg

        connection = await asyncpg.connect(address.dsn)
        await connection.execute(statement, *arguments)
        await connection.close()
    else:
        with contextlib.closing(sqlite3.connect(address.path, isolation_level=None)) as file:
            file.execute(statement, arguments)


async def query(place: str, statement: str) -> list[tuple[Any, ...]]:
    """What a query finds, asked from outside."""
    address = parse_address(place)
    if isinstance(address, PostgresAddress):
        import asyncpg

        connection = await asyncpg.connect(address.dsn)
        found = [tuple(row) for row in await connection.fetch(statement)]
        await connection.close()
        return found
    with contextlib.closing(sqlite3.connect(address.path)) as file:
        return file.execute(statement).fetchall()


@contextlib.contextmanager
def child(*arguments: str, program: str = "store_writer.py") -> Iterator[subprocess.Popen[str]]:
    """A process of its own that runs a program of this folder; ended, whatever happens, with the block."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name(program)), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def remount(folder: Path, options: str) -> None:
    """Change the options of the file system of its own."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
