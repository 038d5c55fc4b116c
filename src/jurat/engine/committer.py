"""Group commit: many things, one durable write. The things are replies, or trials, or whatever a journal takes.

Whoever has one waits until it is durable; what waits together is one batch. A batch goes out as soon as nobody else's
is on its way (waiting would then be in vain), when it holds `ENOUGH`, or `PATIENCE_S` after its first one, whichever
comes first; and never while another is being written. A write costs much the same however many it holds, so small
batches are dear; but beyond a few dozen there is little left to share, and whoever waits for more is only kept from
going on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

__all__ = ["ENOUGH", "PATIENCE_S", "Committer"]

ENOUGH = 32
PATIENCE_S = 0.005


T = TypeVar("T")


class _Batch(Generic[T]):
    """What becomes durable together, and those who wait for it."""

    __slots__ = ("due", "items", "waiting")

    def __init__(self) -> None:
        self.items: list[T] = []
        self.waiting: list[asyncio.Future[None]] = []
        self.due = False

    def settle(self, failure: Exception | None) -> None:
        """Tell everybody who still waits what came of it."""
        for one in self.waiting:
            if one.done():  # cancelled meanwhile
                continue
            if failure is None:
                one.set_result(None)
            else:
                one.set_exception(failure)


class Committer(Generic[T]):
    """Writes in groups. When the write fails, everybody who waits is told.

    Args:
        write: makes a group durable; one call of it at a time.
    """

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[None]]) -> None:
        self._durably = write
        self._batch: _Batch[T] = _Batch()
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    async def commit(self, item: T, *, alone: bool) -> None:
        """Come back when it is durable. `alone`: no other is on its way.

        Raises:
            StoreError: when it could not be made so.
        """
        loop = asyncio.get_running_loop()
        batch = self._batch
        batch.items.append(item)
        durable = loop.create_future()
        batch.waiting.append(durable)
        if alone or len(batch.items) >= ENOUGH:
            self._go()
        elif self._timer is None:
            self._timer = loop.call_later(PATIENCE_S, self._go)
        await durable

    async def close(self) -> None:
        """Make durable what is still waiting, also when its owner was cancelled meanwhile."""
        while self._writing is not None or self._batch.items:
            self._go()
            if self._writing is not None:
                await asyncio.wait((self._writing,))

    def _go(self) -> None:
        """Write what is waiting, now or right after the batch that is being written."""
        self._batch.due = True
        if self._writing is None and self._batch.items:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        # The batch is closed here and not earlier, so that whoever has something in this round of the loop is in it.
        batch, self._batch = self._batch, _Batch()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        failure: Exception | None = None
        try:
            await self._durably(batch.items)
        except Exception as error:
            failure = error
        finally:
            self._writing = None
        batch.settle(failure)
        if self._batch.due:
            self._go()
