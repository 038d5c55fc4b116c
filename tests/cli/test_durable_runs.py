"""What a run leaves is whole, whatever happens to its process, and going on with it costs what is missing and no more.

The larger stories are told, and checked, by the programs in `benchmarks/`; here they are told once, and short.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jurat.report.run_report import comparable
from suitefolder import CAPITALS, Folder

PROGRAMS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def tell(program: str, *options: str) -> str:
    """Run a program; what it prints, once it has found no fault."""
    command = [sys.executable, str(PROGRAMS / program), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def query(folder: Folder, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder.path / ".jurat/jurat.db")) as store, store:
        store.execute("PRAGMA foreign_keys=ON")
        return store.execute(sql).fetchall()


def break_off(folder: Folder, *missing: str) -> None:
    """Leave the one run as a kill would have left it before these cases' trials were there."""
    for name in missing:
        query(folder, f"DELETE FROM trials WHERE case_index = (SELECT case_index FROM cases WHERE name = '{name}')")
    query(folder, "UPDATE runs SET status = 'interrupted', gate = NULL, finished_at = NULL")
    query(folder, "UPDATE cases SET status = NULL")


# --- killed, ended, at once ----------------------------------------------------------------------------------------


def test_a_killed_run_that_is_resumed_leaves_the_report_of_an_undisturbed_one_and_pays_for_nothing_twice() -> None:
    told = tell("kill_runs.py", "--kills", "2", "--trials", "40", "--seed", "3")

    assert re.search(r"\b2 kills in \d+ stories of 40 trials", told)  # how many stories depends on the moments
    assert "faults: 0" in told


@pytest.mark.slow
def test_two_runs_and_a_reader_share_one_store_and_a_run_at_work_is_left_to_its_process() -> None:
    told = tell("runs_at_once.py", "--seconds", "2", "--trials", "20")

    assert told.count("faults: 0") == 2


@pytest.mark.slow
@pytest.mark.parametrize("program", ["kill_runs.py", "endings.py", "runs_at_once.py", "run_scale.py"])
def test_the_larger_stories_find_no_fault(program: str) -> None:
    assert tell(program, "--quick")


# --- going on ------------------------------------------------------------------------------------------------------


def test_going_on_reads_the_cases_that_are_left_and_no_others(folder: Folder) -> None:
    # The policy looks at a label, and the judge is another, that only cases which are done have to do with.
    folder.write("suite.yaml", CAPITALS + "policy: [{type: label_pass_rate, label: right, minimum: 1}]\n")
    whole = folder.jurat("run", "suite.yaml", "--format", "json").json
    break_off(folder, "peru")
    query(folder, "DELETE FROM snapshots WHERE hash IN (SELECT case_hash FROM cases WHERE name <> 'peru')")
    calls = len(folder.calls)

    resumed = folder.jurat("resume", "latest", "--format", "json")

    assert resumed.code == 0, resumed.err
    told = resumed.json
    known = [case["name"] for case in told["cases"] if case.pop("content", None)]
    assert known == [case["name"] for case in whole["cases"] if case.pop("content") and case["name"] == "peru"]
    assert comparable(told) == comparable(whole)
    assert len(folder.calls) == calls


def test_a_run_of_which_nothing_is_left_but_its_end_is_ended(folder: Folder) -> None:
    whole = folder.jurat("run", "suite.yaml", "--format", "json").json
    break_off(folder)
    calls = len(folder.calls)

    resumed = folder.jurat("resume", "latest", "--format", "json")

    assert comparable(resumed.json) == comparable(whole)
    assert len(folder.calls) == calls


TWINS = """\
schema_version: 1
suite: twins
providers:
  - name: answerer
    kind: scripted
    prices: {input: 1, output: 1}
    replies: [{text: "Paris.", usage: {input_tokens: 1000, output_tokens: 1000}}]
prompt: "What is the capital of {{country}}?"
subject: answerer
assertions: [{type: contains, value: Paris}]
cases:
  - {name: first, variables: {country: France}}
  - {name: second, variables: {country: France}}
"""


