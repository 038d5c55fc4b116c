"""How many processor cores this process may really use for arithmetic.

A container or a pinned process often has fewer cores than the machine shows, and hyper-threads add nothing to matrix
work; a model server with more threads than real cores is many times slower, not a little. So: the cores that the
process is bound to, siblings counted once, then the control group's quota.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["usable_cores"]


def usable_cores(root: Path = Path("/")) -> int | None:
    """Physical cores for this process, at least 1; None where only the system's own count is known (not Linux).

    `root` is where `/sys` and `/proc` are looked for.
    """
    if sys.platform != "linux":
        return None
    cores = len({_siblings(root, cpu) for cpu in os.sched_getaffinity(0)})
    quota = _quota(root)
    return max(1, cores if quota is None else min(cores, int(quota)))


def _siblings(root: Path, cpu: int) -> str:
    """The hyper-threads that share a core with this one, as the kernel writes them; itself where it does not tell."""
    try:
        return (root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)


def _quota(root: Path) -> float | None:
    """Cores' worth of time that the control group and those above it allow (version 2), or None without a limit."""
    try:
        group = (root / "proc/self/cgroup").read_text().partition("0::")[2].strip()
    except OSError:
        return None
    top = root / "sys/fs/cgroup"
    here = top / group.lstrip("/")
    limits = [limit for place in (here, *here.parents) if place.is_relative_to(top) and (limit := _limit(place))]
    return min(limits, default=None)


def _limit(group: Path) -> float | None:
    """The quota of one group, from `cpu.max` (`QUOTA PERIOD` in microseconds, or `max PERIOD`)."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
