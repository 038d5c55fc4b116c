"""What `jurat run`, `jurat resume` and `jurat rescore` do between their options and their exit code.

Every suite is read and checked before the first of them is run. Results are in the store before any report is written,
so that a report that cannot be written costs nothing but itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jurat.cli._exits import ExitCode
from jurat.cli._forms import FailOn
from jurat.cli._interrupt import interruptible
from jurat.cli._live import Standing, live_view
from jurat.cli._output import refuse_unfit_files
from jurat.cli._reporting import Printing, print_reports
from jurat.cli._stdout import say, say_json, turned_away
from jurat.cli._text import visible
from jurat.errors import AuthoringError, Fault, StoreError
from jurat.eventloop import run_in_loop
from jurat.forecast import Forecast
from jurat.metrics.gate import Verdict
from jurat.report.record import RunRecord, RunStatus
from jurat.store import Store
from jurat.suitecheck import loaded_suite
from jurat.suiterun import (
    Finished,
    Prepared,
    RunOptions,
    begin,
    begin_rescore,
    carry_on,
    foresee,
    input_files,
    input_files_of_run,
    is_recording,
    load_finished,
    plan_for,
    prepare,
    reopen,
)
from jurat.workbench import Workbench

__all__ = [
    "Order",
    "foresee_suites",
    "order_of",
    "providers_from",
    "reducer_from",
    "rescore_run",
    "resume_run",
    "run_suites",
]

Given = TypeVar("Given")
Made = TypeVar("Made")

_WORST = (ExitCode.PASSED, ExitCode.UNDECIDED, ExitCode.FAILED)
"""From the best to the worst: a definite failure is never hidden behind what is undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked for beside the suites and the run's options: the report, what counts as failure, the store."""

    printing: Printing
    fail_on: FailOn
    store: str | None

    def code(self, finished: Iterable[Finished]) -> ExitCode:
        """The worst of what the gates come to."""
        return max((self._code(one.outcome) for one in finished), key=_WORST.index, default=ExitCode.PASSED)

    def _code(self, outcome: Verdict | None) -> ExitCode:
        if outcome is Verdict.PASSED or self.fail_on is FailOn.NEVER:
            return ExitCode.PASSED
        undecided = outcome is not Verdict.FAILED and self.fail_on is FailOn.FAIL
        return ExitCode.UNDECIDED if undecided else ExitCode.FAILED


# --- from options to parts -----------------------------------------------------------------------------------------


def order_of(printing: Printing, fail_on: FailOn, store: str | None) -> Order:
    """The order that a command's options make."""
    return Order(printing=printing, fail_on=fail_on, store=store)


def reducer_from(text: str | None) -> Any:
    """A reducer as a suite would have it: its word, or `{minimum_pass_rate: …}` for a number."""
    if text is not None:
        with contextlib.suppress(ValueError):
            return {"minimum_pass_rate": float(text)}
    return text


def providers_from(given: Iterable[str]) -> dict[str, str]:
    """Providers by name, from `NAME=PROVIDER`.

    Raises:
        AuthoringError: for what is written in another way, and for names given twice.
    """
    made: dict[str, str] = {}
    faults: list[Fault] = []
    for text in given:
        name, sign, wanted = (part.strip() for part in text.partition("="))
        if not (name and sign and wanted):
            expected = "NAME=PROVIDER, as in judge=openai:MODEL"
            faults.append(Fault(path="--provider", expected=expected, found=repr(text[:80])))
        elif name in made:
            faults.append(Fault(path="--provider", expected="each name once", found=f"{name!r} again"))
        made[name] = wanted
    if faults:
        raise AuthoringError("jurat run", faults)
    return made


def _check_output(order: Order, inputs: Iterable[Path], recordings: Iterable[str | None] = ()) -> None:
    """Find out, before anything is spent, whether every report has a file of its own that can be written.

    Args:
        inputs: what the run reads.
        recordings: the folders from which it answers, and which it fills.
    """
    files, bench = order.printing.files, Workbench()
    if not files:
        return
    store = bench.store_place(order.store)
    others: dict[str, str | Path | None] = {
        **{f"a file of the suite, {file}": file for file in inputs},
        "the configuration file": bench.config.file,
        **{f"the file of provider {name}": file for name, file in bench.files_of_providers()},
        "the store": store if isinstance(store, Path) else None,
    }
    for option, path in files:
        if is_recording(path, recordings):
            fault = Fault(path=option, file=str(path), expected="a file of its own", found="a recording")
            raise AuthoringError("report", [fault])
    refuse_unfit_files(files, others, "report")


