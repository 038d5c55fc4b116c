"""Files that a person names: a pipe or a device in the place of one is refused at once, wherever files are read.

A test of these that fails hangs: nobody writes to the pipe.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jurat.regularfiles import open_regular, read_regular
from suitefolder import Folder

PIPE = "a pipe, which is not read"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def pipe(folder: Folder, name: str) -> None:
    place = folder.path / name
    place.parent.mkdir(exist_ok=True)
    os.mkfifo(place)


def test_a_regular_file_is_read_through_links_as_far_as_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")

    assert read_regular(tmp_path / "link") == b"content"
    assert read_regular(tmp_path / "link", 3) == b"con"


def test_what_is_no_regular_file_says_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = {}
    for place in (tmp_path / "pipe", tmp_path, tmp_path / "none", Path("/dev/zero")):
        with pytest.raises(OSError) as caught, open_regular(place):
            pass
        found[place.name] = caught.value.strerror

    assert list(found.values()) == [
        PIPE,
        "Is a directory",
        "No such file or directory",
        "a device, which is not read",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("suite", "validate", "pipe.yaml"),
        ("suite", "fmt", "pipe.yaml"),
        ("run", "pipe.yaml"),
        ("rubrics", "show", "pipe.yaml"),
        ("judge", "rows.jsonl", "--rubric", "pipe.yaml", "--provider", "scripted"),
        ("rescore", "latest", "--suite", "pipe.yaml"),
        ("compare", "pipe.json", "pipe.json"),
    ],
    ids=" ".join,
)
def test_a_pipe_in_the_place_of_a_file_is_refused_by_every_command(folder: Folder, words: tuple[str, ...]) -> None:
    folder.jurat("run", "suite.yaml")
    folder.write("rows.jsonl", '{"output": "x"}\n')
    pipe(folder, "pipe.yaml")
    pipe(folder, "pipe.json")

    done = folder.jurat(*words)

    assert done.code == 2
    assert PIPE in done.err


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "scripted", "replies_file": "pipe.jsonl"},
        {"kind": "scripted", "replies_file": "pipe.yaml"},
        {"kind": "replay", "file": "pipe.jsonl"},
    ],
    ids=lambda row: " ".join(row.values()),
)
def test_a_pipe_in_the_place_of_a_providers_file_is_refused(folder: Folder, row: dict[str, str]) -> None:
    pipe(folder, "pipe.jsonl")
    pipe(folder, "pipe.yaml")
    case = {"name": "one", "assertions": [{"type": "contains", "value": "x"}]}
    suite = {"suite": "s", "providers": [{"name": "p", **row}], "subject": "p", "prompt": "q", "cases": [case]}
    folder.write("s.json", json.dumps(suite))

    done = folder.jurat("suite", "validate", "s.json")

    assert done.code == 2
    assert PIPE in done.err


def test_a_configuration_that_is_a_pipe_is_none(folder: Folder) -> None:
    pipe(folder, "jurat.toml")

    assert folder.jurat("suite", "validate", "suite.yaml").code == 0
