"""What the engine's tests share: items, a provider that can be held at a gate, and a job that is run to its end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from judging import PRICED, answer, provider_with, rubric
from jurat.engine import Journal, Judged, JudgingJob, MemoryJournal
from jurat.errors import Fault
from jurat.evidence import Context
from jurat.judge import Judge, JudgeSettings
from jurat.provider import Call, Raw, ScriptedProvider, ScriptedReply, Usage
from jurat.report.result_map import verdict_map
from jurat.suite import Item, Row

GOOD = answer(evidence=[])
USAGE = Usage(input_tokens=10, output_tokens=2)


def item(number: int, output: str | None = None) -> Item:
    """An item whose output is its number, unless another is given."""
    text = str(number) if output is None else output
    return Item(row=Row(number=number, digest=""), id=str(number), context=Context(output=text))


def faulty(number: int) -> Item:
    """An item that cannot be judged."""
    fault = Fault(path="output", expected="text", found="null", file="rows.jsonl", line=number)
    return Item(row=Row(number=number, digest=""), fault=fault)


def items(count: int) -> list[Item]:
    """So many items, from 0."""
    return [item(number) for number in range(count)]


def output_of(call: Call) -> str:
    """The output that a call asks about."""
    user: str = json.loads(call.body)["messages"][-1]["content"]
    entries = [json.loads(line) for line in user.splitlines() if line.startswith("{")]
    text: str = next(entry["text"] for entry in reversed(entries) if entry.get("role") == "assistant")
    return text


class GatedProvider(ScriptedProvider):
    """Answers by output. An output that is held waits for `release`; the rest is answered at once.

    Attributes:
        asked: the outputs in the order in which they were asked about.
        answered: how many were answered.
        peak: the most that were on the way together.
    """

    def __init__(self, replies: Callable[[str], Any] | None = None, hold: Iterable[str] = ()) -> None:
        base = provider_with(prices=PRICED)
        super().__init__(ScriptedReply(text=GOOD, usage=USAGE), settings=base.settings)
        self._say = replies or (lambda _: ScriptedReply(text=GOOD, usage=USAGE, latency_ms=1.0))
        self._held = {output: asyncio.Event() for output in hold}
        self._news = asyncio.Condition()
        self.asked: list[str] = []
        self.answered = self.in_flight = self.peak = 0

    async def send(self, call: Call) -> Raw:
        output = output_of(call)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.asked.append(output)
        await self._tell()
        try:
            if output in self._held:
                await self._held[output].wait()
            reply = ScriptedProvider(self._say(output), settings=self.settings)
            return await reply.send(call)
        finally:
            self.in_flight -= 1
            self.answered += 1
            await self._tell()

    def release(self, *outputs: str) -> None:
        for output in outputs:
            self._held[output].set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Come back when the condition holds, looked at whenever something is asked or answered."""
        async with self._news:
            await self._news.wait_for(condition)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()


async def quiet() -> None:
    """Let everything that can go on without an outside event go on."""
    for _ in range(50):
        await asyncio.sleep(0)


def job(
    provider: ScriptedProvider,
    work: Iterable[Item],
    journal: Journal,
    deliver: Callable[[Sequence[Judged]], None],
    *,
    concurrency: int = 4,
    recall: bool = False,
    cache_read: bool = False,
    **settings: Any,
) -> JudgingJob:
    """A job of a small judge."""
    judge = Judge(rubric(), provider, JudgeSettings(**settings))
    return JudgingJob(
        judge, iter(work), journal, deliver, concurrency=concurrency, recall=recall, cache_read=cache_read
    )


async def run(
    provider: ScriptedProvider, work: Iterable[Item], journal: Journal | None = None, **options: Any
) -> list[Judged]:
    """Run a job to its end; what it delivered, in order."""
    delivered: list[Judged] = []
    await job(provider, work, MemoryJournal() if journal is None else journal, delivered.extend, **options).run()
    return delivered


def maps(delivered: Sequence[Judged]) -> list[dict[str, Any]]:
    """The result maps of what was delivered."""
    return [verdict_map(one.verdict) for one in delivered]


def ids(delivered: Sequence[Judged]) -> list[int]:
    """The row numbers of what was delivered."""
    return [one.item.row.number for one in delivered]


def statuses(delivered: Sequence[Judged]) -> list[str]:
    """The statuses of what was delivered."""
    return [one.verdict.status.value for one in delivered]
