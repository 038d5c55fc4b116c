"""Group commit: many replies, one durable write.

Whoever has a reply waits until it is durable; what waits together is one batch. A batch goes out when half of what may
be in flight is waiting, or `PATIENCE_S` after its first reply, whichever comes first, and never while another is on
its way. Under load that makes batches of dozens, so that one fsync serves them all; alone, a reply waits five
milliseconds.
"""

from __future__ import annotations

import asyncio

from jurat.engine.journal import Journal
from jurat.provider.protocol import Raw

__all__ = ["PATIENCE_S", "Committer"]

PATIENCE_S = 0.005


class _Batch:
    """Replies that become durable together. `failure` is what stood in the way, once it is `over`."""

    def __init__(self) -> None:
        self.replies: list[tuple[str, Raw]] = []
        self.over = asyncio.Event()
        self.failure: Exception | None = None


class Committer:
    """Commits replies to a journal in groups. When the journal fails, everybody who waits is told."""

    def __init__(self, journal: Journal, in_flight: int) -> None:
        self._journal = journal
        self._enough = max(1, in_flight // 2)
        self._batch = _Batch()
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    async def commit(self, key: str, raw: Raw) -> None:
        """Come back when the reply is durable.

        Raises:
            StoreError: when it could not be made so.
        """
        batch = self._batch
        batch.replies.append((key, raw))
        if len(batch.replies) >= self._enough:
            self._go()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE_S, self._go)
        await batch.over.wait()
        if batch.failure is not None:
            raise batch.failure

    async def close(self) -> None:
        """Make durable what is still waiting, also when its owner was cancelled meanwhile."""
        while self._writing is not None or self._batch.replies:
            self._go()
            if self._writing is not None:
                await asyncio.wait((self._writing,))

    def _go(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing is None and self._batch.replies:
            batch, self._batch = self._batch, _Batch()
            self._writing = asyncio.get_running_loop().create_task(self._write(batch))

    async def _write(self, batch: _Batch) -> None:
        try:
            await self._journal.commit(batch.replies)
        except Exception as error:
            batch.failure = error
        finally:
            batch.over.set()
            self._writing = None
        waiting = len(self._batch.replies)
        if waiting >= self._enough:
            self._go()
        elif waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE_S, self._go)
