"""What `jurat judge` prints of a verdict: where it passes from, in columns, and once what holds for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suitefolder import Folder

UNCHECKED = "the score comes from token probabilities; the reason was asked for afterwards and may contradict it"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    monkeypatch.setenv("COLUMNS", "100")
    yield from Folder.entered(tmp_path, monkeypatch)


def heads(desk: Folder, replies: list[Any], *options: str) -> list[str]:
    """The first line of every verdict."""
    desk.write("rows.jsonl", "".join(json.dumps({"output": "text"}) + "\n" for _ in replies))
    desk.write("replies.yaml", json.dumps(replies))
    judge = ("judge", "rows.jsonl", "--provider", "scripted:replies.yaml", "--pass-rate", "0", *options)
    done = desk.jurat(*judge)
    assert done.code == 0, done.err
    return [line for line in done.out.splitlines() if line.startswith(("PASS ", "FAIL ", "ERROR "))]


def scored(score: float) -> Any:
    return {"json": {"evidence": [], "reason": "Because.", "score": score}}


def test_a_verdict_says_from_where_on_it_passes(desk: Folder) -> None:
    replies = [scored(100), scored(32.41), scored(79.996), scored(80), scored(80.004), "prose"]

    assert heads(desk, replies, "--rubric-text", "It is clear.", "--concurrency", "1") == [
        "PASS  100 of 100 (passes from 80)    row 1  text",
        "FAIL  32.4 of 100 (passes from 80)   row 2  text",
        "FAIL  79.996 of 100 (passes from 80) row 3  text",
        "PASS  80 of 100 (passes from 80)     row 4  text",
        "PASS  80 of 100 (passes from 80)     row 5  text",
        "ERROR                                row 6  text",
    ]


def test_a_threshold_of_ones_own_is_the_one_that_is_shown(desk: Folder) -> None:
    assert heads(desk, [scored(70)], "--rubric-text", "It is clear.", "--threshold", "62.5") == [
        "PASS  70 of 100 (passes from 62.5)     row 1  text"
    ]


def test_what_holds_for_all_verdicts_is_printed_once_and_stays_in_the_file(desk: Folder) -> None:
    reason = {"match": "It has been decided", "json": {"evidence": [], "reason": "Because."}}
    decided = {"text": "yes", "logprobs": [{"token": "yes", "top": {"yes": -0.1, "no": -3.0}}]}
    desk.write("rows.jsonl", '{"output": "text"}\n' * 3)
    desk.write("replies.yaml", json.dumps([reason, decided] * 3))

    options = ("--strategy", "both", "--concurrency", "1", "--out", "v.jsonl")
    done = desk.jurat(
        "judge", "rows.jsonl", "--rubric-text", "It is clear.", "--provider", "scripted:replies.yaml", *options
    )

    assert done.code == 0, done.out + done.err
    assert " ".join(done.out.split()).count(UNCHECKED) == 1
    assert done.out.index("the score comes") < done.out.index("row 2")
    lines = [json.loads(line) for line in (desk.path / "v.jsonl").read_text().splitlines()]
    assert [[found["message"] for found in line["findings"]] for line in lines] == [[UNCHECKED]] * 3
