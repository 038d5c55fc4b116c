"""A folder with a suite whose subject and judge are scripts, and the program run in it, here or in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jurat.cli.app import app

__all__ = ["CAPITALS", "Done", "Folder", "slow_suite"]

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


def slow_suite(cases: int, delay_s: float, *, concurrency: int = 2) -> str:
    """A suite in which every call takes its time."""
    rows = "".join(f"  - {{name: c{number}, variables: {{n: {number}}}}}\n" for number in range(cases))
    verdict = '{evidence: [], reason: "Fine.", score: 95}'
    return (
        "schema_version: 1\nsuite: slow\nproviders:\n"
        "  - name: answerer\n    kind: scripted\n    order: by_request\n    call_log: calls.txt\n"
        f'    replies: [{{text: "An answer.", delay_s: {delay_s}}}]\n'
        "  - name: judge\n    kind: scripted\n    order: by_request\n    call_log: calls.txt\n"
        f"    replies: [{{json: {verdict}, delay_s: {delay_s}}}]\n"
        'prompt: "Question {{n}}?"\nsubject: answerer\n'
        f"limits: {{concurrency: {concurrency}}}\n"
        "assertions:\n  - {type: rubric_judge, template: correctness, provider: judge}\n"
        f"cases:\n{rows}"
    )


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

    def process(self, *words: str, streams: str = "", before: Sequence[str] = ()) -> subprocess.Popen[str]:
        """The program in a process of its own, begun; with `streams`, its standard streams are redirected so."""
        program = [*before, sys.executable, "-c", "from jurat.cli import main; main()", *words]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("JURAT_")}
        return subprocess.Popen(
            ["bash", "-c", f'exec "$@" {streams}' if "|" not in streams else f'"$@" {streams}', "bash", *program],
            cwd=self.path,
            env={**environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, streams: str = "") -> Done:
        """The program in a process of its own, to its end."""
        process = self.process(*words, streams=streams)
        out, err = process.communicate()
        return Done(code=process.returncode, out=out, err=err)
