"""Suite files as collectors, cases as tests. A case's id is its name, so that it stays what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import AuthoringError, JuratError
from jurat.pytest_plugin.options import near
from jurat.pytest_plugin.raised import EvaluationFailed, Undecided
from jurat.pytest_plugin.session import current
from jurat.report.plaintext import visible
from jurat.suite.case import Case
from jurat.suite.loaded import LoadedSuite
from jurat.suitecheck import loaded_suite
from jurat.vocabulary import Status

__all__ = ["CaseItem", "SuiteFile", "item_name", "marker_name"]

_OWN_MEANING = frozenset(
    ("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "timeout", "flaky", "asyncio", "anyio")
)
"""Markers that do something: a label of that name is no order to skip a case."""


class SuiteFile(pytest.File):
    """A suite file."""

    def collect(self) -> Iterator[CaseItem]:
        """Its cases, in their order."""
        try:
            loaded = loaded_suite(near(self.path))
        except AuthoringError as error:
            raise self.CollectError(visible(str(error))) from None
        for case in loaded.suite.cases:
            yield CaseItem.from_parent(self, name=item_name(case.name), case=case, suite=loaded)


class CaseItem(pytest.Item):
    """One case as a test."""

    def __init__(self, *, case: Case, suite: LoadedSuite, **given: Any) -> None:
        super().__init__(**given)
        self.jurat_case, self._suite = case.name, suite
        self._place = case.place
        self.add_marker("jurat")
        for label in case.labels:
            if name := marker_name(label):
                self.config.addinivalue_line("markers", f"{name}: label of cases of jurat suites")
                self.add_marker(name)

    def runtest(self) -> None:
        """Wait for the case."""
        session = current()
        with session.counting_errors():
            found = session.case_runs.result(self.path, self._suite, self.jurat_case)
        session.note(found.figure)
        if found.status is Status.PASS:
            return
        told = "\n".join([found.told, *found.lines])
        if found.figure.get("run"):
            told += f"\njurat show {found.figure['run']}"
        if found.status is Status.FAIL:
            raise EvaluationFailed(told)
        raise Undecided(told, found.category)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Of our own errors no traceback is made: it would tell how the plugin works."""
        own = isinstance(excinfo.value, EvaluationFailed | JuratError)
        return str(excinfo.value) if own else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case is written."""
        line = self._place.line
        return self.path, None if line is None else line - 1, self.name

    @property
    def jurat_place(self) -> tuple[str, int]:
        """File and line, from 1, of the case."""
        return self._place.file or str(self.path), self._place.line or 1


def item_name(name: str) -> str:
    """A case's name as the last part of a node id: on one line, without what ends a part."""
    shown = visible(name).replace("\n", "\\n").replace("\t", "\\t")
    return shown.replace("::", "\\x3a\\x3a")


def marker_name(label: str) -> str:
    """A label as a marker: what no marker may hold is `_`; `label_` stands before one that would do something."""
    name = re.sub(r"[^\w.+-]", "_", label).strip("_")
    return f"label_{name}" if name in _OWN_MEANING else name
