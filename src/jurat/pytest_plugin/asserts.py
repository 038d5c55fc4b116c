"""One evaluation, several, or a whole suite as an assertion of a test; each also to await, in the test's own loop.

All of them are evaluated, whatever the first one came to, and all that did not pass are told together. A failure is
raised where there is one; else, where something is undecided, that. Nothing of an answer is in what is raised, nor in
what is returned as it is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jurat._api import Run, result_of, run_suite
from jurat.assertions import Assertion, build_assertion
from jurat.errors import AuthoringError, ErrorCategory, Fault, RequestError
from jurat.evaluation import TypedError
from jurat.evidence import Context, as_context
from jurat.jsontext import Json
from jurat.judgefactory import JudgeFactory
from jurat.provider import Provider
from jurat.pytest_plugin.benches import bench_of
from jurat.pytest_plugin.options import near
from jurat.pytest_plugin.raised import EvaluationFailed, Undecided
from jurat.pytest_plugin.session import Session, current
from jurat.pytest_plugin.suiteruns import OpenStore, Order, asked_of, carry_out, opened
from jurat.pytest_plugin.telling import (
    MOST_TOLD,
    CaseResult,
    listed,
    of_map,
    problem_lines,
    trial_of,
)
from jurat.report import unavailable_map
from jurat.report.digits import count
from jurat.report.findings import problems
from jurat.report.plaintext import clipped
from jurat.suite.loaded import LoadedSuite
from jurat.vocabulary import Status, nearest

if TYPE_CHECKING:
    from jurat.suite.suite import Suite

__all__ = ["Evaluated", "evaluate_here", "evaluate_there", "suite_here", "suite_there"]

Providers = Mapping[str, Provider | Mapping[str, Json] | str]
_KNOWN = tuple(name for name in inspect.signature(run_suite).parameters if name != "suite")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evaluated:
    """What one evaluation came to. It shows its status and score alone: no reason, no quotes.

    Attributes:
        name, type: the assertion's.
        result: the whole result map.
    """

    name: str
    type: str
    status: Status
    score: float | None
    result: Mapping[str, Json] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.status is Status.PASS

    @property
    def reason(self) -> str | None:
        """Why, in words; a judge's own."""
        found = self.result.get("reason")
        return found if isinstance(found, str) else None

    def __repr__(self) -> str:
        return f"Evaluated({self.name!r}, {self.status.value}, score={self.score})"


# --- single evaluations --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One assertion, ready to be asked, or what keeps it from being so."""

    name: str
    kind: str
    made: Assertion | RequestError


def evaluate_here(
    context: Context | str, assertions: Sequence[Any], providers: Providers | None, timeout_s: float | None
) -> list[Evaluated]:
    """From synchronous code: in the session's loop, with the judges that it shares."""
    session = current()
    return _judged(session, assertions, session.run(_counted(session, context, assertions, providers, timeout_s, True)))


async def evaluate_there(
    context: Context | str, assertions: Sequence[Any], providers: Providers | None, timeout_s: float | None
) -> list[Evaluated]:
    """In the running loop; where it is not asyncio's, as `evaluate_here`."""
    session = current()
    if not _in_asyncio():
        return evaluate_here(context, assertions, providers, timeout_s)
    return _judged(session, assertions, await _counted(session, context, assertions, providers, timeout_s, False))


def _in_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _counted(
    session: Session,
    context: Context | str,
    assertions: Sequence[Any],
    providers: Providers | None,
    timeout_s: float | None,
    shared: bool,
) -> list[tuple[str, dict[str, Json]]]:
    """Every assertion's name and result map, in their order; all of them are asked side by side."""
    with session.counting_errors():
        trial = as_context(context)
        async with _judges(session, providers, shared) as factory:
            asked = _ready(assertions, factory)
            results = await asyncio.gather(*(_one(each, trial, timeout_s) for each in asked))
    return [(each.name, result) for each, result in zip(asked, results, strict=True)]


@contextlib.asynccontextmanager
async def _judges(session: Session, providers: Providers | None, shared: bool) -> AsyncIterator[JudgeFactory]:
    if shared and not providers:
        yield session.factory()
        return
    bench = bench_of(session.options, providers)
    try:
        yield JudgeFactory(bench)
    finally:
        await bench.aclose()


