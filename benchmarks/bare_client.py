"""The bare aiohttp client that `overhead.py` compares with: posts bodies, reads replies, parses them, forgets them.

    python benchmarks/bare_client.py URL BODIES COUNT IN_FLIGHT

BODIES holds one request body a line, the very bytes that jurat sends. So many workers as may be in flight take them in
turn. Nothing is checked but the status, and nothing is kept.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp

HEADERS = {"Content-Type": "application/json"}


async def work(session: aiohttp.ClientSession, url: str, bodies: Iterator[bytes]) -> int:
    """Take bodies until there are none, and count the answers."""
    done = 0
    for body in bodies:
        async with session.post(url, data=body, headers=HEADERS) as response:
            raw = await response.read()
            assert response.status == 200
        assert json.loads(raw)["choices"]
        done += 1
    return done


async def run(url: str, file: Path, count: int, in_flight: int) -> int:
    """Make so many calls, so many at once."""
    with file.open("rb") as stream:
        bodies = (line[:-1] for line in itertools.islice(stream, count))
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:
            return sum(await asyncio.gather(*(work(session, url, bodies) for _ in range(in_flight))))


def main() -> None:
    """Run by the command line's arguments."""
    url, file, count, in_flight = sys.argv[1:]
    done = asyncio.run(run(url, Path(file), int(count), int(in_flight)))
    if done != int(count):
        sys.exit(f"expected {count} answers, found {done}")


if __name__ == "__main__":
    main()
