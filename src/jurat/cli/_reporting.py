"""Reports of runs, in whatever formats are asked for, to standard output and to files that are whole or not there.

What is printed comes out of the store, so that `jurat run`, `jurat resume` and `jurat export` say the same of a run,
and in one pass for all formats together, so that a run of any size can be told.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from jurat.cli._csv import csv_text, trial_rows
from jurat.cli._outs import (
    ConsoleReporter,
    Out,
    appended,
    from_workspace,
    room_left,
    standard_output,
    step_summary,
    whole,
)
from jurat.cli._stdout import coloured, line, mend_standard_streams, own_output
from jurat.errors import AuthoringError, Fault
from jurat.evaluation.reducers import reduce_statuses
from jurat.evidence import Evidence
from jurat.report.dataset import dataset_rows
from jurat.report.reporters import REPORTERS, Reporter, ReportOptions, Sink, Told, installed_reporters, make_reporter
from jurat.report.run_json import case_json
from jurat.vocabulary import Status, nearest

if TYPE_CHECKING:
    from jurat.report.record import CaseRecord, RunRecord, TrialRecord
    from jurat.store import Store
    from jurat.suiterun import Finished

__all__ = ["CONSOLE", "Printing", "export_run", "print_reports", "printing_of"]

CONSOLE = "console"
_HANDED_ON = "report"
_BY_CASE = ("jsonl", "csv", "dataset", "otlp")
_PLAIN = (CONSOLE, "json", _HANDED_ON, *_BY_CASE)
"""Formats that point at no line and show no quote where it stands."""
_WITH_CONTENTS = ("json", _HANDED_ON)
"""Formats that other runs are compared with."""
_WITHOUT_TALK = (*_PLAIN, "junit", "github", "markdown", "sarif")


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """How the report is told, and where.

    Attributes:
        form: of the report.
        output: a file for it; the console's text then still goes to standard output.
        reports: more reports, each a format and its file.
        include_output: whether answers and conversations are part of them.
        endpoint: of the collector that events go to; None leaves it to OpenTelemetry's own variables.
    """

    form: str = CONSOLE
    output: Path | None = None
    reports: tuple[tuple[str, Path], ...] = ()
    include_output: bool = False
    endpoint: str | None = None

    @property
    def files(self) -> list[tuple[str, Path]]:
        """The files that are written, each with the option that names it."""
        own = [] if self.output is None else [("--output", self.output)]
        return own + [("--report", path) for _, path in self.reports]

    @property
    def of_one_run(self) -> str | None:
        """The option that asks for a report that is of one run alone."""
        if self.form == _HANDED_ON:
            return "--format"
        return "--report" if any(name == _HANDED_ON for name, _ in self.reports) else None


def printing_of(
    form: str, output: Path | None, reports: Iterable[str], include_output: bool, *, also: Sequence[str] = (CONSOLE,)
) -> Printing:
    """The printing that options ask for.

    Args:
        reports: each as `FORMAT=FILE`.
        also: the formats that the command knows beside the reporters.

    Raises:
        AuthoringError: for a format that there is none of, and for a report that names no file.
    """
    faults: list[Fault] = []
    known = [*also, *REPORTERS]
    _check_form(form, "--format", known, faults)
    pairs = []
    for text in reports:
        name, sign, path = text.partition("=")
        if not (sign and name and path):
            faults.append(Fault(path="--report", expected="FORMAT=FILE, as in junit=report.xml", found=repr(text[:80])))
            continue
        _check_form(name, "--report", [*REPORTERS, CONSOLE], faults)
        pairs.append((name, Path(path)))
    if faults:
        raise AuthoringError("report", faults)
    return Printing(form=form, output=output, reports=tuple(pairs), include_output=include_output)


def _check_form(name: str, option: str, known: Sequence[str], faults: list[Fault]) -> None:
    """Refuse a format that there is none of; one of another distribution has to be loaded to be known to work."""
    if name in known:
        return
    every = [*known, *installed_reporters()]
    if name not in every:
        near = nearest(name, every)
        hint = f"Did you mean {near}?" if near else None
        faults.append(Fault(path=option, expected="one of " + ", ".join(every), found=repr(name[:80]), hint=hint))
        return
    try:
        make_reporter(name, _Nowhere(), ReportOptions(), option)
    except AuthoringError as error:
        faults += error.faults


class _Nowhere:
    """A sink in which everything is lost."""

    def write(self, data: bytes) -> None:
        del data


# --- reports -------------------------------------------------------------------------------------------------------


async def print_reports(store: Store, finished: Sequence[Finished], printing: Printing) -> None:
    """Tell runs as it was asked for.

    Raises:
        StoreError: when a file cannot be written; the others are, and the runs are in the store.
    """
    mend_standard_streams()  # the files of reports follow
    make = partial(_reporter, printing, len(finished))
    outs = [Out(whole(path), partial(make, name, None)) for name, path in _files(printing)]
    shown = printing.form if printing.output is None else CONSOLE
    outs.append(Out(standard_output(for_people=shown == CONSOLE), partial(make, shown, own_output())))
    await _tell_all(store, finished, printing, outs)


def _files(printing: Printing) -> list[tuple[str, Path]]:
    own = [] if printing.output is None else [(printing.form, printing.output)]
    return [*own, *printing.reports]


def _reporter(
    printing: Printing, runs: int, name: str, screen: IO[str] | None, sink: Sink, room: int | None = None
) -> Reporter:
    """A reporter; `screen` is what its sink ends at, where a person may be looking."""
    if name == CONSOLE:
        return ConsoleReporter(sink, coloured=screen is not None and coloured())
    from jurat._version import __version__

    options = ReportOptions(
        include_output=printing.include_output, runs=runs, version=__version__, located=from_workspace, room=room
    )
    return make_reporter(name, sink, options)


async def _tell_all(store: Store, finished: Sequence[Finished], printing: Printing, outs: list[Out]) -> None:
    forms = {printing.form, *(name for name, _ in printing.reports)}
    if "github" in forms and (summary := step_summary()) is not None:
        make = partial(_reporter, printing, len(finished), "markdown", None, room=room_left(summary))
        outs.append(Out(appended(summary), make))
    try:
        for one in finished:
            await _tell(store, one, outs, forms, include_output=printing.include_output)
    except BaseException:
        for out in outs:
            out.drop()
        raise
    for out in outs:
        out.close()
    for out in outs:
        if out.failed is not None:
            raise out.failed


async def _tell(
    store: Store, finished: Finished, outs: Sequence[Out], forms: set[str], *, include_output: bool
) -> None:
    from jurat.suiterun import Places, read_places

    record = finished.record
    summary = finished.tally.summary()
    for out in outs:
        out.tell(lambda reporter: reporter.begin(record, summary, record.gate))
    places = Places(None) if forms <= {*_PLAIN} else await read_places(store, record)
    talks = include_output and not forms <= {*_WITHOUT_TALK}
    async for case, trials in _by_case(store, record, contents=bool(forms & {*_WITH_CONTENTS})):
        told = Told(
            case=case,
            trials=trials,
            outcome=_outcome(finished, trials),
            places=places.of(case),
            seen=await _seen(store, case, trials) if talks else (),
        )
        for out in outs:
            out.tell(lambda reporter, told=told: reporter.case(told))  # type: ignore[misc]
    for out in outs:
        out.tell(lambda reporter: reporter.end())


async def _seen(store: Store, case: CaseRecord, trials: Sequence[TrialRecord]) -> list[Sequence[Evidence]]:
    """What the judges of each trial were shown; nothing where that cannot be made again."""
    from jurat.suiterun import trial_evidence

    body = (await store.runs.snapshot(case.case_hash)).body
    found: list[Sequence[Evidence]] = []
    for trial in trials:
        try:
            found.append(trial_evidence(body, trial))
        except AuthoringError:  # an answer that is no text a judge could be shown
            found.append(())
    return found


def _outcome(finished: Finished, trials: Sequence[TrialRecord]) -> Status | None:
    whole_case = len(trials) == finished.record.samples
    return reduce_statuses([trial.status for trial in trials], finished.tally.reducer) if whole_case else None


# --- export --------------------------------------------------------------------------------------------------------


async def export_run(store: Store, finished: Finished, printing: Printing) -> None:
    """A run as a report, as one JSON object for each case (`jsonl`), as one for each trial with what was asked and
    answered (`dataset`), as a table (`csv`) or as events to a collector (`otlp`), and as other reports.

    Raises:
        StoreError: as `print_reports`.
    """
    make = partial(_reporter, printing, 1)
    outs = [Out(whole(path), partial(make, name, None)) for name, path in printing.reports]
    screen = standard_output(for_people=printing.form == CONSOLE)
    place = screen if printing.output is None else whole(printing.output)
    if printing.form not in _BY_CASE:
        outs.append(Out(place, partial(make, printing.form, own_output() if printing.output is None else None)))
        await _tell_all(store, [finished], printing, outs)
        return
    if outs:
        await _tell_all(store, [finished], printing, outs)
    if printing.form == "otlp":
        await _export_events(store, finished, printing.endpoint)
        return
    with place as sink:
        await _export_rows(sink, store, finished, printing)


async def _export_events(store: Store, finished: Finished, endpoint: str | None) -> None:
    from jurat.cli._events import sending

    with sending(endpoint) as events:
        async for case, trials in _by_case(store, finished.record):
            await asyncio.to_thread(events.send, finished.record, case, trials)
    line(f"sent: {events.count:,} events")


async def _export_rows(sink: Sink, store: Store, finished: Finished, printing: Printing) -> None:
    record, include_output = finished.record, printing.include_output
    if printing.form == "csv":
        sink.write(csv_text((), heading=True).encode())
    async for case, trials in _by_case(store, record, contents=printing.form == "jsonl"):
        if printing.form == "dataset":
            body = (await store.runs.snapshot(case.case_hash)).body
            rows = dataset_rows(record, case, body, trials)
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        elif printing.form == "csv":
            text = csv_text(trial_rows(record, case, trials, include_output=include_output))
        else:
            told = case_json(case, trials, record.samples, include_output=include_output)
            text = json.dumps({"run": record.id, **told}, ensure_ascii=False, sort_keys=True) + "\n"
        sink.write(text.encode("utf-8", "backslashreplace"))


async def _by_case(
    store: Store, record: RunRecord, *, contents: bool = False
) -> AsyncIterator[tuple[CaseRecord, list[TrialRecord]]]:
    from jurat.suiterun import by_case

    async for pair in by_case(store, record, contents=contents):
        yield pair
