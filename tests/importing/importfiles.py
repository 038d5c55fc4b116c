"""Files that are imported in tests: what becomes of them, and the command itself."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from jurat.cli.app import app
from jurat.errors import AuthoringError, Fault
from jurat.folderfiles import FolderFiles
from jurat.importing import Draft, Note, Notes, Source, compose, finished, importer_for
from jurat.suite.manifest import gather_suite
from jurat.suitecheck import checked_suite
from jurat.yamlformat import format_document
from jurat.yamltext import to_yaml

FILES = Path(__file__).parent / "files"


class Made:
    """What an import gave: the suite with its cases, and the notes."""

    def __init__(self, content: bytes | str | Any, name: str = "file.json", form: str = "auto", **options: Any) -> None:
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.notes: list[Note] = []
        notes = Notes(self.notes.append)
        source = Source(name, io.BytesIO(content), notes)
        draft = Draft(**options)
        self.cases = list(finished(importer_for(form, source).read(source, draft), draft))
        notes.close()
        self.suite = compose(draft, "file")

    @property
    def reasons(self) -> list[str]:
        return [f"{note.path}: {note.reason}" for note in self.notes]


def attempt(content: bytes, name: str, form: str) -> None:
    """Import, and let nothing but an error of the author's come out, or a suite that can be read."""
    try:
        made = Made(content, name, form)
    except AuthoringError:
        return
    if made.cases:
        text = json.dumps({**made.suite, "cases": made.cases}).encode("utf-8", "backslashreplace")
        faults: list[Fault] = []
        gather_suite(text, "suite.json", FolderFiles(FILES), faults)
        assert faults == []
        to_yaml({**made.suite, "cases": made.cases})


def command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["import", *arguments])
    return done.exit_code, done.output


def imported(folder: Path, name: str, *options: str) -> tuple[dict[str, Any], str]:
    """A fixture imported by the command as a JSON suite that is sound and laid out, and what was told."""
    file = FILES / name
    code, told = command("auto", str(file), "--out", str(folder / "suite.json"), *options)
    assert code == 0, told
    checked_suite(folder / "suite.json")
    code, again = command("auto", str(file), "--out", str(folder / "suite.yaml"), *options)
    assert (code, again) == (0, told)
    laid_out = (folder / "suite.yaml").read_bytes()
    assert format_document(laid_out, "suite.yaml").encode() == laid_out
    checked_suite(folder / "suite.yaml")
    suite: dict[str, Any] = json.loads((folder / "suite.json").read_text("utf-8"))
    return suite, told.replace(f"{FILES}/", "")


def told_of(name: str) -> str:
    """What the import of a fixture tells, as it is written down beside it."""
    return (FILES / f"{name}.told.txt").read_text("utf-8")
