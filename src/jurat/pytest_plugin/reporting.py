"""What pytest reports of evaluations: errors as errors, messages without answers, and a summary with what was spent.

An error of an evaluator is raised while a test is called, where pytest knows failures alone. Reports of it are handed
on as pytest hands on errors, so that the terminal, JUnit files and whoever listens tell it as one.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import JuratError
from jurat.pytest_plugin.raised import EvaluationFailed, Undecided, category_of
from jurat.pytest_plugin.session import Session
from jurat.pytest_plugin.summary import Summary

__all__ = ["Reporter"]

_FIXTURES = frozenset(
    f"{letter}assert_{what}" for letter in ("", "a") for what in ("evaluation", "evaluations", "suite")
)
_HERE = str(Path(__file__).parent)


class Reporter:
    """The hooks of one session."""

    def __init__(self, config: pytest.Config, session: Session) -> None:
        self._session = session
        self._worker = hasattr(config, "workerinput")
        self._summary = Summary(session.options.providers)

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
        if call.excinfo is not None and _is_ours(call.excinfo):
            error = call.excinfo.value
            report.longrepr = _terse(call.excinfo, self._place(item, call.excinfo))
            if isinstance(error, JuratError):
                category = category_of(error)
                if hasattr(report, "wasxfail"):
                    report.wasxfail = ": ".join(filter(None, (report.wasxfail, category)))
                elif report.failed:
                    vars(report)["jurat_error"] = category
        elif call.excinfo is not None and report.failed and any(_is_here(entry) for entry in call.excinfo.traceback):
            # Not foreseen, so how it came about is told; but not what was in hand then.
            report.longrepr = call.excinfo.getrepr(style="short", showlocals=False, funcargs=False)
        if figures := self._session.drain():
            vars(report)["jurat_figures"] = figures
        return report

    def _place(self, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> tuple[str, int]:
        """Where the case is written, or the test asks."""
        own: tuple[str, int] | None = getattr(item, "jurat_place", None)
        if own is not None:
            return own
        entries = [*excinfo.traceback]
        first = next((index for index, entry in enumerate(entries) if _is_here(entry)), len(entries))
        caller = entries[max(first - 1, 0)]
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
        lines = self._summary.lines(self._session.outcomes())
        if lines:
            terminalreporter.section("jurat")
            for line in lines:
                terminalreporter.write_line(line)


def _is_ours(excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether an assertion or an item of ours raised it; what a test makes of jurat otherwise is pytest's to tell."""
    if isinstance(excinfo.value, EvaluationFailed | Undecided):
        return True
    return isinstance(excinfo.value, JuratError) and any(_is_here(entry) for entry in excinfo.traceback)


def _is_here(entry: Any) -> bool:
    return str(entry.path).startswith(_HERE)


def _terse(excinfo: pytest.ExceptionInfo[BaseException], place: tuple[str, int]) -> Any:
    """The message and where the test stands: no source, no arguments, no locals, which may hold an answer."""
    path, line = place
    kind = type(excinfo.value).__name__
    message = f"{kind}: {excinfo.value}"
    shown: Any = excinfo.getrepr(style="value", chain=False)
    crash, entry = shown.reprcrash, shown.reprtraceback.reprentries[-1]
    crash.path, crash.lineno, crash.message = path, line, message
    entry.style, entry.reprfileloc = "short", type(crash)(path, line, kind)
    entry.lines = [f"E   {text}" for text in message.split("\n")]
    return shown
