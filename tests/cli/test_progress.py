"""How far a judging job is: measured by the rows that are decided, out of those that will be judged."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from jurat.cli._progress import make_progress, shortened
from jurat.cli._rowcount import row_count
from jurat.judge import Judge
from jurat.metrics import Tally
from jurat.provider import make_provider
from jurat.provider.local import LocalProvider
from jurat.rubric import custom_rubric


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("r.jsonl", b"", 0),
        ("r.jsonl", b"{}", 1),
        ("r.jsonl", b"{}\n{}", 2),
        ("r.jsonl", b"{}\r\n\r\n{}\r\n", 2),
        ("r.jsonl", b"\n\n", 0),
        ("r.csv", b"output\n", 0),
        ("r.csv", b"output,id\na,1\n,\n\nb,2\n", 2),
        ("r.csv", b'output,id\n"a\n\nb",1\n"say ""no""",2\nc,3', 3),
        ("r.tsv", b"output\tid\na\t1\n", 1),
        ("r.csv", b"sep=;\noutput;id\na;1\n", 1),
        ("r.csv", b'\xef\xbb\xbf"sep=;"\r\noutput;id\r\na;1\r\n', 1),
    ],
)
def test_the_rows_of_a_file_are_counted_and_its_place_is_kept(
    tmp_path: Path, name: str, content: bytes, rows: int
) -> None:
    (tmp_path / name).write_bytes(content)
    with (tmp_path / name).open("rb") as stream:
        assert row_count(stream, len(content), None) == rows
        assert stream.read() == content


@pytest.mark.parametrize(("limit", "rows"), [(None, 5), (3, 3), (5, 5), (9, 5)])
def test_no_more_rows_are_counted_than_will_be_judged(tmp_path: Path, limit: int | None, rows: int) -> None:
    for name, content in (("r.jsonl", b"{}\n" * 5), ("r.csv", b"output\n" + b"a\n" * 5)):
        (tmp_path / name).write_bytes(content)
        with (tmp_path / name).open("rb") as stream:
            assert row_count(stream, len(content), limit) == rows


def test_what_is_large_or_no_text_or_never_closed_is_not_counted(tmp_path: Path) -> None:
    for name, content, size in (
        ("rows.parquet", b"\n\n", 2),
        ("rows.jsonl", b"{}\n", None),
        ("rows.csv", b"output\na\n", 65 * 1024 * 1024),
        ("rows.csv", b'output\n"a\nb\n', 12),
    ):
        (tmp_path / name).write_bytes(content)
        with (tmp_path / name).open("rb") as stream:
            assert row_count(stream, size, None) is None
            assert stream.read() == content


def test_what_has_no_room_in_a_line_is_left_out_from_the_end() -> None:
    parts = ["12 passed", "3 failed", "$0.0100"]

    assert shortened(parts, 28) == "12 passed  3 failed  $0.0100"
    assert shortened(parts, 27) == "12 passed  3 failed"
    assert shortened(parts, 8) == ""


def test_without_a_terminal_it_is_said_when_the_embedded_model_is_started(capsys: pytest.CaptureFixture[str]) -> None:
    provider = make_provider({"name": "x", "kind": "local"})
    assert isinstance(provider, LocalProvider)
    judge = Judge(custom_rubric("It is clear."), provider)

    with make_progress(judge, Tally(judge.rubric.score_range), None, io.BytesIO(), show=0):
        before = capsys.readouterr()
        provider.starting()

    assert (before.out, before.err) == ("", "")
    assert capsys.readouterr() == ("", "starting the model\n")