# --- the three commands --------------------------------------------------------------------------------------------


def run_suites(files: Sequence[Path], options: RunOptions, order: Order) -> ExitCode:
    """Run suites one after the other.

    Raises:
        AuthoringError: before anything is spent.
        StoreError: when a record or a report cannot be kept.
        KeyboardInterrupt: after what was reached has been kept, with the words for it.
    """
    if options.record is not None and len(files) > 1:
        fault = Fault(path="--record", expected="one suite, whose recordings they are", found=f"{len(files)} suites")
        raise AuthoringError("jurat run", [fault])
    if len(files) > 1 and (named := order.printing.of_one_run) is not None:
        fault = Fault(path=named, expected="one suite: a report that is handed on is of one run", found=f"{len(files)}")
        raise AuthoringError("jurat run", [fault])
    loaded = _every(files, loaded_suite)
    inputs = [file for one in loaded for file in input_files(one)]
    _check_output(order, inputs, (options.record, options.replay))
    prepared = _every(loaded, lambda one: prepare(one, options))
    _check_output(order, inputs)  # once more: now it is known which modules they import

    async def work(desk: _Desk) -> list[Finished]:
        return [await desk.run(one, await begin(one, desk.store)) for one in prepared]

    return _at_desk(order, work, prepared)


def foresee_suites(
    files: Sequence[Path], options: RunOptions, store: str | None, *, form: str, reports: Sequence[object] = ()
) -> ExitCode:
    """Tell what suites would ask for and cost. Nothing is asked, and nothing is written.

    Raises:
        AuthoringError: as `run_suites`, but for keys and models, which a forecast does without.
        StoreError: when the store is there and cannot be read.
    """
    _check_forecast(form, reports)
    loaded = _every(files, loaded_suite)
    plans = _every(loaded, lambda one: plan_for(one, options))
    found = run_in_loop(_foreseen(plans, store))
    if form == "json":
        say_json([one.to_json() for one in found] if len(found) > 1 else found[0].to_json())
    else:
        say(visible("".join(one.text() for one in found)))
    return ExitCode.FAULT if turned_away() else ExitCode.PASSED


def _check_forecast(form: str, reports: Sequence[object]) -> None:
    faults: list[Fault] = []
    if form not in ("console", "json"):
        faults.append(Fault(path="--format", expected="console or json with --dry-run", found=repr(form[:40])))
    if reports:
        found = "a report, of a run that will not be"
        faults.append(Fault(path="--dry-run", expected="a forecast alone", found=found))
    if faults:
        raise AuthoringError("jurat run", faults)


async def _foreseen(plans: Sequence[Prepared], store: str | None) -> list[Forecast]:
    bench = Workbench()
    place = bench.store_place(store)
    async with contextlib.AsyncExitStack() as stack:
        for one in plans:
            stack.push_async_callback(one.aclose)
        opened = None
        if not isinstance(place, Path) or place.exists():
            opened = await bench.open_store(store)
            stack.push_async_callback(opened.aclose)
        return [await foresee(one, opened) for one in plans]


def _every(given: Iterable[Given], make: Callable[[Given], Made]) -> list[Made]:
    """What is made of each; what is wrong with any of them is told together."""
    made: list[Made] = []
    errors: list[AuthoringError] = []
    for one in given:
        try:
            made.append(make(one))
        except AuthoringError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise AuthoringError("suites", dict.fromkeys(fault for error in errors for fault in error.faults))
    return made


def resume_run(text: str, order: Order, *, retry_errors: bool, bounds: Mapping[str, Any]) -> ExitCode:
    """Go on with a run; one that is over is told as it is. `bounds` that are given take the place of its own.

    Raises:
        AuthoringError: when there is no such run, or something that it rests on has changed.
        StoreError: when it cannot be kept, or a live process is at work on it.
        KeyboardInterrupt: as `run_suites`.
    """
    _check_output(order, ())

    async def work(desk: _Desk) -> list[Finished]:
        runs = desk.store.runs
        record = await runs.find(text)
        if order.printing.files:
            _check_output(order, await input_files_of_run(desk.store, record))
        if record.status is RunStatus.COMPLETED and not retry_errors:
            return [await load_finished(desk.store, record)]
        prepared = await reopen(desk.store, record, retry_errors=retry_errors, bounds=bounds)
        try:
            await runs.claim(record.id)
            if retry_errors:
                await runs.delete_errors(record.id)
            return [await desk.run(prepared, record, resumed=True)]
        finally:
            await prepared.aclose()

    return _at_desk(order, work, ())


