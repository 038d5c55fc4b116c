"""A judging job: one judge, many recorded outputs, in bounded space.

Items are taken in order and judged side by side; verdicts are handed on in the items' order, whatever the order in
which they were reached, so that the record does not depend on scheduling. At most `concurrency` calls are in flight,
and a call counts as in flight until its reply is durable: when the process dies, nothing beyond those is paid twice.
At most a window of items is held at once, so memory does not grow with their number.

A fault in an item, a provider's failure or a poor answer touches that item alone. Cancelling the job keeps what it has.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jurat.engine.committer import Committer
from jurat.engine.journal import Journal
from jurat.errors import ErrorCategory, Fault
from jurat.evaluation import TypedError
from jurat.judge import Judge, Opinion, Outcome, Verdict, VerdictSteps, Withheld, ask_one
from jurat.provider.protocol import Call, Raw
from jurat.suite import Item

__all__ = ["Judged", "JudgingJob"]

_CHUNK = 64
"""How many items are made ready at once, so that the journal is asked about many calls in one go."""


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


@dataclass(slots=True)
class _Slot:
    """An item's fixed place in the record."""

    index: int
    item: Item
    steps: VerdictSteps | None = None
    calls: Sequence[Call] = ()
    known: Mapping[str, Raw | Withheld] = field(default_factory=dict)
    verdict: Verdict | None = None


class JudgingJob:
    """Judges items and hands verdicts on in order.

    Args:
        judge: asked about every item.
        items: taken one by one, when there is room.
        journal: keeps every reply.
        deliver: is given verdicts in the items' order, a few at a time.
        concurrency: how many calls may be in flight, from 1.
        recall: whether replies that the journal knows already are used instead of asking again.
        cached: whether such replies count as cached (cost nothing again), or as this job's own.
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
        cached: bool = True,
    ) -> None:
        self._judge, self._items, self._journal, self._deliver = judge, items, journal, deliver
        self._concurrency, self._recall, self._cached = concurrency, recall, cached
        self._window = 4 * concurrency + 4 * _CHUNK
        self._committer = Committer(journal, concurrency)
        self._bound = asyncio.Semaphore(concurrency)
        self._ready: deque[_Slot] = deque()
        self._outstanding: deque[_Slot] = deque()
        self._taken = 0
        self._exhausted = False
        self._refilling = asyncio.Lock()
        self._room = asyncio.Event()

    async def run(self) -> None:
        """Judge every item.

        Raises:
            StoreError: when the record cannot be kept; what was delivered before stays.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._concurrency):
                    group.create_task(self._work())
        except ExceptionGroup as failures:
            raise _first(failures) from None
        finally:
            await self._committer.close()

    async def _work(self) -> None:
        while (slot := await self._take()) is not None:
            while slot.steps is not None:
                await self._advance(slot)
            await self._finish(slot)

    # --- taking items in -------------------------------------------------------------------------------------------

    async def _take(self) -> _Slot | None:
        while not self._ready:
            if self._exhausted:
                return None
            async with self._refilling:
                if not self._ready and not self._exhausted:
                    await self._refill()
        return self._ready.popleft()

    async def _refill(self) -> None:
        while len(self._outstanding) + _CHUNK > self._window:
            self._room.clear()
            await self._room.wait()
        slots: list[_Slot] = []
        for item in self._items:
            slots.append(self._open(item))
            if len(slots) == _CHUNK:
                break
        else:
            self._exhausted = True
        if self._recall:
            known = await self._known([call for slot in slots for call in slot.calls])
            for slot in slots:
                slot.known = known
        self._outstanding.extend(slots)
        self._ready.extend(slots)

    def _open(self, item: Item) -> _Slot:
        slot = _Slot(self._taken, item)
        self._taken += 1
        if item.fault is not None or item.context is None:
            slot.verdict = _unreadable(self._judge, item.fault)
            return slot
        slot.steps = self._judge.steps(item.context, item.grounding)
        self._step(slot, None)
        return slot

    async def _known(self, calls: Sequence[Call]) -> Mapping[str, Raw | Withheld]:
        found = await self._journal.recall([call.key for call in calls]) if calls else {}
        if not self._cached:
            return found
        return {key: _as_cached(kept) for key, kept in found.items()}

    # --- asking ----------------------------------------------------------------------------------------------------

    async def _advance(self, slot: _Slot) -> None:
        calls = slot.calls
        if len(calls) == 1:
            self._step(slot, (await self._ask(calls[0], slot.known),))
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._ask(call, slot.known)) for call in calls]
            self._step(slot, [task.result() for task in tasks])
        if slot.steps is not None and self._recall:
            slot.known = await self._known(slot.calls)

    async def _ask(self, call: Call, known: Mapping[str, Raw | Withheld]) -> Outcome:
        if call.key in known:
            return known[call.key]
        async with self._bound:
            outcome = await ask_one(self._judge.provider, call)
            if isinstance(outcome, Raw):
                await self._committer.commit(call.key, outcome)
        return outcome

    def _step(self, slot: _Slot, outcomes: Sequence[Outcome] | None) -> None:
        """Run the judge's own code on what came back; it never waits, and its verdict ends the slot."""
        if slot.steps is None:
            return
        try:
            slot.calls = next(slot.steps) if outcomes is None else slot.steps.send(outcomes)
        except StopIteration as stop:
            slot.verdict, slot.steps, slot.calls = stop.value, None, ()

    # --- handing verdicts on ---------------------------------------------------------------------------------------

    async def _finish(self, slot: _Slot) -> None:
        if slot.verdict is not None and slot.verdict.rejected:
            rejected = slot.verdict.rejected
            await self._journal.withhold([(key, kept.error, kept.spending) for key, kept in rejected.items()])
        done: list[Judged] = []
        while self._outstanding and (verdict := self._outstanding[0].verdict) is not None:
            done.append(Judged(item=self._outstanding.popleft().item, verdict=verdict))
        if done:
            self._deliver(done)
            self._room.set()


def _as_cached(kept: Raw | Withheld) -> Raw | Withheld:
    """A reply out of the store costs nothing again, valid or not."""
    if isinstance(kept, Raw):
        return replace(kept, cached=True)
    return replace(kept, spending=replace(kept.spending, cost_usd=0.0, cached=True))


def _unreadable(judge: Judge, fault: Fault | None) -> Verdict:
    message = str(fault) if fault else "the row holds nothing that can be judged"
    error = TypedError(type=ErrorCategory.REQUEST_INVALID, message=message)
    return Verdict(judge=judge.facts, opinion=Opinion.failed(error.type, error.message))


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """The first failure of a group: the others are its consequences."""
    found = failures.exceptions[0]
    return _first(found) if isinstance(found, ExceptionGroup) else found
