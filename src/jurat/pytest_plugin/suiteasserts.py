"""A whole suite as an assertion of a test: run, kept, held against its policy; also to await, in the test's own loop.

What the command line says comes before what the test says, and that before the suite. A gate that fails is told with
the rules that are not met and the first cases that did not pass; one that is undecided is undecided.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jurat._api import Run, run_suite
from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.pytest_plugin.loopthread import in_asyncio
from jurat.pytest_plugin.options import near
from jurat.pytest_plugin.raised import error_for
from jurat.pytest_plugin.session import Session, current
from jurat.pytest_plugin.suiteruns import OpenStore, Order, asked_of, carry_out, opened
from jurat.pytest_plugin.telling import MOST_TOLD, CaseResult, listed, rules_told
from jurat.report.plaintext import clipped
from jurat.report.record import RunRecord
from jurat.suite.loaded import LoadedSuite
from jurat.suite.suite import Suite
from jurat.suitecheck import loaded_suite
from jurat.suiterun.recordings import recording_path
from jurat.vocabulary import Status, nearest

__all__ = ["suite_here", "suite_there"]

_KNOWN = tuple(name for name in inspect.signature(run_suite).parameters if name != "suite")


def suite_here(suite: str | Path | Suite, given: Mapping[str, Any]) -> Run:
    """From synchronous code: in the session's loop and store."""
    session = current()
    work = _SuiteWork(session, suite, given)
    return work.judged(session.run(work.carried(session.store)))


async def suite_there(suite: str | Path | Suite, given: Mapping[str, Any]) -> Run:
    """In the running loop; where it is not asyncio's, as `suite_here`."""
    if not in_asyncio():
        return suite_here(suite, given)
    work = _SuiteWork(current(), suite, given)
    return work.judged(await work.carried(opened))


class _SuiteWork:
    """One suite as one assertion."""

    def __init__(self, session: Session, suite: str | Path | Suite, given: Mapping[str, Any]) -> None:
        self._session, self._suite, self._given = session, suite, given
        self._bad: list[CaseResult] = []
        self._more = 0
        self._counts: dict[str, int] = {}
        self._errors: dict[str, int] = {}
        self._spent = {"subject_usd": [0.0, 0], "judge_usd": [0.0, 0]}
        self._asked: set[str] = set()
        self._categories: dict[str, None] = {}

    async def carried(self, open_store: OpenStore) -> Run:
        """The run."""
        with self._session.counting_errors():
            self._refuse_unknown()
            path = self._path()
            loaded = loaded_suite(path) if path is not None else self._suite
            assert not isinstance(loaded, str | Path)  # noqa: S101 (a path was loaded)
            order = Order(
                suite=loaded,
                given=self._options(loaded.suite if isinstance(loaded, LoadedSuite) else loaded, path),
                store=self._session.options.store or self._given.get("store"),
                show_output=self._session.options.show_output,
                told=self._tell,
                begun=self._begun,
            )
            return await carry_out(order, open_store)

    def _begun(self, record: RunRecord) -> None:
        """From here on the summary knows the run; what it says of it holds unless it comes to an end."""
        told = f"interrupted: jurat resume {record.id}"
        self._session.note({"counts": {}, "errors": {}, "run": record.id, "suite": record.suite, "gate": told})

    def _refuse_unknown(self) -> None:
        faults = []
        for name in self._given:
            if name not in _KNOWN:
                near_by = nearest(name, _KNOWN)
                hint = f"Did you mean {near_by}?" if near_by else None
                faults.append(Fault(path=name, expected="one of " + ", ".join(_KNOWN), found="this option", hint=hint))
        if faults:
            raise AuthoringError("options of the suite", faults)

    def _path(self) -> Path | None:
        """The suite file: beside the test, or where pytest was called."""
        if not isinstance(self._suite, str | Path):
            return None
        beside = (self._session.folder or Path()) / self._suite
        return near(beside) if beside.exists() else Path(self._suite)

    def _options(self, suite: Suite, path: Path | None) -> dict[str, Any]:
        """What the command line says comes before what the test says."""
        given = {name: value for name, value in self._given.items() if name != "store"}
        options = self._session.options
        self._asked = asked_of(suite)
        # A suite without a file has its recordings under its name, spelled as a file may be called.
        record, replay = options.recordings(path or Path(recording_path(Path(), suite.name).stem))
        own = {name: wanted for name, wanted in options.providers.items() if name in self._asked}
        given["providers"] = {**(given.get("providers") or {}), **own}
        given["samples"] = options.samples or given.get("samples")
        if record or replay:
            given |= {"record": record, "replay": replay}
        return given

    def _tell(self, result: CaseResult) -> None:
        status = result.status.value
        self._counts[status] = self._counts.get(status, 0) + 1
        for category, number in result.figure["errors"].items():
            self._errors[category] = self._errors.get(category, 0) + number
        for kind, spent in self._spent.items():
            known, unknown = result.figure[kind]
            spent[0] += known
            spent[1] += unknown
        if result.category:
            self._categories.setdefault(result.category)
        if result.status is not Status.PASS:
            # Those that failed come first, each in the suite's order, in whatever order they were decided.
            self._bad.append(result)
            self._bad.sort(key=lambda one: (one.status is not Status.FAIL, one.place))
            self._more += len(self._bad[MOST_TOLD:])
            del self._bad[MOST_TOLD:]

    def judged(self, run: Run) -> Run:
        """The run, if its gate passed."""
        record = run.record
        figure: dict[str, Json] = {"counts": self._counts, "errors": self._errors, **self._spent}
        gate = run.gate
        told = f"{gate['outcome']}: {gate['reason']}"
        self._session.note(
            {**figure, "run": record.id, "suite": record.suite, "asked": sorted(self._asked), "gate": told}
        )
        if run.passed:
            return run
        head = f"{clipped(record.suite, 200)}: {gate['outcome']}, {clipped(str(gate['reason']), 400)}"
        lines = [head, *rules_told(run.gate), *listed([(one.name, one.lines) for one in self._bad], self._more)]
        lines.append(f"jurat show {record.id}")
        raise error_for("\n".join(lines), failed=gate["outcome"] == "failed", categories=[*self._categories])
