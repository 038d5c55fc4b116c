"""`jurat report check`: whether the file of a report is one, and holds together as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._stdout import line, tell
from jurat.cli._text import visible
from jurat.errors import AuthoringError, Fault

if TYPE_CHECKING:
    from jurat.metrics import CheckedReport

__all__ = ["app"]

app = typer.Typer(help="Check the files of reports.", no_args_is_help=True)


@app.callback()
def report() -> None:
    """Check the files of reports."""


@app.command()
def check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="JSON reports, handed on or not.", show_default=False)
    ],
    handed_on: Annotated[
        bool, typer.Option("--handed-on", help="Admit reports alone that are handed on (report/v1), in their one form.")
    ] = False,
) -> None:
    """Hold reports against their own rows, and tell every contradiction. Nothing is believed that can be computed.

    A report that says that it keeps something back has to be written as such reports are, byte by byte, and to keep it.
    """
    sound = True
    for file in files:
        with exits():
            try:
                line(visible(f"{file}: {_words(_checked(file, handed_on))}"))
            except AuthoringError as error:
                tell(visible(str(error)).rstrip())
                sound = False
    if not sound:
        raise typer.Exit(ExitCode.WRONG_INPUT)


def _checked(file: Path, handed_on: bool) -> CheckedReport:
    from jurat.metrics import check_report
    from jurat.regularfiles import open_regular
    from jurat.report import InterchangeReader
    from jurat.report.run_reader import ReportReader

    try:
        with open_regular(file) as stream:
            strict = handed_on or "withheld" in ReportReader(stream, str(file)).head
        with open_regular(file) as stream:
            return check_report(stream, str(file), InterchangeReader if strict else ReportReader)
    except OSError as error:
        found = error.strerror or type(error).__name__
        fault = Fault(path="FILE", file=str(file), expected="the file of a report", found=found)
        raise AuthoringError("report", [fault]) from None


def _words(checked: CheckedReport) -> str:
    from jurat.report.digits import count

    run, gate = checked.run, checked.gate
    outcome = run.status.value if gate is None else str(gate["outcome"])
    return f"sound, run {run.id} of {run.suite}, {count(run.cases, 'case')}, {outcome}"
