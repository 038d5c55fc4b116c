"""How long calls may take, with one timer for all calls of an event loop.

A timer a call is what asyncio and aiohttp offer; at thousands of calls a second its making, sorting and cancelling is a
tenth of the client's work. All calls of a transport have the same time, so the one that began first is due first, and
one timer that looks at them in the order of their beginning is enough.

A call that is late is cancelled, which closes its connection, and its `late` is true: whoever catches the cancellation
knows by it that nobody else asked for it. Somebody else's cancellation, also one at the same moment, passes through.
"""

from __future__ import annotations

import asyncio

__all__ = ["Deadlines"]


class Deadlines:
    """The deadlines of one event loop.

    Args:
        loop: in which the calls run.
        timeout_s: the time that each may take.
    """

    __slots__ = ("_due", "_late", "_loop", "_timeout_s", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        self._loop, self._timeout_s = loop, timeout_s
        self._due: dict[asyncio.Task[object], tuple[float, int]] = {}
        self._late: dict[asyncio.Task[object], int] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: asyncio.Task[object]) -> None:
        """The task's call begins; it makes one at a time."""
        due = self._loop.time() + self._timeout_s
        self._due[task] = (due, task.cancelling())
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._look)

    def end(self, task: asyncio.Task[object]) -> None:
        """The task's call is over, however it ended."""
        self._due.pop(task, None)
        if self._late:
            self.late(task)

    def late(self, task: asyncio.Task[object]) -> bool:
        """Whether the cancellation that the task has just caught was its deadline's, and nobody else's.

        The task is then as if it had never been cancelled.
        """
        asked_before = self._late.pop(task, None)
        return asked_before is not None and task.uncancel() <= asked_before

    def close(self) -> None:
        """Nobody is late any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        self._look_at(self._loop.time())

    def _look_at(self, now: float) -> None:
        late: list[asyncio.Task[object]] = []
        for task, (due, _) in self._due.items():
            if due > now:
                self._timer = self._loop.call_at(due, self._look)
                break
            late.append(task)
        for task in late:
            _, self._late[task] = self._due.pop(task)
            task.cancel()
