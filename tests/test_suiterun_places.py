"""Lines of assertions: kept with the run, so that a report points at what its author wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from jurat.report.record import CaseRecord
from jurat.store import Store
from jurat.suite.case import Place
from jurat.suitefiles import load_suite
from jurat.suiterun import Places, RunOptions, begin, prepare, read_places

SUITE = """\
schema_version: 1
suite: lines
assertions:
  - {type: contains, value: a}
cases_file: more.csv
cases:
  - name: first
    output: a
    assertions:
      - {type: contains, value: b}
      - type: contains
        value: c
  - {name: second, output: a}
"""


async def kept(folder: Path, options: RunOptions) -> tuple[Places, list[CaseRecord]]:
    (folder / "lines.yaml").write_text(SUITE)
    (folder / "more.csv").write_text("name,output\nthird,a\n")
    store = await Store.open(folder / "x.db")
    try:
        prepared = prepare(load_suite(folder / "lines.yaml"), options)
        record = await begin(prepared, store)
        await prepared.aclose()
        return await read_places(store, record), [case async for case in store.runs.cases(record.id)]
    finally:
        await store.aclose()


async def test_every_assertion_has_its_line_the_suites_own_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    places, cases = await kept(Path(), RunOptions())

    found = {case.name: [place.line for place in places.of(case)] for case in cases}

    assert found == {"first": [4, 10, 11], "second": [4], "third": [4]}
    assert {place.file for case in cases for place in places.of(case)} == {"lines.yaml"}


async def test_a_filter_leaves_the_lines_with_their_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    places, cases = await kept(Path(), RunOptions(filter="!third"))

    assert [[place.line for place in places.of(case)] for case in cases] == [[4, 10, 11], [4]]


def test_a_run_that_has_kept_nothing_knows_no_lines() -> None:
    assert Places(None).of(CaseRecord(case_index=0, name="a", case_hash="sha256:0")) == ()


def test_places_are_read_as_they_were_written() -> None:
    body = {"files": ["a.yaml", "b.yaml"], "shared": [[1, 3]], "own": {"2": [[0, 9]]}}

    found = Places(body).of(CaseRecord(case_index=2, name="a", case_hash="sha256:0"))

    assert found == (Place(file="b.yaml", line=3), Place(file="a.yaml", line=9))
