"""What a terminal cannot show: people get escapes, programs get UTF-8, and neither costs anybody a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import Folder

NAME = "crêpe 🍕 日本"
REASON = "❌ wrong 🍕"
SUITE = {
    "suite": "emoji",
    "providers": [
        {"name": "judge", "kind": "scripted", "replies": [{"json": {"evidence": [], "reason": REASON, "score": 5}}]}
    ],
    "assertions": [{"type": "rubric_judge", "rubric": "Is it right?", "provider": "judge"}],
    "cases": [{"name": NAME, "output": "No 🍕."}],
}
OLD = "export PYTHONIOENCODING={} PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 LC_ALL=C"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    for folder in Folder.entered(tmp_path, monkeypatch):
        folder.write("emoji.json", json.dumps(SUITE))
        yield folder


def printed(folder: Folder, encoding: str, *words: str) -> bytes:
    """What a command writes to a file by way of standard output, where the locale is an old one."""
    done = folder.run(*words, streams="> printed", first=OLD.format(encoding))
    assert (done.code, done.err) == (0, "")
    return (folder.path / "printed").read_bytes()


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_console_that_cannot_show_a_reason_costs_no_run(folder: Folder, encoding: str) -> None:
    words = ("run", "emoji.json", "--output", "report.json", "--format", "json", "--fail-on", "never")

    assert r"\u274c wrong \U0001f355" in printed(folder, encoding, *words).decode(encoding)

    (case,) = json.loads((folder.path / "report.json").read_text("utf-8"))["cases"]
    assert (case["name"], case["trials"][0]["assessments"][0]["result"]["reason"]) == (NAME, REASON)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "emoji.json", "--format", "json", "--fail-on", "never"),
        ("export", "latest"),
        ("export", "latest", "--format", "jsonl"),
        ("show", "latest", "--format", "json"),
    ],
    ids=" ".join,
)
def test_what_programs_read_is_utf_8_whatever_the_locale(folder: Folder, words: tuple[str, ...], encoding: str) -> None:
    folder.jurat("run", "emoji.json")

    told = json.dumps(json.loads(printed(folder, encoding, *words).decode("utf-8")), ensure_ascii=False)

    assert NAME in told
    assert REASON in told


def test_a_table_is_utf_8_with_its_own_line_ends_whatever_the_locale(folder: Folder) -> None:
    folder.jurat("run", "emoji.json")

    table = printed(folder, "cp1252", "export", "latest", "--format", "csv")

    assert NAME.encode() in table
    assert REASON.encode() in table
    assert table.count(b"\r\n") == table.count(b"\n") == 3


def test_a_rubric_that_is_printed_is_a_rubric_file_whatever_the_locale(folder: Folder) -> None:
    command = ("rubrics", "show", "correctness", "--format", "yaml")

    assert printed(folder, "ascii", *command) == printed(folder, "utf-8", *command)
