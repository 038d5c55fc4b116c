"""A job's journal: it finds again what its own job asked for, and nothing else, unless anybody's will do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from run_samples import begun
from store_samples import INVALID, SPENT, WITHHELD, key_of, query, replies, reply

from jurat.errors import StoreError
from jurat.provider.protocol import Raw
from jurat.store import Store


async def test_a_job_recalls_what_it_asked_for_itself_and_nothing_of_other_jobs(runs: Store) -> None:
    mine, other = runs.responses.journal("mine"), runs.responses.journal("another's")
    await mine.commit([reply("a")])
    await other.commit([reply("b")])
    await runs.responses.commit([reply("c")])  # of a job that nobody can go on with
    keys = [key_of(name) for name in "abcd"]
    assert await mine.recall(keys) == dict([reply("a")])
    assert await other.recall(keys) == dict([reply("b")])
    assert await mine.recall_any(keys) == dict([reply("a"), reply("b"), reply("c")])


async def test_a_reply_that_two_jobs_asked_for_is_both_s(runs: Store) -> None:
    first, second, third = (runs.responses.journal(name) for name in ("first", "second", "third"))
    key, raw = reply("a")
    later = Raw(body=b"later", latency_ms=1.0)
    await first.commit([(key, raw)])
    await second.commit([(key, later)])
    await second.commit([(key, later)])
    assert await first.recall([key]) == {key: later}
    assert await second.recall([key]) == {key: later}
    assert await third.recall([key]) == {}
    await runs.responses.commit([(key, raw)])
    assert await first.recall([key]) == await second.recall([key]) == {key: raw}


async def test_a_withheld_reply_is_recalled_by_its_job_as_one(runs: Store) -> None:
    journal = runs.responses.journal("mine")
    await journal.commit([reply("a")])
    await journal.withhold([(key_of("a"), INVALID, SPENT)])
    assert await journal.recall([key_of("a")]) == {key_of("a"): WITHHELD}
    assert await runs.responses.journal("another's").recall([key_of("a")]) == {}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_whoever_shares_a_withheld_reply_leaves_the_account_to_who_paid_for_it(
    runs: Store, order: tuple[int, int]
) -> None:
    journal = runs.responses.journal("mine")
    await journal.commit([reply("a")])
    shared = replace(SPENT, attempts=0, cost_usd=0.0)
    for place in order:
        await journal.withhold([(key_of("a"), INVALID, (SPENT, shared)[place])])
    assert await journal.recall([key_of("a")]) == {key_of("a"): WITHHELD}


async def test_a_job_that_starts_anew_has_asked_for_nothing_yet(runs: Store) -> None:
    journal = runs.responses.journal("judge:out.jsonl")
    await journal.commit([reply("a"), reply("b")])
    await journal.start_anew()
    assert await journal.recall([key_of("a")]) == {}
    await journal.commit([reply("b")])
    await journal.start_anew()
    await journal.start_anew()
    await journal.commit([reply("c")])
    keys = [key_of(name) for name in "abc"]
    assert await runs.responses.journal("judge:out.jsonl").recall(keys) == dict([reply("c")])
    assert await journal.recall_any(keys) == dict([reply("a"), reply("b"), reply("c")])


async def test_a_job_is_the_same_when_the_store_is_opened_again(place: str) -> None:
    for name in ("a", "b"):
        store = await Store.open(place)
        await store.responses.journal("mine").commit([reply(name)])
        await store.aclose()
    store = await Store.open(place)
    assert await store.responses.journal("mine").recall([key_of("a"), key_of("b")]) == dict([reply("a"), reply("b")])
    await store.aclose()


async def test_a_run_s_journal_is_that_of_the_run_alone(runs: Store) -> None:
    await begun(runs, "one")
    await begun(runs, "two")
    await runs.runs.journal("one").commit(replies("a", 3))
    keys = [key for key, _ in replies("a", 3)]
    assert await runs.runs.journal("one").recall(keys) == dict(replies("a", 3))
    assert await runs.runs.journal("two").recall(keys) == {}


async def test_thousands_are_recalled_by_their_job(runs: Store) -> None:
    mine, other = runs.responses.journal("mine"), runs.responses.journal("another's")
    await other.commit(replies("a", 2_500))
    await mine.commit(replies("a", 1_500))
    keys = [key for key, _ in replies("a", 2_500)]
    assert await mine.recall(keys) == dict(replies("a", 1_500))
    assert await other.recall(keys) == dict(replies("a", 2_500))


async def test_a_reply_is_one_row_whoever_asked_for_it_first(runs: Store, place: str) -> None:
    await runs.responses.journal("mine").commit(replies("a", 50))
    await runs.responses.journal("mine").commit(replies("a", 50))
    assert await query(place, "SELECT count(*) FROM responses") == [(50,)]
    assert await query(place, "SELECT count(*) FROM run_calls") == [(0,)]
    await runs.responses.journal("another's").commit(replies("a", 20))
    assert await query(place, "SELECT count(*) FROM run_calls") == [(20,)]


async def test_nothing_to_keep_is_done_at_once(runs: Store) -> None:
    journal = runs.responses.journal("mine")
    await journal.commit([])
    await journal.withhold([])
    assert await journal.recall([]) == {}


async def test_withholding_what_was_never_committed_is_refused(runs: Store) -> None:
    with pytest.raises(StoreError, match="withheld that had never been committed"):
        await runs.responses.journal("mine").withhold([(key_of("never"), INVALID, SPENT)])
