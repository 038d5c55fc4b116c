"""A judging job: order, bounds, and that one item's trouble is nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from jobs import GOOD, GatedProvider, faulty, ids, item, items, job, maps, quiet, run, statuses

from judging import answer, provider_with, rubric
from jurat.engine import Judged, JudgingJob, MemoryJournal
from jurat.errors import AuthoringError, ErrorCategory, Fault
from jurat.judge import Judge, JudgeSettings
from jurat.metrics import Tally
from jurat.provider import Raw, ScriptedReply
from jurat.suite import Item

# --- Order -----------------------------------------------------------------------------------------------------------


async def test_verdicts_come_in_the_items_order_whatever_the_order_of_the_replies() -> None:
    held = [str(number) for number in range(8)]
    provider = GatedProvider(hold=held)
    delivered: list[Judged] = []
    running = asyncio.create_task(job(provider, items(8), MemoryJournal(), delivered.extend, concurrency=8).run())
    await provider.until(lambda: len(provider.asked) == 8)

    provider.release(*held[1:])
    await provider.until(lambda: provider.answered == 7)
    await quiet()
    before = ids(delivered)
    provider.release("0")
    await running

    assert before == []
    assert ids(delivered) == list(range(8))


async def test_verdicts_are_handed_on_as_soon_as_all_before_them_are() -> None:
    provider = GatedProvider(hold=["3"])
    delivered: list[Judged] = []
    arrived = asyncio.Event()

    def deliver(done: Sequence[Judged]) -> None:
        delivered.extend(done)
        if len(delivered) == 3:
            arrived.set()

    running = asyncio.create_task(job(provider, items(6), MemoryJournal(), deliver, concurrency=2).run())
    await arrived.wait()

    assert ids(delivered) == [0, 1, 2]
    provider.release("3")
    await running
    assert ids(delivered) == [0, 1, 2, 3, 4, 5]


async def test_each_verdict_stands_with_its_own_item() -> None:
    provider = GatedProvider(lambda output: answer(score=int(output) / 1000, evidence=[]))

    delivered = await run(provider, items(1000), concurrency=16)

    assert ids(delivered) == list(range(1000))
    assert [one.verdict.score for one in delivered] == [number / 1000 for number in range(1000)]


async def test_no_items_make_a_job_that_ends_with_nothing() -> None:
    provider = GatedProvider()

    assert await run(provider, []) == []
    assert provider.asked == []


async def test_items_that_are_equal_are_judged_each_for_itself() -> None:
    delivered = await run(GatedProvider(), [item(number, "same") for number in range(5)], concurrency=2)

    assert ids(delivered) == [0, 1, 2, 3, 4]
    assert statuses(delivered) == ["pass"] * 5


# --- Bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 2, 7])
@pytest.mark.parametrize("samples", [1, 5])
async def test_no_more_calls_are_on_the_way_than_the_bound_which_is_used(concurrency: int, samples: int) -> None:
    held = [str(number) for number in range(20)]
    provider = GatedProvider(hold=held)
    delivered: list[Judged] = []
    running = asyncio.create_task(
        job(provider, items(20), MemoryJournal(), delivered.extend, concurrency=concurrency, samples=samples).run()
    )

    for output in held:
        await provider.until(lambda: provider.in_flight == min(concurrency, samples * 20 - provider.answered))
        provider.release(output)
    await running

    assert provider.peak == concurrency
    assert len(provider.asked) == 20 * samples
    assert ids(delivered) == list(range(20))


class HeldJournal(MemoryJournal):
    """A journal whose first write waits."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.release = asyncio.Event(), asyncio.Event()

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        self.entered.set()
        await self.release.wait()
        await super().commit(replies)


async def test_a_call_counts_as_on_the_way_until_its_reply_is_durable() -> None:
    provider, journal = GatedProvider(), HeldJournal()
    delivered: list[Judged] = []
    running = asyncio.create_task(job(provider, items(40), journal, delivered.extend, concurrency=3).run())

    await journal.entered.wait()
    await quiet()
    paid, handed_on = len(provider.asked), list(delivered)
    journal.release.set()
    await running

    assert paid == 3
    assert handed_on == []
    assert len(journal.kept) == 40


class CountingJournal(MemoryJournal):
    """A journal that tells when it holds so many replies."""

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self._wanted, self.full = wanted, asyncio.Event()

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        await super().commit(replies)
        if len(self.kept) >= self._wanted:
            self.full.set()


async def test_only_a_window_of_items_is_held_however_many_there_are() -> None:
    taken = 0

    def stream() -> Iterator[Item]:
        nonlocal taken
        for number in range(3000):
            taken += 1
            yield item(number)

    provider, journal = GatedProvider(hold=["0"]), CountingJournal(255)
    delivered: list[Judged] = []
    running = asyncio.create_task(job(provider, stream(), journal, delivered.extend, concurrency=4).run())
    await journal.full.wait()
    await quiet()
    held_back = taken
    provider.release("0")
    await running

    assert held_back == 256
    assert ids(delivered) == list(range(3000))


# --- One item's trouble ----------------------------------------------------------------------------------------------


async def test_an_item_that_cannot_be_read_is_an_error_in_its_place_and_costs_no_call() -> None:
    provider = GatedProvider()
    work = [faulty(number) if number == 7 else item(number) for number in range(20)]

    delivered = await run(provider, work)

    assert ids(delivered) == list(range(20))
    assert statuses(delivered) == ["pass"] * 7 + ["error"] + ["pass"] * 12
    assert len(provider.asked) == 19
    found = maps(delivered)[7]
    assert found["evaluator"]["error"] == {
        "type": "request_invalid",
        "message": "rows.jsonl:7: output: expected text, found null",
    }
    assert (found["score"], found["evaluator"]["cost_usd"], found["evaluator"]["attempts"]) == (None, 0.0, 0)


