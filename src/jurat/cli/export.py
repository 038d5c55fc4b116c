"""`jurat export`: a run leaves the store, as reports, as lines of JSON, or as a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._forms import IncludeOutputOption, ReportOption, RunArgument, StoreOption
from jurat.cli._stdout import turned_away
from jurat.eventloop import run_in_loop

if TYPE_CHECKING:
    from jurat.cli._reporting import Printing

__all__ = ["export"]

_FORMAT_HELP = (
    "jsonl: a line for each case; dataset: a line for each trial, with what was asked and answered; csv: a table; "
    "otlp: events to a collector; json, report, junit, github, markdown, sarif, html, console or an "
    "installed format: a report."
)

_ENDPOINT_HELP = "Of otlp: the collector. Default: what OTEL_EXPORTER_OTLP_ENDPOINT says, or this machine."


def export(
    run: RunArgument,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help=_FORMAT_HELP)] = "json",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file, whole or not there. Default: standard output.")
    ] = None,
    report: ReportOption = None,
    include_output: IncludeOutputOption = False,
    endpoint: Annotated[str | None, typer.Option(metavar="URL", help=_ENDPOINT_HELP)] = None,
    store: StoreOption = None,
) -> None:
    """Write a run out. A table is safe to open: no text in it is taken for a formula.

    Exit codes: 0 done, 2 wrong input, 4 store or disk.
    """
    with exits():
        from jurat.cli._reporting import printing_of

        printing = printing_of(
            form, output, report or (), include_output, also=("console", "jsonl", "dataset", "csv", "otlp")
        )
        _refuse_misfits(printing, endpoint)
        printing = replace(printing, endpoint=endpoint)
        run_in_loop(_export(run, printing, store))
        if turned_away():
            raise typer.Exit(ExitCode.FAULT)


def _refuse_misfits(printing: Printing, endpoint: str | None) -> None:
    from jurat.errors import AuthoringError, Fault
    from jurat.provider.addresses import holds_key

    sent = printing.form == "otlp"
    if sent and printing.output is not None:
        fault = Fault(path="--output", expected="no file with otlp", found="one", hint="Events go to a collector")
        raise AuthoringError("jurat export", [fault])
    if endpoint is not None and not sent:
        fault = Fault(path="--endpoint", expected="--format otlp with a collector", found=f"--format {printing.form}")
        raise AuthoringError("jurat export", [fault])
    if endpoint is not None and holds_key(endpoint):
        hint = "A key belongs into OTEL_EXPORTER_OTLP_HEADERS"
        fault = Fault(path="--endpoint", expected="an address without a key", found="one that has some", hint=hint)
        raise AuthoringError("jurat export", [fault])


async def _export(text: str, printing: Printing, store: str | None) -> None:
    from jurat.cli._output import refuse_unfit_files
    from jurat.cli._reporting import export_run
    from jurat.suiterun import input_files_of_run, load_finished
    from jurat.workbench import Workbench

    bench = Workbench()
    if printing.files:
        place = bench.store_place(store)
        others = {"the store": place if isinstance(place, Path) else None, "the configuration file": bench.config.file}
        refuse_unfit_files(printing.files, others, "jurat export")
    opened = await bench.open_store(store, must_exist=True, reads=True)
    try:
        record = await opened.runs.find(text)
        if printing.files:
            suite = {f"a file of the suite, {file}": file for file in await input_files_of_run(opened, record)}
            refuse_unfit_files(printing.files, suite, "jurat export")
        await export_run(opened, await load_finished(opened, record), printing)
    finally:
        await opened.aclose()
