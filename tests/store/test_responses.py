"""What the response store promises, on both databases alike."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from hashlib import sha256

import pytest
from store_samples import INVALID, SPENT, WITHHELD, child, execute, key_of, replies, reply

from jurat.errors import ErrorCategory, StoreError
from jurat.evaluation import TypedError
from jurat.judge import Spending, Withheld
from jurat.provider.protocol import Raw, Usage
from jurat.store import ResponseStore, StoreFault, StoreStats

EVERY_BYTE = bytes(range(256))


async def test_an_empty_store_knows_nothing(store: ResponseStore) -> None:
    assert await store.recall([]) == {}
    assert await store.recall([key_of("a"), key_of("b")]) == {}
    assert await store.stats() == StoreStats(kept=0, kept_bytes=0, withheld=0, withheld_bytes=0)
    assert await store.verify() == []


async def test_what_was_committed_is_recalled_as_it_was(store: ResponseStore) -> None:
    key, raw = key_of("a"), Raw(body=b'{"a": 1}', latency_ms=431.25, attempts=3, request_id="req-1")
    await store.commit([(key, raw)])
    assert await store.recall([key_of("other"), key]) == {key: raw}


@pytest.mark.parametrize(
    "body", [b"", EVERY_BYTE, b"\x00" * 5, "🦊 \u0000 é".encode(), b"\xff\xfe", EVERY_BYTE * 8_192]
)
async def test_any_bytes_survive(store: ResponseStore, body: bytes) -> None:
    key = key_of("a")
    await store.commit([(key, Raw(body=body, latency_ms=0.0))])
    assert await store.recall([key]) == {key: Raw(body=body, latency_ms=0.0)}
    assert await store.verify() == []


@pytest.mark.parametrize("name", [None, "", "req_é🦊", "a\x00b", "\udce9 \ud83d", "back\\slash\\u0041", "two\nlines"])
async def test_any_request_id_survives(store: ResponseStore, name: str | None) -> None:
    raw = Raw(body=b"x", latency_ms=1.0, request_id=name)
    await store.commit([(key_of("a"), raw)])
    assert await store.recall([key_of("a")]) == {key_of("a"): raw}


async def test_committing_twice_changes_nothing(store: ResponseStore) -> None:
    wanted = replies("a", 3)
    await store.commit(wanted)
    await store.commit(wanted)
    assert await store.recall([key for key, _ in wanted]) == dict(wanted)
    assert (await store.stats()).kept == 3


async def test_of_two_replies_under_one_key_the_later_one_stays(store: ResponseStore) -> None:
    key = key_of("a")
    first, second, third = (Raw(body=body, latency_ms=1.0) for body in (b"first", b"the second", b"3"))
    await store.commit([(key, first)])
    await store.commit([(key, second), (key, third)])
    assert await store.recall([key]) == {key: third}
    assert await store.verify() == []


async def test_nothing_to_do_is_done_at_once(store: ResponseStore) -> None:
    await store.commit([])
    await store.withhold([])
    assert (await store.stats()).kept == 0


async def test_a_withheld_reply_keeps_its_account_and_loses_its_bytes(store: ResponseStore) -> None:
    (key, raw), other = reply("a"), reply("b")
    await store.commit([(key, raw), other])
    await store.withhold([(key, INVALID, SPENT)])
    assert await store.recall([key, other[0]]) == {key: WITHHELD, other[0]: other[1]}
    size = len(raw.body)
    assert await store.stats() == StoreStats(kept=1, kept_bytes=size, withheld=1, withheld_bytes=size)
    assert await store.verify() == []


async def test_the_hash_and_length_of_a_withheld_reply_stay(store: ResponseStore, place: str) -> None:
    key, raw = reply("a")
    await store.commit([(key, raw)])
    await store.withhold([(key, INVALID, SPENT)])
    digest, size = sha256(raw.body).hexdigest(), len(raw.body)
    found = f"body_sha256 = '{digest}' AND body_bytes = {size} AND length(body) = {size}"
    await execute(place, f"DELETE FROM responses WHERE {found}")
    await execute(place, f"DELETE FROM withheld WHERE key = '{key}'")  # SQLite cascades on our own connections only
    assert await store.recall([key]) == {}


async def test_what_is_unknown_of_a_withheld_reply_stays_unknown(store: ResponseStore) -> None:
    await store.commit([reply("a")])
    await store.withhold([(key_of("a"), INVALID, Spending())])
    assert await store.recall([key_of("a")]) == {key_of("a"): Withheld(error=INVALID, spending=Spending())}


async def test_a_token_count_that_no_model_can_have_is_unknown(store: ResponseStore) -> None:
    await store.commit([reply("a")])
    spent = Spending(usage=Usage(input_tokens=2**63, output_tokens=2**63 - 1))
    await store.withhold([(key_of("a"), INVALID, spent)])
    known = Withheld(error=INVALID, spending=Spending(usage=Usage(output_tokens=2**63 - 1)))
    assert await store.recall([key_of("a")]) == {key_of("a"): known}


async def test_any_text_of_an_account_survives(store: ResponseStore) -> None:
    error = TypedError(type=ErrorCategory.QUOTE_NOT_FOUND, message="entry 3: é \x00 \ud83d \\n 🦊\n")
    spent = replace(SPENT, models=("a\x00b", "\udce9", 'quo"te'))
    await store.commit([reply("a")])
    await store.withhold([(key_of("a"), error, spent)])
    assert await store.recall([key_of("a")]) == {key_of("a"): Withheld(error=error, spending=spent)}


async def test_withholding_twice_keeps_the_later_account(store: ResponseStore) -> None:
    await store.commit([reply("a")])
    await store.withhold([(key_of("a"), TypedError(type=ErrorCategory.REFUSAL, message="refused"), Spending())])
    await store.withhold([(key_of("a"), INVALID, SPENT)])
    assert await store.recall([key_of("a")]) == {key_of("a"): WITHHELD}


async def test_a_reply_that_comes_anew_is_no_longer_withheld(store: ResponseStore) -> None:
    key, raw = reply("a")
    await store.commit([(key, raw)])
    await store.withhold([(key, INVALID, SPENT)])
    await store.commit([(key, raw)])
    assert await store.recall([key]) == {key: raw}
    assert (await store.stats()).withheld == 0


async def test_withholding_what_was_never_committed_is_refused_whole(store: ResponseStore) -> None:
    key, raw = reply("a")
    await store.commit([(key, raw)])
    with pytest.raises(StoreError, match="withheld that had never been committed"):
        await store.withhold([(key, INVALID, SPENT), (key_of("never"), INVALID, SPENT)])
    assert await store.recall([key]) == {key: raw}


async def test_thousands_are_recalled_with_one_call(store: ResponseStore) -> None:
    wanted = replies("a", 3_500)
    await store.commit(wanted)
    await store.withhold([(key, INVALID, SPENT) for key, _ in wanted[:3]])
    keys = [key for key, _ in wanted] + [key_of(f"unknown {number}") for number in range(500)]
    found = await store.recall(keys + keys[:10])
    assert found == {**dict(wanted), **{key: WITHHELD for key, _ in wanted[:3]}}
    assert await store.verify() == []


async def test_what_another_open_store_commits_is_seen_at_once(store: ResponseStore, place: str) -> None:
    assert await store.recall([key_of("a-0")]) == {}
    other = await ResponseStore.open(place)
    await other.commit(replies("a", 1))
    assert await store.recall([key_of("a-0")]) == dict(replies("a", 1))
    await other.aclose()


async def test_many_tasks_may_use_one_store(store: ResponseStore) -> None:
    wanted = replies("a", 60)
    await asyncio.gather(
        *(store.commit(wanted[start : start + 5]) for start in range(0, 60, 5)),
        *(store.recall([key for key, _ in wanted]) for _ in range(5)),
    )
    assert await store.recall([key for key, _ in wanted]) == dict(wanted)


async def test_a_cancelled_commit_leaves_the_store_usable(store: ResponseStore) -> None:
    commit = asyncio.create_task(store.commit(replies("a", 200)))
    await asyncio.sleep(0)
    commit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await commit
    await store.commit(replies("b", 2))
    assert len(await store.recall([key for key, _ in replies("a", 200)])) in (0, 200)
    assert await store.recall([key for key, _ in replies("b", 2)]) == dict(replies("b", 2))


async def test_a_closed_store_says_so(place: str) -> None:
    store = await ResponseStore.open(place)
    await store.aclose()
    await store.aclose()
    for use in (store.commit([reply("a")]), store.recall([key_of("a")]), store.verify()):
        with pytest.raises(StoreError, match="the store is closed"):
            await use


async def test_what_was_committed_is_there_when_opened_again(place: str) -> None:
    for number in range(2):
        store = await ResponseStore.open(place)
        await store.commit([reply(str(number))])
        await store.aclose()
    store = await ResponseStore.open(place)
    assert await store.recall([key_of("0"), key_of("1")]) == dict([reply("0"), reply("1")])
    await store.aclose()


async def test_verifying_names_the_replies_that_were_changed(store: ResponseStore, place: str) -> None:
    wanted = replies("a", 600)
    await store.commit(wanted)
    await store.withhold([(wanted[2][0], INVALID, SPENT)])
    changed, shortened, shown = (key for key, _ in wanted[:3])
    postgres = place.startswith("postgresql")
    blob = "decode('{}', 'hex')" if postgres else "x'{}'"
    length = len(wanted[0][1].body)
    await execute(place, f"UPDATE responses SET body = {blob.format('41' * length)} WHERE key = '{changed}'")
    await execute(place, f"UPDATE responses SET body = {blob.format('41')} WHERE key = '{shortened}'")
    await execute(place, f"UPDATE responses SET body = {blob.format('41' * length)} WHERE key = '{shown}'")
    assert sorted(await store.verify(), key=lambda fault: fault.message) == [
        StoreFault(key=shortened, message=f"expected {length} bytes, found 1"),
        StoreFault(key=shown, message="expected the bytes to be withheld, found some"),
        StoreFault(key=changed, message="the bytes are not those whose hash was stored"),
    ]


async def test_a_reason_that_only_a_newer_jurat_knows_is_said_to_be_one(store: ResponseStore, place: str) -> None:
    await store.commit([reply("a")])
    await store.withhold([(key_of("a"), INVALID, SPENT)])
    await execute(place, "UPDATE withheld SET error_category = 'a_word_of_tomorrow'")
    with pytest.raises(StoreError, match="written by a newer one; upgrade jurat"):
        await store.recall([key_of("a")])


async def test_two_processes_write_at_once_and_lose_nothing(place: str) -> None:
    with child(place, "shared", "300", "10") as one, child(place, "shared", "300", "7") as two:
        for process in (one, two):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        done = [await asyncio.to_thread(process.communicate, "go\nclose\n") for process in (one, two)]
        assert [process.returncode for process in (one, two)] == [0, 0]
    assert all(output.endswith("committed 300\n") for output, _ in done)
    store = await ResponseStore.open(place)
    assert await store.recall([key for key, _ in replies("shared", 300)]) == dict(replies("shared", 300))
    assert await store.verify() == []
    await store.aclose()


async def test_kill_9_in_the_middle_leaves_all_that_was_committed(place: str) -> None:
    with child(place, "killed", "100000", "16") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        while (line := process.stdout.readline()) != "committed 160\n":
            assert line.startswith(("ready", "committed"))
        process.kill()
        told = process.stdout.read().split()
    durable = int(told[-1]) if told else 160
    store = await ResponseStore.open(place)
    assert await store.recall([key for key, _ in replies("killed", durable)]) == dict(replies("killed", durable))
    assert await store.verify() == []
    await store.aclose()
