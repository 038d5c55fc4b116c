"""A project whose tests evaluate: pytest within pytest, a suite of four outcomes, and what was asked meanwhile."""

from __future__ import annotations

import asyncio
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from jurat.report.record import RunRecord
from jurat.store import Store

__all__ = ["CAPITALS", "JUDGE", "Project"]

CAPITALS = """\
schema_version: 1
suite: capitals
providers:
  - name: answerer
    kind: scripted
    order: by_request
    call_log: calls.txt
    replies:
      - {match: France, text: "It is Paris, says GENERATED."}
      - {match: Spain, text: "It is Lisbon, says GENERATED."}
      - {match: Italy, text: "It is Rome, says GENERATED."}
      - {text: "It is Lima, says GENERATED."}
  - name: judge
    kind: scripted
    order: by_request
    call_log: calls.txt
    replies:
      - {match: Paris, json: {evidence: [{message_index: 1, quote: "Paris"}], reason: "It says so.", score: 95}}
      - match: Lisbon
        json: {evidence: [{message_index: 1, quote: "says GENERATED"}], reason: "Another\\u001b[31m city.", score: 5}
      - {match: Rome, text: "I would rather not say GENERATED."}
      - {json: {evidence: [], reason: "It says so.", score: 95}}
prompt: "What is the capital of {{country}}?"
subject: answerer
assertions:
  - {type: rubric_judge, template: correctness, provider: judge, threshold: 85, evidence: required}
cases:
  - {name: france, variables: {country: France}, labels: [smoke, skip]}
  - {name: spain, variables: {country: Spain}, labels: [smoke, high priority]}
  - {name: italy, variables: {country: Italy}}
  - {name: peru, variables: {country: Peru}}
"""
"""One case passes, one fails, one is an error, one lacks evidence."""

JUDGE = """\
from jurat.testing import ScriptedProvider
import pytest

JUDGE = {"type": "rubric_judge", "template": "correctness", "provider": "judge", "threshold": 85}
QUOTES = [{"message_index": 0, "quote": "GENERATED"}]
NO = {"json": {"evidence": QUOTES, "reason": "Another\\x1b[31m city.", "score": 5}}


@pytest.fixture
def answer():
    return "It is Lisbon, says GENERATED."


@pytest.fixture
def judge():
    return {"judge": ScriptedProvider(NO)}


@pytest.fixture
def broken():
    return {"judge": ScriptedProvider("I would rather not say GENERATED.")}
"""
"""What tests of single evaluations begin with: judges that say no, and no verdict at all."""


class Project:
    """A folder with tests, in which pytest is run."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.folder = pytester, pytester.path
        pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")

    def write(self, name: str, text: str) -> Path:
        """A file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def tests(self, text: str) -> None:
        """A module of tests, with judges at hand."""
        self.write("test_answers.py", JUDGE + "\n\n" + text)

    def suite(self, text: str = CAPITALS, name: str = "evals/capitals.jurat.yaml") -> Path:
        """A suite file."""
        return self.write(name, text)

    def run(self, *args: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *args)

    def calls(self) -> int:
        """How many calls the suite's models have had."""
        log = self.folder / "evals" / "calls.txt"
        return len(log.read_text("utf-8").splitlines()) if log.exists() else 0

    def junit(self) -> list[list[str]]:
        """Of each case in `found.xml` the elements inside of it."""
        root = ET.parse(self.folder / "found.xml").getroot()  # noqa: S314  # it is our own
        return [[child.tag for child in case] for case in root.iter("testcase")]

    def runs(self) -> list[RunRecord]:
        """The runs in the store, the newest first."""

        async def read() -> list[RunRecord]:
            store = await Store.open(self.folder / ".jurat" / "jurat.db")
            try:
                assert [fault async for fault in store.verify()] == []
                return await store.runs.runs(limit=100)
            finally:
                await store.aclose()

        return asyncio.run(read())
