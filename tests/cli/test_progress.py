"""How far a judging job is: measured by the lines that are decided, not by those that were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from jurat.cli._progress import line_count


@pytest.mark.parametrize(
    ("content", "lines"), [(b"", 0), (b"{}", 1), (b"{}\n", 1), (b"{}\n{}", 2), (b"{}\r\n{}\r\n", 2), (b"\n\n", 2)]
)
def test_the_lines_of_a_file_are_counted_and_its_place_is_kept(tmp_path: Path, content: bytes, lines: int) -> None:
    (tmp_path / "rows.jsonl").write_bytes(content)
    with (tmp_path / "rows.jsonl").open("rb") as stream:
        assert line_count(stream, len(content)) == lines
        assert stream.read() == content


def test_what_is_large_or_no_text_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"\n\n")
    with (tmp_path / "rows.parquet").open("rb") as stream:
        assert line_count(stream, 2) is None
        assert line_count(stream, None) is None
    (tmp_path / "rows.csv").write_bytes(b"\n")
    with (tmp_path / "rows.csv").open("rb") as stream:
        assert line_count(stream, 65 * 1024 * 1024) is None
