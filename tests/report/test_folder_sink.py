"""A folder that reports are written into: nothing lands outside of it, and nothing is there by half."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError, StoreError
from jurat.report import FolderSink


def write(folder: Path, name: str, data: bytes = b"new") -> None:
    with FolderSink(folder).open(name) as stream:
        stream.write(data)


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_a_report_is_written_and_folders_on_the_way_are_made(tmp_path: Path) -> None:
    write(tmp_path / "reports", "2026/11/a.json")

    assert (tmp_path / "reports/2026/11/a.json").read_bytes() == b"new"
    assert everything(tmp_path) == ["reports/2026/11/a.json"]


def test_until_it_is_whole_what_stood_there_stands(tmp_path: Path) -> None:
    write(tmp_path, "a", b"old")
    with FolderSink(tmp_path).open("a") as stream:
        stream.write(b"new")
        stream.flush()
        assert (tmp_path / "a").read_bytes() == b"old"

    assert (tmp_path / "a").read_bytes() == b"new"


def test_an_error_on_the_way_leaves_all_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, "a", b"old")

    def broken_off() -> None:
        with FolderSink(tmp_path).open("a") as stream:
            stream.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken_off()

    assert (tmp_path / "a").read_bytes() == b"old"
    assert everything(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "name",
    [
        *("", "/etc/passwd", "../a", "a/../../b", "a/..", "./a", "a//b", "a/", "C:/a", "C:a", "..\\a", "a\\b", "a\0b"),
        *("a\nb", "a\x1bb", "x" * 300, "\ud800"),
        *("con", "a/NUL.json", "Com1.txt", "a.", "a /b", "a:stream", "a?", "a*.json", 'a"b', "<a>", "a|b"),
    ],
)
def test_a_name_that_leads_elsewhere_or_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AuthoringError, match="expected a name inside of the folder"):
        write(tmp_path / "in", name)

    assert everything(tmp_path) == []


def test_a_link_in_a_reports_place_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"theirs")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a").symlink_to(tmp_path / "outside")

    write(tmp_path / "in", "a")

    assert (tmp_path / "outside").read_bytes() == b"theirs"
    assert not (tmp_path / "in/a").is_symlink()


def test_a_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in/way").symlink_to(tmp_path / "outside")

    with pytest.raises(StoreError, match="cannot be written"):
        write(tmp_path / "in", "way/a")

    assert everything(tmp_path / "outside") == []


def test_a_file_where_a_folder_should_be_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a")

    with pytest.raises(StoreError, match="a/b: cannot be written: Not a directory"):
        write(tmp_path, "a/b")


@given(name=st.text(alphabet="./\\ab\0:\n", max_size=12))
def test_no_name_leads_out(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    place = tmp_path_factory.mktemp("sink")
    try:
        write(place / "one" / "in", name)
    except (AuthoringError, StoreError):
        assert everything(place) == []
    else:
        assert len(everything(place)) == len(everything(place / "one" / "in")) == 1
