"""Files that commands write: whole or not there, and never in the place of another one."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from jurat.cli._output import refuse_unwritable, whole_file
from jurat.errors import AuthoringError, StoreError


@pytest.fixture
def no_room() -> Iterator[None]:
    """No file may grow beyond a thousand bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_takes_its_name_when_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("before")

    with whole_file(target) as stream:
        stream.write(b"after")
        stream.flush()
        assert target.read_text() == "before"

    assert target.read_text() == "after"
    assert list(tmp_path.iterdir()) == [target]


def test_a_disk_without_room_leaves_what_stood_there_and_nothing_beside_it(tmp_path: Path, no_room: None) -> None:
    target = tmp_path / "report.json"
    target.write_text("before")

    with (
        pytest.raises(StoreError, match=r"report\.json: cannot be written: File too large"),
        whole_file(target) as stream,
    ):
        stream.write(b"x" * 100_000)

    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_a_writer_that_gives_up_leaves_what_stood_there(tmp_path: Path, kind: type[BaseException]) -> None:
    target = tmp_path / "report.json"
    target.write_text("before")

    with pytest.raises(kind), whole_file(target):
        raise kind

    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to("there/real.json")

    with whole_file(link) as stream:
        stream.write(b"x")

    assert link.is_symlink()
    assert (tmp_path / "there" / "real.json").read_text() == "x"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", "a directory"),
        ("file/report.json", "a file where its folder should be"),
        ("/dev/null", "a device or a pipe"),
        ("\0", "a name that no file can have"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_written_is_told_beforehand(tmp_path: Path, path: str, found: str) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(AuthoringError, match=found):
        refuse_unwritable(tmp_path / path, "report")


def test_the_folder_of_a_report_is_made(tmp_path: Path) -> None:
    refuse_unwritable(tmp_path / "deep" / "down" / "report.json", "report")

    assert (tmp_path / "deep" / "down").is_dir()
