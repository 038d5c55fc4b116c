"""The circuit to one provider: opened for good when it refuses the key, or has no more to give, again and again.

Three refusals in a row close a provider: every further call to it is that error, without a request, and this is said
once. A refusal is one of the key, a word that the credit is used up, a delay that is too long to be waited for, or one
of a parameter that every call has alike.
Until the provider has taken the key for the first time one call is on its way at a time, so that at any
concurrency no more than three requests are wasted on a wrong key. That holds others back for so long as refusals take
at most, and no longer: a call that is being worked on has not been refused. Another machine gets 10 s, this one a
quarter of a second, or where no key is sent a fifth of that; who has no address holds nobody back. The time is counted
in hundredths of a second in which the loop had its turn, so that loading a library is none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from jurat.errors import ErrorCategory, EvaluationError, RequestError
from jurat.provider.addresses import is_loopback
from jurat.provider.faults import Exhausted, RefusedParameter, UnknownModel

__all__ = ["REFUSALS", "Circuit", "patience_for"]

REFUSALS = 3
"""After so many refused keys in a row a provider is asked no more."""
_KEY_REFUSED = (ErrorCategory.AUTH_ERROR, ErrorCategory.MISSING_API_KEY)
_KEYLESS_S, _HERE_S, _ELSEWHERE_S = 0.05, 0.25, 10.0
_TICK_S = 0.01


def patience_for(endpoint: str, *, keyed: bool) -> float:
    """How long a provider at an address may take to refuse a key, in seconds; 0 where there is no address."""
    if not endpoint:
        return 0.0
    if not is_loopback(urlsplit(endpoint).hostname or ""):
        return _ELSEWHERE_S
    return _HERE_S if keyed else _KEYLESS_S


class Circuit:
    """Counts the refusals of one provider.

    Args:
        name: of the provider, for messages.
        notice: is told once, when no more calls are made.
        patience_s: how long the first call may hold back the others; 0: not at all.
        alike: parameters that all calls have alike, so that whoever refuses one refuses them all.

    Attributes:
        closed: the error that all further calls come to, or None.
        settled: whether nobody is held back any more: the key was taken, or is refused for good.
    """

    __slots__ = (
        *("_alike", "_answered", "_name", "_notice", "_patience_s", "_probe", "_refused", "_timer"),
        *("closed", "settled"),
    )

    def __init__(
        self, name: str, notice: Callable[[str], None], patience_s: float = 0.0, *, alike: Collection[str] = ()
    ) -> None:
        self._name, self._notice, self._patience_s, self._alike = name, notice, patience_s, alike
        self._refused, self._answered = 0, False
        self._probe: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.closed: EvaluationError | None = None
        self.settled = patience_s <= 0.0

    async def turn(self) -> None:
        """Come back when a call may begin. Whoever comes back calls `over` in the end, whatever became of it."""
        while not self.settled:
            if self._probe is None:
                self._probe = asyncio.get_running_loop().create_future()
                self._wait(self._patience_s)
                return
            await asyncio.wait((self._probe,))  # which leaves it alone when we are cancelled

    def over(self) -> None:
        """The call that was let through is at its end: the next one may begin."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        probe, self._probe = self._probe, None
        if probe is not None and not probe.done():
            probe.set_result(None)

    def note(self, outcome: object) -> None:
        """Take account of what became of a call."""
        what = self._refused_by(outcome)
        if what is None or not isinstance(outcome, EvaluationError):
            self._refused = 0
            self._answered = self._answered or not isinstance(outcome, EvaluationError)
            if not self.settled:
                self._settle()
            return
        self._refused += 1
        if self._refused >= REFUSALS and self.closed is None:
            self.closed = RequestError(outcome.category, str(outcome))
            self._settle()
            self._notice(
                f"{self._name} {what} {REFUSALS} times in a row, and is asked no more: every further call to it is an "
                f"error ({outcome.category}) that costs nothing. {outcome}"
            )

    def _refused_by(self, outcome: object) -> str | None:
        """In words, what other calls would come to as well; None for all that may be the trouble of this one alone."""
        if isinstance(outcome, Exhausted):
            return "had no more to give"
        if isinstance(outcome, RefusedParameter) and outcome.param in self._alike:
            return f"refused {outcome.param}"
        if isinstance(outcome, UnknownModel) and not self._answered:
            return "knew no such model"
        refused = isinstance(outcome, EvaluationError) and outcome.category in _KEY_REFUSED
        return "refused the key" if refused else None

    def _wait(self, left_s: float) -> None:
        if left_s <= 0.0:
            self._settle()
        else:
            self._timer = asyncio.get_running_loop().call_later(_TICK_S, self._wait, left_s - _TICK_S)

    def _settle(self) -> None:
        self.settled = True
        self.over()
