"""One timer for all calls of a loop: who is late is cancelled and knows why, and nobody else is."""

from __future__ import annotations

import asyncio

import pytest

from jurat.provider.deadlines import Deadlines


async def call(deadlines: Deadlines, until: asyncio.Event) -> str:
    task = asyncio.current_task()
    assert task is not None
    deadlines.begin(task)
    try:
        await until.wait()
    except asyncio.CancelledError:
        if not deadlines.late(task):
            raise
        return "late"
    else:
        return "answered"
    finally:
        deadlines.end(task)


async def test_a_call_in_time_is_left_alone_and_one_that_is_late_knows_it() -> None:
    deadlines = Deadlines(asyncio.get_running_loop(), 0.02)
    answered, never = asyncio.Event(), asyncio.Event()
    answered.set()
    first, second = await asyncio.gather(call(deadlines, answered), call(deadlines, never))
    assert (first, second) == ("answered", "late")
    deadlines.close()


async def test_each_call_has_the_whole_time_from_its_own_beginning() -> None:
    loop = asyncio.get_running_loop()
    deadlines = Deadlines(loop, 0.05)
    ended: list[float] = []

    async def one(wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        begun = loop.time()
        assert await call(deadlines, asyncio.Event()) == "late"
        ended.append(loop.time() - begun)

    await asyncio.gather(*(one(0.02 * place) for place in range(4)))
    assert all(taken >= 0.05 for taken in ended)
    deadlines.close()


async def test_a_task_that_was_late_can_be_late_again_and_is_not_cancelled_afterwards() -> None:
    deadlines = Deadlines(asyncio.get_running_loop(), 0.01)
    assert [await call(deadlines, asyncio.Event()) for _ in range(2)] == ["late", "late"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    deadlines.close()


async def test_somebody_elses_cancellation_passes_through_also_at_the_same_moment() -> None:
    loop = asyncio.get_running_loop()
    deadlines = Deadlines(loop, 0.01)
    alone = loop.create_task(call(Deadlines(loop, 60), asyncio.Event()))
    both = loop.create_task(call(deadlines, asyncio.Event()))
    await asyncio.sleep(0)
    alone.cancel()
    both.cancel()
    deadlines._look_at(loop.time() + 1)  # the deadline comes before the task has seen the cancellation
    for task in (alone, both):
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_call_that_fails_while_its_deadline_strikes_leaves_no_cancellation_behind() -> None:
    loop = asyncio.get_running_loop()
    deadlines = Deadlines(loop, 60)

    async def failing() -> int:
        task = asyncio.current_task()
        assert task is not None
        deadlines.begin(task)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass  # as a library does that makes another error of it
        finally:
            deadlines.end(task)
        return task.cancelling()

    task = loop.create_task(failing())
    await asyncio.sleep(0)
    deadlines._look_at(loop.time() + 61)
    assert await task == 0
    deadlines.close()
