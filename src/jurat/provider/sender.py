"""Sending over HTTP: key, limits, transport, retries, errors, in one thin line.

Every adapter that speaks HTTP sends through here. A call that succeeds at first costs one coroutine above the
transport's own; the rest is asked only when something failed. A reply is read on arrival: an error inside of a 200, or
a body without an answer, is thereby found before it counts as a reply, and nothing is decoded twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.errors_from_http import Destination, error_from_reply, looks_like_json, request_id
from jurat.provider.faults import TransientError
from jurat.provider.gate import Gate
from jurat.provider.http import HttpReply, Transport
from jurat.provider.protocol import Raw, Reply
from jurat.provider.rates import RateLimit
from jurat.provider.retry import Pause, RetryPolicy, Timing, retry, server_delay
from jurat.provider.waiting import PLACE, opened_account, without_place

__all__ = ["HttpSender"]

_COMPLAINTS = (ErrorCategory.RATE_LIMITED, ErrorCategory.OVERLOADED)


class HttpSender:
    """Posts bodies to one address.

    Args:
        url: the full address.
        headers: makes the headers of each request, the key among them; the same object while nothing changes.
        destination: how messages speak of the address.
        read: what a body says; raises ProviderError when it is no reply.
        request_id_header: the header in which the vendor names a request.
        gate: bounds the requests in flight, each single attempt by itself.
        tells_key: whether a body holds the key that was sent: such a reply is not kept.
        rates: bounds requests and tokens a minute. Waiting for it is no part of a call's time.
    """

    def __init__(
        self,
        *,
        url: str,
        headers: Callable[[], dict[str, str]],
        destination: Destination,
        read: Callable[[bytes, Destination], Reply],
        transport: Transport,
        request_id_header: str = "x-request-id",
        tells_key: Callable[[bytes], bool] | None = None,
        policy: RetryPolicy | None = None,
        timing: Timing | None = None,
        gate: Gate | None = None,
        rates: RateLimit | None = None,
    ) -> None:
        self._url, self._headers, self._to, self._read = url, headers, destination, read
        self._transport, self._gate, self._rates = transport, gate or Gate(None), rates
        self._request_id_header, self._tells_key = request_id_header, tells_key
        self._policy = policy or RetryPolicy()
        self._timing = timing or Timing()
        self._pause = Pause(self._timing)

    async def send(self, body: bytes) -> Raw:
        """Bring one reply.

        Raises:
            ProviderError: and nothing else, but what the engine has against a further request; cancellation passes
                through.
        """
        opened_account()
        tokens = self._rates.estimate(body) if self._rates is not None else 0.0
        taken_at = self._at_once()
        if taken_at is None:
            taken_at = await self._turn(tokens)
        started = self._timing.monotonic()
        try:
            reply, said = await self._attempt(body, tokens, taken_at)
        except TransientError as error:
            fault = error
        else:
            return self._raw(reply, said)
        (reply, said), failed = await retry(
            lambda taken_at: self._attempt(body, tokens, taken_at),
            fault,
            turn=partial(self._turn, tokens),
            policy=self._policy,
            timing=self._timing,
            pause=self._pause,
            started=started,
        )
        return self._raw(reply, said, failed)

    def _raw(self, reply: HttpReply, said: Reply, failed: tuple[ErrorCategory, ...] = ()) -> Raw:
        return Raw(
            body=reply.body,
            latency_ms=reply.latency_ms,
            attempts=len(failed) + 1,
            failed=failed,
            request_id=request_id(reply.headers, self._request_id_header, said.id),
            reply=said,
        )

    # --- whose turn it is ------------------------------------------------------------------------------------------

    def _at_once(self) -> int | None:
        """Enter the gate, if there is nothing to wait for."""
        return None if self._rates is not None or self._pause.until else self._gate.enter_now()

    async def _turn(self, tokens: float) -> int:
        """Wait until a request may begin, which is no part of its call's time. Returns what `Gate.enter` does."""
        if self._rates is None:
            return await without_place(self._opened(tokens), turn=True, undo=self._gate.leave)
        return await self._turn_in_queue(self._rates, tokens)

    async def _turn_in_queue(self, rates: RateLimit, tokens: float) -> int:
        """One call at a time goes through the limits and gets its place back, so that none begins later than it was
        let through together with those that come after it."""
        queue, mine = rates.queue(), False

        async def opened() -> int:
            nonlocal mine
            mine = await queue.acquire()
            return await self._opened(tokens)

        def undo() -> None:
            self._gate.leave()
            rates.unused(tokens)

        try:
            taken_at = await without_place(opened(), turn=True, undo=undo)
            rates.begins(tokens)
            return taken_at
        finally:
            if mine:
                queue.release()

    async def _opened(self, tokens: float) -> int:
        """Wait for the end of a pause, the limits and the gate, until all three are open at once."""
        place = PLACE.get()
        while True:
            await self._pause.over()
            if self._rates is not None:
                await self._rates.admit(tokens, None if place is None else place.check)
            try:
                taken_at = await self._gate.enter()
            except BaseException:
                self._unused(tokens)
                raise
            if not self._pause.lasts:
                return taken_at
            self._gate.leave()
            self._unused(tokens)

    def _unused(self, tokens: float) -> None:
        if self._rates is not None:
            self._rates.unused(tokens)

    # --- one request -----------------------------------------------------------------------------------------------

    async def _attempt(self, body: bytes, tokens: float, taken_at: int) -> tuple[HttpReply, Reply]:
        """One request, in the place of the gate that it has."""
        account = None if (place := PLACE.get()) is None else place.account
        gate = self._gate
        try:
            headers = self._headers()
            if account is not None:
                account.sent()
            reply = await self._transport.post(self._url, headers, body)
        except ProviderError as error:
            if account is not None:
                account.failed_as(*error.failed)
            raise
        finally:
            gate.leave()
        try:
            said = self._said(reply)
        except ProviderError as error:
            fault = error
        else:
            gate.succeeded()
            if self._rates is not None:
                self._rates.settle(tokens, said.usage.input_tokens, said.usage.output_tokens)
            return reply, said
        if fault.category in _COMPLAINTS:
            self._turned_away(taken_at, tokens)
        if fault.retry_after_s is None:
            fault.retry_after_s = server_delay(reply.headers, self._timing.wall())
        fault.request_id = request_id(reply.headers, self._request_id_header)
        fault.__traceback__ = None  # its frames hold the body
        if account is not None:
            account.failed_as(*fault.failed)
        raise fault

    def _said(self, reply: HttpReply) -> Reply:
        """What an answer says.

        Raises:
            ProviderError: when it is no reply.
        """
        if reply.status != 200:
            raise error_from_reply(reply, self._to)
        if self._tells_key is not None and self._tells_key(reply.body):
            what = f"{self._to.where} repeats the key in its reply, which is therefore not kept. Mend that server"
            raise ProviderError(ErrorCategory.API_ERROR, what, status=200)
        try:
            return self._read(reply.body, self._to)
        except ProviderError as error:
            fault = error if looks_like_json(reply) else error_from_reply(reply, self._to)
        raise fault

    def _turned_away(self, taken_at: int, tokens: float) -> None:
        self._gate.overloaded(taken_at)
        if self._rates is not None:
            self._rates.returned(tokens)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()
