"""`jurat run`: suites in, a record, a report and a gate out."""

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
    STORE_HELP,
    TIMEOUT_HELP,
    FailOn,
)
from jurat.vocabulary import MAX_CONCURRENCY, Cache

__all__ = ["run"]


def run(
    suites: Annotated[list[Path], typer.Argument(metavar="SUITE", help="Suite files, in YAML or JSON.")],
    samples: Annotated[
        int | None, typer.Option(min=1, max=20, help="Trials of each case. Default: the suite's.")
    ] = None,
    reducer: Annotated[
        str | None, typer.Option(help="How trials become one: all, any, majority, or a pass rate.")
    ] = None,
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell calls, tokens and cost beforehand; nothing is asked or recorded.")
    ] = False,
) -> None:
    """Run suites: ask the subject, judge its answers, keep the record, and hold it against the policy.

    Exit codes: 0 passed, 1 a gate or case failed, 2 wrong input, 3 undecided, 4 store or internal fault,
    130 interrupted (jurat resume goes on). Of several suites the worst counts.
    """
    with exits():
        from jurat.cli._reporting import printing_of
        from jurat.cli._running import foresee_suites, order_of, providers_from, reducer_from, run_suites
        from jurat.suiterun import checked_options

        printing = printing_of(form, output, report or (), include_output)
        options = checked_options(
            samples=samples,
            reducer=reducer_from(reducer),
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
        if dry_run:
            wanted = [*(report or ()), *([output] if output else ())]
            code = foresee_suites(suites, options, store, form=form, reports=wanted)
        else:
            code = run_suites(suites, options, order_of(printing, fail_on, store))
        if code is not ExitCode.PASSED:
            raise typer.Exit(code)
