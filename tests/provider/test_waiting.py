"""Waiting between requests: what was sent by then is known, and what was waited for is given up with the call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import pairwise

import pytest
from loopback import Answer, FakeTime, Server, serving
from test_retry import GOOD, REQUEST_WITHOUT_SCHEMA, failing, send

from jurat.engine.slots import SlotPlace, Slots
from jurat.errors import ErrorCategory, ProviderError, RequestError
from jurat.provider import HttpProvider, Provider, ProviderSettings, Raw, RetryPolicy
from jurat.provider.http import HttpReply
from jurat.provider.python import PythonProvider
from jurat.provider.rates import RateLimit
from jurat.provider.waiting import PLACE, Account

SPENT = RequestError(ErrorCategory.BUDGET_EXHAUSTED, "it is spent")


def model(server: Server, time: FakeTime, concurrency: int | None = None) -> HttpProvider:
    settings = ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint=server.url)
    return HttpProvider(settings, policy=RetryPolicy(deadline_s=60.0), timing=time.timing, concurrency=concurrency)


async def sent_from(place: SlotPlace, provider: Provider) -> Raw:
    PLACE.set(place)
    return await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))


async def test_a_call_that_is_cut_off_tells_what_was_sent_by_then() -> None:
    async with serving(failing(500), failing(429), Answer(hold=asyncio.Event())) as server:
        provider, place = model(server, FakeTime()), SlotPlace(Slots(1))
        asked = asyncio.create_task(sent_from(place, provider))
        while len(server.requests) < 3:
            server.asked.clear()
            await server.asked.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert place.cut_off == (ErrorCategory.API_ERROR, ErrorCategory.RATE_LIMITED, ErrorCategory.TIMEOUT)
        await provider.aclose()


async def test_a_call_whose_provider_keeps_no_account_has_sent_one_request() -> None:
    assert SlotPlace(Slots(1)).cut_off == (ErrorCategory.TIMEOUT,)


def test_a_request_that_was_given_up_failed_for_want_of_time() -> None:
    account = Account()
    account.sent()
    account.sent()
    account.failed_as(ErrorCategory.API_ERROR)
    assert account.cut_off == (ErrorCategory.TIMEOUT, ErrorCategory.API_ERROR)


async def test_a_reply_that_came_too_late_to_be_looked_at_was_asked_for_all_the_same() -> None:
    async with serving(failing(500), GOOD) as server:
        provider, place = model(server, FakeTime()), SlotPlace(Slots(1))
        await sent_from(place, provider)
        assert place.cut_off == (ErrorCategory.API_ERROR, ErrorCategory.TIMEOUT)
        await provider.aclose()


async def test_a_function_that_has_places_of_its_own_is_waited_for_in_no_other() -> None:
    """The second call waits for the function's only place: it has sent nothing, and holds no slot meanwhile."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def answer(messages: list[dict[str, str]]) -> str:
        begun.set()
        await go_on.wait()
        return "Paris"

    settings = ProviderSettings(name="f", kind="python", model="f:answer")
    function = PythonProvider(answer, settings=settings, timeout_s=60.0, concurrency=1)
    slots = Slots(2)
    first, second = SlotPlace(slots), SlotPlace(slots)
    assert slots.take_now()
    assert slots.take_now()
    calls = [asyncio.create_task(sent_from(place, function)) for place in (first, second)]
    await begun.wait()
    while second.held:  # noqa: ASYNC110  it is nobody's event
        await asyncio.sleep(0)
    assert (first.held, first.cut_off, second.cut_off) == (True, (ErrorCategory.TIMEOUT,), ())
    go_on.set()
    assert [raw.attempts for raw in await asyncio.gather(*calls)] == [1, 1]


async def test_no_further_request_is_made_when_none_may_be_made_any_more() -> None:
    async with serving(failing(429), GOOD) as server:
        provider = model(server, FakeTime())
        with pytest.raises(ProviderError) as caught:
            await sent_from(SlotPlace(Slots(1), refusal=lambda: SPENT if server.requests else None), provider)
        assert (caught.value.category, caught.value.failed) == (SPENT.category, (ErrorCategory.RATE_LIMITED,))
        assert (caught.value.attempts, len(server.requests)) == (1, 1)
        await provider.aclose()


