"""The bound on requests in flight to one provider, which gives way when the provider is overloaded.

A place is taken around each single HTTP attempt, not around a call: whoever waits before another try has left the gate.
When the provider answers that it is overloaded or limits the rate (429, 529, 503) to more than a fifth of a round of
requests and one more, the bound is halved, once for all requests that were on their way together; each round of
successes then gives back one place, until the whole bound holds again (additive increase, multiplicative decrease:
D.-M. Chiu and R. Jain, Analysis of the increase and decrease algorithms for congestion avoidance, 1989). It is never
above what was set, and never below one. Fewer complaints than that are met by the retries alone: to halve at each, as
networks do, would keep a thousand places at six when one answer in twenty is a 429.

Without a bound of its own a gate only counts, and holds nobody back until the provider first complains; it opens again
for good once as many succeed together as were on their way then. It may be used from one event loop after another,
each of which gets the whole bound.
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType
from weakref import WeakKeyDictionary

__all__ = ["Gate"]


class _Inside:
    """What belongs to one event loop: who is inside, and who waits."""

    __slots__ = ("answers", "bound", "changes", "complaints", "count", "loop", "most", "waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: int | None) -> None:
        self.loop = loop
        self.count = 0
        self.bound: float | None = limit
        self.most = limit or 0
        self.changes = self.complaints = self.answers = 0
        self.waiting: deque[asyncio.Future[None]] = deque()


class Gate:
    """At most `limit` inside at once, fewer for a while after `overloaded`; None for no bound of its own."""

    __slots__ = ("_here", "_loops", "limit")

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._here: _Inside | None = None
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Inside] = WeakKeyDictionary()

    def _inside(self) -> _Inside:
        loop = asyncio.get_running_loop()
        here = self._here
        if here is None or here.loop is not loop:
            here = self._loops.get(loop)
            if here is None:
                here = self._loops[loop] = _Inside(loop, self.limit)
            self._here = here
        return here

    @property
    def bound(self) -> float | None:
        """What holds in the running loop at the moment; None for no bound."""
        return self._inside().bound

    def enter_now(self) -> int | None:
        """Take a place if there is one; None if there is none.

        Returns:
            What `overloaded` wants to know: at which state of the bound the place was taken.
        """
        here = self._inside()
        if here.bound is not None and (here.count >= int(here.bound) or here.waiting):
            return None
        here.count += 1
        return here.changes

    async def enter(self) -> int:
        """Wait for a place. Cancelled, it takes none."""
        taken = self.enter_now()
        if taken is None:
            here = self._inside()
            await _turn(here)
            taken = here.changes
        return taken

    def leave(self) -> None:
        """Give the place back, to whoever has waited longest."""
        here = self._inside()
        here.count -= 1
        _admit(here)

    def overloaded(self, taken_at: int) -> None:
        """The provider complains: count it, and halve the bound if it does so too often.

        Requests that were on their way when the bound was halved are not held against it a second time.
        """
        here = self._inside()
        if taken_at != here.changes:
            return
        here.complaints += 1
        on_their_way = here.count + here.complaints  # those that complain have left already
        if here.complaints <= 1 + on_their_way / 5:
            _next_round(here)
            return
        if here.bound is None:
            here.most = on_their_way
        here.bound = max(1.0, float((here.bound or on_their_way) // 2))
        here.changes += 1
        here.complaints = here.answers = 0

    def succeeded(self) -> None:
        """The provider answers: a round of successes gives one place back."""
        here = self._inside()
        if here.complaints:
            _next_round(here)
        bound = here.bound
        if bound is None or bound == self.limit:
            return
        bound += 1.0 / int(bound)
        if bound >= here.most - 1e-9:
            here.bound = self.limit
        else:
            here.bound = bound
        _admit(here)

    async def __aenter__(self) -> None:
        await self.enter()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()


def _next_round(here: _Inside) -> None:
    """Another answer: after as many as are on their way together, complaints are counted anew."""
    here.answers += 1
    if here.answers > here.count:
        here.complaints = here.answers = 0


async def _turn(here: _Inside) -> None:
    mine = here.loop.create_future()
    here.waiting.append(mine)
    try:
        await mine
    except asyncio.CancelledError:
        if mine.done() and not mine.cancelled():  # the place was given just now
            here.count -= 1
            _admit(here)
        raise


def _admit(here: _Inside) -> None:
    while here.waiting and (here.bound is None or here.count < int(here.bound)):
        following = here.waiting.popleft()
        if not following.done():
            here.count += 1
            following.set_result(None)
