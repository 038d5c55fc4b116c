"""A process that writes to a store, for the tests: store_writer.py PLACE TAG COUNT BATCH

It says `ready`, waits for a line, opens the store, and says `committed N` after each batch, N being how many replies
of `replies(TAG, COUNT)` are durable. With the tag `withhold` it then withholds them all. Then it waits for another
line before it closes the store.
"""

from __future__ import annotations

import asyncio
import sys

from store_samples import INVALID, SPENT, replies

from jurat.store import ResponseStore


async def write(place: str, tag: str, count: int, batch: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    store = await ResponseStore.open(place)
    wanted = replies(tag, count)
    for start in range(0, count, batch):
        await store.commit(wanted[start : start + batch])
        print("committed", min(start + batch, count), flush=True)
    if tag == "withhold":
        await store.withhold([(key, INVALID, SPENT) for key, _ in wanted])
        print("withheld", flush=True)
    sys.stdin.readline()
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
