"""What `jurat judge` does between its options and its exit code."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from jurat.cli._exits import ExitCode
from jurat.cli._output import refuse_shared_output
from jurat.cli._progress import Progress, make_progress
from jurat.cli._stdout import tell
from jurat.cli._verdicts import summary_text
from jurat.errors import AuthoringError, EvaluationError, Fault
from jurat.evaluation.reducers import Reducer, reducer_from_json
from jurat.eventloop import run_in_loop
from jurat.filejob import FileJob
from jurat.jsontext import Json
from jurat.judge import Judge, JudgeSettings
from jurat.metrics import Gate, Tally, summarize
from jurat.provider.protocol import Usage
from jurat.report import VerdictFile
from jurat.rubric import Rubric, custom_rubric
from jurat.suite import file_kind, parse_mapping
from jurat.vocabulary import Cache, Contract, EvidenceRule, Strategy
from jurat.workbench import Workbench

__all__ = ["Order", "Outcome", "run_order"]

_CONCURRENCY = {"local": 1}
"""Calls in flight by provider kind where the author gives no number; a model on this machine takes one at a time."""
_DEFAULT_CONCURRENCY = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The options of `jurat judge`, as they were given."""

    input: str
    rubric: str | None
    rubric_text: str | None
    provider: str | None
    mapping: str
    keep: tuple[str, ...]
    out: Path | None
    resume: bool
    overwrite: bool
    threshold: float | None
    evidence: EvidenceRule
    contract: Contract
    strategy: Strategy | None
    samples: int
    reducer: str
    concurrency: int | None
    limit: int | None
    cache: Cache
    store: str | None
    pass_rate: float
    show: int
    budget_usd: float | None = None
    retry_errors: bool = False
    timeout_s: float | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The summary as data and as text, and the exit code that it comes to."""

    summary: dict[str, Json]
    text: str
    code: ExitCode


def run_order(order: Order) -> Outcome:
    """Judge the file.

    Raises:
        AuthoringError, RequestError: before anything is spent.
        StoreError: when the record cannot be kept.
        KeyboardInterrupt: after what was reached has been kept, and said so.
    """
    refuse_shared_output(order.out, {"the input": order.input})
    _check(order)
    bench = Workbench()
    refuse_shared_output(order.out, _other_files(order, bench))
    _refuse_full(order)
    judge = bench.judge(_rubric(order, bench), order.provider, _settings(order))
    judge.check()
    if order.dry_run:
        return _foreseen(order, bench, judge)
    judge.provider.check()
    _refuse_unpriced(order, judge)
    _refuse_crowd(order, judge)
    tally = Tally(judge.rubric.score_range)
    with _opened(order.input) as stream, _verdict_file(order) as out:
        job = _job(order, judge, stream)
        progress = make_progress(judge, tally, _size(stream), stream, show=order.show, limit=order.limit)
        try:
            run_in_loop(_run(job, bench, order, out, tally, progress))
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise KeyboardInterrupt(_interrupted(order, tally)) from None
    gate = Gate(minimum_pass_rate=order.pass_rate)
    summary = summarize(tally, gate)
    return Outcome(summary=summary, text=summary_text(summary, order.out), code=_CODES[gate.decide(tally.rate)])


def _foreseen(order: Order, bench: Workbench, judge: Judge) -> Outcome:
    """What the job would ask for, with nothing asked."""
    with _opened(order.input) as stream, contextlib.ExitStack() as stack:
        done: IO[bytes] | None = None
        if order.resume and _holds_something(order.out) and order.out is not None:
            done = stack.enter_context(order.out.open("rb"))
        job = _job(order, judge, stream)
        found = job.foresee(run_in_loop(_history(job, bench, order)), done, tell)
    return Outcome(summary=found.to_json(), text=found.text(), code=ExitCode.PASSED)


async def _history(job: FileJob, bench: Workbench, order: Order) -> list[Usage]:
    """The tokens of calls that jobs of the same judge and options made before, the latest; none without a store."""
    place = bench.store_place(order.store)
    if isinstance(place, Path) and not place.exists():
        return []
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(bench.aclose)
        store = await bench.open_store(order.store)
        stack.push_async_callback(store.aclose)
        replies = await store.responses.latest(f"judge:{job.fingerprint}:", _LATEST)
    usages: list[Usage] = []
    for raw in replies:
        with contextlib.suppress(EvaluationError):  # what is no reply tells of no tokens
            usages.append(job.judge.provider.read(raw).usage)
    return usages


_LATEST = 200
"""How many earlier replies a forecast looks at."""

_CODES = {True: ExitCode.PASSED, False: ExitCode.FAILED, None: ExitCode.UNDECIDED}


async def _run(
    job: FileJob, bench: Workbench, order: Order, out: VerdictFile | None, tally: Tally, progress: Progress
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(bench.aclose)
        store = await bench.open_store(order.store)
        stack.push_async_callback(store.aclose)
        journal = store.responses.journal(_scope(job, order))
        if order.out is not None and not order.resume:
            await journal.start_anew()
        with _cancelled_by_sigterm(), progress:
            await job.run(journal, out, tally, progress.watch, progress.notice)


def _scope(job: FileJob, order: Order) -> str:
    """The job's name in the store: what it asks, and the file that it fills; without one nobody can go on with it."""
    return f"judge:{job.fingerprint}:{os.path.realpath(order.out) if order.out else uuid.uuid4()}"


