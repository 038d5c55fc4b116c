"""Whose a run is: the process that is at work on it, and whether that process is still there.

On the machine where it runs, a process is known by its number and the moment of its start, so that a number that was
given away again deceives nobody; a process that ended, killed or not, is gone at once. Of a process on another machine
only its last sign of life is known: silent for `SILENCE_S`, it counts as gone. "Machine" means everything within which
process numbers mean the same: containers count as machines of their own.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SILENCE_S", "Owner", "hold", "is_gone", "let_go", "new_owner"]

SILENCE_S = 60.0
"""After so many seconds without a sign of life an owner on another machine counts as gone."""

_PROC = Path("/proc")
_held: set[str] = set()
"""The tokens of the runs that this very process is at work on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process at work on a run.

    Attributes:
        token: of this one taking of the run.
        machine: where process numbers mean the same; `host` is its name for people.
        started: when the process started, as its system tells it; empty where that is unknown.
        silent_s: since its last sign of life, by the database's clock.
    """

    token: str
    machine: str
    host: str
    pid: int
    started: str
    silent_s: float = 0.0


def new_owner() -> Owner:
    """This process, about to take a run."""
    pid = os.getpid()
    return Owner(
        token=uuid.uuid4().hex, machine=_machine(), host=platform.node(), pid=pid, started=_start_of(pid) or ""
    )


def hold(owner: Owner) -> None:
    """From now on this process is at work on it."""
    _held.add(owner.token)


def let_go(token: str) -> None:
    """From now on it is not; a second time does nothing."""
    _held.discard(token)


def is_gone(owner: Owner) -> bool:
    """Whether nobody is at work on it any more."""
    if owner.machine != _machine():
        return owner.silent_s > SILENCE_S
    started = _start_of(owner.pid)
    if started is None:
        return True
    if owner.pid == os.getpid() and started == owner.started:
        return owner.token not in _held
    if not (started and owner.started):  # this system does not tell when a process started
        return owner.silent_s > SILENCE_S
    return started != owner.started


@functools.cache
def _machine() -> str:
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts.append((_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip())
        parts.append(str((_PROC / "self/ns/pid").readlink()))
    return "/".join(parts)


def _start_of(pid: int) -> str | None:
    """When a process started; empty where that cannot be told, None when there is no such process any more."""
    if (_PROC / "self" / "stat").exists():
        return _from_proc(pid)
    if (ps := shutil.which("ps")) is None:
        return ""
    told = subprocess.run([ps, "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip() or None


def _from_proc(pid: int) -> str | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", errors="replace")
    except OSError:  # no such process, or it ended while it was looked at
        return None
    # After the name in brackets, which may hold anything: the state first, the start as the 20th field.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in ("Z", "X") else fields[18]
