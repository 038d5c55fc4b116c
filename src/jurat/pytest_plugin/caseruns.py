"""The suites whose cases are tests: each is run once in a session, and each test waits for its own case."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jurat.pytest_plugin.loopthread import PATIENCE_S, wait_for
from jurat.pytest_plugin.raised import Undecided, category_of
from jurat.pytest_plugin.suiteruns import Order, asked_of, carry_out
from jurat.pytest_plugin.telling import CaseResult
from jurat.report.record import RunRecord
from jurat.suite.loaded import LoadedSuite

if TYPE_CHECKING:
    from jurat._api import Run
    from jurat.pytest_plugin.session import Session

__all__ = ["CaseRun", "CaseRuns"]


class CaseRuns:
    """The runs of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs: dict[Path, CaseRun] = {}
        self._all: list[CaseRun] = []

    def result(self, path: Path, suite: LoadedSuite, name: str) -> CaseResult:
        """What became of a case. The first that is asked for begins the run.

        Raises:
            JuratError: when the run cannot be carried out.
        """
        run = self._runs.get(path)
        if run is None or name not in run.waiting:
            alone = self._session.options.alone or run is not None  # or one that is repeated
            names = [name] if alone else self._session.selected.get(path, [name])
            run = CaseRun(self._session, path, suite, names)
            self._all.append(run)
            if not alone:
                self._runs[path] = run
        return run.result(name)

    def outcomes(self) -> list[tuple[str, str, str]]:
        """Suite, id and how it came out of each run; of those that were interrupted, too."""
        runs = [(run.record, run.outcome()) for run in self._all]
        return [(record.suite, record.id, told) for record, told in runs if record is not None]

    def close(self) -> None:
        """Interrupt what is on its way."""
        for run in self._all:
            run.close()


class CaseRun:
    """One run of a suite.

    Attributes:
        waiting: the cases that nobody has asked for yet.
        record: the run's, once it is begun.
    """

    def __init__(self, session: Session, path: Path, suite: LoadedSuite, names: Collection[str]) -> None:
        self._path = path
        self.waiting = set(names)
        self.record: RunRecord | None = None
        self._told = False
        self._results: dict[str, Future[CaseResult]] = {name: Future() for name in names}
        self._asked = sorted(asked_of(suite.suite))
        self._suite = suite.suite.name
        self._partial = len(names) < len(suite.suite.cases)
        order = Order(
            suite=suite,
            given=self._options(session),
            names=names,
            store=session.options.store,
            show_output=session.options.show_output,
            told=lambda result: self._results[result.name].set_result(result),
            begun=self._begun,
        )
        self._run: Run | None = None
        self._job = session.start(self._carry(order, session))

    def _options(self, session: Session) -> dict[str, object]:
        record, replay = session.options.recordings(self._path)
        given = session.options
        return {
            "samples": given.samples,
            "providers": {name: wanted for name, wanted in given.providers.items() if name in self._asked},
            "record": record,
            "replay": replay,
            # Recordings of some of the cases are added to what is there.
            "filter": "*" if record is not None and self._partial else None,
        }

    def _begun(self, record: RunRecord) -> None:
        self.record = record

    async def _carry(self, order: Order, session: Session) -> None:
        try:
            self._run = await carry_out(order, session.store)
        except BaseException as error:
            for result in self._results.values():
                if not result.done():
                    result.set_exception(error)
            raise

    def result(self, name: str) -> CaseResult:
        """Wait for a case."""
        self.waiting.discard(name)
        try:
            found = wait_for(self._results[name])
        except Exception as error:
            if self._told:
                raise Undecided("the suite could not be run, as told above", category_of(error)) from None
            self._told = True
            raise error.with_traceback(None) from None
        run = None if self.record is None else self.record.id
        figure = {**found.figure, "run": run, "suite": self._suite, "asked": self._asked}
        return replace(found, figure=figure)

    def outcome(self) -> str:
        """How it came out, in words."""
        if self._run is None:
            return "not begun" if self.record is None else f"interrupted: jurat resume {self.record.id}"
        return f"{self._run.gate['outcome']}: {self._run.gate['reason']}"

    def close(self) -> None:
        """Interrupt it, unless it is over; the last case may be decided a moment before the run is."""
        over = all(result.done() for result in self._results.values())
        if not over:
            self._job.cancel()
        self._job.settled(PATIENCE_S)