def _ready(assertions: Sequence[Any], factory: JudgeFactory) -> list[_Asked]:
    """Build all of them; what is wrong with any is told together."""
    if isinstance(assertions, str | Mapping) or not assertions:
        found = "none" if not assertions else "one by itself"
        hint = "Nothing would be decided" if not assertions else "Put it into brackets, or take assert_evaluation"
        fault = Fault(path="assertions", expected="a list of at least one assertion", found=found, hint=hint)
        raise AuthoringError("assertions", [fault])
    made: list[_Asked] = []
    faults: list[Fault] = []
    for index, written in enumerate(assertions):
        given = {"type": "rubric_judge", "template": written} if isinstance(written, str) else written
        kind = str(given.get("type")) if isinstance(given, Mapping) else ""
        path = f"assertions[{index}]" if len(assertions) > 1 else ""
        try:
            built = build_assertion(given, path=path, judge_factory=factory)
            made.append(_Asked(name=built.name, kind=kind, made=built))
        except RequestError as error:
            made.append(_Asked(name=kind, kind=kind, made=error))
        except AuthoringError as error:
            faults += error.faults
    if faults:
        raise AuthoringError("assertion" if len(assertions) == 1 else "assertions", faults)
    return made


async def _one(asked: _Asked, trial: Context, timeout_s: float | None) -> dict[str, Json]:
    try:
        if isinstance(asked.made, RequestError):
            raise asked.made
        async with asyncio.timeout(timeout_s) as limit:
            return await result_of(asked.kind, asked.made, trial)
    except RequestError as error:
        return unavailable_map(asked.kind, TypedError(type=error.category, message=str(error)))
    except TimeoutError:
        if not limit.expired():
            raise
        message = f"no verdict within {timeout_s:g} s"
        made = unavailable_map(asked.kind, TypedError(type=ErrorCategory.TIMEOUT, message=message))
        made["evaluator"]["status"] = "error"
        return made


def _judged(
    session: Session, assertions: Sequence[Any], results: Sequence[tuple[str, dict[str, Json]]]
) -> list[Evaluated]:
    """Count them, and raise what did not pass."""
    trials = [trial_of(name, result) for name, result in results]
    for written, (_, result) in zip(assertions, results, strict=True):
        session.note({**of_map(result), "asked": _named(written)})
    bad = [trial for trial in trials if trial.status is not Status.PASS]
    if bad:
        lines = [] if len(trials) == 1 else [f"{len(bad)} of {count(len(trials), 'evaluation')} did not pass"]
        for trial in bad[:MOST_TOLD]:
            for problem in problems([trial]):
                lines += problem_lines(problem, show_output=session.options.show_output)
        lines += [f"and {len(bad) - MOST_TOLD} more"] if len(bad) > MOST_TOLD else []
        found = [problems([trial])[0] for trial in bad]
        categories = [one.category or Status.UNVERIFIED.value for one in found if not one.status.decided]
        _raise("\n".join(lines), failed=any(trial.status is Status.FAIL for trial in bad), categories=categories)
    return [
        Evaluated(name=name, type=result["type"], status=Status(result["status"]), score=result["score"], result=result)
        for name, result in results
    ]


def _named(written: Any) -> list[Json]:
    """The provider that an assertion asks."""
    if isinstance(written, str):
        return ["local"]
    if written.get("type") != "rubric_judge":
        return []
    named = written.get("provider", written.get("provider_id", "local"))
    return [named] if isinstance(named, str) else []


def _raise(message: str, *, failed: bool, categories: Sequence[str]) -> NoReturn:
    """A failure is a failure whatever else is undecided; an error says more than missing evidence."""
    if failed:
        raise EvaluationFailed(message)
    named = [one for one in categories if one != Status.UNVERIFIED.value]
    raise Undecided(message, (named or [Status.UNVERIFIED.value])[0])


# --- suites --------------------------------------------------------------------------------------------------------


def suite_here(suite: str | Path | Suite, given: Mapping[str, Any]) -> Run:
    """From synchronous code: in the session's loop and store."""
    session = current()
    work = _SuiteWork(session, suite, given)
    return work.judged(session.run(work.carried(session.store)))


async def suite_there(suite: str | Path | Suite, given: Mapping[str, Any]) -> Run:
    """In the running loop; where it is not asyncio's, as `suite_here`."""
    if not _in_asyncio():
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
        from jurat.suitecheck import loaded_suite

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
            )
            return await carry_out(order, open_store)

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
        record, replay = options.recordings(path) if path is not None else options.recordings(Path(suite.name))
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
        lines = [head, *self._rules(run), *listed([(one.name, one.lines) for one in self._bad], self._more)]
        lines.append(f"jurat show {record.id}")
        _raise("\n".join(lines), failed=gate["outcome"] == "failed", categories=[*self._categories])

    def _rules(self, run: Run) -> list[str]:
        """The rules of the policy that are not met."""
        if run.gate.get("policy") is None:
            return []
        return [
            f"{rule['outcome']}: {clipped(str(rule['rule'].get('name') or rule['rule'].get('type', '')), 100)}: "
            f"{clipped(str(rule['reason']), 400)}"
            for rule in run.gate["rules"]
            if rule["outcome"] != "passed"
        ]