async def test_only_faults_and_empty_outputs_make_a_job_without_a_call() -> None:
    provider = GatedProvider()

    delivered = await run(provider, [faulty(0), item(1, " "), faulty(2)])

    assert statuses(delivered) == ["error", "unverified", "error"]
    assert provider.asked == []


async def test_a_failed_call_an_invalid_reply_and_a_poor_answer_touch_their_own_item_alone() -> None:
    replies = {
        "1": ScriptedReply(error=ErrorCategory.RATE_LIMITED),
        "2": ScriptedReply(text="[" * 100_000),
        "3": ScriptedReply(text=answer(score=0, evidence=[])),
        "4": ScriptedReply(text=None, refusal="I cannot."),
        "5": ScriptedReply(text="", reasoning="hm"),
    }

    delivered = await run(GatedProvider(lambda output: replies.get(output, GOOD)), items(8), concurrency=2)

    assert statuses(delivered) == ["pass", "error", "error", "fail", "error", "error", "pass", "pass"]
    errors = [found["evaluator"]["error"]["type"] for found in maps(delivered) if "error" in found["evaluator"]]
    assert errors == ["rate_limited", "malformed_json", "refusal", "empty_response"]


async def test_an_exception_out_of_a_provider_touches_its_item_alone() -> None:
    def say(output: str) -> str:
        if output == "1":
            raise RuntimeError("zq7canary")
        return GOOD

    delivered = await run(GatedProvider(say), items(3))

    assert statuses(delivered) == ["pass", "error", "pass"]
    assert "zq7canary" not in str(maps(delivered))


async def test_what_the_items_themselves_raise_ends_the_job_and_what_was_delivered_stays() -> None:
    def broken() -> Iterator[Item]:
        yield from items(100)
        raise AuthoringError("input", [Fault(path="", expected="rows", found="something else")])

    delivered: list[Judged] = []
    with pytest.raises(AuthoringError, match="expected rows"):
        await job(GatedProvider(), broken(), MemoryJournal(), delivered.extend, concurrency=1).run()

    assert ids(delivered) == list(range(len(delivered)))


async def test_what_receives_the_verdicts_may_fail_and_ends_the_job() -> None:
    def deliver(_: Sequence[Judged]) -> None:
        raise OSError("disk full")

    journal = MemoryJournal()
    with pytest.raises(OSError, match="disk full"):
        await job(GatedProvider(), items(5), journal, deliver).run()

    assert journal.kept


async def test_a_tally_of_a_job_counts_three_outcomes_apart() -> None:
    replies = {"0": answer(score=1, evidence=[]), "1": answer(score=0, evidence=[]), "2": "accept it"}
    delivered = await run(GatedProvider(lambda output: replies[output]), items(3))
    tally = Tally((0.0, 1.0))
    for found in maps(delivered):
        tally.add(found)

    assert (tally.statuses["pass"], tally.statuses["fail"], tally.statuses["error"]) == (1, 1, 1)
    assert (tally.rate.value, tally.rate.undecided, tally.mean_score) == (0.5, 1, 0.5)
    assert tally.errors == {"malformed_json": 1}


async def test_every_repeat_of_every_item_is_asked() -> None:
    provider = provider_with(GOOD)

    delivered = await run(provider, items(3), samples=4)

    assert provider.calls == 12
    assert [found["repeats"]["decided"] for found in maps(delivered)] == [4, 4, 4]


async def test_when_the_time_of_a_job_is_over_its_calls_are_cut_off_and_no_other_is_begun() -> None:
    provider, found, notices = GatedProvider(hold=["2", "3", "4", "5"]), list[Judged](), list[str]()
    judge = Judge(rubric(), provider, JudgeSettings())
    job = JudgingJob(
        judge, iter(items(20)), MemoryJournal(), found.extend, concurrency=4, timeout_s=3600.0, notice=notices.append
    )
    running = asyncio.create_task(job.run())
    await provider.until(lambda: provider.in_flight == 4)

    job._expire()
    await running

    assert notices == ["the job's time of 3600 s is over: no further call is made"]
    assert sorted(provider.asked, key=int) == ["0", "1", "2", "3", "4", "5"]
    assert statuses(found) == ["pass"] * 2 + ["error"] * 18
    late = [one["evaluator"] for one in maps(found)[2:]]
    assert {one["error"]["type"] for one in late} == {"timeout"}
    assert [one["attempts"] for one in late] == [1] * 4 + [0] * 14
    assert provider.in_flight == 0


async def test_a_job_that_is_cancelled_after_its_time_is_cancelled() -> None:
    class Deaf(GatedProvider):
        """Heeds no cancellation until it is let go."""

        async def send(self, call: Any) -> Raw:
            try:
                return await super().send(call)
            except asyncio.CancelledError:
                await asyncio.shield(let_go.wait())
                raise

    let_go = asyncio.Event()
    provider = Deaf(hold=["0"])
    judge = Judge(rubric(), provider, JudgeSettings())
    job = JudgingJob(judge, iter(items(1)), MemoryJournal(), lambda _: None, concurrency=1, timeout_s=3600.0)
    running = asyncio.create_task(job.run())
    await provider.until(lambda: provider.in_flight == 1)
    job._expire()
    await quiet()
    running.cancel()
    await quiet()
    let_go.set()
    with pytest.raises(asyncio.CancelledError):
        await running
