"""`jurat resume`: going on with a run that was interrupted. Nothing that was paid for is asked for again."""

from __future__ import annotations

from typing import Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._forms import (
    BudgetUsdOption,
    ConcurrencyOption,
    FailOn,
    FailOnOption,
    FormatOption,
    IncludeOutputOption,
    OutputOption,
    ReportOption,
    RunArgument,
    StoreOption,
    TimeoutOption,
)

__all__ = ["resume"]


def resume(
    run: RunArgument,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Make the trials anew that came to an error.")
    ] = False,
    concurrency: ConcurrencyOption = None,
    budget_usd: BudgetUsdOption = None,
    timeout: TimeoutOption = None,
    form: FormatOption = "console",
    output: OutputOption = None,
    report: ReportOption = None,
    include_output: IncludeOutputOption = False,
    fail_on: FailOnOption = FailOn.FAIL,
    store: StoreOption = None,
) -> None:
    """Go on with a run that was interrupted; one that is complete is told as it is.

    Bounds that are given take the place of those that it was begun with.

    Exit codes: as of jurat run.
    """
    with exits():
        from jurat.cli._reporting import printing_of
        from jurat.cli._running import order_of, resume_run

        printing = printing_of(form, output, report or (), include_output)
        bounds = {"concurrency": concurrency, "budget_usd": budget_usd, "timeout_s": timeout}
        code = resume_run(run, order_of(printing, fail_on, store), retry_errors=retry_errors, bounds=bounds)
        if code is not ExitCode.PASSED:
            raise typer.Exit(code)
