"""One evaluation, or several, as an assertion of a test; each also to await, in the test's own loop.

All of them are evaluated, whatever the first one came to, and all that did not pass are told together. A failure is
raised where there is one; else, where something is undecided, that. Nothing of an answer is in what is raised, nor in
what is returned as it is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jurat._api import result_of
from jurat.assertions import Assertion, build_assertion
from jurat.errors import AuthoringError, ErrorCategory, Fault, RequestError
from jurat.evaluation import TypedError
from jurat.evidence import Context, as_context
from jurat.jsontext import Json
from jurat.judgefactory import JudgeFactory
from jurat.provider import Provider
from jurat.pytest_plugin.benches import bench_of
from jurat.pytest_plugin.loopthread import in_asyncio
from jurat.pytest_plugin.raised import error_for
from jurat.pytest_plugin.session import Session, current
from jurat.pytest_plugin.telling import MOST_TOLD, of_map, problem_lines, trial_of
from jurat.report import unavailable_map
from jurat.report.digits import count
from jurat.report.findings import problems
from jurat.vocabulary import Status

__all__ = ["Evaluated", "evaluate_here", "evaluate_there"]

Providers = Mapping[str, Provider | Mapping[str, Json] | str]


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
    if not in_asyncio():
        return evaluate_here(context, assertions, providers, timeout_s)
    return _judged(session, assertions, await _counted(session, context, assertions, providers, timeout_s, False))


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
        raise error_for(
            "\n".join(lines), failed=any(trial.status is Status.FAIL for trial in bad), categories=categories
        )
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
