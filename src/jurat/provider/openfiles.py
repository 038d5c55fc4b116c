"""Room for connections: a call in flight holds one, and a system bounds the files that a process may have open.

The usual bounds are 1,024 and 256, and who may set the bound higher is the process itself. Where not even that is
enough it is said before the first call: without a file left, replies that are paid for could not be kept.
"""

from __future__ import annotations

from jurat.errors import Fault

__all__ = ["crowding_faults", "room_for"]

_KEPT = 64
"""Files beside the connections: store, reports, standard streams, pipes to children."""


def room_for(calls: int) -> int:
    """For how many of so many calls in flight there is room, after the process's own bound was raised if need be."""
    try:
        import resource
    except ImportError:  # no such bounds on this system
        return calls
    wanted = calls + _KEPT
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft in (resource.RLIM_INFINITY, -1) or soft >= wanted:
        return calls
    most = wanted if hard in (resource.RLIM_INFINITY, -1) else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):  # a system that allows less than it says
        most = soft
    return min(calls, max(most - _KEPT, 1))


def crowding_faults(calls: int, path: str) -> list[Fault]:
    """Why so many calls cannot be in flight over the network, if they cannot."""
    room = room_for(calls)
    if room >= calls:
        return []
    hint = f"Let the shell allow more open files (ulimit -n {calls + _KEPT}), or take fewer calls in flight"
    expected = f"at most {room} calls in flight, for as many connections as this system lets a process have"
    return [Fault(path=path, expected=expected, found=str(calls), hint=hint)]
