"""`jurat rescore`: the answers of an earlier run, judged anew by other assertions. No subject is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    RunArgument,
    StoreOption,
    TimeoutOption,
)
from jurat.vocabulary import Cache

__all__ = ["rescore"]


def rescore(
    run: RunArgument,
    suite: Annotated[Path, typer.Option(metavar="FILE", help="The suite whose assertions and policy judge.")],
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
