"""Several processes write to one store for a while: every lock is waited for, no row is lost, and the store is sound.

    python benchmarks/two_processes.py [--seconds 60] [--processes 2] [--store PLACE]

Each process runs suites one after the other, as an engine does it: 16 tasks commit a reply, then a trial with two
assessments. It counts what was reported durable. Meanwhile this process lists runs and reads the newest, and notes the
longest that a reader had to wait. In the end every run has to hold exactly what its process had reported, and verifying
has to find nothing. Ends with 1 when any of that is not so.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from jurat.engine import trial_status
from jurat.provider.protocol import Raw
from jurat.store import Store
from store_runs import begin, make_trial

TASKS = 16
TRIALS_A_RUN = 2_000


async def work(place: str, seconds: float) -> None:
    """Fill runs until the time is over; then say what is durable: a line for each run, its id and its trials."""
    store, until = await Store.open(place), time.monotonic() + seconds
    while time.monotonic() < until:
        run = await begin(store, TRIALS_A_RUN)
        left, done, journal = iter(range(TRIALS_A_RUN)), 0, store.runs.journal(run)

        async def one() -> None:
            nonlocal done
            for index in left:  # noqa: B023
                if time.monotonic() >= until:
                    return
                reply = Raw(body=os.urandom(700), latency_ms=1.0)
                await journal.commit([(uuid.uuid4().hex * 2, reply)])  # noqa: B023
                await store.runs.commit_trials(run, [make_trial(index)])  # noqa: B023
                done += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(TASKS):
                group.create_task(one())
        await store.runs.interrupt(run, "2026-01-01T00:00:00Z")
        print(run, done, flush=True)
    await store.aclose()


async def read_meanwhile(place: str, workers: list[subprocess.Popen[str]]) -> tuple[int, float]:
    """List runs and read the newest while others write: how often, and the longest wait in seconds."""
    store, reads, longest = await Store.open(place), 0, 0.0
    while any(worker.poll() is None for worker in workers):
        begun = time.monotonic()
        for run in await store.runs.runs(1):
            await anext(store.runs.trials(run.id), None)
        reads, longest = reads + 1, max(longest, time.monotonic() - begun)
        await asyncio.sleep(0.02)
    await store.aclose()
    return reads, longest


async def check(place: str, reported: dict[str, int]) -> int:
    """How many faults there are in what the processes left."""
    store, faults = await Store.open(place), 0
    for run, done in reported.items():
        found = len(await store.runs.keys(run))
        if found != done:
            faults += 1
            print(f"  run {run}: {done} trials were reported durable, found {found}")
    async for fault in store.verify(trial_status):
        faults += 1
        print(f"  {fault.message}")
    stats = await store.stats()
    print(f"  {stats.trials:,} trials, {stats.assessments:,} assessments, {stats.replies.kept:,} replies in the store")
    await store.aclose()
    return faults


def main() -> None:
    """Start the processes, read meanwhile, and check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long (60)")
    parser.add_argument("--processes", type=int, default=2, help="how many write (2)")
    parser.add_argument("--store", help="a file or a PostgreSQL URL; a new file by default")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        asyncio.run(work(given.store, given.seconds))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = given.store or str(Path(folder) / "store.db")
        command = [sys.executable, __file__, "--work", "--seconds", str(given.seconds), "--store", place]
        workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(given.processes)]
        reads, longest = asyncio.run(read_meanwhile(place, workers))
        lines = [line.split() for worker in workers for line in worker.communicate()[0].splitlines()]
        reported = {run: int(done) for run, done in lines}
        codes = [worker.returncode for worker in workers]
        faults = asyncio.run(check(place, reported))
        rate = sum(reported.values()) / given.seconds
        print(f"  {given.processes} processes, {given.seconds:g} s: {rate:,.0f} trials/s durable; exit codes {codes}")
        print(f"  {reads} reads meanwhile, the longest {longest * 1e3:.0f} ms; faults: {faults}")
    if faults or any(codes):
        sys.exit(1)


if __name__ == "__main__":
    main()