@pytest.mark.parametrize("missing", [("first",), ("second",), ("first", "second")])
def test_what_two_cases_share_is_paid_for_by_the_first_however_a_run_is_broken_off(
    folder: Folder, missing: tuple[str, ...]
) -> None:
    folder.write("twins.yaml", TWINS)
    whole = folder.jurat("run", "twins.yaml", "--format", "json").json
    costs = [case["trials"][0]["subject"]["spending"]["cost_usd"] for case in whole["cases"]]
    assert costs == [0.002, 0.0]
    break_off(folder, *missing)

    assert comparable(folder.jurat("resume", "latest", "--format", "json").json) == comparable(whole)


@pytest.mark.parametrize("missing", [("first",), ("second",), ("first", "second")])
def test_so_is_a_shared_reply_that_is_no_verdict(folder: Folder, missing: tuple[str, ...]) -> None:
    judge = TWINS[TWINS.index("  - name: answerer") : TWINS.index("prompt:")].replace("answerer", "judge")
    suite = TWINS.replace("prompt:", judge + "prompt:")
    folder.write(
        "twins.yaml", suite.replace("contains, value: Paris", "rubric_judge, template: safety, provider: judge")
    )
    whole = folder.jurat("run", "twins.yaml", "--format", "json").json
    spent = [case["trials"][0]["assessments"][0]["spending"] for case in whole["cases"]]
    assert [(one["attempts"], one["cost_usd"]) for one in spent] == [(1, 0.002), (0, 0.0)]
    break_off(folder, *missing)

    assert comparable(folder.jurat("resume", "latest", "--format", "json").json) == comparable(whole)


# --- what is counted -----------------------------------------------------------------------------------------------


def test_the_rows_that_have_a_score_are_those_behind_the_means(folder: Folder) -> None:
    report = folder.jurat("run", "suite.yaml", "--samples", "2", "--format", "json").json

    rows = query(folder, "SELECT assertion, count(score) FROM run_results GROUP BY assertion")
    told = [(one["name"], one["score"]["n"]) for one in report["summary"]["assertions"]]
    assert sorted(rows) == told == [("contains", 2), ("rubric_judge", 4)]


def test_two_judges_by_one_rubric_are_two_assertions_and_both_are_kept(folder: Folder) -> None:
    second = "  - {type: rubric_judge, template: correctness, provider: other, threshold: 85}\n"
    other = "  - {name: other, kind: scripted, model: m2, replies: [{json: {evidence: [], reason: No., score: 1}}]}\n"
    text = CAPITALS.replace("cases:\n", second + "cases:\n").replace("prompt:", other + "prompt:")
    folder.write("suite.yaml", text)

    report = folder.jurat("run", "suite.yaml", "--filter", "spain", "--format", "json").json

    (trial,) = report["cases"][0]["trials"]
    assert [(one["name"], one["result"]["score"]) for one in trial["assessments"]] == [
        ("rubric_judge", 5.0),
        ("rubric_judge#2", 1.0),
    ]
    assert [one["name"] for one in report["summary"]["assertions"]] == ["rubric_judge", "rubric_judge#2"]


def test_after_trying_errors_anew_there_is_one_row_for_each_trial(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")
    for _ in range(2):
        folder.jurat("resume", "latest", "--retry-errors")

    report = json.loads(folder.jurat("export", "latest").out)

    assert Counter(case["name"] for case in report["cases"]) == Counter(["france", "spain", "italy", "peru"])
    assert report["summary"]["cases"]["total"] == 4
    assert query(folder, "SELECT count(*) FROM trials") == [(4,)]


def test_a_report_that_cannot_be_written_to_its_end_leaves_the_summary_whole(folder: Folder) -> None:
    plain = folder.run("run", "suite.yaml", "--samples", "20").out

    # A file may have 64 KiB: enough for reading the store, too little for the report.
    report = ("--format", "json", "--include-output", "--output", "report.json")
    done = folder.run("export", "latest", *report, first="ulimit -f 64")
    told = folder.run("resume", "latest", *report, first="ulimit -f 64")

    assert (done.code, told.code) == (4, 4)
    assert "report.json: cannot be written: File too large" in done.err
    assert "report.json: cannot be written: File too large" in told.err
    assert told.out == plain
    assert not list(folder.path.glob("*report.json*"))


@pytest.mark.parametrize("command", ["run", "resume", "rescore", "judge", "export"])
def test_the_help_of_what_ends_with_a_verdict_lists_its_exit_codes(folder: Folder, command: str) -> None:
    assert "Exit codes:" in " ".join(folder.jurat(command, "--help").out.split())
