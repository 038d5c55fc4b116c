"""The bound on requests in flight to one provider.

An `async with` around each single HTTP attempt, not around a call: whoever waits before another try has left the gate.
It may be used from one event loop after another, each of which gets the whole bound.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from weakref import WeakKeyDictionary

__all__ = ["Gate"]


class Gate:
    """At most `limit` inside at once."""

    __slots__ = ("_loops", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    def _semaphore(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        semaphore = self._loops.get(loop)
        if semaphore is None:
            semaphore = self._loops[loop] = asyncio.Semaphore(self.limit)
        return semaphore

    async def __aenter__(self) -> None:
        await self._semaphore().acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._semaphore().release()
