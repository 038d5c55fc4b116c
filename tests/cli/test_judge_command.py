"""`jurat judge` as a program: what it refuses, what it leaves alone, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUBRIC = """\
name: own
revision: v1
definition: How clear it is.
range: [0, 1]
pass_threshold: 0.6
criteria:
  - {id: clear, description: It is clear., min: 0, max: 1}
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    rows = [{"id": f"r{number}", "output": f"text {number}", "also": "x"} for number in range(1, 6)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    reply = json.dumps({"json": {"evidence": [], "reason": "Because.", "score": 80}})
    (tmp_path / "replies.yaml").write_text(f"- {reply}\n" * 50)
    (tmp_path / "other.yaml").write_text(f"- {reply}\n" * 50)
    (tmp_path / "jurat.toml").write_text(
        '[[providers]]\nname = "a"\nkind = "scripted"\nreplies_file = "replies.yaml"\n'
        '[[providers]]\nname = "b"\nkind = "scripted"\nreplies_file = "replies.yaml"\n'
    )
    return tmp_path


BASE = ("rows.jsonl", "--rubric-text", "It is clear.", "--provider", "a", "--pass-rate", "0")


def jurat(desk: Path, *options: str, streams: str = "", base: tuple[str, ...] = BASE) -> tuple[int, str, str]:
    """Run it; with `streams`, its standard streams are redirected so."""
    program = [sys.executable, "-c", "from jurat.cli import main; main()", "judge", *base, *options]
    command = ["bash", "-c", f'"$@" {streams}', "bash", *program]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JURAT_")}
    done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--threshold", "10"),
        ("--evidence", "required"),
        ("--samples", "2"),
        ("--reducer", "any"),
        ("--map", "context=also"),
        ("--keep", "also"),
        ("--provider", "b"),
        ("--rubric-text", "It is kind."),
        ("--contract", "criteria/v1"),
    ],
)
def test_a_job_is_not_resumed_with_options_that_change_verdicts(desk: Path, options: tuple[str, ...]) -> None:
    assert jurat(desk, "--out", "v.jsonl", "--limit", "2")[0] == 0
    before = (desk / "v.jsonl").read_bytes()

    code, _, said = jurat(desk, "--out", "v.jsonl", "--resume", *options)

    assert code == 2, said
    assert "Give the same input and options as before" in said
    assert (desk / "v.jsonl").read_bytes() == before


def test_a_job_is_resumed_with_options_that_change_no_verdict(desk: Path) -> None:
    assert jurat(desk, "--out", "v.jsonl", "--limit", "2")[0] == 0

    options = ("--concurrency", "2", "--limit", "4", "--show", "0", "--cache", "read", "--pass-rate", "0.5")
    code, _, said = jurat(desk, "--out", "v.jsonl", "--resume", *options)

    assert code == 0, said
    lines = [json.loads(line) for line in (desk / "v.jsonl").read_text().splitlines()]
    assert [line["row"] for line in lines] == [1, 2, 3, 4]
    assert len({line["job"] for line in lines}) == 1


def test_a_reader_that_goes_away_does_not_end_the_job(desk: Path) -> None:
    code, _, said = jurat(desk, "--out", "v.jsonl", streams="| true; exit ${PIPESTATUS[0]}")

    assert (code, said) == (0, "")
    assert len((desk / "v.jsonl").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("streams", "code", "told"),
    [
        (">&-", 3, ""),
        (">/dev/full", 4, "standard output: No space left on device; nothing more is printed there\n"),
        ("| true; exit ${PIPESTATUS[0]}", 3, ""),
    ],
)
def test_the_exit_code_is_the_jobs_own_unless_the_disk_is_full(desk: Path, streams: str, code: int, told: str) -> None:
    (desk / "replies.yaml").write_text("- error: network_error\n" * 50)

    found = jurat(desk, "--out", "v.jsonl", "--pass-rate", "1", streams=streams)

    assert (found[0], found[2]) == (code, told)
    assert len((desk / "v.jsonl").read_text().splitlines()) == 5


def test_rows_from_a_closed_standard_input_are_refused(desk: Path) -> None:
    code, _, said = jurat(desk, streams="<&-", base=("-", *BASE[1:]))

    assert code == 2
    assert "standard input: INPUT: expected rows, found it closed" in said


@pytest.mark.parametrize(
    "options",
    [
        ("--map", "output=nowhere"),
        ("--provider", "nobody"),
        ("--rubric-text", ""),
        ("--threshold", "1e9"),
        ("--store", "rows.jsonl/x.db"),
    ],
)
def test_nothing_is_overwritten_before_everything_is_known_to_be_fine(desk: Path, options: tuple[str, ...]) -> None:
    assert jurat(desk, "--out", "v.jsonl")[0] == 0
    before = (desk / "v.jsonl").read_bytes()

    code, _, said = jurat(desk, "--out", "v.jsonl", "--overwrite", *options)

    assert code in (2, 4), said
    assert (desk / "v.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("rows.jsonl", "the input"),
        ("sub/../rows.jsonl", "the input"),
        ("link", "the input"),
        ("jurat.toml", "the configuration file"),
        ("replies.yaml", "the file of provider a"),
        (".jurat/jurat.db", "the store"),
        (".jurat/jurat.db-wal", "the store"),
    ],
)
def test_the_verdict_file_is_a_file_of_its_own(desk: Path, out: str, words: str) -> None:
    (desk / "sub").mkdir()
    (desk / "link").symlink_to("rows.jsonl")
    before = {path: path.read_bytes() for path in desk.iterdir() if path.is_file()}

    code, _, said = jurat(desk, "--out", out, "--overwrite")

    assert code == 2
    assert f"expected a file of its own, found {words}" in said
    assert {path: path.read_bytes() for path in desk.iterdir() if path.is_file()} == before


def test_the_rubric_file_is_not_written_over(desk: Path) -> None:
    (desk / "own.yaml").write_text(RUBRIC)

    base = ("rows.jsonl", "--rubric", "own.yaml", "--provider", "a")
    code, _, said = jurat(desk, "--out", "own.yaml", "--overwrite", base=base)

    assert code == 2
    assert "found the rubric file" in said


def test_standard_output_is_no_verdict_file(desk: Path) -> None:
    code, _, said = jurat(desk, "--out", "/dev/stdout", streams="> all.txt")

    assert code == 2
    assert "found standard output" in said


@pytest.mark.parametrize(("out", "found"), [(".", "a directory"), ("/dev/null", "a device or a pipe")])
def test_a_verdict_file_that_is_no_file_is_refused(desk: Path, out: str, found: str) -> None:
    code, _, said = jurat(desk, "--out", out)

    assert code == 2
    assert f"expected a file, found {found}" in said
