"""`jurat judge --resume` recalls what its own job had paid for: replies for this very verdict file, and no others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from jurat.store import Store
from suitefolder import Folder

PROVIDER = """
import json, pathlib

def answer(messages):
    with pathlib.Path("asked.txt").open("a") as asked:
        asked.write("x")
    return json.dumps({"evidence": [], "reason": "Fine.", "score": 90})
"""
CONFIG = '[[providers]]\nname = "counting"\nkind = "python"\nfunction = "counting_model:answer"\n'
ROWS = "".join(f'{{"output": "answer {number}"}}\n' for number in range(5))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """A folder with five rows and a judge that counts how often it is asked."""
    for folder in Folder.entered(tmp_path, monkeypatch):
        folder.write("counting_model.py", PROVIDER)
        folder.write("jurat.toml", CONFIG)
        folder.write("rows.jsonl", ROWS)
        yield folder


def asked(folder: Folder, *more: str) -> int:
    """Judge the rows; how often the judge was asked meanwhile."""
    counter = folder.write("asked.txt", "")
    done = folder.jurat("judge", "rows.jsonl", "--provider", "counting", "--rubric-text", "Is it fine?", *more)
    assert done.code == 0, done.err
    return len(counter.read_text())


def lose_verdicts(file: Path, kept: int) -> None:
    """As after a kill: replies are durable whose verdicts are not in the file yet."""
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:kept]))


@pytest.mark.parametrize("kept", [0, 2])
def test_replies_of_the_same_verdict_file_are_not_asked_for_again(folder: Folder, kept: int) -> None:
    assert asked(folder, "--out", "a.jsonl") == 5
    whole = (folder.path / "a.jsonl").read_text()
    lose_verdicts(folder.path / "a.jsonl", kept)
    assert asked(folder, "--out", "./a.jsonl", "--resume") == 0
    assert (folder.path / "a.jsonl").read_text() == whole


def test_a_resumed_job_that_also_reads_the_cache_bears_the_cost_of_its_own_replies(folder: Folder) -> None:
    assert asked(folder, "--out", "a.jsonl") == 5
    whole = (folder.path / "a.jsonl").read_text()
    lose_verdicts(folder.path / "a.jsonl", 1)
    assert asked(folder, "--out", "a.jsonl", "--resume", "--cache", "read") == 0
    assert (folder.path / "a.jsonl").read_text() == whole


def test_replies_of_another_verdict_file_are_asked_for_anew(folder: Folder) -> None:
    assert asked(folder, "--out", "a.jsonl") == 5
    assert asked(folder, "--out", "b.jsonl", "--resume") == 5
    assert asked(folder, "--out", "c.jsonl", "--resume", "--cache", "read") == 0


def test_what_was_asked_before_a_verdict_file_was_started_anew_is_not_its_own_any_more(folder: Folder) -> None:
    assert asked(folder, "--out", "a.jsonl") == 5
    assert asked(folder, "--out", "a.jsonl", "--overwrite", "--limit", "2") == 2
    assert asked(folder, "--out", "a.jsonl", "--resume") == 3


def test_another_job_that_asked_the_same_takes_nothing_from_the_first(folder: Folder) -> None:
    assert asked(folder, "--out", "a.jsonl") == 5
    assert asked(folder, "--out", "b.jsonl") == 5
    lose_verdicts(folder.path / "a.jsonl", 1)
    assert asked(folder, "--out", "a.jsonl", "--resume") == 0


def test_the_store_is_sound_afterwards_and_holds_each_reply_once(folder: Folder) -> None:
    assert asked(folder, "--out", "a.jsonl") == 5
    assert asked(folder, "--out", "b.jsonl") == 5

    async def counted() -> int:
        store = await Store.open(folder.path / ".jurat" / "jurat.db")
        assert [fault async for fault in store.verify()] == []
        replies = (await store.stats()).replies.kept
        await store.aclose()
        return replies

    assert asyncio.run(counted()) == 5
