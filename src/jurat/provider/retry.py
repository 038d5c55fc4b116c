"""Another try, when a fault may pass. The only place in jurat that retries.

The first attempt is made outside of this module, bare; nothing here costs anything until it has failed. Then: waits
that grow exponentially with jitter, or as long as the server asked (never shorter; a little longer, so that callers do
not come back together). Bounded by the number of requests and by a deadline; a server that asks for more than the cap
is believed at once, and the call fails with its delay in the message. A wait holds no place in the provider's gate and
ends at once when it is cancelled; nor does it hold one of the run's (`jurat.provider.waiting`).

stamina was tried and left: its context is entered before the first attempt and costs a successful one 30 µs of CPU,
more than a third of the whole HTTP call; it adds no jitter to a delay that the server gave, and its clock cannot be
injected.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from jurat.errors import ErrorCategory, EvaluationError, ProviderError
from jurat.provider.faults import Exhausted, TransientError, settled
from jurat.provider.waiting import without_place

__all__ = ["Pause", "RetryPolicy", "Timing", "retry", "server_delay"]

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long.

    Attributes:
        max_attempts: requests in all, the first included.
        deadline_s: how long a call may take with all its attempts and waits, from when it was asked for.
            No wait begins that would end later, and no attempt lasts longer.
        first_wait_s: the first wait, half of it jitter; each further one is twice as long.
        longest_wait_s: where the doubling ends.
        retry_after_cap_s: the longest delay that a server may ask for before the call is given up.
    """

    max_attempts: int = 4
    deadline_s: float = 300.0
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    retry_after_cap_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where time and chance come from; replaced in tests."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    random: Callable[[], float] = field(default=random.random)  # jitter, not cryptography


class Pause:
    """A delay that a server asked for, shared by all calls to it, so that others wait too instead of failing too."""

    __slots__ = ("_timing", "until")

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self.until = 0.0

    def extend(self, delay_s: float) -> None:
        """Let no new request begin for this long."""
        self.until = max(self.until, self._timing.monotonic() + delay_s)

    @property
    def lasts(self) -> bool:
        """Whether it has not passed."""
        return self.until > 0.0 and self.until > self._timing.monotonic()

    async def over(self) -> None:
        """Wait until the pause has passed, and up to a fifth longer."""
        while (left := self.until - self._timing.monotonic()) > 0:
            await self._timing.sleep(left * (1.0 + 0.2 * self._timing.random()))
        self.until = 0.0


async def retry(
    attempt: Callable[[U], Awaitable[T]],
    error: TransientError,
    *,
    turn: Callable[[], Awaitable[U]],
    policy: RetryPolicy,
    timing: Timing,
    pause: Pause,
    started: float,
) -> tuple[T, tuple[ErrorCategory, ...]]:
    """Try again after a first failure.

    Args:
        attempt: one request, in its turn; raises TransientError when the next may fare better.
        error: why the first request failed.
        turn: waits until another request may begin, which is no part of the call's time.
        started: when the first request was sent, by `timing.monotonic`.

    Returns:
        What the successful attempt brought, and why each request before it failed, the first included.

    Raises:
        ProviderError: the last fault, with why each request failed; or at once one that will not pass, and what the
            engine has against a further request.
    """
    failed: tuple[ErrorCategory, ...] = error.failed
    while True:
        attempts = len(failed)
        wait = _wait(error, attempts, policy, timing)
        remark = _reason_to_stop(error, attempts, wait, policy, timing.monotonic() - started)
        if _asks_for_too_long(error, policy):
            raise settled(_exhausted(error), failed, str(remark))
        if error.retry_after_s is not None:
            pause.extend(error.retry_after_s)
        if remark is not None:
            raise settled(error, failed, remark)
        begun = timing.monotonic()
        try:
            await without_place(timing.sleep(wait), turn=False)
            mine = await turn()
        except EvaluationError as refusal:
            stays = ProviderError(refusal.category, str(refusal), attempts=attempts, failed=failed)
            break
        started += max(timing.monotonic() - begun - wait, 0.0)  # for its turn, and for a place
        try:
            return await _within(policy.deadline_s - (timing.monotonic() - started), attempt(mine)), failed
        except TransientError as again:
            error, failed = again, failed + again.failed
        except ProviderError as final:
            stays = settled(final, failed + final.failed)
            break
    raise stays


async def _within(left_s: float, attempt: Awaitable[T]) -> T:
    """One attempt, in what is left of the call's time.

    Raises:
        ProviderError: what the attempt raised; `timeout` when the call's time was over first.
    """
    limit = asyncio.timeout(left_s)
    try:
        async with limit:
            return await attempt
    except TimeoutError:
        if not limit.expired():
            raise
    raise TransientError(ErrorCategory.TIMEOUT, "no reply in the time that was left")


def _wait(error: TransientError, attempts: int, policy: RetryPolicy, timing: Timing) -> float:
    chance = timing.random()
    if error.retry_after_s is not None:
        return error.retry_after_s + max(0.2 * error.retry_after_s, policy.first_wait_s) * chance
    base = min(policy.first_wait_s * 2.0 ** (attempts - 1), policy.longest_wait_s)
    return base * (0.5 + 0.5 * chance)


def _asks_for_too_long(error: ProviderError, policy: RetryPolicy) -> bool:
    return error.retry_after_s is not None and error.retry_after_s > policy.retry_after_cap_s


def _exhausted(error: ProviderError) -> Exhausted:
    fields = {"status": error.status, "retry_after_s": error.retry_after_s, "request_id": error.request_id}
    return Exhausted(ErrorCategory(error.category), str(error), **fields)  # type: ignore[arg-type]


def _reason_to_stop(
    error: TransientError, attempts: int, wait: float, policy: RetryPolicy, elapsed: float
) -> str | None:
    if _asks_for_too_long(error, policy):
        asked, most = f"{error.retry_after_s:g} s", f"{policy.retry_after_cap_s:g} s"
        return f". The server asks to wait {asked}, which is more than the {most} that are waited for; not tried again"
    if attempts >= policy.max_attempts:
        return f" (requests made: {attempts})"
    if elapsed + wait > policy.deadline_s:
        return f" (requests made: {attempts}; given up at the deadline of {policy.deadline_s:g} s)"
    return None


def server_delay(headers: Mapping[str, str], now: float) -> float | None:
    """The delay in seconds that a server asks for, 0 for a time that has passed; None if it asks for none.

    Reads `retry-after-ms`, then `Retry-After` (RFC 9110, 10.2.3) as seconds, fractions allowed, or as an HTTP date,
    which is reckoned from the server's own `Date` where it tells one: its clock and ours may be hours apart. What
    cannot be understood counts as not asked.

    Args:
        now: the wall clock, in seconds since 1970.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    moment, theirs = _moment(text), _moment(headers.get("date"))
    return None if moment is None else max(moment - (now if theirs is None else theirs), 0.0)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(value, 0.0) if math.isfinite(value) else None


def _moment(text: str | None) -> float | None:
    """An HTTP date, in seconds since 1970."""
    try:
        moment: datetime = parsedate_to_datetime(text or "")
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
