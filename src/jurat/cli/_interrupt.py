"""Ctrl-C and SIGTERM while a run is under way: the first asks for an orderly end, the second Ctrl-C takes it at once.

An orderly end cancels the calls in flight, makes durable what has arrived, and marks the run as interrupted. The end at
once leaves all that to whoever opens the store next: what is durable is so at any moment, and a run whose owner is gone
counts as interrupted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator

from jurat.cli._exits import ExitCode
from jurat.cli._stdout import own_descriptor
from jurat.processend import end_process

__all__ = ["interruptible"]

_SHOW_CURSOR = "\x1b[?25h"


@contextlib.contextmanager
def interruptible(words: Callable[[], str]) -> Iterator[None]:
    """Inside, in a task of the running event loop: the first signal cancels that task.

    Args:
        words: what is said when a second Ctrl-C ends the program at once.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None or sys.platform == "win32":  # the loop's own handling: one Ctrl-C cancels, a second one raises
        yield
        return
    asked = False

    def stop() -> None:
        nonlocal asked
        if asked:
            _end_at_once(words())
        asked = True
        task.cancel()

    before = signal.getsignal(signal.SIGINT)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGINT, before)


def _end_at_once(words: str) -> None:
    """No clean-up that could take its time: threads, servers and the terminal's bar end with the process."""
    with contextlib.suppress(OSError):
        errors = own_descriptor(2)
        below = f"\r\n{_SHOW_CURSOR}" if os.isatty(errors) else ""  # a bar may stand there, and is left standing
        os.write(errors, f"{below}{words}\n".encode(errors="replace"))  # past whoever draws it
    end_process(ExitCode.INTERRUPTED)
