"""Requests and tokens a minute, by a clock that moves only when somebody waits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import REPLY, FakeTime, answer, serving
from test_retry import GOOD, REQUEST_WITHOUT_SCHEMA, failing

from jurat.errors import AuthoringError
from jurat.provider import (
    ChatMessage,
    Frame,
    HttpProvider,
    Image,
    ModelRequest,
    ProviderSettings,
    RetryPolicy,
    make_provider,
)
from jurat.provider.rates import RateLimit


def limited(time: FakeTime, url: str, requests: int | None, tokens: int | None = None, **policy: float) -> HttpProvider:
    settings = ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint=url)
    return HttpProvider(
        settings,
        policy=RetryPolicy(**policy),  # type: ignore[arg-type]  # numbers of the right kind
        timing=time.timing,
        requests_per_minute=requests,
        tokens_per_minute=tokens,
    )


async def starts(limit: RateLimit, time: FakeTime, tokens: Sequence[float]) -> list[float]:
    """When each of some requests, asked for at once, may begin; seconds from now."""
    begun: list[float] = []

    async def one(amount: float) -> None:
        await limit.admit(amount)
        begun.append(time.now - 1000.0)

    await asyncio.gather(*(one(amount) for amount in tokens))
    return begun


async def test_requests_are_spread_over_the_minute() -> None:
    time = FakeTime()
    begun = await starts(RateLimit(6, None, time.timing), time, [0.0] * 4)
    assert begun == [0.0, pytest.approx(10.0), pytest.approx(20.0), pytest.approx(30.0)]


@given(per_minute=st.integers(1, 400), count=st.integers(1, 500))
def test_never_more_than_the_limit_begin_within_any_minute(per_minute: int, count: int) -> None:
    time = FakeTime()
    begun = asyncio.run(starts(RateLimit(per_minute, None, time.timing), time, [0.0] * count))
    for index, first in enumerate(begun[: -per_minute or None]):
        if index + per_minute < len(begun):
            assert begun[index + per_minute] - first >= 60.0 - 1e-6


async def test_the_first_to_ask_is_the_first_to_go() -> None:
    time = FakeTime()
    limit = RateLimit(60, None, time.timing)
    order: list[int] = []

    async def one(number: int) -> None:
        await limit.admit(0.0)
        order.append(number)

    await asyncio.gather(*(one(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_tokens_are_waited_for() -> None:
    time = FakeTime()
    begun = await starts(RateLimit(None, 600, time.timing), time, [10.0, 10.0, 10.0])
    assert begun == [0.0, pytest.approx(10 / (591 / 60)), pytest.approx(20 / (591 / 60))]


async def test_a_request_larger_than_ever_fits_goes_and_the_next_waits_the_longer() -> None:
    time = FakeTime()
    begun = await starts(RateLimit(None, 600, time.timing), time, [600.0, 1.0])
    assert begun[0] == 0.0
    assert begun[1] == pytest.approx(591 / (591 / 60))


async def test_what_the_provider_counted_corrects_the_estimate() -> None:
    time = FakeTime()
    limit = RateLimit(None, 600, time.timing)
    await limit.admit(10.0)
    limit.settle(10.0, 55, 14)  # 59 more than was thought
    await limit.admit(1.0)
    assert time.now - 1000.0 == pytest.approx((59 + 1) / (591 / 60))


async def test_a_request_that_was_turned_away_took_no_tokens() -> None:
    time = FakeTime()
    limit = RateLimit(None, 600, time.timing)
    await limit.admit(10.0)
    limit.returned(10.0)
    await limit.admit(10.0)
    assert time.waits == []


async def test_replies_teach_how_long_replies_are() -> None:
    limit = RateLimit(None, 600, FakeTime().timing)
    assert limit.estimate(b"x" * 400) == 600.0
    limit.settle(600.0, 100, 100)
    assert limit.estimate(b"x" * 400) == 560.0


async def test_a_wait_that_is_cancelled_takes_nothing() -> None:
    time = FakeTime()
    limit = RateLimit(1, None, time.timing)
    await limit.admit(0.0)
    entered = asyncio.Event()

    async def for_ever(seconds: float) -> None:
        entered.set()
        await asyncio.Event().wait()

    tick, time.sleep = time.sleep, for_ever  # type: ignore[method-assign]
    limit = RateLimit(1, None, time.timing)
    await limit.admit(0.0)
    waiting = asyncio.create_task(limit.admit(0.0))
    await entered.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    time.now += 60.0
    await asyncio.wait_for(limit.admit(0.0), 5)
    assert tick is not for_ever


def test_a_limit_serves_one_loop_after_another() -> None:
    time = FakeTime()
    limit = RateLimit(60, None, time.timing)
    assert [len(asyncio.run(starts(limit, time, [0.0] * 3))) for _ in range(2)] == [3, 3]


async def test_calls_of_a_provider_keep_to_its_limit_and_their_own_time_does_not_run_meanwhile() -> None:
    time = FakeTime()
    async with serving() as server:
        provider = limited(time, server.url, 1, deadline_s=5.0)
        call = provider.prepare(REQUEST_WITHOUT_SCHEMA)
        replies = await asyncio.gather(*(provider.send(call) for _ in range(4)))
        await provider.aclose()
    assert [raw.attempts for raw in replies] == [1, 1, 1, 1]
    assert time.now - 1000.0 == pytest.approx(180.0)


async def test_another_try_is_a_request_too_and_its_turn_is_no_part_of_the_calls_time() -> None:
    time = FakeTime()
    async with serving(failing(500), failing(500), GOOD) as server:
        provider = limited(time, server.url, 1, deadline_s=5.0)
        raw = await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))
        await provider.aclose()
    assert raw.attempts == 3
    assert time.now - 1000.0 == pytest.approx(120.0)


def test_a_picture_is_estimated_as_a_picture_and_not_by_its_bytes() -> None:
    limit = RateLimit(None, 1000, FakeTime().timing)
    picture = Image(media_type="image/png", data=bytes(3_000_000))
    for row in ("openai:gpt-4o", "anthropic:claude-haiku-4-5", "google:gemini-3.8-flash", "ollama:m"):
        last = ChatMessage(role="user", parts=(picture, picture, "?"))
        frame = Frame(messages=(), temperature=None, max_output_tokens=None)
        body = make_provider(row).prepare(ModelRequest(frame=frame, last=last)).body
        assert 2 * 1500 + 500 < limit.estimate(body) < 2 * 1500 + 500 + 120
    letters = b'{"said": "base64", "text": "' + b"a b " * 1000 + b'"}'
    assert limit.estimate(letters) == len(letters) / 4 + 500


async def test_usage_corrects_the_estimate_of_a_call() -> None:
    time = FakeTime()
    usage = {"prompt_tokens": 5000, "completion_tokens": 1000}
    async with serving(answer({**REPLY, "usage": usage})) as server:
        provider = limited(time, server.url, None, 6000)
        call = provider.prepare(REQUEST_WITHOUT_SCHEMA)
        await provider.send(call)
        await provider.send(call)
        await provider.aclose()
    # 6,000 tokens were taken of 6,000 a minute, 100 of which may go at once; the next waits until 100 are there.
    assert time.now - 1000.0 == pytest.approx(6000 / (5901 / 60))


def test_a_row_sets_the_limits_and_refuses_what_is_none() -> None:
    row = {"kind": "openai_compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    make_provider({**row, "requests_per_minute": 60, "tokens_per_minute": 40000})
    with pytest.raises(AuthoringError) as refused:
        make_provider({**row, "requests_per_minute": 0, "tokens_per_minute": 1.5})
    assert [(fault.path, fault.expected, fault.found) for fault in refused.value.faults] == [
        ("requests_per_minute", "a whole number from 1", "0"),
        ("tokens_per_minute", "a whole number from 1", "1.5"),
    ]
