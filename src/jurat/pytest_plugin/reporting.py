"""What pytest reports of evaluations: errors as errors, messages without answers, and a summary with what was spent.

An error of an evaluator is raised while a test is called, where pytest knows failures alone. Reports of it are handed
on as pytest hands on errors, so that the terminal, JUnit files and whoever listens tell it as one.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import Any

import pytest

from jurat.errors import JuratError
from jurat.pytest_plugin.options import TOGETHER, WHOLE
from jurat.pytest_plugin.raised import EvaluationFailed, Undecided, category_of, error_for
from jurat.pytest_plugin.session import Session
from jurat.pytest_plugin.summary import Summary

__all__ = ["Reporter"]

_FIXTURES = frozenset(
    f"{letter}assert_{what}" for letter in ("", "a") for what in ("evaluation", "evaluations", "suite")
)
_HERE = str(Path(__file__).parent)
MOST_TOLD = 10
"""How many of those that were raised together are told."""


class Reporter:
    """The hooks of one session."""

    def __init__(self, config: pytest.Config, session: Session) -> None:
        self._session = session
        self._worker = hasattr(config, "workerinput")
        self._summary = Summary(session.options.providers, replays=session.options.replay is not None)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """A test that uses a fixture of ours is one of `-m jurat`."""
        if not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("jurat")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which cases are tests, after everything that leaves some out."""
        for item in session.items:
            name = getattr(item, "jurat_case", None)
            if name is not None:
                self._session.selected.setdefault(item.path, []).append(name)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a process of pytest-xdist whether it has all tests of a file, if it has one of them."""
        node.workerinput[WHOLE] = node.config.getoption("dist", "no") in TOGETHER

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Know where the running test stands."""
        self._session.folder = item.path.parent
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Tell our errors in our words, and send along what was counted."""
        report = yield
        if call.excinfo is not None:
            self._tell(report, item, call.excinfo)
        if figures := self._session.drain():
            vars(report)["jurat_figures"] = figures
        return report

    def _tell(self, report: pytest.TestReport, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Tell what was raised: ours in its own words, all else in those of pytest and without what was in hand."""
        error = _our_own(excinfo)
        if error is not None:
            report.longrepr = _terse(error, self._place(item, excinfo))
            if isinstance(error, JuratError):
                category = category_of(error)
                if hasattr(report, "wasxfail"):
                    report.wasxfail = ": ".join(filter(None, (report.wasxfail, category)))
                elif report.failed:
                    vars(report)["jurat_error"] = category
        elif report.skipped and isinstance(report.longrepr, tuple) and hasattr(item, "jurat_place"):
            report.longrepr = (*item.jurat_place, report.longrepr[2])
        elif report.failed and _comes_by_here(excinfo.value):
            # Not foreseen, so how it came about is told; but not what was in hand then.
            report.longrepr = excinfo.getrepr(
                style="short", showlocals=False, funcargs=False, tbfilter=partial(_of_test, item.path)
            )

    def _place(self, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> tuple[str, int]:
        """Where the case is written, or the test asks."""
        own: tuple[str, int] | None = getattr(item, "jurat_place", None)
        if own is not None:
            return own
        entries = [*excinfo.traceback]
        first = next((index for index, entry in enumerate(entries) if _is_here(entry)), None)
        if first is not None:
            caller = entries[max(first - 1, 0)]
        else:  # those of a group were raised elsewhere
            caller = next((one for one in reversed(entries) if Path(one.path) == item.path), entries[-1])
        path, near = Path(caller.path), self._session.options.directory
        return str(path.relative_to(near) if path.is_relative_to(near) else path), caller.lineno + 1

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        """Have an error taken for one: everybody takes what is raised outside of the call as that."""
        if self._worker:
            return (yield)
        for figure in getattr(report, "jurat_figures", ()):
            self._summary.add(figure)
        if report.when != "call" or not hasattr(report, "jurat_error"):
            return (yield)
        report.when = "setup"
        try:
            return (yield)
        finally:
            report.when = "call"

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """The word for it, at whatever time it is asked for."""
        return ("error", "E", "ERROR") if hasattr(report, "jurat_error") else None

    def pytest_sessionfinish(self) -> None:
        """Let go of everything; what is on its way is interrupted."""
        self._session.close()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Counts, errors, spend and runs; nothing where nothing was evaluated."""
        for figure in (*self._session.drain(), *self._session.unasked()):  # of tests that came to no end
            self._summary.add(figure)
        lines = self._summary.lines(self._session.outcomes())
        if lines:
            terminalreporter.section("jurat")
            for line in lines:
                terminalreporter.write_line(line)


def _our_own(excinfo: pytest.ExceptionInfo[BaseException]) -> EvaluationFailed | JuratError | None:
    """What an assertion or an item of ours raised; what a test makes of jurat otherwise is pytest's to tell.

    Several that were raised together, as by a group of tasks, are one: a failure if one of them is.
    """
    error = excinfo.value
    if isinstance(error, EvaluationFailed | Undecided):
        return error
    if isinstance(error, JuratError):
        return error if any(_is_here(entry) for entry in excinfo.traceback) else None
    parts = _parts(error) if isinstance(error, BaseExceptionGroup) else []
    ours = [one for one in parts if isinstance(one, EvaluationFailed | Undecided)]
    if not ours or len(ours) < len(parts):
        return None
    more = [f"and {len(ours) - MOST_TOLD:,} more"] if len(ours) > MOST_TOLD else []
    told = "\n".join([*map(str, ours[:MOST_TOLD]), *more])
    failed = any(isinstance(one, EvaluationFailed) for one in ours)
    made = error_for(told, failed=failed, categories=[one.category for one in ours if isinstance(one, Undecided)])
    return made.with_traceback(error.__traceback__)


def _parts(error: BaseException) -> list[BaseException]:
    """What a group holds, groups in it resolved."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [part for one in error.exceptions for part in _parts(one)]


def _comes_by_here(error: BaseException) -> bool:
    """Whether an error, or one that it arose from, was raised while we had an answer in hand."""
    seen: set[int] = set()
    ahead: list[BaseException | None] = [error]
    while ahead:
        one = ahead.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if any(str(frame.f_code.co_filename).startswith(_HERE) for frame, _ in walk_tb(one.__traceback__)):
            return True
        ahead += [one.__cause__, one.__context__, *(one.exceptions if isinstance(one, BaseExceptionGroup) else ())]
    return False


def _of_test(path: Path, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    """A traceback from the test on, without the inside of the plugin."""
    inner = excinfo.traceback.cut(path=path)
    return inner.filter(lambda entry: not _is_here(entry)) or inner


def _is_here(entry: Any) -> bool:
    return str(entry.path).startswith(_HERE)


def _terse(error: BaseException, place: tuple[str, int]) -> Any:
    """The message and where the test stands: no source, no arguments, no locals, which may hold an answer."""
    from jurat.pytest_plugin.telling import faults_told

    path, line = place
    kind = type(error).__name__
    message = f"{kind}: {faults_told(error)}"
    shown: Any = pytest.ExceptionInfo.from_exception(error).getrepr(style="value", chain=False)
    crash, entry = shown.reprcrash, shown.reprtraceback.reprentries[-1]
    crash.path, crash.lineno, crash.message = path, line, message
    entry.style, entry.reprfileloc = "short", type(crash)(path, line, kind)
    entry.lines = [f"E   {text}" for text in message.split("\n")]
    return shown
