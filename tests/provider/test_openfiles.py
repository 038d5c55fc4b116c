"""Room for connections, seen in a process of its own, since a bound that was lowered stays so."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

resource = pytest.importorskip("resource", reason="this system knows no bound of open files")

ASK = """
import json, resource, sys
from jurat.provider.openfiles import crowding_faults, room_for
soft, hard, calls = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
room, faults = room_for(calls), crowding_faults(calls, "--concurrency")
print(json.dumps([room, resource.getrlimit(resource.RLIMIT_NOFILE)[0], [str(fault) for fault in faults]]))
"""


def ask(soft: int, hard: int, calls: int) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(soft), str(hard), str(calls)], capture_output=True, text=True, check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def test_the_bound_is_raised_for_as_many_calls_as_are_wanted() -> None:
    assert ask(256, 2048, 1000) == [1000, 1064, []]


def test_a_bound_that_is_enough_stays_as_it_is() -> None:
    assert ask(256, 2048, 16) == [16, 256, []]


def test_where_the_system_allows_less_it_is_said_with_what_to_do() -> None:
    room, soft, (fault,) = ask(128, 256, 1000)
    assert (room, soft) == (192, 256)
    assert fault == (
        "--concurrency: expected at most 192 calls in flight, for as many connections as this system lets a process "
        "have, found 1000. Let the shell allow more open files (ulimit -n 1064), or take fewer calls in flight"
    )
