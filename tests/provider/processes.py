"""Other processes, as the tests of what must end with them see them: whether they run, and until when to look."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether a process runs (one that has ended and waits to be collected does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