@contextlib.contextmanager
def _cancelled_by_sigterm() -> Iterator[None]:
    """A polite end on SIGTERM, like the one on Ctrl-C."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None or sys.platform == "win32":
        yield
        return
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


def _interrupted(order: Order, tally: Tally) -> str:
    kept = f"; {tally.total} verdicts are kept"
    if order.out is None:
        return f"interrupted{kept if tally.total else ''}"
    return f"interrupted{kept} in {order.out}: the same command with --resume goes on from there"


# --- from options to parts -----------------------------------------------------------------------------------------


def _check(order: Order) -> None:
    faults: list[Fault] = []
    if (order.rubric is None) == (order.rubric_text is None):
        found = "neither" if order.rubric is None else "both"
        faults.append(Fault(path="--rubric", expected="either --rubric or --rubric-text", found=found))
    if order.resume and order.overwrite:
        faults.append(Fault(path="--resume", expected="either --resume or --overwrite", found="both"))
    if order.retry_errors and not order.resume:
        faults.append(Fault(path="--retry-errors", expected="--resume beside it", found="nothing"))
    if order.budget_usd is not None and not math.isfinite(order.budget_usd):
        faults.append(Fault(path="--budget-usd", expected="a number from 0", found=f"{order.budget_usd:g}"))
    if order.timeout_s is not None and not 0.0 < order.timeout_s < math.inf:
        found = f"{order.timeout_s:g}"
        faults.append(Fault(path="--timeout", expected="a number of seconds above 0", found=found))
    if order.out is None and (order.resume or order.overwrite):
        faults.append(Fault(path="--out", expected="the verdict file to go on with", found="nothing"))
    if faults:
        raise AuthoringError("jurat judge", faults)


def _refuse_full(order: Order) -> None:
    """A file of verdicts is gone on with or started anew by a word of its own."""
    if order.resume or order.overwrite or not _holds_something(order.out):
        return
    hint = "If it holds verdicts, go on with it by --resume, or start it anew by --overwrite"
    fault = Fault(path="--out", expected="a new file", found=f"{order.out}, which is not empty", hint=hint)
    raise AuthoringError("jurat judge", [fault])


def _refuse_unpriced(order: Order, judge: Judge) -> None:
    """A budget cannot be kept where prices are not known."""
    if order.budget_usd is None:
        return
    from jurat.suiterun.money import unpriced_faults

    if faults := unpriced_faults([judge.provider], "--budget-usd"):
        raise AuthoringError("jurat judge", faults)


def _refuse_crowd(order: Order, judge: Judge) -> None:
    """More calls over the network than this system lets one process have connections."""
    from jurat.provider.openfiles import crowding_faults

    wired = bool(judge.provider.settings.endpoint)
    if wired and (faults := crowding_faults(_concurrency(order, judge), "--concurrency")):
        raise AuthoringError("jurat judge", faults)


def _concurrency(order: Order, judge: Judge) -> int:
    return order.concurrency or _CONCURRENCY.get(judge.provider.settings.kind, _DEFAULT_CONCURRENCY)


def _holds_something(file: Path | None) -> bool:
    """Whether there is a file with something in it; what cannot be one is told when it is opened."""
    try:
        return file is not None and file.is_file() and file.stat().st_size > 0
    except (OSError, ValueError):
        return False


def _other_files(order: Order, bench: Workbench) -> dict[str, str | Path | None]:
    """The files that this job reads, or keeps its replies in, by the words for them."""
    store = bench.store_place(order.store)
    return {
        "the rubric file": order.rubric,
        "the configuration file": bench.config.file,
        "the provider's file": order.provider.partition(":")[2] if order.provider else None,
        **{f"the file of provider {name}": word for name, word in bench.files_of_providers()},
        "the store": store if isinstance(store, Path) else None,
    }


def _rubric(order: Order, bench: Workbench) -> Rubric:
    return custom_rubric(order.rubric_text) if order.rubric_text is not None else bench.rubric(order.rubric or "")


def _settings(order: Order) -> JudgeSettings:
    return JudgeSettings(
        threshold=order.threshold,
        evidence=order.evidence,
        contract=order.contract,
        strategy=order.strategy,
        samples=order.samples,
        reducer=_reducer(order.reducer),
    )


def _reducer(text: str) -> Reducer:
    faults: list[Fault] = []
    value: Any = text
    with contextlib.suppress(ValueError):
        value = {"minimum_pass_rate": float(text)}
    reducer = reducer_from_json(value, "--reducer", faults)
    if reducer is None:
        raise AuthoringError("jurat judge", faults)
    return reducer


def _job(order: Order, judge: Judge, stream: IO[bytes]) -> FileJob:
    name = "standard input" if order.input == "-" else order.input
    return FileJob(
        stream=stream,
        kind="jsonl" if order.input == "-" else file_kind(order.input),
        name=name,
        columns=parse_mapping(order.mapping, kept=order.keep, name=name),
        judge=judge,
        concurrency=_concurrency(order, judge),
        limit=order.limit,
        cache=order.cache,
        resume=order.resume,
        budget_usd=order.budget_usd,
        retry_errors=order.retry_errors,
        timeout_s=order.timeout_s,
    )


@contextlib.contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        if sys.stdin is None:
            fault = Fault(path="INPUT", file="standard input", expected="rows", found="it closed")
            raise AuthoringError("input", [fault])
        yield sys.stdin.buffer
        return
    file_kind(name)
    with contextlib.ExitStack() as stack:
        try:
            stream = stack.enter_context(Path(name).open("rb"))
        except OSError as error:
            fault = Fault(path="INPUT", file=name, expected="a file that can be read", found=error.strerror or "none")
            raise AuthoringError("input", [fault]) from None
        yield stream


def _verdict_file(order: Order) -> contextlib.AbstractContextManager[VerdictFile | None]:
    if order.out is None:
        return contextlib.nullcontext()
    return VerdictFile(order.out)


def _size(stream: IO[bytes]) -> int | None:
    """The bytes of the input, where that is known: progress is measured by them."""
    try:
        return os.fstat(stream.fileno()).st_size if stream.seekable() else None
    except OSError:
        return None
