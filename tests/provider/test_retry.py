"""Retries against a real server, with a clock that moves only when somebody waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from contract import REQUEST
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer, FakeTime, Server, answer, serving

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import HttpProvider, ProviderSettings, Raw, RetryPolicy
from jurat.provider.faults import Exhausted
from jurat.provider.gate import Gate
from jurat.provider.retry import server_delay

GOOD = Answer()


def failing(status: int, **headers: str) -> Answer:
    return answer({"error": {"message": "no"}}, status, **headers)


@asynccontextmanager
async def provider_at(
    server: Server, time: FakeTime, *, concurrency: int | None = None, **policy: float
) -> AsyncIterator[HttpProvider]:
    provider = HttpProvider(
        ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint=server.url),
        policy=RetryPolicy(**policy),  # type: ignore[arg-type]  # numbers of the right kind, by the tests
        timing=time.timing,
        concurrency=concurrency,
    )
    yield provider
    await provider.aclose()


async def send(provider: HttpProvider) -> Raw:
    return await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))


REQUEST_WITHOUT_SCHEMA = type(REQUEST)(frame=type(REQUEST.frame)(messages=REQUEST.frame.messages), user="hello")


async def outcome(time: FakeTime, *answers: Answer, **policy: float) -> tuple[Raw | ProviderError, int]:
    """What a call came to, and how many requests the server saw."""
    async with serving(*answers) as server, provider_at(server, time, concurrency=None, **policy) as provider:
        try:
            return await send(provider), len(server.requests)
        except ProviderError as error:
            return error, len(server.requests)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_may_pass_is_tried_again(status: int) -> None:
    raw, requests = await outcome(FakeTime(), failing(status), failing(status), GOOD)
    assert isinstance(raw, Raw)
    assert (raw.attempts, requests) == (3, 3)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_what_stays_is_not_tried_again(status: int) -> None:
    time = FakeTime()
    error, requests = await outcome(time, failing(status), GOOD)
    assert isinstance(error, ProviderError)
    assert (error.status, error.attempts, requests, time.waits) == (status, 1, 1, [])


async def test_a_broken_connection_is_tried_again() -> None:
    raw, requests = await outcome(FakeTime(), Answer(reset=True), GOOD)
    assert isinstance(raw, Raw)
    assert (raw.attempts, requests) == (2, 2)


async def test_a_success_at_first_waits_for_nothing() -> None:
    time = FakeTime()
    raw, _ = await outcome(time, GOOD)
    assert isinstance(raw, Raw)
    assert (raw.attempts, time.waits) == (1, [])


async def test_four_requests_are_made_and_then_it_is_over() -> None:
    time = FakeTime(chance=1.0)
    error, requests = await outcome(time, failing(500))
    assert isinstance(error, ProviderError)
    assert (requests, error.attempts, error.category, error.status) == (4, 4, ErrorCategory.API_ERROR, 500)
    assert time.waits == [0.5, 1.0, 2.0]
    assert "requests made: 4" in str(error)


async def test_jitter_takes_at_most_half_of_a_wait() -> None:
    time = FakeTime(chance=0.0)
    await outcome(time, failing(500))
    assert time.waits == [0.25, 0.5, 1.0]


async def test_the_doubling_has_an_end() -> None:
    time = FakeTime(chance=1.0)
    await outcome(time, failing(500), max_attempts=6, first_wait_s=10.0, longest_wait_s=30.0)
    assert time.waits == [10.0, 20.0, 30.0, 30.0, 30.0]


async def test_another_fault_after_the_first_decides_the_category() -> None:
    error, requests = await outcome(FakeTime(), failing(503), failing(401))
    assert isinstance(error, ProviderError)
    assert (error.category, error.attempts, requests) == (ErrorCategory.AUTH_ERROR, 2, 2)


async def test_overload_keeps_its_name_after_the_last_try() -> None:
    error, requests = await outcome(FakeTime(), answer({"error": {"type": "overloaded_error"}}, 529))
    assert isinstance(error, ProviderError)
    assert (error.category, requests) == (ErrorCategory.OVERLOADED, 4)


@pytest.mark.parametrize(
    ("headers", "delay"),
    [
        ({"Retry_After": "10"}, 10.0),
        ({"Retry_After": "1.5"}, 1.5),
        ({"retry_after_ms": "2500"}, 2.5),
        ({"retry_after_ms": "2500", "Retry_After": "9"}, 2.5),
        ({"retry_after_ms": "soon", "Retry_After": "9"}, 9.0),
        ({"Retry_After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
    ],
)
@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
async def test_the_server_is_never_asked_again_earlier_than_it_wants(
    headers: dict[str, str], delay: float, chance: float
) -> None:
    time = FakeTime(chance=chance, wall=1792567650.0)  # 2026-10-21T07:27:30Z
    raw, _ = await outcome(time, failing(429, **headers), GOOD)
    assert isinstance(raw, Raw)
    assert time.waits == [pytest.approx(delay + max(0.2 * delay, 0.5) * chance)]
    assert time.waits[0] >= delay


@pytest.mark.parametrize("ours", [1792560000.0, 1792567650.0, 1792571250.0])  # two hours behind, right, an hour ahead
async def test_a_date_is_reckoned_by_the_clock_of_the_server_that_set_it(ours: float) -> None:
    time = FakeTime(wall=ours)
    date, until = "Wed, 21 Oct 2026 07:27:30 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"
    raw, _ = await outcome(time, failing(429, Date=date, Retry_After=until), GOOD)
    assert isinstance(raw, Raw)
    assert time.waits == [30.0]


async def test_a_date_that_has_passed_means_at_once() -> None:
    time = FakeTime(chance=0.5, wall=1792567650.0)
    await outcome(time, failing(429, Retry_After="Wed, 21 Oct 2026 07:00:00 GMT"), GOOD)
    assert time.waits == [0.25]


@pytest.mark.parametrize("text", ["soon", "", "nan", "inf", "Wed, 99 Oct 2026 07:28:00 GMT", "Wed"])
async def test_a_delay_that_cannot_be_understood_counts_as_not_asked(text: str) -> None:
    time = FakeTime(chance=1.0)
    await outcome(time, failing(429, Retry_After=text), GOOD)
    assert time.waits == [0.5]


@pytest.mark.parametrize("asked", [121, 277403])
async def test_a_delay_above_the_cap_fails_at_once_and_is_told(asked: int) -> None:
    time = FakeTime()
    error, requests = await outcome(time, failing(429, Retry_After=str(asked)), GOOD)
    assert isinstance(error, ProviderError)
    assert (error.category, error.retry_after_s, requests) == (ErrorCategory.RATE_LIMITED, asked, 1)
    assert time.waits == []
    assert f"{asked} s, which is more than the 120 s that are waited for" in str(error)


async def test_a_used_up_quota_is_not_waited_for() -> None:
    time = FakeTime()
    error, requests = await outcome(time, answer({"error": {"code": "insufficient_quota"}}, 429), GOOD)
    assert isinstance(error, ProviderError)
    assert (error.category, requests, time.waits) == (ErrorCategory.RATE_LIMITED, 1, [])


async def test_the_deadline_cuts_an_attempt_that_is_under_way() -> None:
    silent = Answer(hold=asyncio.Event())
    policy = RetryPolicy(deadline_s=0.3, first_wait_s=0.0)
    async with serving(failing(503), silent) as server:
        settings = ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint=server.url)
        provider = HttpProvider(settings, policy=policy, timeout_s=60.0)
        with pytest.raises(ProviderError) as caught:
            await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))
        await provider.aclose()
    assert (caught.value.category, caught.value.attempts) == (ErrorCategory.TIMEOUT, 2)
    assert "deadline of 0.3 s" in str(caught.value)


async def test_the_deadline_bounds_the_first_attempt_too() -> None:
    async with serving(Answer(hold=asyncio.Event())) as server:
        settings = ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint=server.url)
        provider = HttpProvider(settings, policy=RetryPolicy(deadline_s=0.1), timeout_s=60.0)
        with pytest.raises(ProviderError) as caught:
            await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))
        await provider.aclose()
    assert (caught.value.category, caught.value.attempts) == (ErrorCategory.TIMEOUT, 1)


async def test_no_wait_begins_that_would_end_after_the_deadline() -> None:
    time = FakeTime(chance=1.0)
    error, requests = await outcome(time, failing(500), max_attempts=100, deadline_s=3.0)
    assert isinstance(error, ProviderError)
    assert (time.waits, requests) == ([0.5, 1.0], 3)
    assert "deadline of 3 s" in str(error)


async def test_other_calls_wait_too_instead_of_using_up_their_tries() -> None:
    time = FakeTime(chance=1.0)
    released = asyncio.Event()

    async def long_wait(seconds: float) -> None:
        time.waits.append(seconds)
        await released.wait()

    time.sleep = long_wait  # type: ignore[method-assign]  # this test decides when the wait is over
    async with serving(failing(429, Retry_After="10"), GOOD) as server, provider_at(server, time) as provider:
        first = asyncio.create_task(send(provider))
        while not time.waits:  # noqa: ASYNC110 - the fake clock has no event to wait for
            await asyncio.sleep(0)
        others = [asyncio.create_task(send(provider)) for _ in range(5)]
        while len(time.waits) < 6 and not any(task.done() for task in others):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
        assert (time.waits, len(server.requests)) == ([12.0] * 6, 1)
        time.now += 12.0
        released.set()
        assert [raw.attempts for raw in await asyncio.gather(first, *others)] == [2, 1, 1, 1, 1, 1]
    assert len(server.requests) == 7


async def test_waits_differ_and_stay_in_their_bounds() -> None:
    waits = []
    for worker in range(20):
        time = FakeTime(chance=worker / 20)
        await outcome(time, failing(429, Retry_After="10"), GOOD)
        waits += time.waits
    assert len(set(waits)) == 20
    assert 10.0 <= min(waits) <= max(waits) <= 12.0


async def test_a_waiting_call_holds_no_place_in_the_gate() -> None:
    time = FakeTime()
    released = asyncio.Event()

    async def long_wait(seconds: float) -> None:
        time.waits.append(seconds)
        await released.wait()

    time.sleep = long_wait  # type: ignore[method-assign]  # this test decides when the wait is over
    async with (
        serving(failing(503), failing(503), GOOD) as server,
        provider_at(server, time, concurrency=2) as provider,
    ):
        waiting = [asyncio.create_task(send(provider)) for _ in range(2)]
        while len(time.waits) < 2:  # noqa: ASYNC110 - the fake clock has no event to wait for
            await asyncio.sleep(0)
        others = await asyncio.gather(*(send(provider) for _ in range(8)))
        assert [raw.attempts for raw in others] == [1] * 8
        assert not any(task.done() for task in waiting)
        released.set()
        assert [(await task).attempts for task in waiting] == [2, 2]
    assert server.most_in_flight <= 2


async def test_requests_in_flight_never_exceed_the_bound() -> None:
    async with serving() as server, provider_at(server, FakeTime(), concurrency=3) as provider:
        await asyncio.gather(*(send(provider) for _ in range(30)))
    assert server.most_in_flight == 3


def test_a_gate_serves_one_loop_after_another() -> None:
    gate = Gate(1)

    async def crowd() -> int:
        inside = most = 0

        async def enter() -> None:
            nonlocal inside, most
            async with gate:
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(enter() for _ in range(5)))
        return most

    assert [asyncio.run(crowd()) for _ in range(3)] == [1, 1, 1]


async def test_cancelling_a_wait_ends_it_at_once() -> None:
    time = FakeTime()
    entered = asyncio.Event()

    async def for_ever(seconds: float) -> None:
        entered.set()
        await asyncio.Event().wait()

    time.sleep = for_ever  # type: ignore[method-assign]  # a wait that only cancellation ends
    async with serving(failing(500)) as server, provider_at(server, time) as provider:
        task = asyncio.create_task(send(provider))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(server.requests) == 1


@given(text=st.text(max_size=40), milliseconds=st.text(max_size=12))
def test_no_header_crashes_the_reader_of_delays(text: str, milliseconds: str) -> None:
    delay = server_delay({"retry-after": text, "retry-after-ms": milliseconds}, 0.0)
    assert delay is None or delay >= 0.0


async def test_a_reply_tells_why_the_attempts_before_it_failed() -> None:
    raw, requests = await outcome(FakeTime(), failing(429), Answer(reset=True), failing(529), GOOD)
    assert isinstance(raw, Raw)
    assert raw.failed == (ErrorCategory.RATE_LIMITED, ErrorCategory.NETWORK_ERROR, ErrorCategory.OVERLOADED)
    assert raw.attempts == requests == 4


async def test_an_error_tells_why_each_of_its_attempts_failed() -> None:
    error, requests = await outcome(FakeTime(), failing(429), failing(500), failing(401))
    assert isinstance(error, ProviderError)
    assert error.failed == (ErrorCategory.RATE_LIMITED, ErrorCategory.API_ERROR, ErrorCategory.AUTH_ERROR)
    assert error.attempts == requests == 3


async def test_a_limit_under_its_other_name_is_an_attempt_that_failed_too() -> None:
    refusal = answer({"error": {"message": "no", "param": "max_tokens"}}, 400)
    raw, requests = await outcome(FakeTime(), refusal, failing(429), GOOD)
    assert isinstance(raw, Raw)
    assert raw.failed == (ErrorCategory.INVALID_REQUEST, ErrorCategory.RATE_LIMITED)
    assert raw.attempts == requests == 3


@pytest.mark.parametrize(
    "refusal",
    [
        failing(429, Retry_After="3600"),
        failing(402),
        answer({"error": {"code": "insufficient_quota", "message": "no"}}, 429),
    ],
)
async def test_what_all_other_calls_would_come_to_as_well_is_told_apart(refusal: Answer) -> None:
    error, requests = await outcome(FakeTime(), refusal, GOOD)
    assert isinstance(error, Exhausted)
    assert (error.category, error.attempts, requests) == (ErrorCategory.RATE_LIMITED, 1, 1)


async def test_a_delay_that_only_this_call_has_no_time_for_is_waited_for_by_the_others() -> None:
    time = FakeTime()
    busy = failing(503, Retry_After="61")
    async with serving(busy, GOOD) as server, provider_at(server, time, deadline_s=60.0) as one:
        with pytest.raises(ProviderError, match="given up at the deadline of 60 s") as caught:
            await send(one)
        await send(one)
    assert not isinstance(caught.value, Exhausted)
    assert time.waits == [61.0]


async def test_a_call_that_may_not_be_tried_again_makes_the_others_wait_all_the_same() -> None:
    time = FakeTime()
    async with (
        serving(failing(429, Retry_After="50"), GOOD) as server,
        provider_at(server, time, max_attempts=1) as one,
    ):
        with pytest.raises(ProviderError):
            await send(one)
        await send(one)
    assert time.waits == [50.0]
