"""Nothing that was paid for is lost, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from jobs import GOOD, USAGE, GatedProvider, faulty, ids, item, items, job, maps, output_of, quiet, run, statuses

from judging import answer, rubric
from jurat.engine import Judged, JudgingJob, MemoryJournal
from jurat.errors import ErrorCategory, ProviderError, StoreError
from jurat.evaluation import TypedError
from jurat.judge import Judge, JudgeSettings, Spending, Withheld
from jurat.provider import FinishReason, Raw, ScriptedReply, TokenLogprobs

INVALID = ScriptedReply(text="zq7canary", usage=USAGE)
YES = (TokenLogprobs(token="yes", top={"yes": math.log(0.9), "no": math.log(0.1)}),)


def mixed(output: str) -> Any:
    """Valid, invalid and poor replies in turn."""
    valid = ScriptedReply(text=answer(score=int(output) % 2, evidence=[]), usage=USAGE, latency_ms=3.0)
    return INVALID if int(output) % 3 == 0 else valid


# --- Recall ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"samples": 3, "temperature": 0.5}])
async def test_a_job_run_again_makes_no_call_and_gives_the_same_record(settings: dict[str, Any]) -> None:
    journal, provider = MemoryJournal(), GatedProvider(mixed)
    first = await run(GatedProvider(mixed), items(150), journal, **settings)

    again = await run(provider, items(150), journal, recall=True, **settings)

    assert provider.asked == []
    assert maps(again) == maps(first)


async def test_a_rejected_explanation_is_accounted_for_once_when_a_job_is_run_again() -> None:
    class TwoStages(GatedProvider):
        """A word first, then an explanation that is no JSON."""

        def __init__(self) -> None:
            super().__init__(lambda _: INVALID)

        async def send(self, call: Any) -> Raw:
            if "logprobs" in json.loads(call.body):
                reply = ScriptedReply(text="yes", finish_reason=FinishReason.LENGTH, logprobs=YES, usage=USAGE)
                return Raw(body=reply.body("m"), latency_ms=1.0)
            return await super().send(call)

    journal, provider = MemoryJournal(), TwoStages()
    first = await run(TwoStages(), items(3), journal, strategy="both")

    again = await run(provider, items(3), journal, recall=True, strategy="both")

    assert provider.asked == []
    assert maps(again) == maps(first)
    assert maps(again)[0]["evaluator"]["input_tokens"] == 20


async def test_without_recall_everything_is_asked_again() -> None:
    journal, provider = MemoryJournal(), GatedProvider()
    await run(GatedProvider(), items(5), journal)

    await run(provider, items(5), journal)

    assert len(provider.asked) == 5


async def test_a_reply_out_of_the_cache_costs_nothing_again_and_an_invalid_one_is_asked_for_anew() -> None:
    journal, provider = MemoryJournal(), GatedProvider()
    await run(GatedProvider(mixed), items(4), journal)

    found = maps(await run(provider, items(4), journal, cache_read=True))

    assert sorted(provider.asked) == ["0", "3"]
    cached = [one["evaluator"] for one in found if one["evaluator"]["cached"]]
    assert [(one["cost_usd"], one["input_tokens"]) for one in cached] == [(0.0, 10), (0.0, 10)]
    assert [one["status"] for one in found] == ["pass", "pass", "fail", "pass"]


async def test_answers_that_are_asked_for_again_count_against_the_budget_all_the_same() -> None:
    journal, found = MemoryJournal(), list[Judged]()
    await run(GatedProvider(lambda _: INVALID), items(4), journal)  # 10 tokens at 1 and 2 at 10 USD a million, each
    provider = GatedProvider()
    judge = Judge(rubric(), provider, JudgeSettings())
    job = JudgingJob(
        judge, iter(items(4)), journal, found.extend, concurrency=1, recall=True, retry=True, budget_usd=0.00015
    )
    await job.run()
    assert len(provider.asked) == 1
    assert statuses(found) == ["pass", "error", "error", "error"]


async def test_what_is_no_reply_at_all_is_withheld_like_an_invalid_one() -> None:
    class Sick(GatedProvider):
        def read(self, raw: Raw) -> Any:
            raise ProviderError(ErrorCategory.API_ERROR, "no reply")

    journal = MemoryJournal()
    await run(Sick(), items(1), journal)

    (kept,) = journal.kept.values()
    assert isinstance(kept, Withheld)
    assert kept.error.type is ErrorCategory.API_ERROR


async def test_a_provider_that_raises_a_cancellation_of_its_own_fails_one_row_and_ends_nothing() -> None:
    class Jumpy(GatedProvider):
        async def send(self, call: Any) -> Raw:
            if output_of(call) == "1":
                raise asyncio.CancelledError("a secret")
            return await super().send(call)

    found = maps(await run(Jumpy(), items(3), MemoryJournal(), concurrency=1))

    assert [one["status"] for one in found] == ["pass", "error", "pass"]
    assert found[1]["evaluator"]["error"]["type"] == "api_error"
    assert "secret" not in json.dumps(found)


async def test_an_invalid_reply_out_of_the_cache_keeps_what_it_once_cost() -> None:
    fresh = MemoryJournal()
    await run(GatedProvider(lambda _: INVALID), items(1), fresh)
    (key,) = fresh.kept
    crashed = MemoryJournal()
    crashed.kept[key] = Raw(body=INVALID.body("oracle-1"), latency_ms=0.0)  # committed, and never looked at

    await run(GatedProvider(), items(1), crashed, cache_read=True)

    assert crashed.kept == fresh.kept


async def test_a_failed_call_leaves_nothing_behind_and_is_asked_again() -> None:
    failing = GatedProvider(lambda output: ScriptedReply(error=ErrorCategory.TIMEOUT) if output == "1" else GOOD)
    journal, provider = MemoryJournal(), GatedProvider()
    first = await run(failing, items(3), journal)

    again = await run(provider, items(3), journal, cache_read=True)

    assert statuses(first) == ["pass", "error", "pass"]
    assert statuses(again) == ["pass"] * 3
    assert provider.asked == ["1"]


async def test_faults_and_empty_outputs_are_the_same_again() -> None:
    journal, work = MemoryJournal(), [faulty(0), item(1), item(2, "")]
    first = await run(GatedProvider(), work, journal)

    again = await run(GatedProvider(), work, journal, recall=True)

    assert maps(again) == maps(first)


# --- What is kept ----------------------------------------------------------------------------------------------------


async def test_the_text_of_an_invalid_reply_is_not_kept_but_its_account_is() -> None:
    journal = MemoryJournal()

    await run(GatedProvider(lambda _: INVALID), items(1), journal)

    (kept,) = journal.kept.values()
    assert isinstance(kept, Withheld)
    assert kept.error.type is ErrorCategory.MALFORMED_JSON
    assert kept.spending.usage == USAGE
    assert "zq7canary" not in repr(journal.kept)


async def test_each_rejected_repeat_is_kept_with_its_own_account() -> None:
    journal = MemoryJournal()

    await run(GatedProvider(lambda _: INVALID), items(1), journal, samples=3)

    assert len(journal.kept) == 3
    assert {kept.spending.usage for kept in journal.kept.values() if isinstance(kept, Withheld)} == {USAGE}


async def test_a_reply_is_durable_before_anybody_looks_at_it() -> None:
    seen: list[str] = []

    class Watching(MemoryJournal):
        async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
            seen.append("commit")
            await super().commit(replies)

        async def withhold(self, rows: Sequence[tuple[str, TypedError, Spending]]) -> None:
            seen.append("withhold")
            await super().withhold(rows)

    await run(GatedProvider(lambda _: INVALID), items(1), Watching())

    assert seen == ["commit", "withhold"]


# --- Cancellation ----------------------------------------------------------------------------------------------------


async def test_a_cancelled_job_keeps_every_reply_that_had_arrived_and_resumes_from_there() -> None:
    held = ["5", "6"]
    journal, interrupted = MemoryJournal(), GatedProvider(mixed, hold=held)
    delivered: list[Judged] = []
    running = asyncio.create_task(job(interrupted, items(7), journal, delivered.extend, concurrency=7).run())
    await interrupted.until(lambda: interrupted.answered == 5 and len(interrupted.asked) == 7)
    await quiet()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    resuming = GatedProvider(mixed)
    resumed = await run(resuming, items(7), journal, recall=True)
    undisturbed = await run(GatedProvider(mixed), items(7))

    assert sorted(resuming.asked) == held
    assert maps(resumed) == maps(undisturbed)


async def test_replies_that_wait_for_their_group_are_written_before_a_cancelled_job_ends() -> None:
    class Slow(MemoryJournal):
        entered, release = asyncio.Event(), asyncio.Event()

        async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
            self.entered.set()
            await self.release.wait()
            await super().commit(replies)

    journal, provider = Slow(), GatedProvider()
    running = asyncio.create_task(job(provider, items(6), journal, lambda _: None, concurrency=6).run())
    await journal.entered.wait()
    running.cancel()
    await quiet()
    over_too_early = running.done()
    journal.release.set()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not over_too_early
    assert len(journal.kept) == provider.answered == 6


# --- A journal that fails --------------------------------------------------------------------------------------------


class FailingJournal(MemoryJournal):
    """Fails in one of its three ways, from a given use of it on."""

    def __init__(self, way: str, after: int = 0) -> None:
        super().__init__()
        self._way, self._after = way, after

    def _use(self, way: str) -> None:
        if way == self._way:
            self._after -= 1
            if self._after < 0:
                raise StoreError("no space is left on the device")

    async def recall(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]:
        self._use("recall")
        return await super().recall(keys)

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        self._use("commit")
        await super().commit(replies)

    async def withhold(self, rows: Sequence[tuple[str, TypedError, Spending]]) -> None:
        self._use("withhold")
        await super().withhold(rows)


@pytest.mark.parametrize("way", ["recall", "commit", "withhold"])
@pytest.mark.parametrize("after", [0, 1])
async def test_a_journal_that_fails_ends_the_job_with_its_own_error(way: str, after: int) -> None:
    delivered: list[Judged] = []
    made = job(GatedProvider(lambda _: INVALID), items(300), FailingJournal(way, after), delivered.extend, recall=True)

    with pytest.raises(StoreError, match="no space"):
        await made.run()

    assert ids(delivered) == list(range(len(delivered)))


async def test_no_verdict_is_handed_on_whose_reply_could_not_be_kept() -> None:
    delivered: list[Judged] = []
    journal = FailingJournal("commit", after=3)

    with pytest.raises(StoreError):
        await job(GatedProvider(), items(50), journal, delivered.extend, concurrency=1).run()

    assert len(journal.kept) == 3
    assert len(delivered) <= 3


async def test_after_a_failure_no_task_is_left_behind() -> None:
    with pytest.raises(StoreError):
        await run(GatedProvider(), items(50), FailingJournal("commit"))

    assert asyncio.all_tasks() == {asyncio.current_task()}
