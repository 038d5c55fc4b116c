"""Every call of a run goes through here: bounded, made once, durable before anybody looks at it, and paid for once.

One bound holds for the calls of subjects and judges together; a call counts until its reply is durable, so that a
process that dies loses nothing beyond those in flight. Identical calls are made once: while one is in flight the others
wait for it, later ones find its reply in the journal. Who made the call bears its cost; to everybody else it is cached
and costs nothing.

No call is begun once the budget is known to be spent (`jurat.engine.purse`), or when its provider has refused the key
three times in a row (`jurat.engine.circuit`): the answer is then an error without a call. A time limit cancels the one
call that it is set for, and does not run while the call waits for its turn. A call that only waits (for its provider's
limits, or before another try) holds none of the places.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from jurat.engine.circuit import Circuit, patience_for
from jurat.engine.committer import Committer
from jurat.engine.journal import Journal
from jurat.engine.purse import Purse
from jurat.engine.recall import Kept, Lookup, Seen
from jurat.engine.recorder import RunWatcher
from jurat.engine.slots import SlotPlace, Slots
from jurat.errors import ErrorCategory, EvaluationError, ProviderError, RequestError
from jurat.judge import Outcome, Withheld, ask_one, may_have_cost
from jurat.judge.judge import Sender
from jurat.provider.protocol import Call, Raw
from jurat.provider.waiting import PLACE

__all__ = ["Allowance", "Caller", "Target"]

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Target:
    """Whom calls are sent to: a provider or a subject. One for each, so that what it does is counted together.

    Attributes:
        name: for messages.
        sender: sends the calls.
        cost: USD of a reply, None where that is not known; asked only where there is a budget.
        endpoint: its address, "" where there is none; `keyed`: whether a key is sent there.
        free: whether it is known that it is never paid, not even for requests that failed.
        circuit: whether it still takes the key; made by the caller.
    """

    name: str
    sender: Sender
    cost: Callable[[Raw], float | None]
    endpoint: str = ""
    keyed: bool = False
    free: bool = False
    circuit: Circuit | None = None


@dataclass(slots=True, eq=False)
class Allowance:
    """The time that the calls of one stage may take, each by itself, and the longest that one took."""

    seconds: float
    longest: float = field(default=0.0, init=False)


class Caller:
    """Makes the calls of one run.

    Args:
        journal: keeps the replies.
        concurrency: how many calls may be in flight, from 1.
        cache_read: whether valid replies of other runs are used.
        resumed: whether the run was begun by another process, so that the journal may know any call.
        budget_usd: no call is begun once so much is spent; None for no bound.
        spent_usd: what is known to be spent already.
        borne: the keys of the calls whose cost stands in the record already, of a run that is resumed.
        watcher: is told of calls.

    Attributes:
        cut_off: of calls that were cancelled before anybody could look at a reply, by key: why each request failed.
    """

    def __init__(
        self,
        journal: Journal,
        watcher: RunWatcher,
        *,
        concurrency: int,
        cache_read: bool = False,
        resumed: bool = False,
        budget_usd: float | None = None,
        spent_usd: float = 0.0,
        borne: Iterable[str] = (),
    ) -> None:
        self._slots = Slots(concurrency)
        self._broken: Exception | None = None
        self._replies = Committer(self.guarding(journal.commit))
        self._own, self._any = Lookup(journal.recall), Lookup(journal.recall_any)
        self._cache_read, self._resumed = cache_read, resumed
        self._purse = Purse(budget_usd, spent_usd, watcher.notice)
        self._watcher = watcher
        self._seen = Seen()
        self._borne = {_short(key) for key in borne}
        self._in_flight: dict[str, asyncio.Future[Outcome]] = {}
        self._on_the_wire = 0
        self.cut_off: dict[str, tuple[ErrorCategory, ...]] = {}

    @property
    def spent_usd(self) -> float:
        """What is known to be spent, in USD; kept only where there is a budget."""
        return self._purse.spent_usd

    def guarding(self, write: Callable[[Sequence[T]], Awaitable[None]]) -> Callable[[Sequence[T]], Awaitable[None]]:
        """The same write; once it has failed, no call is begun whose reply could not be kept either."""

        async def guarded(items: Sequence[T]) -> None:
            try:
                await write(items)
            except Exception as error:
                self._broken = error
                raise

        return guarded

    async def ask(self, target: Target, call: Call, *, urgent: bool, allowance: Allowance | None = None) -> Outcome:
        """The outcome of a call, whoever makes it.

        Args:
            target: whom it is sent to.
            call: what is sent.
            urgent: whether it goes before those that are not.
            allowance: how long it may take once it is its turn; None for no bound.

        Raises:
            StoreError: when its reply cannot be kept.
        """
        key = call.key
        while (shared := self._in_flight.get(key)) is not None:
            await asyncio.wait((shared,))  # which leaves it alone when we are cancelled
            if not shared.cancelled():
                return _borne_elsewhere(shared.result())
        mine = self._in_flight[key] = asyncio.get_running_loop().create_future()
        try:
            outcome = await self._known(target, key) or await self._made(target, call, urgent, allowance)
            mine.set_result(outcome)
        finally:
            del self._in_flight[key]
            mine.cancel()  # no more than a word to those who wait, when there is no outcome
        return outcome

    # --- what is known already -------------------------------------------------------------------------------------

    async def _known(self, target: Target, key: str) -> Kept | None:
        if self._seen.note(key) or self._resumed:
            kept = await self._own.find(key)
            if kept is not None:
                return self._claimed(target, key, kept)
        if self._cache_read:
            # Another run's reply that was no valid answer is no answer for this one: only this run's own are final.
            kept = await self._any.find(key)
            if isinstance(kept, Raw):
                return replace(kept, cached=True, attempts=0, failed=())
        return None

    def _claimed(self, target: Target, key: str, kept: Kept) -> Kept:
        """A reply of this run's own, which one trial alone bears the cost of.

        What this process asked for is borne by whoever asked; what an earlier one asked for, by the finished trial that
        bears it, and if none does, by the first to find it.
        """
        if not self._resumed or _short(key) in self._borne:
            return _elsewhere(kept)
        self._borne.add(_short(key))
        self._spend(target, kept)
        return kept

    # --- calling ---------------------------------------------------------------------------------------------------

    async def _made(self, target: Target, call: Call, urgent: bool, allowance: Allowance | None) -> Outcome:
        circuit = target.circuit
        if circuit is None:
            patience_s = patience_for(target.endpoint, keyed=target.keyed)
            circuit = target.circuit = Circuit(target.name, self._watcher.notice, patience_s)
        if circuit.settled:
            return await self._in_its_slot(target, circuit, call, urgent, allowance)
        await circuit.turn()
        try:
            return await self._in_its_slot(target, circuit, call, urgent, allowance)
        finally:
            circuit.over()

    async def _in_its_slot(
        self, target: Target, circuit: Circuit, call: Call, urgent: bool, allowance: Allowance | None
    ) -> Outcome:
        if (refusal := self._refusal(target, circuit)) is not None:
            return refusal
        await self._slots.take(urgent=urgent)
        place = SlotPlace(self._slots, refusal=lambda: self._refusal(target, circuit))
        before = PLACE.set(place)
        try:
            if self._broken is not None:
                raise self._broken
            if (refusal := self._refusal(target, circuit)) is not None:
                return refusal
            outcome = await self._durable(target, circuit, call, allowance, place)
        finally:
            PLACE.reset(before)
            if place.held:
                self._slots.give_back()
        self._watcher.call_ended(target.name, outcome.category if isinstance(outcome, EvaluationError) else None)
        return outcome

    async def _durable(
        self, target: Target, circuit: Circuit, call: Call, allowance: Allowance | None, place: SlotPlace
    ) -> Raw | EvaluationError:
        """Send a call, and come back when its reply is durable."""
        self._watcher.call_started(target.name)
        try:
            outcome = await self._sent(target, call, allowance, place)
            circuit.note(outcome)
            if isinstance(outcome, EvaluationError):
                if may_have_cost(outcome) and not target.free:
                    self._purse.pay(None)
            else:
                self._spend(target, outcome)
                if self._resumed:
                    self._borne.add(_short(call.key))
                await self._replies.commit((call.key, outcome), alone=not self._on_the_wire)
        except asyncio.CancelledError:
            self.cut_off[call.key] = place.cut_off
            raise
        return outcome

    async def _sent(
        self, target: Target, call: Call, allowance: Allowance | None, place: SlotPlace
    ) -> Raw | EvaluationError:
        self._on_the_wire += 1
        try:
            if allowance is None:
                return await ask_one(target.sender, call)
            return await _within(allowance, target, call, place)
        finally:
            self._on_the_wire -= 1

    def _spend(self, target: Target, kept: Kept) -> None:
        if self._purse.kept:
            self._purse.pay(target.cost(kept) if isinstance(kept, Raw) else kept.spending.cost_usd)

    def _refusal(self, target: Target, circuit: Circuit) -> EvaluationError | None:
        """Why no call may be begun, if none may. What is never paid needs no budget."""
        return circuit.closed or (None if target.free else self._purse.refusal())

    async def close(self) -> None:
        """Make durable what has arrived, also when its owner was cancelled meanwhile."""
        await self._replies.close()
        await self._own.close()
        await self._any.close()
        self._purse.close()


async def _within(allowance: Allowance, target: Target, call: Call, place: SlotPlace) -> Raw | EvaluationError:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    try:
        async with asyncio.timeout(allowance.seconds) as limit:
            place.limit = limit
            return await ask_one(target.sender, call)
    except TimeoutError:
        message = f"{target.name} gave no answer in the {allowance.seconds:.6g} s that were left for it"
        failed = place.cut_off
        return ProviderError(ErrorCategory.TIMEOUT, message, attempts=len(failed), failed=failed)
    finally:
        allowance.longest = max(allowance.longest, loop.time() - begun - place.waited_s)


def _borne_elsewhere(outcome: Outcome) -> Outcome:
    if isinstance(outcome, EvaluationError):
        return RequestError(outcome.category, str(outcome))  # nothing was sent for whoever shares it
    return _elsewhere(outcome)


def _elsewhere(kept: Kept) -> Kept:
    """The same without its cost."""
    if isinstance(kept, Raw):
        return replace(kept, cached=True, attempts=0, failed=())
    spending = replace(kept.spending, cached=True, cost_usd=0.0, attempts=0, failed=())
    return Withheld(error=kept.error, spending=spending)


def _short(key: str) -> int:
    return int(key[:16], 16)
