"""Suite files as collectors, cases as tests, and behind them the suite's policy. A case's id is its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jurat.errors import AuthoringError, JuratError
from jurat.pytest_plugin.options import near
from jurat.pytest_plugin.raised import EvaluationFailed, Undecided, error_for
from jurat.pytest_plugin.session import current
from jurat.pytest_plugin.telling import faults_told, rules_told
from jurat.report.plaintext import clipped, visible
from jurat.suite.case import Case, Place
from jurat.suite.loaded import LoadedSuite
from jurat.suitecheck import loaded_suite
from jurat.vocabulary import Status

if TYPE_CHECKING:
    from jurat.pytest_plugin.session import Session

__all__ = ["CaseItem", "PolicyItem", "SuiteFile", "item_name", "marker_name", "policy_name"]

_OWN_MEANING = frozenset(
    ("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "timeout", "flaky", "asyncio", "anyio")
)
"""Markers that do something: a label of that name is no order to skip a case."""


class SuiteFile(pytest.File):
    """A suite file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its cases, in their order, and its policy behind them."""
        try:
            loaded = loaded_suite(near(self.path))
            rules = _policy_place(loaded)
        except AuthoringError as error:
            raise self.CollectError(faults_told(error)) from None
        for case in loaded.suite.cases:
            yield CaseItem.from_parent(self, name=item_name(case.name), suite=loaded, place=case.place, case=case)
        if rules is not None:
            name = policy_name(item_name(case.name) for case in loaded.suite.cases)
            yield PolicyItem.from_parent(self, name=name, suite=loaded, place=rules)


def _policy_place(loaded: LoadedSuite) -> Place | None:
    """Where a suite's policy is written: in itself, or in the configuration for suites that have none of their own.

    Raises:
        AuthoringError: when that configuration cannot be read.
    """
    if loaded.suite.policy:
        return loaded.locate("policy")
    from jurat.workbench import read_config

    config = read_config(Path.cwd())
    return Place(file=str(config.file)) if config.policy else None


class _Item(pytest.Item):
    """A test that stands in a suite file."""

    def __init__(self, *, suite: LoadedSuite, place: Place, **given: Any) -> None:
        super().__init__(**given)
        self._suite, self._place = suite, place
        self.add_marker("jurat")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Of our own errors no traceback is made: it would tell how the plugin works."""
        own = isinstance(excinfo.value, EvaluationFailed | JuratError)
        return str(excinfo.value) if own else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it is written."""
        line = self._place.line
        return self.path, None if line is None else line - 1, self.name

    @property
    def jurat_place(self) -> tuple[str, int]:
        """File and line, from 1, where it is written."""
        return self._place.file or str(self.path), self._place.line or 1


class CaseItem(_Item):
    """One case as a test."""

    def __init__(self, *, case: Case, **given: Any) -> None:
        super().__init__(**given)
        self.jurat_case = case.name
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


class PolicyItem(_Item):
    """The policy of a suite as a test: what the run of all of its cases comes to."""

    def runtest(self) -> None:
        """Wait for the run."""
        session = current()
        self._refuse_part(session)
        run = session.case_runs.whole(self.path, self._suite)
        finished = run.finished()
        for result in run.rest():  # no tests of this session: they were run for the policy's sake
            session.note(result.figure)
        gate = finished.gate
        session.note(run.gate_figure(finished))
        if gate["outcome"] == "passed":
            return
        told = [f"policy of {clipped(self._suite.suite.name, 200)}: {gate['outcome']}, {clipped(gate['reason'], 400)}"]
        message = "\n".join([*told, *rules_told(gate), f"jurat show {finished.record.id}"])
        raise error_for(message, failed=gate["outcome"] == "failed", categories=run.categories)

    def _refuse_part(self, session: Session) -> None:
        """Where some of the cases are not in the run, the policy is not decided: it is about all of them."""
        cases, chosen = len(self._suite.suite.cases), len(session.selected.get(self.path, ()))
        if chosen == 0:
            return
        if chosen < cases:
            pytest.skip(f"the policy is about all {cases:,} cases of the suite; {chosen:,} of them were selected")
        if session.options.scattered:
            told = "the policy is not decided: the cases ran in several processes, each a run of its own"
            raise Undecided(f"{told}\nkeep those of a suite together: --dist loadfile", Status.UNVERIFIED.value)
        if session.options.alone:
            pytest.skip("with -x, --maxfail or --sw each case is a run of its own, and the policy is about all of them")


def policy_name(taken: Iterable[str]) -> str:
    """What the policy is called among the tests of its suite: `policy`, unless a case is called so."""
    name, others = "policy", set(taken)
    while name in others:
        name = f"{name}_"
    return name


def item_name(name: str) -> str:
    """A case's name as the last part of a node id: on one line, without what ends a part."""
    shown = visible(name).replace("\n", "\\n").replace("\t", "\\t")
    return shown.replace("::", "\\x3a\\x3a")


def marker_name(label: str) -> str:
    """A label as a marker: what no marker may hold is `_`; `label_` stands before one that would do something."""
    name = re.sub(r"[^\w.+-]", "_", label).strip("_")
    return f"label_{name}" if name in _OWN_MEANING else name
