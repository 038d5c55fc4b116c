"""`jurat run` on a terminal: a live view that goes when the run is over, and a cursor that is always given back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import CAPITALS, Folder, on_a_terminal


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def test_progress_is_drawn_and_gone_when_the_report_comes(folder: Folder) -> None:
    code, seen = on_a_terminal(folder, "run", "suite.yaml")

    assert code == 1
    drawn, _, after = seen.rpartition("\x1b[?25h")
    assert "4/4" in drawn
    assert "4 of 4 cases  1 passed  1 failed  2 undecided" in drawn
    assert "errors: 1 × " in drawn
    assert "\x1b[1;31mFAILED\x1b[0m" in after
    assert "4/4" not in after


def test_a_terminal_that_knows_no_codes_gets_none(folder: Folder) -> None:
    code, seen = on_a_terminal(folder, "run", "suite.yaml", term="dumb")

    assert code == 1
    assert "\x1b" not in seen
    assert seen.startswith("capitals  FAILED")


HANGS = """\
import asyncio, os, signal

async def answer(task):
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
"""


def test_who_ends_a_run_at_once_gets_the_cursor_back(folder: Folder) -> None:
    folder.write("hangs.py", HANGS)
    folder.write("suite.yaml", CAPITALS.replace("subject: answerer", 'subject: {python: "hangs:answer"}'))

    code, seen = on_a_terminal(folder, "run", "suite.yaml", "--concurrency", "1")

    assert code == 130
    assert "Traceback" not in seen
    _, _, after = seen.rpartition("\x1b[?25l")
    assert "\x1b[?25h" in after
    assert "interrupted; 0 of 4 trials are kept: jurat resume" in after


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "report", "markdown", "html", "junit"])
def test_what_a_model_wrote_steers_no_terminal_in_any_format(folder: Folder, form: str) -> None:
    steering = "\x1b]0;owned\x07 \x9b31m \u202e right"
    case = {"name": "a", "output": steering, "assertions": [{"type": "contains", "value": "right"}]}
    folder.write("steering.yaml", json.dumps({"suite": "s", "cases": [case]}))
    folder.jurat("run", "steering.yaml")

    code, seen = on_a_terminal(folder, "export", "latest", "--format", form, "--include-output")

    assert code == 0
    assert not set(seen) & {"\x1b", "\x07", "\x9b", "\u202e"}
    if form != "html":
        piped = folder.jurat("export", "latest", "--format", form, "--include-output").out
        assert ("\u202e" in piped) == (form in ("csv", "jsonl", "json", "report"))
