"""`jurat run`: suites in, a record, a report and a gate out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jurat.cli._annotating import annotated
from jurat.cli._exits import ExitCode, exits
from jurat.cli._forms import (
    BudgetUsdOption,
    CacheOption,
    ConcurrencyOption,
    FailOn,
    FailOnOption,
    FilterOption,
    FormatOption,
    IncludeOutputOption,
    LiveOption,
    OutputOption,
    ProviderOption,
    RecordOption,
    ReplayOption,
    ReportOption,
    StoreOption,
    TimeoutOption,
)
from jurat.vocabulary import Cache

__all__ = ["run"]


def run(
    suites: Annotated[list[Path], typer.Argument(metavar="SUITE", help="Suite files, in YAML or JSON.")],
    samples: Annotated[
        int | None, typer.Option(min=1, max=20, help="Trials of each case. Default: the suite's.")
    ] = None,
    reducer: Annotated[
        str | None, typer.Option(help="How trials become one: all, any, majority, or a pass rate.")
    ] = None,
    concurrency: ConcurrencyOption = None,
    filter_: FilterOption = None,
    provider: ProviderOption = None,
    budget_usd: BudgetUsdOption = None,
    timeout: TimeoutOption = None,
    form: FormatOption = "console",
    output: OutputOption = None,
    report: ReportOption = None,
    include_output: IncludeOutputOption = False,
    fail_on: FailOnOption = FailOn.FAIL,
    cache: CacheOption = Cache.OFF,
    record: RecordOption = None,
    replay: ReplayOption = None,
    live: LiveOption = False,
    store: StoreOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell calls, tokens and cost beforehand; nothing is asked or recorded.")
    ] = False,
) -> None:
    """Run suites: ask the subject, judge its answers, keep the record, and hold it against the policy.

    Exit codes: 0 passed, 1 a gate or case failed, 2 wrong input, 3 undecided, 4 store or internal fault,
    130 interrupted (jurat resume goes on). Of several suites the worst counts.
    """
    with exits(), annotated(form):
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
