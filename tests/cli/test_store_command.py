"""`jurat store`: what it says of a sound store, of one that was changed, and of what is none."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jurat.cli.store import app
from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.judge import Spending
from jurat.provider.protocol import Raw
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, RunStatus, Snapshot, SubjectRecord, TrialRecord
from jurat.store import Store
from jurat.vocabulary import Status, content_id

CASE = Snapshot(hash=content_id(b'{"name":"france"}'), kind="case", body={"name": "france"})
SUITE = Snapshot(hash=content_id(b'{"suite":"capitals"}'), kind="suite", body={"suite": "capitals"})
WHY = "1 case of 1 passed"
KNOWN = {"actual": 1.0, "bounds": None, "limit": 1.0, "n": 1, "undecided": 0}
GATE = {
    "schema_version": 1,
    "outcome": "passed",
    "reason": WHY,
    "policy": None,
    "rules": [{"rule": {}, "outcome": "passed", "reason": WHY, **KNOWN}],
}
TYPED = TypedError(type=ErrorCategory.MALFORMED_JSON, message="expected one JSON object, found other text")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


async def fill(place: Path) -> None:
    store = await Store.open(place)
    record = RunRecord(
        id="20261130-a",
        suite="capitals",
        suite_hash=SUITE.hash,
        status=RunStatus.RUNNING,
        created_at="2026-11-30T12:00:00Z",
        samples=1,
        reducer="all",
        cases=1,
    )
    result = {
        "type": "contains",
        "status": "pass",
        "passed": True,
        "score": 100.0,
        "reason": "It is there.",
        "evidence": [],
        "evaluator": {"status": "completed"},
        "metadata": {},
    }
    right = AssessmentRecord(name="right", type="contains", status=Status.PASS, score=100.0, result=result)
    trial = TrialRecord(
        case_index=0,
        trial_index=0,
        status=Status.PASS,
        subject=SubjectRecord(output="Paris"),
        assessments=(right,),
    )
    await store.runs.begin(record, [CaseRecord(case_index=0, name="france", case_hash=CASE.hash)], [SUITE, CASE])
    await store.runs.journal(record.id).commit([("a" * 64, Raw(body=b"1234", latency_ms=1.0))])
    await store.responses.commit([("b" * 64, Raw(body=b"12345", latency_ms=1.0))])
    await store.responses.withhold([("b" * 64, TYPED, Spending())])
    await store.runs.commit_trials(record.id, [trial])
    await store.runs.finish(record.id, RunStatus.COMPLETED, "2026-11-30T12:00:01Z", [Status.PASS], GATE)
    await store.aclose()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one run, where the working directory has it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JURAT_STORE", raising=False)
    file = tmp_path / ".jurat" / "jurat.db"
    asyncio.run(fill(file))
    return file


def change(place: Path, statement: str) -> None:
    with closing(sqlite3.connect(place, isolation_level=None)) as file:
        file.execute(statement)


def test_a_sound_store_is_said_to_be_sound(place: Path) -> None:
    found = run("verify")
    assert (found.exit_code, found.stdout) == (0, f"{place}: sound (1 runs, 1 trials, 1 assessments, 2 replies)\n")


def test_each_fault_has_a_line_and_the_code_says_that_there_are_some(place: Path) -> None:
    change(place, "UPDATE responses SET body = x'31323335' WHERE body_bytes = 4")
    change(place, "UPDATE cases SET status = 'fail'")
    found = run("verify")
    assert found.exit_code == 4
    assert found.stdout.splitlines() == [
        f"reply {'a' * 64}: the bytes are not those whose hash was stored",
        "run 20261130-a, case 0: expected the outcome pass by its trials, found fail",
        f"{place}: 2 faults (1 runs, 1 trials, 1 assessments, 2 replies)",
    ]


NOT_SO = "is not what its policy and its trials come to"
FORGED = [
    ("UPDATE runs SET gate = replace(gate, 'passed', 'failed')", [
        f"run 20261130-a: its gate.{path} {NOT_SO}" for path in ("outcome", "rules[0].outcome")]),
    ("UPDATE runs SET gate = replace(gate, '1.0', '0.9')", [
        f"run 20261130-a: its gate.rules[0].{path} {NOT_SO}" for path in ("actual", "limit")]),
    ("UPDATE runs SET gate = '[]'", [f"run 20261130-a: its gate {NOT_SO}"]),
    ("UPDATE runs SET gate = NULL", ["run 20261130-a: expected a gate exactly of a completed run, found none"]),
    ("UPDATE runs SET status = 'interrupted'", [
        "run 20261130-a: expected a gate exactly of a completed run, found one"]),
    ("UPDATE runs SET finished_at = NULL", [
        "run 20261130-a: expected the time at which it was completed, found none"]),
    ("UPDATE runs SET suite = 'other'", ["run 20261130-a: its suite is called otherwise than in its snapshot"]),
    ("UPDATE cases SET name = 'spain'", ["run 20261130-a, case 0: its name differs from its snapshot's"]),
    ("UPDATE cases SET labels = '[\"a\"]'", ["run 20261130-a, case 0: its labels differs from its snapshot's"]),
    ("UPDATE cases SET metadata = '{\"a\": 1}'", ["run 20261130-a, case 0: its metadata differs from its snapshot's"]),
    ("UPDATE cases SET labels = '5'", [
        "run 20261130-a: its figures cannot be derived from what is stored of it (TypeError)"]),
    ("UPDATE answers SET output = 'Lyon'", [
        "run 20261130-a, case 0, trial 0: what is stored of it is not what its seal was made of"]),
    ("UPDATE runs SET snapshots = '[]'", ["run 20261130-a: holds what was never written by jurat (AttributeError)"]),
]  # fmt: skip


@pytest.mark.parametrize(("forged", "told"), FORGED)
def test_a_forged_run_is_told(place: Path, forged: str, told: list[str]) -> None:
    change(place, forged)

    found = run("verify")

    assert found.exit_code == 4
    assert found.stdout.splitlines()[:-1] == told


def test_the_findings_as_json_are_for_programs(place: Path) -> None:
    assert json.loads(run("verify", "--format", "json").stdout) == {
        "store": str(place),
        "sound": True,
        "faults": 0,
        "first_faults": [],
    }
    change(place, "UPDATE cases SET status = 'fail'")
    found = json.loads(run("verify", "--format", "json").stdout)
    message = "run 20261130-a, case 0: expected the outcome pass by its trials, found fail"
    assert (found["sound"], found["faults"]) == (False, 1)
    assert found["first_faults"] == [{"key": "20261130-a", "message": message}]


def test_what_a_store_holds_is_counted(place: Path) -> None:
    lines = run("stats").stdout.splitlines()
    assert lines[:-1] == [
        str(place),
        "  runs         1",
        "  cases        1",
        "  trials       1",
        "  assessments  1",
        "  snapshots    2",
        "  replies      1 of 4 bytes; 1 withheld",
    ]
    assert lines[-1].startswith("  size         ")
    counted = json.loads(run("stats", "--format", "json").stdout)
    assert (counted["runs"], counted["trials"], counted["replies"]["withheld_bytes"]) == (1, 1, 5)


@pytest.mark.parametrize("command", ["verify", "stats"])
def test_a_store_that_is_not_there_is_not_made(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "none" / "store.db"
    found = run(command, "--store", str(missing))
    assert found.exit_code == 4
    assert found.stderr == f"{missing}: there is no store; a first run makes one, or name another by --store\n"
    assert not missing.parent.exists()


@pytest.mark.parametrize("command", ["verify", "stats"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(command: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("These are my notes. " * 100)
    found = run(command, "--store", str(notes))
    assert (found.exit_code, found.stderr) == (4, f"{notes}: the file is no SQLite database; name another file\n")
    assert notes.read_text() == "These are my notes. " * 100
