"""Requests and tokens per minute: what an author's contract with a vendor allows, kept to by waiting.

Requests are spread: never more than the limit begin within any 60 seconds, and a sixtieth of them at most at once,
since vendors count in shorter spans than a minute. Tokens are estimated when a request begins and corrected by what the
provider counted when its reply is there; a request that turned out larger makes the next ones wait longer.

Waiting is first come, first served. One waits for time to pass, the others for that one, so that nobody is held back
by an estimate that a reply has corrected meanwhile.

Own code and not aiolimiter, which spreads nothing (its bucket lets a whole minute's worth go at once, and as much again
in the minute that follows), cannot take back or add what an estimate missed, cannot take two limits together, and reads
the loop's clock, which no test can move.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from jurat.provider.retry import Timing

__all__ = ["RateLimit"]

_MINUTE_S = 60.0
_USUAL_OUTPUT = 500.0
_BYTES_A_TOKEN = 4
_NEAR = 1e-6
_PACKED = re.compile(rb"[A-Za-z0-9+/]{1000,}+")
"""A picture or a file, in base64: no text has so many letters without anything between them."""
_MARKS = (b"base64", b'"inlineData"', b'"images":[')
"""One of these stands in every request that holds some."""
_PACKED_TOKENS = 1500.0
"""What vendors take for a picture of the usual size; the reply says what it was."""


class _Bucket:
    """So much is there, and fills up with time to what may go at once."""

    __slots__ = ("capacity", "level", "rate", "seen")

    def __init__(self, per_minute: int, now: float) -> None:
        self.capacity = float(max(1, per_minute // 60))
        # With what may go at once and what comes back within a minute, the limit itself: never more in any 60 seconds.
        self.rate = (per_minute - self.capacity + 1) / _MINUTE_S
        self.level, self.seen = self.capacity, now

    def missing_s(self, amount: float, now: float) -> float:
        """How long until so much may be taken. What is more than ever fits may be taken when the bucket is full."""
        self.level = min(self.capacity, self.level + (now - self.seen) * self.rate)
        self.seen = now
        missing = min(amount, self.capacity) - self.level
        return missing / self.rate if missing > _NEAR else 0.0


class RateLimit:
    """The limits of one provider, for one event loop after another.

    Args:
        requests_per_minute: how many requests may begin, from 1; None for no limit.
        tokens_per_minute: tokens of requests and replies together, from 1; None for no limit.
    """

    def __init__(self, requests_per_minute: int | None, tokens_per_minute: int | None, timing: Timing) -> None:
        self._timing = timing
        now = timing.monotonic()
        self._requests = _Bucket(requests_per_minute, now) if requests_per_minute else None
        self._tokens = _Bucket(tokens_per_minute, now) if tokens_per_minute else None
        self._output = _USUAL_OUTPUT
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Lock, asyncio.Lock] | None = None

    def estimate(self, body: bytes) -> float:
        """The tokens of a request and its reply: a quarter of the text's bytes, and what replies had of late."""
        if not any(mark in body for mark in _MARKS):
            return len(body) / _BYTES_A_TOKEN + self._output
        packed = [found.end() - found.start() for found in _PACKED.finditer(body)]
        return (len(body) - sum(packed)) / _BYTES_A_TOKEN + len(packed) * _PACKED_TOKENS + self._output

    async def admit(self, tokens: float, check: Callable[[], None] | None = None) -> None:
        """Wait until a request of so many tokens may begin. Cancelled, it has taken nothing.

        Args:
            check: raises when none may begin any more. So a queue of an hour dissolves when it has become pointless.
        """
        async with self._lock():
            while (wait := self._missing_s(tokens)) > 0.0:
                if check is not None:
                    check()
                await self._timing.sleep(wait)
            if check is not None:
                check()
            if self._requests is not None:
                self._requests.level -= 1.0
            if self._tokens is not None:
                self._tokens.level -= tokens

    def _missing_s(self, tokens: float) -> float:
        now = self._timing.monotonic()
        of_requests = self._requests.missing_s(1.0, now) if self._requests is not None else 0.0
        of_tokens = self._tokens.missing_s(tokens, now) if self._tokens is not None else 0.0
        return max(of_requests, of_tokens)

    def _lock(self) -> asyncio.Lock:
        return self._locks()[1]

    def queue(self) -> asyncio.Lock:
        """For whoever has to wait for something else between being let through and beginning."""
        return self._locks()[2]

    def _locks(self) -> tuple[asyncio.AbstractEventLoop, asyncio.Lock, asyncio.Lock]:
        loop = asyncio.get_running_loop()
        if self._turn is None or self._turn[0] is not loop:
            self._turn = loop, asyncio.Lock(), asyncio.Lock()
        return self._turn

    def begins(self, tokens: float) -> None:
        """A request that was let through begins now, however long ago that was: it counts from here on."""
        now = self._timing.monotonic()
        for bucket, amount in ((self._requests, 1.0), (self._tokens, tokens)):
            if bucket is not None:
                bucket.level += amount
                bucket.missing_s(0.0, now)  # what came meanwhile, up to what may go at once
                bucket.level -= amount

    def settle(self, estimated: float, given: int | None, made: int | None) -> None:
        """Correct an estimate by what the provider counted; what it did not count stays as estimated."""
        if made is not None:
            self._output += 0.1 * (made - self._output)
        if self._tokens is not None and given is not None and made is not None:
            self._tokens.level += estimated - (given + made)

    def unused(self, estimated: float) -> None:
        """A request that was admitted and never begun."""
        if self._requests is not None:
            self._requests.level += 1.0
        self.returned(estimated)

    def returned(self, estimated: float) -> None:
        """A request that the provider turned away for its rate took no tokens."""
        if self._tokens is not None:
            self._tokens.level += estimated
