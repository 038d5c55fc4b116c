"""A judging job: one judge, many recorded outputs, in bounded space.

Items are taken in order and judged side by side; verdicts are handed on in the items' order, whatever the order in
which they were reached, so that the record does not depend on scheduling. At most `concurrency` calls are in flight,
and a call counts as in flight until its reply is durable: when the process dies, nothing beyond those is paid twice.
At most a window of items is held at once, so memory does not grow with their number.

So many workers as calls may be in flight take questions, ask them, and wait until the reply is durable. While a call
only waits, before another try or for its provider's limits, another worker may have its place. One keeper does
everything else: it takes items in ahead of the workers, so that they find questions when they come back; runs the
judge's own code on what was answered, while they are asking again already; and hands verdicts on.

A fault in an item, a provider's failure or a poor answer touches that item alone. Cancelling the job keeps what it has.
No call is begun once the budget is spent (`jurat.engine.purse`), when the provider has refused key or temperature three
times in a row (`jurat.engine.circuit`), or when the time of the job is over; the rest of the items are that error then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from jurat.engine.circuit import Circuit, patience_for
from jurat.engine.committer import Committer
from jurat.engine.journal import Journal
from jurat.engine.purse import Purse
from jurat.engine.slots import SlotPlace, Slots
from jurat.errors import ErrorCategory, EvaluationError, Fault, ProviderError, RequestError
from jurat.evaluation import TypedError
from jurat.judge import Judge, Opinion, Outcome, Verdict, VerdictSteps, Withheld, ask_one, may_have_cost
from jurat.provider.pricing import is_free, price_of_replies
from jurat.provider.protocol import Call, Raw
from jurat.provider.waiting import PLACE
from jurat.suite import Item

__all__ = ["Judged", "JudgingJob"]

_CHUNK = 64
"""How many items are made ready at once, so that the journal is asked about many calls in one go."""
_ALIKE = ("temperature",)
"""What all calls of one judge have alike: who refuses it once refuses it always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An item and what became of it: the judge's verdict."""

    item: Item
    verdict: Verdict

    def place(self, index: int, judge: Judge) -> str:
        """How the evidence entry of this number is called: its role or its label."""
        if self.item.context is None:
            return ""
        entry = judge.number(self.item.context, self.item.grounding).entries[index]
        return entry.label or str(entry.role)


@dataclass(slots=True, eq=False)
class _Slot:
    """An item's fixed place in the record: what is still to be answered, and in the end the verdict."""

    item: Item
    steps: VerdictSteps | None = None
    wanted: int = 0
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    verdict: Verdict | None = None


class _Question:
    """One call of a slot, and the place that its outcome has among the slot's others."""

    __slots__ = ("call", "place", "slot")

    def __init__(self, slot: _Slot, place: int, call: Call) -> None:
        self.slot, self.place, self.call = slot, place, call


_Answered = tuple[_Question, Outcome]


def _unsaid(_: str) -> None:
    """Where nobody listens."""


