"""Group commit: which replies share a write."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from jurat.engine import MemoryJournal
from jurat.engine.committer import ENOUGH, Committer
from jurat.errors import StoreError
from jurat.provider.protocol import Raw

RAW = Raw(body=b"{}", latency_ms=1.0)


class Slow(MemoryJournal):
    """A journal that notes its batches, and takes them in only when it is let."""

    def __init__(self, *, open_: bool = True) -> None:
        super().__init__()
        self.batches: list[list[str]] = []
        self.let = asyncio.Event()
        self.begun = asyncio.Event()
        if open_:
            self.let.set()

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        self.batches.append([key for key, _ in replies])
        self.begun.set()
        await self.let.wait()
        await super().commit(replies)


class Broken(MemoryJournal):
    """A journal that can write nothing."""

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        raise StoreError(f"no room for {len(replies)} replies")


async def commit_all(committer: Committer[tuple[str, Raw]], keys: Sequence[str], *, last_alone: bool) -> None:
    async with asyncio.TaskGroup() as group:
        for key in keys:
            group.create_task(committer.commit((key, RAW), alone=last_alone and key == keys[-1]))


async def test_replies_that_come_while_others_are_on_their_way_share_a_write_with_the_last() -> None:
    journal = Slow()
    await commit_all(Committer(journal.commit), ["a", "b", "c"], last_alone=True)
    assert journal.batches == [["a", "b", "c"]]


async def test_a_reply_is_durable_when_its_commit_returns() -> None:
    journal = Slow()
    await Committer(journal.commit).commit(("a", RAW), alone=True)
    assert journal.kept == {"a": RAW}


async def test_a_reply_does_not_wait_for_others_for_ever() -> None:
    journal = Slow()
    await commit_all(Committer(journal.commit), ["a", "b"], last_alone=False)
    assert journal.batches == [["a", "b"]]


async def test_a_batch_goes_out_when_it_is_large_enough_though_others_are_on_their_way() -> None:
    journal = Slow(open_=False)
    committer = Committer(journal.commit)
    keys = [f"{place:02}" for place in range(ENOUGH)]
    waiting = asyncio.create_task(commit_all(committer, keys, last_alone=False))
    await journal.begun.wait()
    assert journal.batches == [keys]
    journal.let.set()
    await waiting


async def test_one_batch_is_written_at_a_time_and_what_comes_meanwhile_is_the_next() -> None:
    journal = Slow(open_=False)
    committer = Committer(journal.commit)
    first = asyncio.create_task(committer.commit(("a", RAW), alone=True))
    await journal.begun.wait()
    others = asyncio.create_task(commit_all(committer, ["b", "c"], last_alone=True))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert journal.batches == [["a"]]
    journal.let.set()
    await asyncio.gather(first, others)
    assert journal.batches == [["a"], ["b", "c"]]


async def test_everybody_in_a_batch_that_cannot_be_written_is_told() -> None:
    committer = Committer(Broken().commit)
    told = await asyncio.gather(
        committer.commit(("a", RAW), alone=False), committer.commit(("b", RAW), alone=True), return_exceptions=True
    )
    assert [str(one) for one in told] == ["no room for 2 replies", "no room for 2 replies"]


async def test_closing_writes_the_replies_of_those_who_were_cancelled() -> None:
    journal = Slow()
    committer = Committer(journal.commit)
    waiting = asyncio.create_task(committer.commit(("a", RAW), alone=False))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await committer.close()
    assert journal.kept == {"a": RAW}
