"""The bound on calls in flight, for a whole run: so many slots, whatever they are for.

Who finishes what is begun comes first: the calls of judges go before those of subjects, so that trials end one after
the other instead of all together at the end.
"""

from __future__ import annotations

import asyncio
from collections import deque

__all__ = ["Slots"]

_Waiting = deque["asyncio.Future[None]"]


class Slots:
    """At most `limit` are taken at once. A slot that is given back goes to whoever has waited longest.

    Raises:
        ValueError: when the limit is no whole number from 1.
    """

    __slots__ = ("_free", "_late", "_urgent")

    def __init__(self, limit: int) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ValueError(f"expected a whole number of calls in flight, from 1, found {limit!r}")
        self._free = limit
        self._urgent: _Waiting = deque()
        self._late: _Waiting = deque()

    async def take(self, *, urgent: bool) -> None:
        """Wait for a slot. Cancelled, it takes none."""
        if self._free:
            self._free -= 1
            return
        mine = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._late).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # it was given just now
                self.give_back()
            raise

    def give_back(self) -> None:
        """Free a slot, or hand it on."""
        for waiting in (self._urgent, self._late):
            while waiting:
                following = waiting.popleft()
                if not following.done():
                    following.set_result(None)
                    return
        self._free += 1
