"""Reports of runs, in whatever form is asked for, to standard output or to a file that is whole or not there.

What is printed comes out of the store, so that `jurat run`, `jurat resume` and `jurat export` say the same of a run,
and in one pass, so that a run of any size can be told.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jurat.cli import _stdout
from jurat.cli._csv import csv_text, trial_rows
from jurat.cli._forms import ExportForm, Form
from jurat.cli._output import whole_file
from jurat.cli._stdout import say, say_data
from jurat.errors import StoreError
from jurat.evaluation.reducers import reduce_statuses
from jurat.report.console_look import Look, in_colour, plain
from jurat.report.run_console import RunConsole
from jurat.report.run_json import case_json
from jurat.report.run_report import ReportWriter, report_head
from jurat.vocabulary import Status

if TYPE_CHECKING:
    from jurat.report.record import CaseRecord, RunRecord, TrialRecord
    from jurat.store import Store
    from jurat.suiterun import Finished

__all__ = ["Printing", "Sink", "console_text", "export_run", "print_reports", "sink_for"]

_MAX_WIDTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """How the report is told, and where.

    Attributes:
        form: of the report.
        output: a file for it; the console's text then still goes to standard output.
        include_output: whether answers and conversations are part of it.
    """

    form: Form = Form.CONSOLE
    output: Path | None = None
    include_output: bool = False


class Sink(Protocol):
    """Where bytes of UTF-8 go."""

    def write(self, data: bytes, /) -> object: ...


class _StandardOutput:
    """Standard output as a sink: a good deal at a time, and never an error when its reader goes away."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        self._held.append(data)
        self._size += len(data)
        if self._size >= 1 << 16:
            self.flush()

    def flush(self) -> None:
        say_data(b"".join(self._held))
        self._held, self._size = [], 0


@contextmanager
def sink_for(output: Path | None) -> Iterator[Sink]:
    """A file that is there when all is written, or standard output.

    Raises:
        StoreError: when the file cannot be written.
    """
    if output is not None:
        with whole_file(output) as stream:
            yield stream
        return
    out = _StandardOutput()
    yield out
    out.flush()


async def print_reports(store: Store, finished: Sequence[Finished], printing: Printing) -> None:
    """Tell runs as it was asked for.

    Raises:
        StoreError: when the file cannot be written; the runs are in the store.
    """
    if printing.output is None and printing.form is Form.CONSOLE:
        for one in finished:
            say(await console_text(store, one))
    elif printing.output is None:
        with sink_for(None) as sink:
            await _write_json(sink, store, finished, [None] * len(finished), include_output=printing.include_output)
    else:
        await _print_and_write(store, finished, printing, printing.output)


async def _print_and_write(store: Store, finished: Sequence[Finished], printing: Printing, output: Path) -> None:
    """The report into a file, then the summary to standard output: the store is read once for both."""
    pages = [_page(one) for one in finished]
    try:
        with sink_for(output) as sink:
            if printing.form is Form.JSON:
                await _write_json(sink, store, finished, pages, include_output=printing.include_output)
            else:
                await _write_text(sink, store, finished, pages)
    except StoreError:
        for one in finished:  # of what was read for the file, nobody knows how much that was
            say(await console_text(store, one))
        raise
    for one, page in zip(finished, pages, strict=True):
        say(_text(page, one))


async def _write_text(sink: Sink, store: Store, finished: Sequence[Finished], pages: Sequence[RunConsole]) -> None:
    for one, page in zip(finished, pages, strict=True):
        bare = _page(one, coloured=False)
        await _read(store, one, page, bare)
        sink.write(_text(bare, one).encode("utf-8", "backslashreplace"))


async def _write_json(
    sink: Sink,
    store: Store,
    finished: Sequence[Finished],
    pages: Sequence[RunConsole | None],
    *,
    include_output: bool,
) -> None:
    """The report of one run; of several, an array of their reports. Pages take in what passes by."""
    several = len(finished) > 1
    sink.write(b"[\n" if several else b"")
    for number, (one, page) in enumerate(zip(finished, pages, strict=True)):
        sink.write(b",\n" if number else b"")
        await _write_report(sink, store, one, page, include_output=include_output)
    sink.write(b"]\n" if several else b"")


async def _write_report(
    sink: Any, store: Store, finished: Finished, page: RunConsole | None, *, include_output: bool
) -> None:
    record = finished.record
    head = report_head(record, finished.tally.summary(), record.gate)
    writer = ReportWriter(sink, head, record.samples, include_output=include_output)
    async for case, trials in _by_case(store, record):
        writer.case(case, trials)
        if page is not None:
            page.case(case, trials, _outcome(finished, trials))
    writer.end()


async def console_text(store: Store, finished: Finished, *, coloured: bool | None = None) -> str:
    """A run for a person to read.

    Args:
        coloured: whether colours are used; None: where standard output takes them.
    """
    page = _page(finished, coloured=coloured)
    await _read(store, finished, page)
    return _text(page, finished)


def _page(finished: Finished, *, coloured: bool | None = None) -> RunConsole:
    colour = _stdout.coloured() if coloured is None else coloured
    width = min(shutil.get_terminal_size((100, 24)).columns, _MAX_WIDTH)
    return RunConsole(finished.record, Look(width=width, paint=in_colour if colour else plain))


async def _read(store: Store, finished: Finished, *pages: RunConsole) -> None:
    async for case, trials in _by_case(store, finished.record):
        outcome = _outcome(finished, trials)
        for page in pages:
            page.case(case, trials, outcome)


def _outcome(finished: Finished, trials: Sequence[TrialRecord]) -> Status | None:
    whole = len(trials) == finished.record.samples
    return reduce_statuses([trial.status for trial in trials], finished.tally.reducer) if whole else None


def _text(page: RunConsole, finished: Finished) -> str:
    return page.text(finished.tally.summary(), finished.record.gate)


async def export_run(sink: Sink, store: Store, finished: Finished, form: ExportForm, *, include_output: bool) -> None:
    """A run as a report, as one JSON object for each case, or as a table."""
    record = finished.record
    if form is ExportForm.JSON:
        await _write_report(sink, store, finished, None, include_output=include_output)
        return
    if form is ExportForm.CSV:
        sink.write(csv_text((), heading=True).encode())
    async for case, trials in _by_case(store, record):
        if form is ExportForm.CSV:
            text = csv_text(trial_rows(record, case, trials, include_output=include_output))
        else:
            told = case_json(case, trials, record.samples, include_output=include_output)
            text = json.dumps({"run": record.id, **told}, ensure_ascii=False, sort_keys=True) + "\n"
        sink.write(text.encode("utf-8", "backslashreplace"))


async def _by_case(store: Store, record: RunRecord) -> AsyncIterator[tuple[CaseRecord, list[TrialRecord]]]:
    from jurat.suiterun import by_case

    async for pair in by_case(store, record):
        yield pair
