"""The bound on calls in flight, for a whole run: so many slots, whatever they are for.

Who finishes what is begun comes first: the calls of judges go before those of subjects, so that trials end one after
the other instead of all together at the end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from jurat.errors import ErrorCategory, EvaluationError, RequestError
from jurat.provider.waiting import Account

__all__ = ["SlotPlace", "Slots"]

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

    def take_now(self) -> bool:
        """Take a slot if one is free. None is while somebody waits."""
        if not self._free:
            return False
        self._free -= 1
        return True

    async def take(self, *, urgent: bool) -> None:
        """Wait for a slot. Cancelled, it takes none."""
        if self.take_now():
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


class SlotPlace:
    """A call's slot, which others may have while the call only waits (`jurat.provider.waiting`).

    Args:
        left: is told when the slot is given up.
        refusal: says why no further request may be made, if none may.

    Attributes:
        account: the requests of the call so far; None where its provider keeps none.
        held: whether there is a slot to be given back.
        limit: the time limit of the call, which does not run while the call waits for its turn or for a slot.
        waited_s: how long it did not run.
    """

    __slots__ = ("_left", "_refusal", "_remaining_s", "_slots", "_stopped", "account", "held", "limit", "waited_s")

    def __init__(
        self,
        slots: Slots,
        left: Callable[[], None] | None = None,
        refusal: Callable[[], EvaluationError | None] | None = None,
    ) -> None:
        self._slots, self._left, self._refusal = slots, left, refusal
        self.account: Account | None = None
        self._remaining_s: float | None = None
        self._stopped = self.waited_s = 0.0
        self.held = True
        self.limit: asyncio.Timeout | None = None

    def leave(self, *, turn: bool) -> None:
        """Give the slot up."""
        self.held = False
        self._slots.give_back()
        if turn:
            self._stop()
        if self._left is not None:
            self._left()

    async def come_back(self) -> None:
        """Wait for a slot again, before all calls that have not begun."""
        self._stop()
        await self._slots.take(urgent=True)
        self.held = True
        if self._remaining_s is not None and self.limit is not None:
            now = asyncio.get_running_loop().time()
            self.waited_s += now - self._stopped
            self.limit.reschedule(now + self._remaining_s)
        self._remaining_s = None

    def check(self) -> None:
        """See that the next request may be made.

        Raises:
            RequestError: when none may.
        """
        refusal = self._refusal() if self._refusal is not None else None
        if refusal is not None:
            raise RequestError(refusal.category, str(refusal))

    @property
    def cut_off(self) -> tuple[ErrorCategory, ...]:
        """Why each request of the call failed, if it ends here. Whose provider keeps no account has sent one."""
        return (ErrorCategory.TIMEOUT,) if self.account is None else self.account.cut_off

    def _stop(self) -> None:
        if self.limit is None or self._remaining_s is not None:
            return
        when = self.limit.when()
        if when is not None:
            self._stopped = asyncio.get_running_loop().time()
            self._remaining_s = max(when - self._stopped, 0.0)
            self.limit.reschedule(None)
