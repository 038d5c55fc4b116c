"""What a person's code raised is told by type and place: in that person's own files, and never with what it says."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.raised import raised

CODE = """
import json

def own():
    raise KeyError("zq7canary")

def deeper():
    own()

def of_python(text):
    return json.loads(text)

def computed():
    exec("1 / 0")
"""


@pytest.fixture(name="code")
def a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module `raised_code.tone` below a folder of the import path, which is not the working directory."""
    folder = tmp_path / "suite" / "raised_code"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "tone.py").write_text(CODE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.syspath_prepend(tmp_path / "suite")
    yield importlib.import_module("raised_code.tone")
    for name in ("raised_code", "raised_code.tone"):
        sys.modules.pop(name, None)


def told(call: Callable[[], object]) -> str:
    with pytest.raises(BaseException) as caught:
        call()
    # What pytest and this file add to the way is left out, as the house calls the function itself.
    while (way := caught.value.__traceback__) is not None and way.tb_frame.f_code.co_filename == __file__:
        caught.value.__traceback__ = way.tb_next
    return raised(caught.value)


def test_the_place_is_the_innermost_one_in_the_persons_file(code: Any) -> None:
    assert told(code.own) == "raised KeyError at raised_code/tone.py:5"
    assert told(code.deeper) == "raised KeyError at raised_code/tone.py:5"


def test_the_place_within_python_or_in_computed_code_is_that_where_the_person_called_it(code: Any) -> None:
    assert told(lambda: code.of_python("zq7canary")) == "raised JSONDecodeError at raised_code/tone.py:11"
    assert told(code.computed) == "raised ZeroDivisionError at raised_code/tone.py:14"


def test_below_the_working_directory_the_file_is_named_from_there(
    code: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(code.own) == "raised KeyError at suite/raised_code/tone.py:5"


def test_the_root_of_a_disk_names_no_folder_of_the_machine(
    code: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path.anchor)
    assert told(code.own) == "raised KeyError at raised_code/tone.py:5"


def test_a_file_of_no_known_folder_is_told_by_its_name(
    code: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path / "elsewhere")])
    assert told(code.own) == "raised KeyError at tone.py:5"


@pytest.mark.skipif(sys.platform == "win32", reason="a working directory cannot be removed there")
def test_without_a_working_directory_the_type_is_told(code: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").rmdir()
    assert told(code.own) == "raised KeyError"


def test_code_of_an_installed_distribution_is_no_place_of_the_persons(tmp_path: Path) -> None:
    file = tmp_path / "site-packages" / "theirs.py"
    file.parent.mkdir()
    file.write_text(CODE)
    found: dict[str, Any] = {}
    exec(compile(CODE, str(file), "exec"), found)  # noqa: S102
    assert told(found["own"]) == "raised KeyError"


def test_what_never_reached_a_persons_code_has_no_place() -> None:
    assert told(lambda: json.loads("zq7canary")) == "raised JSONDecodeError"
    assert raised(ValueError("zq7canary")) == "raised ValueError"
