"""`jurat export`: a run leaves the store, as a report, as lines of JSON, or as a table."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._forms import INCLUDE_HELP, RUN_HELP, STORE_HELP, ExportForm
from jurat.cli._stdout import turned_away

__all__ = ["export"]


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    form: Annotated[
        ExportForm, typer.Option("--format", help="json: the report; jsonl: a line for each case; csv: a table.")
    ] = ExportForm.JSON,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file, whole or not there. Default: standard output.")
    ] = None,
    include_output: Annotated[bool, typer.Option("--include-output", help=INCLUDE_HELP)] = False,
    store: Annotated[str | None, typer.Option(help=STORE_HELP)] = None,
) -> None:
    """Write a run out. A table is safe to open: no text in it is taken for a formula.

    Exit codes: 0 done, 2 wrong input, 4 store or disk.
    """
    with exits():
        asyncio.run(_export(run, form, output, include_output, store))
        if turned_away():
            raise typer.Exit(ExitCode.FAULT)


async def _export(text: str, form: ExportForm, output: Path | None, include_output: bool, store: str | None) -> None:
    from jurat.cli._output import refuse_shared_output, refuse_unwritable
    from jurat.cli._reporting import export_run, sink_for
    from jurat.suiterun import load_finished
    from jurat.workbench import Workbench

    bench = Workbench()
    place = bench.store_place(store)
    if output is not None:
        others = {"the store": place if isinstance(place, Path) else None, "the configuration file": bench.config.file}
        refuse_shared_output(output, others, option="--output", command="jurat export")
        refuse_unwritable(output, "jurat export")
    opened = await bench.open_store(store, must_exist=True)
    try:
        finished = await load_finished(opened, await opened.runs.find(text))
        with sink_for(output) as sink:
            await export_run(sink, opened, finished, form, include_output=include_output)
    finally:
        await opened.aclose()
