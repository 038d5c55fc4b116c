"""The bound gives way to a provider that complains, and comes back. No clock is in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from loopback import FakeTime, answer, serving
from test_retry import GOOD, REQUEST_WITHOUT_SCHEMA

from jurat.provider import HttpProvider, ProviderSettings, RetryPolicy
from jurat.provider.gate import Gate


async def until(condition: Callable[[], bool]) -> None:
    """Let others go on until something is so."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  it is nobody's event
            await asyncio.sleep(0)


async def round_of(gate: Gate, count: int, complaints: int) -> None:
    """So many requests side by side; the first of them are complained about."""
    taken = [await gate.enter() for _ in range(count)]
    for index, state in enumerate(taken):
        gate.leave()
        if index < complaints:
            gate.overloaded(state)
        else:
            gate.succeeded()


async def test_many_complaints_of_one_round_halve_the_bound_once() -> None:
    gate = Gate(16)
    await round_of(gate, 16, 16)
    assert gate.bound == 8.0


async def test_each_further_round_of_complaints_halves_it_again_and_one_place_stays() -> None:
    gate = Gate(16)
    found = []
    for _ in range(6):
        await round_of(gate, int(gate.bound or 0), int(gate.bound or 0))
        found.append(gate.bound)
    assert found == [8.0, 4.0, 2.0, 1.0, 1.0, 1.0]


async def test_a_round_of_successes_gives_one_place_back_and_the_bound_is_never_passed() -> None:
    gate = Gate(8)
    await round_of(gate, 8, 8)
    found = []
    for _ in range(6):
        await round_of(gate, int(gate.bound or 0), 0)
        found.append(int(gate.bound or 0))
    assert found == [5, 6, 7, 8, 8, 8]
    assert gate.bound == 8


async def test_one_complaint_among_many_successes_changes_nothing() -> None:
    gate = Gate(100)
    for _ in range(20):
        await round_of(gate, 100, 5)
    assert gate.bound == 100


async def test_without_a_bound_a_gate_holds_nobody_back_until_there_are_complaints_and_opens_again() -> None:
    gate = Gate(None)
    await round_of(gate, 8, 0)
    assert gate.bound is None
    await round_of(gate, 8, 8)
    assert (gate.bound or 8) < 8
    for _ in range(8):
        await round_of(gate, int(gate.bound or 1), 0)
    assert gate.bound is None


async def test_who_waits_is_let_in_as_the_bound_recovers() -> None:
    gate = Gate(2)
    await round_of(gate, 2, 2)
    assert gate.bound == 1.0
    await gate.enter()
    waiting = asyncio.ensure_future(gate.enter())
    await asyncio.sleep(0)
    assert not waiting.done()
    gate.succeeded()
    await asyncio.wait_for(waiting, 5)


async def test_a_cancelled_wait_keeps_no_place() -> None:
    gate = Gate(1)
    await gate.enter()
    waiting = asyncio.ensure_future(gate.enter())
    await asyncio.sleep(0)
    gate.leave()
    waiting.cancel()
    await asyncio.wait((waiting,))
    await asyncio.wait_for(gate.enter(), 5)


@given(limit=st.integers(1, 40), answers=st.lists(st.booleans(), max_size=200))
def test_the_bound_stays_between_one_and_what_was_set(limit: int, answers: list[bool]) -> None:
    async def run() -> None:
        gate = Gate(limit)
        for fine in answers:
            taken = await gate.enter()
            gate.leave()
            if fine:
                gate.succeeded()
            else:
                gate.overloaded(taken)
            assert gate.bound is not None
            assert 1 <= gate.bound <= limit

    asyncio.run(run())


async def test_an_overloaded_server_is_asked_by_fewer_at_once() -> None:
    busy = answer({"error": {"type": "overloaded_error"}}, 529)
    time = FakeTime()
    async with serving(*[busy] * 8, GOOD) as server:
        provider = HttpProvider(
            ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint=server.url),
            policy=RetryPolicy(),
            timing=time.timing,
            concurrency=8,
        )
        call = provider.prepare(REQUEST_WITHOUT_SCHEMA)
        first = [asyncio.create_task(provider.send(call)) for _ in range(8)]
        await until(lambda: len(server.requests) == 8)
        server.most_in_flight = 0
        replies = await asyncio.gather(*first)
        await provider.aclose()
    assert [raw.attempts for raw in replies] == [2] * 8
    assert server.most_in_flight <= 4
