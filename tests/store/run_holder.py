"""A process that is at work on runs, for the tests: run_holder.py PLACE ACTION RUN [COUNT BATCH]

`begin` begins a run and holds it; `claim` claims it, and says `claimed` or what stood in the way; `fill` begins a run
of COUNT trials and commits them, saying `committed N` after each batch. It says `ready` first and waits for a line, and
at the end waits for another one before it closes the store.
"""

from __future__ import annotations

import asyncio
import sys

from run_samples import a_run, every_trial, some_cases

from jurat.errors import StoreError
from jurat.store import Store


async def hold(place: str, action: str, run: str, count: int = 2, batch: int = 1) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    store = await Store.open(place)
    if action == "claim":
        try:
            await store.runs.claim(run)
            print("claimed", flush=True)
        except StoreError as error:
            print(error, flush=True)
    else:
        await store.runs.begin(a_run(run, cases=count), some_cases(count), [])
        print("begun", flush=True)
    if action == "fill":
        trials = every_trial(count)
        for start in range(0, count, batch):
            await store.runs.commit_trials(run, trials[start : start + batch])
            print("committed", min(start + batch, count), flush=True)
    sys.stdin.readline()
    await store.aclose()


if __name__ == "__main__":
    place, action, run, *numbers = sys.argv[1:]
    asyncio.run(hold(place, action, run, *map(int, numbers)))
