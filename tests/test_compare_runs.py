"""Comparisons in Python: what `jurat compare` tells, with types, of runs wherever they are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import jurat
from suitefolder import Folder

SUITE = """
schema_version: 1
suite: greetings
cases:
  - {name: morning, output: Good morning, assertions: [{type: contains, value: Good}]}
  - {name: evening, output: LATE, assertions: [{type: contains, value: Good}]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def ran(folder: Folder, late: str, store: str | None = None) -> jurat.Run:
    folder.write("suite.yaml", SUITE.replace("LATE", late))
    return jurat.run_suite("suite.yaml", store=store)


def test_two_runs_are_compared_as_the_command_compares_them(folder: Folder) -> None:
    base, candidate = ran(folder, "Good evening"), ran(folder, "Evening")

    found = jurat.compare_runs(base, candidate)

    told = folder.jurat("compare", base.record.id, candidate.record.id, "--format", "json").json
    assert found.document == told
    assert (found.regression, found.significant_regression) == ("found", "none")
    assert found.named("regressed") == ("evening",)
    assert found.named(jurat.Change.REGRESSED, "unchanged") == ("morning", "evening")
    assert found.counts[jurat.Change.FIXED] == 0
    assert (found.pass_rate.base, found.pass_rate.candidate, found.pass_rate.difference) == (1.0, 0.5, -0.5)
    assert found.assertions["contains"].difference == -50.0
    assert [(one.base, one.candidate) for one in found.cases] == [
        (jurat.Status.PASS, jurat.Status.PASS),
        (jurat.Status.PASS, jurat.Status.FAIL),
    ]


def test_a_run_is_given_by_itself_its_id_a_word_or_a_report(folder: Folder) -> None:
    base = ran(folder, "Evening")
    folder.jurat("export", "latest", "--output", "base.json")
    ran(folder, "Good evening")

    ways: list[jurat.Run | str | Path] = [base, base.record.id, base.record.id[:-3], "base.json", Path("base.json")]
    assert {jurat.compare_runs(way).named("fixed") for way in ways} == {("evening",)}


def test_two_runs_may_be_in_different_stores(folder: Folder) -> None:
    base, candidate = ran(folder, "Evening", "one.db"), ran(folder, "Good evening", "two.db")

    assert jurat.compare_runs(base, candidate).named("fixed") == ("evening",)
    assert jurat.compare_runs(base, candidate.record.id, store="two.db").named("fixed") == ("evening",)


def test_two_reports_need_no_store(folder: Folder) -> None:
    ran(folder, "Evening")
    folder.jurat("export", "latest", "--output", "base.json")
    for file in Path(".jurat").iterdir():
        file.unlink()

    assert jurat.compare_runs("base.json", "base.json").regression == "none"


def test_it_works_in_a_running_loop_by_either_name(folder: Folder) -> None:
    base = ran(folder, "Evening")

    async def both() -> set[jurat.Regression]:
        return {jurat.compare_runs(base, base).regression, (await jurat.acompare_runs(base, base)).regression}

    assert asyncio.run(both()) == {jurat.Regression.NONE}


def test_what_is_no_run_is_told(folder: Folder) -> None:
    base = ran(folder, "Evening")

    with pytest.raises(jurat.AuthoringError, match="candidate: expected a run, its id, or the file of a report"):
        jurat.compare_runs(base, 3)  # type: ignore[arg-type]
    with pytest.raises(jurat.AuthoringError, match="expected a run '1999'"):
        jurat.compare_runs("1999", base)
