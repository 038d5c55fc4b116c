"""One event loop beside the tests, for a whole session: what is asked from synchronous code is carried out there.

Judges and their connections belong to a loop. With one loop a session they are made once, an embedded model is started
once, and a test that runs in a loop of its own can wait for an answer without holding up who answers.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, Generic, TypeVar

from jurat.eventloop import new_event_loop

__all__ = ["PATIENCE_S", "Job", "LoopThread", "in_asyncio", "wait_for"]

T = TypeVar("T")

_LOOK_S = 0.2
"""How long a wait lasts before it looks up: on some systems Ctrl-C does not reach a thread that waits for ever."""
PATIENCE_S = 10.0
"""How long what was interrupted may take to come to its orderly end."""


class Job(Generic[T]):
    """Some work in the loop of another thread."""

    def __init__(self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._outcome: Future[T] = Future()
        self._task = asyncio.run_coroutine_threadsafe(self._carry(work), loop)
        self._task.add_done_callback(lambda _: self._never_begun(work))

    async def _carry(self, work: Coroutine[Any, Any, T]) -> None:
        try:
            self._outcome.set_result(await work)
        except BaseException as error:  # who waits for it gets it, whatever it is
            self._outcome.set_exception(error)

    def _never_begun(self, work: Coroutine[Any, Any, T]) -> None:
        """What was cancelled before its first step still has an outcome."""
        if not self._outcome.done() and inspect.getcoroutinestate(work) == inspect.CORO_CREATED:
            work.close()
            self._outcome.set_exception(asyncio.CancelledError())

    def result(self) -> T:
        """Wait for the outcome. An interruption cancels the work, and is raised when that came to its end."""
        try:
            return wait_for(self._outcome)
        except BaseException:
            if not self._outcome.done():  # it is we who were interrupted, not the work
                self.cancel()
                self.settled(PATIENCE_S)
            raise

    def cancel(self) -> None:
        """Have it cancelled; it may take its time to end."""
        self._task.cancel()

    def settled(self, patience_s: float) -> bool:
        """Wait until it is over, at most so long; whether it is."""
        return bool(wait([self._outcome], patience_s).done)


class LoopThread:
    """An event loop in a daemon thread."""

    def __init__(self) -> None:
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="jurat-pytest", daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, T]) -> Job[T]:
        """Begin some work; nobody waits for it yet."""
        return Job(work, self._loop)

    def close(self) -> None:
        """Stop the loop. Tasks that are left are cancelled."""
        self.start(_cancel_others()).settled(PATIENCE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        if not self._thread.is_alive():
            self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


def wait_for(outcome: Future[T]) -> T:
    """The result of a future, in a wait that can be interrupted on every system."""
    while not wait([outcome], _LOOK_S).done:
        pass
    return outcome.result()


def in_asyncio() -> bool:
    """Whether a loop of asyncio is running here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
