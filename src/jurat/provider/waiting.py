"""Waiting without a place: whoever bounds calls in flight may have a place back while its call only waits.

A call waits for its provider's limits, for a pause that a server asked for, and before another try. During such a wait
nothing is in flight, and the place could serve another call. The engine says for each call, in a context variable, who
gets the place meanwhile; where nobody does, a wait is just a wait.

What a wait was for may be settled when it is over: the budget is spent by others, the key is refused. So the place is
asked again before the next request. It also keeps the call's account, so that whoever cuts a call off knows what was
sent by then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Protocol, TypeVar

from jurat.errors import ErrorCategory

__all__ = ["PLACE", "Account", "Place", "opened_account", "without_place"]

T = TypeVar("T")


class Account:
    """The requests of one call so far."""

    __slots__ = ("_failed", "_open")

    def __init__(self) -> None:
        self._failed: list[ErrorCategory] = []
        self._open = False

    def sent(self) -> None:
        """Another request begins. One of which nothing was heard by then was given up when its time was over."""
        if self._open:
            self._failed.append(ErrorCategory.TIMEOUT)
        self._open = True

    def failed_as(self, *why: ErrorCategory) -> None:
        """The request has failed; `why` is empty where it was never made."""
        self._open = False
        self._failed.extend(why)

    @property
    def cut_off(self) -> tuple[ErrorCategory, ...]:
        """Why each request failed, if the call ends here: the last one, answered or not, for want of time."""
        return (*self._failed, ErrorCategory.TIMEOUT) if self._open else tuple(self._failed)


class Place(Protocol):
    """A place among calls in flight.

    `leave` gives it up; `turn` says whether what is waited for is merely the call's turn, which no time limit of the
    call should count. `come_back` waits until there is one again. Whose wait is cancelled does not come back. `check`
    raises an EvaluationError when no further request may be made. `account` is opened by whoever sends requests.
    """

    account: Account | None

    def leave(self, *, turn: bool) -> None: ...

    async def come_back(self) -> None: ...

    def check(self) -> None: ...


PLACE: ContextVar[Place | None] = ContextVar("PLACE", default=None)
"""The place of the call that is being made in this context."""


def opened_account() -> Account | None:
    """The account of the call that is being made in this context, opened if need be; None where nobody keeps one."""
    place = PLACE.get()
    if place is None:
        return None
    if place.account is None:
        place.account = Account()
    return place.account


async def without_place(wait: Awaitable[T], *, turn: bool, undo: Callable[[], None] | None = None) -> T:
    """Wait, and let others have the place meanwhile.

    Args:
        undo: gives up what was waited for, when the call does not go on after all.

    Raises:
        EvaluationError: when no further request may be made; there is a place then.
    """
    place = PLACE.get()
    if place is None:
        return await wait
    place.leave(turn=turn)
    came = await wait
    try:
        await place.come_back()
        place.check()
    except BaseException:
        if undo is not None:
            undo()
        raise
    return came
