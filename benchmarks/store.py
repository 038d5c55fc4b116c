"""How many replies a second the store makes durable, and what each costs in CPU.

    python benchmarks/store.py [--replies 8192] [--folder DIRECTORY]

One caller commits batch after batch of 700-byte replies, each batch waiting for the one before, as the engine's group
commit does. The disk's share is what fsync takes; the CPU is that of the whole process, kernel included. SQLite is
measured always, in a new file; PostgreSQL when JURAT_TEST_POSTGRES names a server (its own CPU is not counted, and the
rows stay there).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.judge import Spending
from jurat.provider.protocol import Raw
from jurat.store import ResponseStore

BATCHES = (1, 16, 64, 256)
BODY_BYTES = 700
INVALID = TypedError(type=ErrorCategory.MALFORMED_JSON, message="expected one JSON object, found other text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What some work took, in seconds."""

    wall_s: float
    cpu_s: float


async def timed(work: Callable[[], Awaitable[object]]) -> Taken:
    """Time one piece of work."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return Taken(wall_s=time.perf_counter() - wall, cpu_s=time.process_time() - cpu)


def make_replies(count: int) -> list[tuple[str, Raw]]:
    """Replies of random bytes under random keys."""
    return [
        (os.urandom(32).hex(), Raw(body=os.urandom(BODY_BYTES), latency_ms=200.0, request_id=f"req-{number}"))
        for number in range(count)
    ]


async def measure(place: str | Path, replies_wanted: int) -> None:
    """Print one table for one database."""
    store = await ResponseStore.open(place)
    print(f"\n{store.shown}")
    try:
        for batch in BATCHES:
            await measure_commits(store, batch, max(replies_wanted * batch // max(BATCHES), 200))
        await measure_the_rest(store, make_replies(2_000))
    finally:
        await store.aclose()


async def measure_commits(store: ResponseStore, batch: int, count: int) -> None:
    """Commit so many replies in batches of one size."""
    replies = make_replies(count)

    async def commit() -> None:
        for start in range(0, len(replies), batch):
            await store.commit(replies[start : start + batch])

    report(f"commit, {batch:>3} a batch", await timed(commit), len(replies), batch)


async def measure_the_rest(store: ResponseStore, replies: list[tuple[str, Raw]]) -> None:
    """Recall keys that are there and keys that are not, and withhold."""
    keys = [key for key, _ in replies]
    report("recall, none known", await timed(lambda: store.recall(keys)), len(keys), len(keys))
    await store.commit(replies)
    report("recall, all known", await timed(lambda: store.recall(keys)), len(keys), len(keys))
    spending = Spending(attempts=1, models=("model",))
    items = [(key, INVALID, spending) for key in keys[:256]]
    report("withhold, 256 a batch", await timed(lambda: store.withhold(items)), len(items), len(items))


def report(what: str, taken: Taken, count: int, batch: int) -> None:
    """Print one line."""
    rate, each, whole = count / taken.wall_s, taken.cpu_s / count * 1e6, taken.cpu_s / count * batch * 1e6
    print(f"  {what:<22} {rate:>9,.0f} replies/s   {each:>7.1f} µs CPU a reply   {whole:>8.0f} µs CPU a batch")


def main() -> None:
    """Measure what there is to measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replies", type=int, default=8_192, help="how many in the largest batches (8192)")
    parser.add_argument("--folder", type=Path, help="where to put the SQLite file: its disk is what is measured")
    given = parser.parse_args()
    print(f"Durable replies of {BODY_BYTES} bytes, one batch at a time. Bar: 5,000 a second on SQLite, in groups.")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        asyncio.run(measure(Path(folder) / "store.db", given.replies))
    server = os.environ.get("JURAT_TEST_POSTGRES")
    if server:
        asyncio.run(measure(server, given.replies))
    else:
        print("\nPostgreSQL: not measured, JURAT_TEST_POSTGRES names no server")


if __name__ == "__main__":
    main()
