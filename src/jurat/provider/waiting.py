"""Waiting without a place: whoever bounds calls in flight may have a place back while its call only waits.

A call waits for its provider's limits, for a pause that a server asked for, and before another try. During such a wait
nothing is in flight, and the place could serve another call. The engine says for each call, in a context variable, who
gets the place meanwhile; where nobody does, a wait is just a wait.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Protocol, TypeVar

__all__ = ["PLACE", "Place", "without_place"]

T = TypeVar("T")


class Place(Protocol):
    """A place among calls in flight.

    `leave` gives it up; `turn` says whether what is waited for is merely the call's turn, which no time limit of the
    call should count. `come_back` waits until there is one again. Whose wait is cancelled does not come back.
    """

    def leave(self, *, turn: bool) -> None: ...

    async def come_back(self) -> None: ...


PLACE: ContextVar[Place | None] = ContextVar("PLACE", default=None)
"""The place of the call that is being made in this context."""


async def without_place(wait: Awaitable[T], *, turn: bool) -> T:
    """Wait, and let others have the place meanwhile."""
    place = PLACE.get()
    if place is None:
        return await wait
    place.leave(turn=turn)
    came = await wait
    await place.come_back()
    return came
