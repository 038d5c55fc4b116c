"""A folder with a suite whose subject and judge are scripts, and the program in it: here, or as its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jurat.cli.app import app

__all__ = ["CAPITALS", "Done", "Folder", "on_a_terminal"]

CAPITALS = """\
schema_version: 1
suite: capitals
providers:
  - name: answerer
    kind: scripted
    order: by_request
    call_log: calls.txt
    replies:
      - {match: France, text: "The capital of France is Paris."}
      - {match: Spain, text: "It is Lisbon."}
      - {match: Italy, error: network_error}
      - {text: "I do not know."}
  - name: judge
    kind: scripted
    order: by_request
    call_log: calls.txt
    replies:
      - {match: Paris, json: {evidence: [{message_index: 1, quote: "Paris"}], reason: "It says so.", score: 95}}
      - {json: {evidence: [{message_index: 1, quote: "Lisbon"}], reason: "Another city.", score: 5}}
prompt: "What is the capital of {{country}}?"
subject: answerer
assertions:
  - {type: rubric_judge, template: correctness, provider: judge, threshold: 85}
cases:
  - name: france
    variables: {country: France}
    expected: Paris
    labels: [right]
    assertions: [{type: contains, value: Paris}]
  - {name: spain, variables: {country: Spain}, expected: Madrid, labels: [wrong]}
  - {name: italy, variables: {country: Italy}, expected: Rome, labels: [broken]}
  - {name: peru, variables: {country: Peru}, expected: Lima, labels: [broken]}
"""
"""France passes, Spain fails, Italy's subject fails, Peru's judge quotes what is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Folder:
    """A working directory with the suite `suite.yaml`; see `entered`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("suite.yaml", CAPITALS)

    @classmethod
    def entered(cls, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
        """The same as the working directory of this process, for a fixture; modules imported from it are forgotten."""
        monkeypatch.chdir(path)
        for name in ("JURAT_STORE", "JURAT_DEBUG", "OPENAI_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(sys, "path", [*sys.path])
        before = set(sys.modules)
        yield cls(path)
        for name in set(sys.modules) - before:
            if str(path) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]

    def write(self, name: str, text: str) -> Path:
        """A file in it."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    @property
    def calls(self) -> list[str]:
        """The keys of all calls that scripts were sent so far."""
        log = self.path / "calls.txt"
        return log.read_text().split() if log.exists() else []

    def jurat(self, *words: str) -> Done:
        """The program, in this process."""
        done = CliRunner().invoke(app, words)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Done(code=done.exit_code, out=done.stdout, err=done.stderr)

    def run(self, *words: str, streams: str = "", first: str = "") -> Done:
        """The program in a process of its own, to its end.

        Args:
            streams: how its standard streams are redirected, as a shell wants it.
            first: what the shell does before, such as setting limits.
        """
        program = [sys.executable, "-c", "from jurat.cli import main; main()", *words]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("JURAT_")}
        done = subprocess.run(
            ["bash", "-c", f'{first or ":"}; "$@" {streams}', "bash", *program],
            cwd=self.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(code=done.returncode, out=done.stdout, err=done.stderr)


def on_a_terminal(folder: Folder, *words: str, term: str = "xterm-256color") -> tuple[int, str]:
    """The program's code, and everything that its terminal got."""
    import pty  # not on every system

    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "JURAT_STORE")}
    process = subprocess.Popen(
        [sys.executable, "-c", "from jurat.cli import main; main()", *words],
        cwd=folder.path,
        env={**environment, "TERM": term, "COLUMNS": "80", "LINES": "24"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # which is how a terminal ends on Linux
        while piece := os.read(ours, 65_536):
            seen += piece
    os.close(ours)
    return process.wait(), seen.decode()
