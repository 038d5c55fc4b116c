"""`jurat judge`: recorded outputs in, verdicts with proof out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._stdout import say, say_json, turned_away
from jurat.vocabulary import MAX_CONCURRENCY, Cache, Contract, EvidenceRule, Strategy

__all__ = ["judge"]


class Form(StrEnum):
    """How the outcome is printed."""

    CONSOLE = "console"
    JSON = "json"


class AnswerContract(StrEnum):
    """The contracts that an author can choose."""

    SCORE_V1 = Contract.SCORE_V1.value
    CRITERIA_V1 = Contract.CRITERIA_V1.value
    REASONED_V1 = Contract.REASONED_V1.value


def judge(
    input_: Annotated[
        str, typer.Argument(metavar="INPUT", help="A .jsonl, .csv, .tsv or .parquet file, or - for JSONL on stdin.")
    ],
    rubric: Annotated[
        str | None, typer.Option(help="A template (see `jurat rubrics`), or a rubric file in YAML or JSON.")
    ] = None,
    rubric_text: Annotated[str | None, typer.Option(help="A rubric in your own words, scored from 0 to 100.")] = None,
    provider: Annotated[
        str | None, typer.Option(help="A provider's name or kind:model. Default: the embedded model.")
    ] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FIELD=COLUMN,...", help="Which column is which field. Given twice, both count."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN,...", help="Columns to copy into the verdicts. Given twice, both count."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the verdicts go, one JSON object a line.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with --out; nothing is paid for twice.")] = False,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="With --resume: ask again about rows that came to an error.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start --out anew.")] = False,
    threshold: Annotated[float | None, typer.Option(help="Pass from this score on. Default: the rubric's.")] = None,
    evidence: Annotated[
        EvidenceRule, typer.Option(help="Whether a verdict without quotes counts.")
    ] = EvidenceRule.OPTIONAL,
    contract: Annotated[AnswerContract, typer.Option(help="The shape of the answer.")] = AnswerContract.SCORE_V1,
    strategy: Annotated[Strategy | None, typer.Option(help="Where the score comes from. Default: by model.")] = None,
    samples: Annotated[int, typer.Option(help="How often the judge is asked about each row, 1 to 20.")] = 1,
    reducer: Annotated[str, typer.Option(help="How samples become one: all, any, majority, or a pass rate.")] = "all",
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=MAX_CONCURRENCY, help="Calls in flight. Default: by provider.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge the first rows only.")] = None,
    cache: Annotated[Cache, typer.Option(help="Whether replies from earlier runs are used.")] = Cache.OFF,
    store: Annotated[str | None, typer.Option(help="Where replies are kept: a file or a PostgreSQL URL.")] = None,
    budget_usd: Annotated[
        float | None, typer.Option(min=0.0, metavar="USD", help="No call is begun once so much is spent.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="For the whole job; the rest is an error then.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell calls, tokens and cost beforehand; nothing is asked.")
    ] = False,
    pass_rate: Annotated[float, typer.Option(min=0.0, max=1.0, help="The gate: the share that has to pass.")] = 1.0,
    show: Annotated[int, typer.Option(min=0, help="How many verdicts to print.")] = 20,
    form: Annotated[Form, typer.Option("--format", help="How the outcome is printed.")] = Form.CONSOLE,
) -> None:
    """Judge recorded outputs by a rubric, and show the proof.

    Exit codes: 0 the gate is met, 1 it is missed, 2 wrong input, 3 undecided, 4 store or internal fault,
    130 interrupted.
    """
    with exits():
        from jurat.cli._judging import Order, run_order

        order = Order(
            input=input_,
            rubric=rubric,
            rubric_text=rubric_text,
            provider=provider,
            mapping=",".join(map_ or ()),
            keep=tuple(filter(None, (column.strip() for column in ",".join(keep or ()).split(",")))),
            out=out,
            resume=resume,
            overwrite=overwrite,
            threshold=threshold,
            evidence=evidence,
            contract=Contract(contract.value),
            strategy=strategy,
            samples=samples,
            reducer=reducer,
            concurrency=concurrency,
            limit=limit,
            cache=cache,
            store=store,
            pass_rate=pass_rate,
            show=show if form is Form.CONSOLE else 0,
            budget_usd=budget_usd,
            retry_errors=retry_errors,
            timeout_s=timeout,
            dry_run=dry_run,
        )
        outcome = run_order(order)
        if form is Form.JSON:
            say_json(outcome.summary)
        else:
            say(outcome.text)
        if turned_away():
            raise typer.Exit(ExitCode.FAULT)
        if outcome.code is not ExitCode.PASSED:
            raise typer.Exit(outcome.code)
