"""Replies as rows: text from outside survives whatever it holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_samples import SPENT, WITHHELD, key_of, reply

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.judge import Withheld
from jurat.store import ResponseStore
from jurat.store.rows import pack, reply_rows, unpack, withheld_rows

ANY_TEXT = st.text(st.characters() | st.sampled_from("\\\x00\ud83d\ude00\n\x7f"))


@given(ANY_TEXT)
def test_packed_text_comes_back_and_every_database_takes_it(text: str) -> None:
    packed = pack(text)
    assert unpack(packed) == text
    assert "\x00" not in packed
    assert packed.encode("utf-8").decode("utf-8") == packed


@pytest.mark.parametrize(
    ("text", "packed"),
    [
        ("plain é 🦊", "plain é 🦊"),
        ("", ""),
        ("a\x00b", "a\\x00b"),
        ("back\\slash", "back\\\\slash"),
        ("\udce9", "\\udce9"),
    ],
)
def test_ordinary_text_is_stored_as_it_is(text: str, packed: str) -> None:
    assert pack(text) == packed


def test_rows_are_sorted_by_key_and_keep_the_order_of_one_key() -> None:
    given_replies = [reply(name) for name in "cab"] + [(key_of("a"), reply("z")[1])]
    rows = reply_rows(given_replies)
    assert [row[0] for row in rows] == sorted(key for key, _ in given_replies)
    assert [row[6] for row in rows if row[0] == key_of("a")] == ["req-a", "req-z"]


def test_a_withheld_row_says_everything_in_the_order_of_its_columns() -> None:
    error = TypedError(type=ErrorCategory.REFUSAL, message="refused")
    assert withheld_rows([("k", error, SPENT)]) == [
        ("k", "refusal", "refused", 120, 24, 100, 0, None, 0.00042, 431.25, 2,
         '["judge-model-2026", "judge-model-mini"]', None),
    ]  # fmt: skip


async def test_why_attempts_failed_comes_back_with_the_reply_and_with_its_account(tmp_path: Path) -> None:
    key, plain = reply("a")
    raw = replace(plain, attempts=3, failed=(ErrorCategory.RATE_LIMITED, ErrorCategory.NETWORK_ERROR))
    store = await ResponseStore.open(tmp_path / "jurat.db")
    await store.commit([(key, raw), reply("b")])
    assert (await store.recall([key]))[key] == raw
    assert (await store.recall([key_of("b")]))[key_of("b")] == reply("b")[1]
    spent = replace(SPENT, failed=("rate_limited",))
    await store.withhold([(key, WITHHELD.error, spent)])
    assert (await store.recall([key]))[key] == Withheld(error=WITHHELD.error, spending=spent)
    await store.aclose()
