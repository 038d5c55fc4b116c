"""What several commands share: forms of lists, what counts as a failure, and the options that they all take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jurat.vocabulary import MAX_CONCURRENCY, Cache

__all__ = [
    "BudgetUsdOption",
    "CacheOption",
    "ConcurrencyOption",
    "FailOn",
    "FailOnOption",
    "FilterOption",
    "Form",
    "FormatOption",
    "IncludeOutputOption",
    "LiveOption",
    "OutputOption",
    "ProviderOption",
    "RecordOption",
    "ReplayOption",
    "ReportOption",
    "RunArgument",
    "StoreOption",
    "TimeoutOption",
]


class Form(StrEnum):
    """How a list is printed."""

    CONSOLE = "console"
    JSON = "json"


class FailOn(StrEnum):
    """What makes the exit code a failure."""

    FAIL = "fail"
    UNDECIDED = "undecided"
    NEVER = "never"


# --- options of several commands ----------------------------------------------------------------------------------

BudgetUsdOption = Annotated[
    float | None, typer.Option(min=0.0, help="Begin no call once so much is known to be spent.")
]
CacheOption = Annotated[Cache, typer.Option(help="Whether replies from earlier runs are used.")]
ConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=MAX_CONCURRENCY, help="Calls in flight, subject and judges together. Default: by provider."
    ),
]
FailOnOption = Annotated[
    FailOn, typer.Option(help="What fails: fail (1 when the gate failed), undecided (1 then too), never (0).")
]
FilterOption = Annotated[
    str | None,
    typer.Option("--filter", metavar="EXPR", help="Which cases: NAME*, label:L, metadata.key=V, !TERM; all must hold."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=(
            "How the report is told: console, json, report, junit, github, markdown, sarif, html, or an installed one."
        ),
    ),
]
IncludeOutputOption = Annotated[
    bool, typer.Option("--include-output", help="Answers and conversations belong to the report.")
]
LiveOption = Annotated[bool, typer.Option("--live", help="Ask those again of whom the suite has recordings.")]
OutputOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A file for the report, whole or not there; the summary is then still printed."),
]
ProviderOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=PROVIDER", help="Take kind:model, or another provider, for this name. May be given again."
    ),
]
RecordOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Keep everybody's replies in this folder, for --replay.")
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Answer from the recordings in this folder: no key, no connection, no model."),
]
ReportOption = Annotated[
    list[str] | None,
    typer.Option(metavar="FORMAT=FILE", help="A report in another format, into a file. May be given again."),
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's id, a beginning of it that no other has, or latest.")
]
StoreOption = Annotated[
    str | None, typer.Option(help="Where runs are kept: a file or a PostgreSQL URL. Default: .jurat/jurat.db.")
]
TimeoutOption = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="For the whole run; what is not decided by then is an error.")
]
