"""`jurat judge` on a terminal of 80 columns: how much is done, out of what, and how long the rest will take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import Folder, on_a_terminal

JUDGE = ("judge", "rows.jsonl", "--rubric-text", "It is clear.", "--provider", "scripted:replies.yaml")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    for folder in Folder.entered(tmp_path, monkeypatch):
        folder.write("rows.jsonl", "".join(json.dumps({"output": f"text {n}"}) + "\n" for n in range(14)))
        reply = json.dumps({"json": {"evidence": [], "reason": "Because.", "score": 80}})
        folder.write("replies.yaml", f"- {reply}\n" * 14)
        yield folder


def drawn(seen: str) -> list[str]:
    """The states of the bar, without colours and without the bar itself."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
    return [line for line in re.split(r"[\r\n]+", plain) if re.match(r"[━╸╺ ]+ *\d+%", line)]


def test_a_limited_job_ends_at_its_limit(desk: Folder) -> None:
    code, seen = on_a_terminal(desk, *JUDGE, "--limit", "8")

    assert code == 0, seen
    states = drawn(seen)
    assert " 0% 0/8 rows" in states[0]
    assert re.search(r" 100% 8/8 rows \d:\d\d:\d\d left 8 passed  0 failed *$", states[-1]), states[-1]
    assert max(map(len, states)) <= 80
    assert all(" left " in state for state in states)


def test_without_a_limit_all_rows_are_the_whole(desk: Folder) -> None:
    code, seen = on_a_terminal(desk, *JUDGE)

    assert code == 0, seen
    assert " 100% 14/14 rows " in drawn(seen)[-1]