def rescore_run(text: str, file: Path, options: RunOptions, order: Order) -> ExitCode:
    """Judge the answers of a run anew, by the assertions of another suite file.

    Raises:
        AuthoringError, StoreError, KeyboardInterrupt: as `run_suites`.
    """
    loaded = loaded_suite(file)
    _check_output(order, input_files(loaded))

    async def work(desk: _Desk) -> list[Finished]:
        parent = await desk.store.runs.find(text)
        prepared, record = await begin_rescore(desk.store, parent, loaded, options)
        try:
            return [await desk.run(prepared, record)]
        finally:
            await prepared.aclose()

    return _at_desk(order, work, ())


# --- at work -------------------------------------------------------------------------------------------------------


class _Desk:
    """Where runs are carried out: the open store, and the run that is at work, for the last words."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.record: RunRecord | None = None
        self.standing: Standing | None = None
        self.kept: int | None = None
        self.finished: list[str] = []

    async def run(self, prepared: Prepared, record: RunRecord, *, resumed: bool = False) -> Finished:
        """Carry a run out, in view of whoever sits at a terminal."""
        self.record = record
        self.standing = standing = Standing(record.cases, record.samples, prepared.reducer)
        if resumed:
            known = await self.store.runs.statuses(record.id)
            standing.before([(case, status) for (case, _), status in sorted(known.items())])
        try:
            with live_view(record.suite, standing) as view:
                finished = await carry_on(prepared, self.store, record, watch=view, resumed=resumed)
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):  # what waited for its write was written on the way out
                self.kept = len(await self.store.runs.keys(record.id))
            raise
        self.record = None
        return finished

    def last_words(self) -> str:
        """What is said when a signal ends the work."""
        if self.record is None or self.standing is None:
            return "interrupted"
        there = self.standing.trials if self.kept is None else self.kept
        kept = f"{there:,} of {self.record.cases * self.record.samples:,} trials are kept"
        return f"interrupted; {kept}: jurat resume {self.record.id} goes on from there"


def _at_desk(
    order: Order, work: Callable[[_Desk], Awaitable[list[Finished]]], prepared: Sequence[Prepared]
) -> ExitCode:
    desks: list[_Desk] = []

    async def all_of_it() -> ExitCode:
        async with _desk(order, prepared, must_exist=not prepared) as desk:
            desks.append(desk)
            with interruptible(desk.last_words):
                finished = await work(desk)
            desk.finished = [one.record.id for one in finished]
            await print_reports(desk.store, finished, order.printing)
            return order.code(finished)

    try:
        code = run_in_loop(all_of_it())
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise KeyboardInterrupt(desks[0].last_words() if desks else "interrupted") from None
    except StoreError as error:
        raise _with_run(error, desks) from None
    return ExitCode.FAULT if turned_away() else code


def _with_run(error: StoreError, desks: Sequence[_Desk]) -> StoreError:
    """The same, with what became of the run, and how to go on with it."""
    desk = desks[0] if desks else None
    if desk is not None and desk.finished:
        return StoreError(f"{error}\nthe results are stored: jurat export {desk.finished[0]}")
    if desk is None or desk.record is None:
        return error
    told = f"run {desk.record.id} is not complete; when that is mended: jurat resume {desk.record.id}"
    return StoreError(f"{error}\n{told}")


@contextlib.asynccontextmanager
async def _desk(order: Order, prepared: Sequence[Prepared], *, must_exist: bool) -> AsyncIterator[_Desk]:
    async with contextlib.AsyncExitStack() as stack:
        for one in prepared:
            stack.push_async_callback(one.aclose)
        store = await Workbench().open_store(order.store, must_exist=must_exist)
        stack.push_async_callback(store.aclose)
        yield _Desk(store)