class JudgingJob:
    """Judges items and hands verdicts on in order.

    Args:
        judge: asked about every item.
        items: taken one by one, when there is room.
        journal: keeps every reply.
        deliver: is given verdicts in the items' order, a few at a time.
        concurrency: how many calls may be in flight, from 1.
        recall: whether replies that this job asked for itself are used instead of asking again, as its own.
        retry: whether those of them that were no valid answers are asked for again all the same.
        cache_read: whether valid replies of other jobs are used, which cost nothing again.
        budget_usd: no call is begun once so much is spent; None for no bound. `spent_usd` is spent already.
        timeout_s: the time of the whole job; None for no bound. What is not answered by then is a `timeout`.
        notice: is told, once each, that no more calls are made, and why.
    """

    def __init__(
        self,
        judge: Judge,
        items: Iterator[Item],
        journal: Journal,
        deliver: Callable[[Sequence[Judged]], None],
        *,
        concurrency: int,
        recall: bool = False,
        retry: bool = False,
        cache_read: bool = False,
        budget_usd: float | None = None,
        spent_usd: float = 0.0,
        timeout_s: float | None = None,
        notice: Callable[[str], None] = _unsaid,
    ) -> None:
        self._slots, self._workers = Slots(concurrency), 0
        self._purse = Purse(budget_usd, spent_usd, notice)
        settings = judge.provider.settings
        self._price, self._free = price_of_replies(judge.provider), is_free(settings)
        patience_s = patience_for(settings.endpoint, keyed=settings.keyed)
        self._circuit = Circuit(settings.name, notice, patience_s, alike=_ALIKE)
        self._judge, self._items, self._journal, self._deliver = judge, items, journal, deliver
        self._concurrency, self._recall, self._retry, self._cache_read = concurrency, recall, retry, cache_read
        self._window = 4 * concurrency + 4 * _CHUNK
        self._committer = Committer(journal.commit)
        self._on_the_wire = 0
        self._timeout_s, self._late, self._notice = timeout_s, False, notice
        self._asking: set[asyncio.Task[None]] = set()
        self._ready: deque[_Question] = deque()
        self._answered: deque[_Answered] = deque()
        self._outstanding: deque[_Slot] = deque()
        self._exhausted = False
        self._attention = asyncio.Event()
        self._questions = asyncio.Event()

    async def run(self) -> None:
        """Judge every item.

        Raises:
            StoreError: when the record cannot be kept; what was delivered before stays.
        """
        loop = asyncio.get_running_loop()
        timer = None if self._timeout_s is None else loop.call_later(self._timeout_s, self._expire)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep())
                self._group = group
                for _ in range(self._concurrency):
                    self._hire()
        except ExceptionGroup as failures:
            raise _first(failures) from None
        finally:
            if timer is not None:
                timer.cancel()
            await self._committer.close()
            self._purse.close()

    @property
    def _over(self) -> bool:
        return self._exhausted and not self._outstanding

    # --- keeping the slots -----------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        while not self._over:
            if self._wants_more and not (self._ready and self._answered):
                await self._take_in()
            elif self._answered:
                await self._settle([self._answered.popleft() for _ in range(min(len(self._answered), _CHUNK))])
            else:
                self._attention.clear()
                await self._attention.wait()
                continue
            self._hand_on()
            await asyncio.sleep(0)  # between chunks, whoever has a reply may ask again
        self._questions.set()

    @property
    def _wants_more(self) -> bool:
        """Whether the workers may soon be out of questions, and there is room for more items."""
        ahead = max(self._concurrency, _CHUNK)
        room = len(self._outstanding) + _CHUNK <= self._window
        return room and not self._exhausted and len(self._ready) < ahead

    async def _take_in(self) -> None:
        slots: list[_Slot] = []
        questions: list[_Question] = []
        for item in self._items:
            slots.append(slot := self._open(item))
            questions += self._step(slot)
            if len(slots) == _CHUNK:
                break
        else:
            self._exhausted = True
        self._outstanding.extend(slots)
        await self._put(questions)

    def _open(self, item: Item) -> _Slot:
        if item.fault is not None or item.context is None:
            return _Slot(item, verdict=_unreadable(self._judge, item.fault))
        return _Slot(item, steps=self._judge.steps(item.context, item.grounding))

    def _step(self, slot: _Slot) -> Iterable[_Question]:
        """Run the judge's own code on what came back; it never waits, and its verdict ends the slot."""
        if slot.steps is None:
            return ()
        try:
            if slot.wanted:
                calls = slot.steps.send([slot.outcomes[place] for place in range(slot.wanted)])
            else:
                calls = next(slot.steps)
        except StopIteration as stop:
            slot.verdict, slot.steps = stop.value, None
            slot.outcomes.clear()
            return ()
        slot.wanted = len(calls)
        slot.outcomes.clear()
        return [_Question(slot, place, call) for place, call in enumerate(calls)]

    async def _put(self, questions: Sequence[_Question]) -> None:
        """Make questions ready to be asked, save those to which the journal knows the answer."""
        if not questions:
            return
        known = await self._known([question.call.key for question in questions])
        for question in questions:
            outcome = known.get(question.call.key)
            if outcome is None:
                self._ready.append(question)
            else:
                if self._purse.kept and not (isinstance(outcome, Raw) and outcome.cached):
                    self._purse.pay(self._cost(outcome))
                self._answered.append((question, outcome))
        self._questions.set()

    async def _known(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]:
        found: dict[str, Raw | Withheld] = {}
        if self._recall:
            own = await self._journal.recall(keys)
            found = {key: kept for key, kept in own.items() if isinstance(kept, Raw) or not self._retry}
            if self._purse.kept:  # what is asked for again was paid for all the same
                for key in own.keys() - found.keys():
                    self._purse.pay(self._cost(own[key]))
        if self._cache_read and (left := [key for key in keys if key not in found]):
            # Another run's reply that was no valid answer is no answer for this one: only this job's own are final.
            others = await self._journal.recall_any(left)
            found.update({key: replace(kept, cached=True) for key, kept in others.items() if isinstance(kept, Raw)})
        return found

    async def _settle(self, answered: Sequence[_Answered]) -> None:
        """Give outcomes to their slots; those that have all of theirs go on, to further questions or a verdict."""
        questions: list[_Question] = []
        rejected: list[tuple[str, Withheld]] = []
        for question, outcome in answered:
            slot = question.slot
            slot.outcomes[question.place] = outcome
            if len(slot.outcomes) == slot.wanted:
                questions += self._step(slot)
                if slot.verdict is not None and slot.verdict.rejected:
                    rejected += slot.verdict.rejected.items()
        if rejected:
            await self._journal.withhold([(key, kept.error, kept.spending) for key, kept in rejected])
        await self._put(questions)

    def _hand_on(self) -> None:
        done: list[Judged] = []
        while self._outstanding and (verdict := self._outstanding[0].verdict) is not None:
            done.append(Judged(item=self._outstanding.popleft().item, verdict=verdict))
        if done:
            self._deliver(done)

    # --- asking ----------------------------------------------------------------------------------------------------

    def _hire(self) -> None:
        self._workers += 1
        self._group.create_task(self._work())

    def _relieve(self) -> None:
        """A call has left its place: somebody who has time may take it."""
        if self._ready and self._workers < 2 * self._concurrency:
            self._hire()

    async def _work(self) -> None:
        ready, commit, slots, circuit = self._ready, self._committer.commit, self._slots, self._circuit
        place, me = SlotPlace(slots, self._relieve, self._refusal), cast("asyncio.Task[None]", asyncio.current_task())
        PLACE.set(place)
        while True:
            while not ready:
                if self._over:
                    return
                self._questions.clear()
                self._attention.set()
                await self._questions.wait()
            question = ready.popleft()
            if not circuit.settled:
                await circuit.turn()
            if not slots.take_now():
                await slots.take(urgent=False)
            place.held, place.account = True, None
            outcome = self._refusal() or await self._asked(question.call, place, me)
            if not circuit.settled:
                circuit.over()
            if isinstance(outcome, Raw):
                await commit((question.call.key, outcome), alone=not self._on_the_wire)
            if place.held:
                slots.give_back()
            self._answered.append((question, outcome))
            self._attention.set()

    async def _asked(self, call: Call, place: SlotPlace, task: asyncio.Task[None]) -> Raw | EvaluationError:
        self._on_the_wire += 1
        self._asking.add(task)
        try:
            outcome = await ask_one(self._judge.provider, call)
        except asyncio.CancelledError:
            if not self._late or task.uncancel():
                raise  # by somebody else than `_expire`
            failed = place.cut_off
            outcome = ProviderError(ErrorCategory.TIMEOUT, self._too_late, attempts=len(failed), failed=failed)
        finally:
            self._asking.discard(task)
            self._on_the_wire -= 1
        self._circuit.note(outcome)
        if self._purse.kept:
            if isinstance(outcome, Raw):
                self._purse.pay(self._cost(outcome))
            elif may_have_cost(outcome) and not self._free:
                self._purse.pay(None)
        return outcome

    # --- when no call may be made any more ---------------------------------------------------------------------------

    def _refusal(self) -> EvaluationError | None:
        """Why no request may be made, if none may."""
        if self._late:
            return RequestError(ErrorCategory.TIMEOUT, self._too_late)
        return self._circuit.closed or (None if self._free else self._purse.refusal())

    @property
    def _too_late(self) -> str:
        return f"the job's time of {self._timeout_s:g} s was over before this"

    def _expire(self) -> None:
        """The time of the job is over: what is on its way is cut off, and nothing else is begun."""
        self._late = True
        self._notice(f"the job's time of {self._timeout_s:g} s is over: no further call is made")
        for task in self._asking:
            task.cancel()

    def _cost(self, kept: Raw | Withheld) -> float | None:
        return kept.spending.cost_usd if isinstance(kept, Withheld) else self._price(kept)


def _unreadable(judge: Judge, fault: Fault | None) -> Verdict:
    message = str(fault) if fault else "the row holds nothing that can be judged"
    error = TypedError(type=ErrorCategory.REQUEST_INVALID, message=message)
    return Verdict(judge=judge.facts, opinion=Opinion.failed(error.type, error.message))


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """The first failure of a group: the others are its consequences."""
    found = failures.exceptions[0]
    return _first(found) if isinstance(found, ExceptionGroup) else found
