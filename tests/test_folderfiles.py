"""A suite reads its own folder and nothing else."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from jurat.errors import AuthoringError, Fault
from jurat.folderfiles import FolderFiles


def refusal(folder: Path, path: str, *, limit: int = 100) -> Fault:
    """The one fault of a file that may not be read."""
    with pytest.raises(AuthoringError) as caught:
        FolderFiles(folder).read(path, limit=limit)
    (fault,) = caught.value.faults
    return fault


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite's folder, with a file in it and a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret")
    inside = tmp_path / "suite"
    (inside / "docs").mkdir(parents=True)
    (inside / "docs" / "faq.md").write_text("Questions")
    return inside


@pytest.mark.parametrize("path", ["docs/faq.md", "./docs//faq.md", "docs/../docs/faq.md"])
def test_a_file_of_the_folder_is_read(folder: Path, path: str) -> None:
    files = FolderFiles(folder)

    assert files.read(path, limit=9) == b"Questions"
    with files.open(path) as opened:
        assert opened.read() == b"Questions"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("../secret.txt", "'../secret.txt', which leads out of it"),
        ("docs/../../secret.txt", "'docs/../../secret.txt', which leads out of it"),
        ("../suite/docs/faq.md", "'../suite/docs/faq.md', which leads out of it"),
        ("../../etc/passwd", "'../../etc/passwd', which leads out of it"),
        ("/etc/passwd", "'/etc/passwd', an absolute one"),
        ("\\\\server\\share\\a.txt", "'\\\\\\\\server\\\\share\\\\a.txt', an absolute one"),
        ("C:/a.txt", "'C:/a.txt', an absolute one"),
        ("c:a.txt", "'c:a.txt', an absolute one"),
        ("file:///etc/passwd", "'file:///etc/passwd', an address"),
        ("https://example.org/a.txt", "'https://example.org/a.txt', an address"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_before_the_disk_is_asked(folder: Path, path: str, found: str) -> None:
    fault = refusal(folder, path)

    assert (fault.expected, fault.found) == ("a path inside of the suite's folder", found)


def test_back_slashes_are_refused_with_the_path_as_it_should_be_written(folder: Path) -> None:
    assert refusal(folder, "docs\\faq.md").hint == "Write docs/faq.md, on every system"


@pytest.mark.parametrize("path", ["", "  ", "docs/faq.md\x00.pdf"])
def test_what_names_no_file_is_refused(folder: Path, path: str) -> None:
    assert refusal(folder, path).expected == "the path of a file"


def test_a_file_that_is_not_there_is_told_with_the_nearest_one(folder: Path) -> None:
    fault = refusal(folder, "docs/fag.md")

    assert (fault.found, fault.hint) == ("'docs/fag.md', which is not there", "Did you mean docs/faq.md?")
    (folder / "notes.txt").touch()
    assert refusal(folder, "note.txt").hint == "Did you mean notes.txt?"
    assert refusal(folder, "nowhere/faq.md").hint is None


def test_links_are_followed_inside_of_the_folder_and_not_out_of_it(folder: Path) -> None:
    (folder / "inside.md").symlink_to("docs/faq.md")
    (folder / "out.md").symlink_to("../secret.txt")
    (folder / "away").symlink_to("..")

    assert FolderFiles(folder).read("inside.md", limit=9) == b"Questions"
    for path in ("out.md", "away/secret.txt", "away/suite/../secret.txt"):
        assert refusal(folder, path).found == f"{path!r}, which leads out of it through a link"


def test_a_folder_that_is_itself_a_link_is_the_folder_that_it_leads_to(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)

    assert FolderFiles(link).read("docs/faq.md", limit=9) == b"Questions"


def test_a_link_that_leads_to_itself_is_told(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")

    assert refusal(folder, "loop").expected == "a file of the suite's folder"


def test_folders_pipes_and_sockets_are_no_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)  # a socket's address has to be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")

        assert refusal(folder, "pipe").found == "'pipe', which is a pipe"
        assert refusal(folder, "socket").found == "'socket', which is a socket"
    assert refusal(folder, "docs").found == "'docs', which is a folder"
    assert refusal(folder, ".").found == "'.', which is a folder"


def test_devices_are_no_files() -> None:
    assert refusal(Path("/dev"), "zero").found == "'zero', which is a device"


def test_a_file_is_read_to_its_bound_and_no_further(folder: Path) -> None:
    with (folder / "large").open("wb") as large:
        large.truncate(2**40)  # a terabyte that takes no room

    fault = refusal(folder, "large", limit=3 * 2**20)

    assert (fault.expected, fault.found) == ("a file of at most 3 MiB", "'large', which is larger")
    assert refusal(folder, "docs/faq.md", limit=8).expected == "a file of at most 8 bytes"


def test_a_name_that_no_system_can_have_is_told(folder: Path) -> None:
    assert refusal(folder, "x" * 300).expected == "a file of the suite's folder"
