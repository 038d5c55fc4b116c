"""`jurat judge` as a program: what it refuses, what it leaves alone, how it ends.

Where a test is about streams, about the end, or about a second process that goes on, each command is one of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import Done, Folder

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
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    for folder in Folder.entered(tmp_path, monkeypatch):
        rows = [{"id": f"r{number}", "output": f"text {number}", "also": "x"} for number in range(1, 6)]
        folder.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        reply = json.dumps({"json": {"evidence": [], "reason": "Because.", "score": 80}})
        folder.write("replies.yaml", f"- {reply}\n" * 50)
        folder.write("other.yaml", f"- {reply}\n" * 50)
        folder.write(
            "jurat.toml",
            '[[providers]]\nname = "a"\nkind = "scripted"\nreplies_file = "replies.yaml"\n'
            '[[providers]]\nname = "b"\nkind = "scripted"\nreplies_file = "replies.yaml"\n',
        )
        yield folder


BASE = ("rows.jsonl", "--rubric-text", "It is clear.", "--provider", "a", "--pass-rate", "0")


def jurat(desk: Folder, *options: str, base: tuple[str, ...] = BASE) -> Done:
    """Judge the rows, in this process."""
    return desk.jurat("judge", *base, *options)


def program(desk: Folder, *options: str, streams: str = "", base: tuple[str, ...] = BASE) -> Done:
    """Judge them in a process of its own; with `streams`, its standard streams are redirected so."""
    return desk.run("judge", *base, *options, streams=streams)


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
def test_a_job_is_not_resumed_with_options_that_change_verdicts(desk: Folder, options: tuple[str, ...]) -> None:
    assert jurat(desk, "--out", "v.jsonl", "--limit", "2").code == 0
    before = (desk.path / "v.jsonl").read_bytes()

    done = jurat(desk, "--out", "v.jsonl", "--resume", *options)

    assert done.code == 2, done.err
    assert "Give the same input and options as before" in done.err
    assert (desk.path / "v.jsonl").read_bytes() == before


def test_a_job_is_resumed_with_options_that_change_no_verdict(desk: Folder) -> None:
    assert program(desk, "--out", "v.jsonl", "--limit", "2").code == 0

    options = ("--concurrency", "2", "--limit", "4", "--show", "0", "--cache", "read", "--pass-rate", "0.5")
    done = program(desk, "--out", "v.jsonl", "--resume", *options)

    assert done.code == 0, done.err
    lines = [json.loads(line) for line in (desk.path / "v.jsonl").read_text().splitlines()]
    assert [line["row"] for line in lines] == [1, 2, 3, 4]
    assert len({line["job"] for line in lines}) == 1


def test_a_reader_that_goes_away_does_not_end_the_job(desk: Folder) -> None:
    done = program(desk, "--out", "v.jsonl", streams="| true; exit ${PIPESTATUS[0]}")

    assert (done.code, done.err) == (0, "")
    assert len((desk.path / "v.jsonl").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("streams", "code", "told"),
    [
        (">&-", 3, ""),
        (">/dev/full", 4, "standard output: No space left on device; nothing more is printed there\n"),
        ("| true; exit ${PIPESTATUS[0]}", 3, ""),
    ],
)
def test_the_exit_code_is_the_jobs_own_unless_the_disk_is_full(
    desk: Folder, streams: str, code: int, told: str
) -> None:
    (desk.path / "replies.yaml").write_text("- error: network_error\n" * 50)

    done = program(desk, "--out", "v.jsonl", "--pass-rate", "1", streams=streams)

    assert (done.code, done.err) == (code, told)
    assert len((desk.path / "v.jsonl").read_text().splitlines()) == 5


def test_rows_from_a_closed_standard_input_are_refused(desk: Folder) -> None:
    done = program(desk, streams="<&-", base=("-", *BASE[1:]))

    assert done.code == 2
    assert "standard input: INPUT: expected rows, found it closed" in done.err


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
def test_nothing_is_overwritten_before_everything_is_known_to_be_fine(desk: Folder, options: tuple[str, ...]) -> None:
    assert jurat(desk, "--out", "v.jsonl").code == 0
    before = (desk.path / "v.jsonl").read_bytes()

    done = jurat(desk, "--out", "v.jsonl", "--overwrite", *options)

    assert done.code in (2, 4), done.err
    assert (desk.path / "v.jsonl").read_bytes() == before


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
def test_the_verdict_file_is_a_file_of_its_own(desk: Folder, out: str, words: str) -> None:
    (desk.path / "sub").mkdir()
    (desk.path / "link").symlink_to("rows.jsonl")
    before = {path: path.read_bytes() for path in desk.path.iterdir() if path.is_file()}

    done = jurat(desk, "--out", out, "--overwrite")

    assert done.code == 2
    assert f"expected a file of its own, found {words}" in done.err
    assert {path: path.read_bytes() for path in desk.path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("options", [(), ("--overwrite",), ("--resume",), ("--resume", "--overwrite"), ("--dry-run",)])
def test_that_the_verdict_file_is_the_input_is_said_before_anything_else(
    desk: Folder, options: tuple[str, ...]
) -> None:
    before = (desk.path / "rows.jsonl").read_bytes()

    done = jurat(desk, "--out", "rows.jsonl", *options)

    assert (done.code, done.out) == (2, "")
    assert done.err == ("jurat judge: 1 fault\n  rows.jsonl: --out: expected a file of its own, found the input\n")
    assert (desk.path / "rows.jsonl").read_bytes() == before


@pytest.mark.parametrize("out", ["jurat.toml", "replies.yaml"])
def test_another_file_that_is_needed_is_called_what_it_is(desk: Folder, out: str) -> None:
    done = jurat(desk, "--out", out)

    assert done.code == 2
    assert "expected a file of its own, found the " in done.err
    assert "--overwrite" not in done.err


def test_a_file_that_is_not_empty_is_neither_called_verdicts_nor_touched(desk: Folder) -> None:
    desk.write("notes.txt", "Mine.")

    done = jurat(desk, "--out", "notes.txt")

    assert done.code == 2
    assert "--out: expected a new file, found notes.txt, which is not empty. If it holds verdicts, go on" in done.err
    assert (desk.path / "notes.txt").read_text() == "Mine."


def test_columns_that_are_given_twice_count_both_times(desk: Folder) -> None:
    desk.write("other.jsonl", '{"a": "text", "b": "source", "c": 1, "d": 2}\n')
    base = ("other.jsonl", "--rubric", "groundedness", "--provider", "a", "--pass-rate", "0")
    options = ("--map", "output=a", "--map", "context=b", "--keep", "c", "--keep", "d")

    done = jurat(desk, *options, "--out", "v.jsonl", base=base)
    twice = jurat(desk, "--map", "output=a", "--map", "output=b", base=base)

    assert (done.code, done.err) == (0, "")
    assert json.loads((desk.path / "v.jsonl").read_text())["kept"] == {"c": 1, "d": 2}
    assert twice.code == 2
    assert "expected output once, found it twice" in twice.err


def test_the_rubric_file_is_not_written_over(desk: Folder) -> None:
    (desk.path / "own.yaml").write_text(RUBRIC)

    base = ("rows.jsonl", "--rubric", "own.yaml", "--provider", "a")
    done = jurat(desk, "--out", "own.yaml", "--overwrite", base=base)

    assert done.code == 2
    assert "found the rubric file" in done.err


def test_standard_output_is_no_verdict_file(desk: Folder) -> None:
    done = program(desk, "--out", "/dev/stdout", streams="> all.txt")

    assert done.code == 2
    assert "found standard output" in done.err


@pytest.mark.parametrize(("out", "found"), [(".", "a directory"), ("/dev/null", "a device or a pipe")])
def test_a_verdict_file_that_is_no_file_is_refused(desk: Folder, out: str, found: str) -> None:
    done = jurat(desk, "--out", out)

    assert done.code == 2
    assert f"expected a file, found {found}" in done.err


@pytest.mark.parametrize("options", [(), ("--format", "json"), ("--dry-run",)])
def test_what_a_template_needs_and_no_column_holds_is_told_once_and_before(
    desk: Folder, options: tuple[str, ...]
) -> None:
    base = ("rows.jsonl", "--rubric", "groundedness", "--provider", "a", "--pass-rate", "0")
    done = jurat(desk, *options, base=base)
    mapped = jurat(desk, *options, "--map", "context=also", base=base)

    assert (done.code, mapped.code, mapped.err) == (0, 0, "")
    assert "warning" not in done.out
    assert done.err == (
        "warning: groundedness needs context, and no column is mapped to it: "
        "verdicts rest on less than they should (--map context=COLUMN)\n"
    )
