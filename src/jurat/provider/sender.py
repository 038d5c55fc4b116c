"""Sending over HTTP: key, gate, transport, retries, errors, in one thin line.

Every adapter that speaks HTTP sends through here. A call that succeeds at first costs one coroutine above the
transport's own; the rest is asked only when something failed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from jurat.provider.errors_from_http import Destination, error_from_reply, is_reply, request_id
from jurat.provider.faults import TransientError
from jurat.provider.http import HttpReply, Transport
from jurat.provider.protocol import Raw
from jurat.provider.retry import Pause, RetryPolicy, Timing, retry, server_delay

__all__ = ["HttpSender"]


class HttpSender:
    """Posts bodies to one address.

    Args:
        url: the full address.
        headers: makes the headers of each request, the key among them; the same object while nothing changes.
        destination: how messages speak of the address.
        limiter: entered around each single attempt, so that requests in flight never exceed its bound.
    """

    def __init__(
        self,
        *,
        url: str,
        headers: Callable[[], dict[str, str]],
        destination: Destination,
        transport: Transport,
        policy: RetryPolicy | None = None,
        timing: Timing | None = None,
        limiter: AbstractAsyncContextManager[object] | None = None,
    ) -> None:
        self._url, self._headers, self._to = url, headers, destination
        self._transport, self._limiter = transport, limiter
        self._policy = policy or RetryPolicy()
        self._timing = timing or Timing()
        self._pause = Pause(self._timing)

    async def send(self, body: bytes) -> Raw:
        """Bring one reply.

        Raises:
            ProviderError: and nothing else; cancellation passes through.
        """
        started = self._timing.monotonic()
        try:
            reply, attempts = await self._attempt(body), 1
        except TransientError as error:
            fault = error
        else:
            return Raw(body=reply.body, latency_ms=reply.latency_ms, request_id=request_id(reply.headers))
        reply, attempts = await retry(
            lambda: self._attempt(body),
            fault,
            policy=self._policy,
            timing=self._timing,
            pause=self._pause,
            started=started,
        )
        return Raw(
            body=reply.body, latency_ms=reply.latency_ms, attempts=attempts, request_id=request_id(reply.headers)
        )

    async def _attempt(self, body: bytes) -> HttpReply:
        if self._pause.until:
            await self._pause.over()
        headers = self._headers()
        if self._limiter is None:
            reply = await self._transport.post(self._url, headers, body)
        else:
            async with self._limiter:
                reply = await self._transport.post(self._url, headers, body)
        if is_reply(reply):
            return reply
        raise error_from_reply(reply, self._to, retry_after_s=server_delay(reply.headers, self._timing.wall()))

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()
