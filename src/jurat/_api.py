"""The front door's functions: one assertion on one context, and a whole suite. Each has a synchronous twin on top.

The synchronous ones also work where an event loop runs already (notebooks, async tests): in a thread of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jurat.assertions import Assertion, build_assertion
from jurat.errors import AuthoringError, Fault, RequestError
from jurat.evaluation import TypedError, run_evaluator
from jurat.eventloop import run_in_loop
from jurat.evidence import Context, as_context
from jurat.jsontext import Json, type_name
from jurat.judge import Judge
from jurat.judgefactory import JudgeFactory
from jurat.provider import Provider
from jurat.report import assessment_map, unavailable_map, verdict_map
from jurat.threads import in_thread
from jurat.workbench import Workbench

if TYPE_CHECKING:
    from jurat.evaluation import Reducer
    from jurat.report.record import RunRecord
    from jurat.suite.suite import Suite

__all__ = ["Run", "aevaluate", "arun_suite", "evaluate", "result_of", "run_here", "run_suite"]

T = TypeVar("T")


def evaluate(
    context: Context | str,
    assertion: Mapping[str, Any] | str,
    *,
    providers: Mapping[str, Provider | Mapping[str, Json]] | None = None,
) -> dict[str, Json]:
    """Evaluate one assertion on one context, and give the result map. Works where an event loop runs already, too.

    Args:
        context: what is known of the trial, or the output alone.
        assertion: as a suite file has it (`{"type": "contains", "value": "Paris"}`), or a template's name for a
            judge with the defaults (`"groundedness"`).
        providers: providers or provider rows by name, for `provider` in the assertion.

    Raises:
        AuthoringError: when the assertion or the context is wrong; nothing was spent.
    """
    return run_here(aevaluate(context, assertion, providers=providers))


async def aevaluate(
    context: Context | str,
    assertion: Mapping[str, Any] | str,
    *,
    providers: Mapping[str, Provider | Mapping[str, Json]] | None = None,
) -> dict[str, Json]:
    """As `evaluate`, in the running event loop."""
    given = {"type": "rubric_judge", "template": assertion} if isinstance(assertion, str) else assertion
    kind = str(given.get("type")) if isinstance(given, Mapping) else ""
    trial = as_context(context)
    bench = Workbench(providers=providers)
    try:
        made = build_assertion(given, judge_factory=JudgeFactory(bench))
        return await result_of(kind, made, trial)
    except RequestError as error:
        return unavailable_map(kind, TypedError(type=error.category, message=str(error)))
    finally:
        await bench.aclose()


async def result_of(kind: str, made: Assertion, trial: Context) -> dict[str, Json]:
    """The result map of an assertion that is built; `kind` is its type."""
    judge = made.evaluator
    if not isinstance(judge, Judge):
        return assessment_map(kind, await run_evaluator(made, trial))
    verdict = await judge.judge(trial, made.given.grounding, made.given.expected)
    status, score = made.turned(verdict.status, verdict.score)
    return verdict_map(replace(verdict, opinion=replace(verdict.opinion, status=status, score=score)))


def run_suite(
    suite: str | Path | Suite,
    *,
    providers: Mapping[str, Provider | Mapping[str, Json] | str] | None = None,
    samples: int | None = None,
    reducer: Reducer | Mapping[str, float] | str | None = None,
    concurrency: int | None = None,
    filter: str | None = None,  # noqa: A002  # the option's name on the command line, too
    cache: str = "off",
    store: str | Path | None = None,
    budget_usd: float | None = None,
    timeout_s: float | None = None,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    live: bool = False,
) -> Run:
    """Run a suite, keep its record in the store, and hold it against its policy. Works where an event loop runs, too.

    Args:
        suite: a suite file, or a suite.
        providers: by name, before those of the suite: rows, objects, shorthands `kind:model`, or another's name.
        samples: trials of each case, 1 to 20. This and what follows: by default as the suite says.
        reducer: how trials become one: `all`, `any`, `majority`, `{"minimum_pass_rate": 0.8}`.
        concurrency: calls in flight, subject and judges together.
        filter: which cases: `NAME*`, `label:L`, `metadata.key=V`, `!TERM`, all of which must hold.
        cache: whether replies of earlier runs are used: `off`, `read`, `refresh`.
        store: where the run is kept: a file or a PostgreSQL URL; by default `.jurat/jurat.db`.
        budget_usd: no call is begun once so much is known to be spent.
        timeout_s: for the whole run.
        record: a folder in which everybody's replies are kept, a file each, for a replay.
        replay: such a folder, from which everybody answers: no key, no connection, no model.
        live: whether providers of the kind `replay` are those again of which the recordings were made.

    Raises:
        AuthoringError: when the suite or an option is wrong; all faults together, and nothing was spent.
        StoreError: when the record cannot be kept.
        KeyboardInterrupt: the run is in the store, interrupted; `jurat resume` goes on with it.
    """
    given = {name: value for name, value in locals().items() if name != "suite"}
    return run_here(arun_suite(suite, **given))


async def arun_suite(
    suite: str | Path | Suite,
    *,
    providers: Mapping[str, Provider | Mapping[str, Json] | str] | None = None,
    samples: int | None = None,
    reducer: Reducer | Mapping[str, float] | str | None = None,
    concurrency: int | None = None,
    filter: str | None = None,  # noqa: A002
    cache: str = "off",
    store: str | Path | None = None,
    budget_usd: float | None = None,
    timeout_s: float | None = None,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    live: bool = False,
) -> Run:
    """As `run_suite`, in the running event loop. A run whose task is cancelled is `interrupted`, and kept."""
    from jurat.suitecheck import loaded_suite
    from jurat.suiterun import begin, carry_on, checked_options, prepare

    _check_kinds(suite, store)
    options = checked_options(
        samples=samples,
        reducer=reducer,
        concurrency=concurrency,
        filter=filter,
        cache=cache,
        budget_usd=budget_usd,
        timeout_s=timeout_s,
        providers=providers,
        record=record,
        replay=replay,
        live=live,
    )
    loaded = await in_thread(partial(loaded_suite, Path(suite))) if isinstance(suite, str | Path) else suite
    async with contextlib.AsyncExitStack() as stack:
        prepared = prepare(loaded, options)
        stack.push_async_callback(prepared.aclose)
        place = prepared.bench.store_place(str(store) if store is not None else None)
        opened = await prepared.bench.open_store(str(place))
        stack.push_async_callback(opened.aclose)
        finished = await carry_on(prepared, opened, await begin(prepared, opened))
        return Run(record=finished.record, summary=finished.tally.summary(), place=str(place))


def _check_kinds(suite: object, store: object) -> None:
    from jurat.suite.loaded import LoadedSuite
    from jurat.suite.suite import Suite

    faults = []
    if not isinstance(suite, str | Path | Suite | LoadedSuite):
        faults.append(Fault(path="suite", expected="a suite or the name of its file", found=type_name(suite)))
    if not isinstance(store, str | Path | None):
        faults.append(Fault(path="store", expected="a file or a PostgreSQL URL", found=type_name(store)))
    if faults:
        raise AuthoringError("options of the run", faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that is over.

    Attributes:
        record: its options, provenance and gate; `record.id` names it in the store.
        summary: its figures, as reports have them.
        place: the store that holds it.
    """

    record: RunRecord
    summary: Mapping[str, Json]
    place: str = field(repr=False)

    @property
    def gate(self) -> Mapping[str, Json]:
        """What the policy comes to: `outcome` (`passed`, `failed`, `undecided`), `reason`, `rules`."""
        return self.record.gate or {}

    @property
    def passed(self) -> bool:
        """Whether the gate passed. What is undecided has not."""
        return self.gate.get("outcome") == "passed"

    def report(self, *, include_output: bool = False) -> dict[str, Any]:
        """The whole report (`jurat schema report`), read from the store.

        Args:
            include_output: whether answers and conversations are part of it.
        """
        return run_here(self._report(include_output=include_output))

    def cases(self, *, include_output: bool = True) -> list[dict[str, Any]]:
        """Every case with its trials, in the plan's order, read from the store."""
        found: list[dict[str, Any]] = self.report(include_output=include_output)["cases"]
        return found

    async def _report(self, *, include_output: bool) -> dict[str, Any]:
        from jurat.report.run_json import case_json
        from jurat.report.run_report import report_head
        from jurat.store import Store
        from jurat.suiterun import by_case

        record = self.record
        store = await Store.open(self.place, reads=True)
        try:
            cases = [
                case_json(case, trials, record.samples, include_output=include_output)
                async for case, trials in by_case(store, record, contents=True)
            ]
        finally:
            await store.aclose()
        return {**report_head(record, self.summary, record.gate), "cases": cases}


def run_here(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code: here, or in a thread of its own where a loop runs already.

    An interruption (Ctrl-C) cancels it, and is raised when it has come to its orderly end.
    """
    if asyncio._get_running_loop() is None:
        return run_in_loop(work)
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def watched() -> T:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 (we are in it)
        begun.set_result((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="jurat") as thread:
        done = thread.submit(run_in_loop, watched())
        try:
            return done.result()
        except BaseException:
            if not done.done():  # it is we who were interrupted, not the work
                loop, task = begun.result()
                loop.call_soon_threadsafe(task.cancel)
            raise