async def test_a_place_of_the_provider_is_free_again_when_its_call_does_not_go_on() -> None:
    """With one place for all, a call that waited for it and may not go on must not keep it."""
    hold = asyncio.Event()
    async with serving(Answer(hold=hold), GOOD) as server:
        provider = model(server, FakeTime(), concurrency=1)
        first = asyncio.create_task(sent_from(SlotPlace(Slots(1)), provider))
        await server.asked.wait()
        second = asyncio.create_task(sent_from(SlotPlace(Slots(1), refusal=lambda: SPENT), provider))
        await asyncio.sleep(0)
        hold.set()
        assert isinstance(await first, Raw)
        with pytest.raises(RequestError):
            await second
        async with asyncio.timeout(30):
            assert isinstance(await sent_from(SlotPlace(Slots(1)), provider), Raw)
        await provider.aclose()


async def test_waiting_for_a_place_is_no_part_of_a_calls_time_nor_a_request_of_its_own() -> None:
    """The only place is kept by another for longer than the whole call may take."""
    time, hold = FakeTime(), asyncio.Event()
    async with serving(failing(503, retry_after_ms="1"), Answer(hold=hold), GOOD) as server:
        provider = model(server, time, concurrency=1)
        patient = asyncio.create_task(send(provider))
        while not server.requests:
            server.asked.clear()
            await server.asked.wait()
        other = asyncio.create_task(send(provider))
        while len(server.requests) < 2:
            server.asked.clear()
            await server.asked.wait()
        time.now += 3600.0
        hold.set()
        raws = await asyncio.gather(patient, other)
        assert sorted(raw.attempts for raw in raws) == [1, 2]
        assert len(server.requests) == 3
        await provider.aclose()


async def test_a_queue_for_the_limits_dissolves_when_no_request_may_be_made_any_more() -> None:
    time = FakeTime()
    limit = RateLimit(1, None, time.timing)
    await limit.admit(0.0)

    def check() -> None:
        raise RequestError(ErrorCategory.BUDGET_EXHAUSTED, "it is spent")

    found = await asyncio.gather(*(limit.admit(0.0, check) for _ in range(50)), return_exceptions=True)
    assert all(isinstance(one, RequestError) for one in found)
    assert time.waits == []


class Answering:
    """A transport that notes when each request begins, and may ask for a pause first."""

    def __init__(self, time: FakeTime, *, pauses: bool) -> None:
        self.begun: list[float] = []
        self._time, self._pauses = time, pauses

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        self.begun.append(self._time.now)
        await asyncio.sleep(0)
        if self._pauses and len(self.begun) == 1:
            return HttpReply(429, {"retry-after": "100"}, b"{}", 1.0)
        return HttpReply(200, {}, GOOD.body, 1.0)

    async def aclose(self) -> None: ...


async def test_after_a_pause_requests_are_as_far_apart_as_the_limit_says() -> None:
    """What was admitted before a server asked for a pause does not go off together after it."""
    time = FakeTime()
    transport = Answering(time, pauses=True)
    settings = ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint="http://127.0.0.1:9/v1")
    provider = HttpProvider(settings, timing=time.timing, requests_per_minute=6, transport=transport)
    await asyncio.gather(*(send(provider) for _ in range(8)))
    assert len(transport.begun) == 9
    assert all(after - before >= 10.0 - 1e-6 for before, after in pairwise(transport.begun))


async def test_requests_that_waited_for_a_slot_are_as_far_apart_as_the_limit_says() -> None:
    """Others keep all slots for an hour, in which sixty requests might have been let through."""
    time, slots = FakeTime(), Slots(1)
    transport = Answering(time, pauses=False)
    settings = ProviderSettings(name="p", kind="openai_compatible", model="m", endpoint="http://127.0.0.1:9/v1")
    provider = HttpProvider(settings, timing=time.timing, requests_per_minute=6, transport=transport)

    async def one() -> None:
        await slots.take(urgent=False)
        place = SlotPlace(slots)
        await sent_from(place, provider)
        slots.give_back()

    asked = [asyncio.create_task(one()) for _ in range(8)]
    await asyncio.sleep(0)
    keeps = asyncio.create_task(slots.take(urgent=True))
    await keeps
    for _ in range(60):
        time.now += 60.0
        await asyncio.sleep(0)
    slots.give_back()
    await asyncio.gather(*asked)
    assert len(transport.begun) == 8
    assert all(after - before >= 10.0 - 1e-6 for before, after in pairwise(transport.begun))
