"""`jurat report check`: a report is sound, or every contradiction in it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import Folder

SUITE = """
schema_version: 1
suite: two
cases:
  - {name: a, output: good, assertions: [{type: contains, value: good}]}
  - {name: b, output: bad, assertions: [{type: contains, value: good}]}
"""


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """A folder with a run's report as it is, and as it is handed on."""
    for folder in Folder.entered(tmp_path, monkeypatch):
        folder.write("suite.yaml", SUITE)
        folder.jurat("run", "suite.yaml", "--report", "json=own.json", "--report", "report=handed.json")
        yield folder


def test_a_sound_report_is_told_in_a_line(reports: Folder) -> None:
    told = reports.jurat("report", "check", "own.json", "handed.json")

    assert told.code == 0
    assert [line.partition(": sound, run ")[0] for line in told.out.splitlines()] == ["own.json", "handed.json"]
    assert told.out.count(" of two, 2 cases, failed") == 2


def test_a_contradiction_hides_no_other_report(reports: Folder) -> None:
    text = Path("own.json").read_text("utf-8")
    Path("edited.json").write_text(text.replace('"status":"fail"', '"status":"pass"', 1), "utf-8")

    told = reports.jurat("report", "check", "edited.json", "own.json", "missing.json")

    assert told.code == 2
    assert told.out.startswith("own.json: sound")
    assert "edited.json: cases[1].status: expected fail, found pass" in told.err
    assert "missing.json: FILE: expected the file of a report, found No such file" in told.err


def test_what_says_that_it_keeps_something_back_has_to_keep_it(reports: Folder) -> None:
    text = Path("handed.json").read_text("utf-8")
    Path("told.json").write_text(text.replace('"reason":null', '"reason":"It is so."', 1), "utf-8")

    assert "expected nothing of what is kept back" in reports.jurat("report", "check", "told.json").err


def test_only_what_is_handed_on_is_admitted_where_that_is_asked(reports: Folder) -> None:
    assert reports.jurat("report", "check", "--handed-on", "handed.json").code == 0
    assert reports.jurat("report", "check", "--handed-on", "own.json").code == 2
