"""The suites whose cases are tests: each is run once in a session, and each test waits for its own case.

Where every case is on its own (several processes, `-x`), each is a run of one case, and all of them share one plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from jurat.pytest_plugin.loopthread import PATIENCE_S, wait_for
from jurat.pytest_plugin.plans import Plans
from jurat.pytest_plugin.raised import Undecided, category_of
from jurat.pytest_plugin.suiteruns import Order, asked_of, carry_out, carry_prepared
from jurat.pytest_plugin.telling import CaseResult, Figure
from jurat.report.record import RunRecord
from jurat.suite.loaded import LoadedSuite

if TYPE_CHECKING:
    from jurat._api import Run
    from jurat.pytest_plugin.session import Session

__all__ = ["CaseRun", "CaseRuns"]

T = TypeVar("T")


class CaseRuns:
    """The runs of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._plans = Plans()
        self._runs: dict[Path, CaseRun] = {}
        self._all: list[CaseRun] = []
        self._told: set[tuple[Path, str]] = set()

    def result(self, path: Path, suite: LoadedSuite, name: str) -> CaseResult:
        """What became of a case. The first that is asked for begins the run.

        Raises:
            JuratError: when the run cannot be carried out.
        """
        run = self._runs.get(path)
        if run is None or name not in run.waiting:
            alone = self._session.options.alone or run is not None  # or one that is repeated
            names = [name] if alone else self._session.selected.get(path, [name])
            run = self._begun(path, suite, names, alone=alone)
        return run.result(name)

    def whole(self, path: Path, suite: LoadedSuite) -> CaseRun:
        """The run of all cases of a suite, begun if it is not yet; to be asked once all cases have been told."""
        return self._runs.get(path) or self._begun(path, suite, [case.name for case in suite.suite.cases])

    def _begun(self, path: Path, suite: LoadedSuite, names: Collection[str], *, alone: bool = False) -> CaseRun:
        # What is recorded by one plan is kept when its run ends, so that several runs cannot share it.
        plans = self._plans if alone and self._session.options.record is None else None
        run = CaseRun(self._session, path, suite, names, plans=plans, told=self._told)
        self._all.append(run)
        if not alone:
            self._runs[path] = run
        return run

    def outcomes(self) -> list[tuple[str, str, str]]:
        """Suite, id and how it came out of each run; of those that were interrupted, too."""
        runs = [(run.record, run.outcome()) for run in self._all]
        return [(record.suite, record.id, told) for record, told in runs if record is not None]

    def unasked(self) -> list[Figure]:
        """What was spent on cases that no test came to tell: their session ended before."""
        return [figure for run in self._all for figure in run.unasked()]

    def close(self) -> None:
        """Interrupt what is on its way."""
        for run in self._all:
            run.close()

    async def let_go(self) -> None:
        """Close the plans that are shared; in the session's loop."""
        await self._plans.aclose()


class CaseRun:
    """One run of a suite.

    Args:
        plans: has the plan that runs of this suite share; None for one of its own.
        told: faults that a test has told already, which the others need not repeat.

    Attributes:
        waiting: the cases that nobody has asked for yet.
        record: the run's, once it is begun.
    """

    def __init__(
        self,
        session: Session,
        path: Path,
        suite: LoadedSuite,
        names: Collection[str],
        *,
        plans: Plans | None,
        told: set[tuple[Path, str]],
    ) -> None:
        self._path, self._plans, self._told = path, plans, told
        self.waiting = set(names)
        self.record: RunRecord | None = None
        self._results: dict[str, Future[CaseResult]] = {name: Future() for name in names}
        self._counted: set[str] = set()
        self._outcome: Future[Run] = Future()
        self._asked = sorted(asked_of(suite.suite))
        self._suite = suite.suite.name
        session.note({"counts": {}, "errors": {}, "asked": list(self._asked)})  # whether it can be run or not
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
            if self._plans is None:
                run = await carry_out(order, session.store)
            else:
                run = await carry_prepared(order, self._plans.of(self._path, order), session.store)
            self._outcome.set_result(run)
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        """Let everybody know who waits."""
        for result in self._results.values():
            if not result.done():
                result.set_exception(error)
        self._outcome.set_exception(error)

    def result(self, name: str) -> CaseResult:
        """Wait for a case."""
        self.waiting.discard(name)
        found = self._awaited(self._results[name])
        self._counted.add(name)
        return replace(found, figure=self._figure(found))

    def finished(self) -> Run:
        """Wait for the end of the run, which knows what its policy came to."""
        return self._awaited(self._outcome)

    def rest(self) -> Iterator[CaseResult]:
        """The cases that no test has told, once the run is finished."""
        for name in self._results:
            if name not in self._counted:
                yield self.result(name)

    @property
    def categories(self) -> list[str]:
        """Why cases are not decided, of a run that is finished."""
        return [found for result in self._results.values() if (found := result.result().category)]

    def _awaited(self, wanted: Future[T]) -> T:
        try:
            return wait_for(wanted)
        except Exception as error:
            if (self._path, str(error)) in self._told:
                raise Undecided("the suite could not be run, as told above", category_of(error)) from None
            self._told.add((self._path, str(error)))
            raise error.with_traceback(None) from None

    def _figure(self, found: CaseResult) -> Figure:
        run = None if self.record is None else self.record.id
        return {**found.figure, "run": run, "suite": self._suite, "asked": self._asked}

    def gate_figure(self, finished: Run) -> Figure:
        """What its end adds to the summary: how it came out, in whichever process."""
        told = f"{finished.gate['outcome']}: {finished.gate['reason']}"
        return {"counts": {}, "errors": {}, "run": finished.record.id, "suite": self._suite, "gate": told}

    def unasked(self) -> list[Figure]:
        """What was spent on cases that no test has told."""
        left = (result for name, result in self._results.items() if name not in self._counted)
        done = [result.result() for result in left if result.done() and result.exception() is None]
        return [{**self._figure(one), "counts": {}, "errors": {}} for one in done]

    def outcome(self) -> str:
        """How it came out, in words."""
        if not self._outcome.done() or self._outcome.exception() is not None:
            return "not begun" if self.record is None else f"interrupted: jurat resume {self.record.id}"
        gate = self._outcome.result().gate
        return f"{gate['outcome']}: {gate['reason']}"

    def close(self) -> None:
        """Interrupt it, unless it is over; the last case may be decided a moment before the run is."""
        over = all(result.done() for result in self._results.values())
        if not over:
            self._job.cancel()
        self._job.settled(PATIENCE_S)
