"""`jurat rescore`: the answers of an earlier run, judged anew by other assertions. No subject is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._forms import (
    BUDGET_HELP,
    CACHE_HELP,
    CONCURRENCY_HELP,
    FAIL_ON_HELP,
    FILTER_HELP,
    FORMAT_HELP,
    INCLUDE_HELP,
    LIVE_HELP,
    OUTPUT_HELP,
    PROVIDER_HELP,
    RECORD_HELP,
    REPLAY_HELP,
    REPORT_HELP,
    RUN_HELP,
    STORE_HELP,
    TIMEOUT_HELP,
    FailOn,
)
from jurat.vocabulary import MAX_CONCURRENCY, Cache

__all__ = ["rescore"]


def rescore(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    suite: Annotated[Path, typer.Option(metavar="FILE", help="The suite whose assertions and policy judge.")],
    concurrency: Annotated[int | None, typer.Option(min=1, max=MAX_CONCURRENCY, help=CONCURRENCY_HELP)] = None,
    filter_: Annotated[str | None, typer.Option("--filter", metavar="EXPR", help=FILTER_HELP)] = None,
    provider: Annotated[list[str] | None, typer.Option(metavar="NAME=PROVIDER", help=PROVIDER_HELP)] = None,
    budget_usd: Annotated[float | None, typer.Option(min=0.0, help=BUDGET_HELP)] = None,
    timeout: Annotated[float | None, typer.Option(metavar="SECONDS", help=TIMEOUT_HELP)] = None,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)] = "console",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help=OUTPUT_HELP)] = None,
    report: Annotated[list[str] | None, typer.Option(metavar="FORMAT=FILE", help=REPORT_HELP)] = None,
    include_output: Annotated[bool, typer.Option("--include-output", help=INCLUDE_HELP)] = False,
    fail_on: Annotated[FailOn, typer.Option(help=FAIL_ON_HELP)] = FailOn.FAIL,
    cache: Annotated[Cache, typer.Option(help=CACHE_HELP)] = Cache.OFF,
    record: Annotated[Path | None, typer.Option(metavar="FOLDER", help=RECORD_HELP)] = None,
    replay: Annotated[Path | None, typer.Option(metavar="FOLDER", help=REPLAY_HELP)] = None,
    live: Annotated[bool, typer.Option("--live", help=LIVE_HELP)] = False,
    store: Annotated[str | None, typer.Option(help=STORE_HELP)] = None,
) -> None:
    """Judge the answers of a completed run anew, by the assertions of a suite file. It becomes a run of its own.

    Exit codes: as of jurat run.
    """
    with exits():
        from jurat.cli._reporting import printing_of
        from jurat.cli._running import order_of, providers_from, rescore_run
        from jurat.suiterun import checked_options

        printing = printing_of(form, output, report or (), include_output)
        options = checked_options(
            concurrency=concurrency,
            filter=filter_,
            providers=providers_from(provider or ()),
            budget_usd=budget_usd,
            timeout_s=timeout,
            cache=cache,
            record=record,
            replay=replay,
            live=live,
        )
        code = rescore_run(run, suite, options, order_of(printing, fail_on, store))
        if code is not ExitCode.PASSED:
            raise typer.Exit(code)
