"""The event loop of whoever has none yet: uvloop's where it is installed, asyncio's own everywhere else.

Nothing here depends on which one it is. uvloop (extra `fast`) takes about a tenth less CPU a call. Who calls from a
loop of their own keeps that one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["new_event_loop", "run_in_loop"]

T = TypeVar("T")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A new loop, which the caller closes."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run_in_loop(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, Ctrl-C included.

    Raises:
        RuntimeError: when a loop runs in this thread already.
        Exception: whatever the work raises.
    """
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("run_in_loop cannot be called from a running event loop; await the coroutine there")
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
