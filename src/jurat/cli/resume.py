"""`jurat resume`: going on with a run that was interrupted. Nothing that was paid for is asked for again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._forms import (
    FAIL_ON_HELP,
    FORMAT_HELP,
    INCLUDE_HELP,
    OUTPUT_HELP,
    REPORT_HELP,
    RUN_HELP,
    STORE_HELP,
    FailOn,
)

__all__ = ["resume"]


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Make the trials anew that came to an error.")
    ] = False,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)] = "console",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help=OUTPUT_HELP)] = None,
    report: Annotated[list[str] | None, typer.Option(metavar="FORMAT=FILE", help=REPORT_HELP)] = None,
    include_output: Annotated[bool, typer.Option("--include-output", help=INCLUDE_HELP)] = False,
    fail_on: Annotated[FailOn, typer.Option(help=FAIL_ON_HELP)] = FailOn.FAIL,
    store: Annotated[str | None, typer.Option(help=STORE_HELP)] = None,
) -> None:
    """Go on with a run that was interrupted; one that is complete is told as it is.

    Exit codes: as of jurat run.
    """
    with exits():
        from jurat.cli._reporting import printing_of
        from jurat.cli._running import order_of, resume_run

        printing = printing_of(form, output, report or (), include_output)
        code = resume_run(run, order_of(printing, fail_on, store), retry_errors=retry_errors)
        if code is not ExitCode.PASSED:
            raise typer.Exit(code)
