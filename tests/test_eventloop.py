"""The loop of whoever has none: uvloop's where it is installed, asyncio's own elsewhere, and the same outcome."""

from __future__ import annotations

import asyncio
import sys

import pytest

from jurat.eventloop import new_event_loop, run_in_loop


async def kind() -> str:
    await asyncio.sleep(0)
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_uvloop_is_taken_where_it_is_installed() -> None:
    pytest.importorskip("uvloop", reason="uvloop is not installed here (extra fast)")
    assert run_in_loop(kind()) == "uvloop"


def test_without_it_the_loop_is_asyncios_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)  # as if it could not be imported
    assert run_in_loop(kind()) == "asyncio"


def test_what_the_work_raises_comes_out_and_the_loop_is_closed() -> None:
    async def failing() -> None:
        raise ValueError("of the work")

    with pytest.raises(ValueError, match="of the work"):
        run_in_loop(failing())
    loop = new_event_loop()
    loop.close()
    assert loop.is_closed()


async def test_inside_of_a_running_loop_it_refuses() -> None:
    work = kind()
    with pytest.raises(RuntimeError, match="running event loop"):
        run_in_loop(work)
    work.close()
