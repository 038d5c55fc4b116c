"""What of a person's code makes a subject another one: its file, and what that imports of the suite's folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jurat.provider.python import load_function
from jurat.subject.function import PythonSubject
from jurat.subject.sources import source_hash

FILES = {
    "src_main.py": "import src_help\nfrom src_pack import part\n\ndef f(task):\n    import src_late\n    return 'x'\n",
    "src_help.py": "import src_deep\nimport json\nv = 1\n",
    "src_deep.py": "import src_main\n",
    "src_late.py": "v = 1\n",
    "src_pack/__init__.py": "",
    "src_pack/part.py": "from . import near\nfrom .other import v\n",
    "src_pack/near.py": "v = 1\n",
    "src_pack/other.py": "v = 1\n",
    "src_idle.py": "v = 1\n",
    "src_door.py": "from src_main import f\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("src_")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("file", "counts"),
    [(name, name not in ("src_idle.py", "src_door.py")) for name in FILES],
)
def test_what_the_function_imports_of_the_folder_makes_it_another(folder: Path, file: str, counts: bool) -> None:
    function = load_function("src_main:f", folder)
    before = source_hash(function, "src_main:f", folder)

    (folder / file).write_text(FILES[file] + "w = 2\n")

    assert (source_hash(function, "src_main:f", folder) != before) is counts


def test_the_module_by_which_a_function_is_named_counts_too(folder: Path) -> None:
    function = load_function("src_door:f", folder)
    before = source_hash(function, "src_door:f", folder)

    (folder / "src_door.py").write_text(FILES["src_door.py"] + "w = 2\n")

    assert source_hash(function, "src_door:f", folder) != before


def test_a_helper_that_cannot_be_parsed_and_line_ends_change_nothing_else(folder: Path) -> None:
    function = load_function("src_main:f", folder)
    before = source_hash(function, "src_main:f", folder)

    (folder / "src_late.py").write_bytes(b"v = 1\r\n")
    assert source_hash(function, "src_main:f", folder) == before

    (folder / "src_late.py").write_text("v = (\n")
    assert source_hash(function, "src_main:f", folder) != before


def test_code_from_outside_of_the_folder_is_not_followed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    function = load_function("src_main:f", folder)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    before = source_hash(function, "src_main:f", elsewhere)

    (folder / "src_help.py").write_text("v = 2\n")

    assert source_hash(function, "src_main:f", elsewhere) == before == source_hash(function)


def test_a_helper_that_changed_is_another_subject_with_other_keys(folder: Path) -> None:
    first = PythonSubject.named("src_main:f", base_dir=folder)
    (folder / "src_help.py").write_text("v = 2\n")
    second = PythonSubject.named("src_main:f", base_dir=folder)

    assert first.identity["source"] != second.identity["source"]
