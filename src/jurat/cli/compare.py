"""`jurat compare`: a run held against an earlier one, case by case, and what the difference can and cannot show."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._forms import StoreOption
from jurat.cli._stdout import coloured, columns, say, tell, turned_away
from jurat.eventloop import run_in_loop

if TYPE_CHECKING:
    from jurat.jsontext import Json
    from jurat.store import Store
    from jurat.workbench import Workbench

__all__ = ["CompareForm", "CompareOn", "compare"]

_MAX_WIDTH = 120


class CompareForm(StrEnum):
    """How a comparison is told."""

    CONSOLE = "console"
    JSON = "json"
    MARKDOWN = "markdown"


class CompareOn(StrEnum):
    """What makes the exit code a failure."""

    NEVER = "never"
    REGRESSION = "regression"
    SIGNIFICANT_REGRESSION = "significant-regression"


_SIDE_HELP = "a run's id, a beginning of it that no other has, latest, or the file of a JSON report."


def compare(
    base: Annotated[str, typer.Argument(metavar="BASE", help=f"What is compared with: {_SIDE_HELP}")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help=f"What is compared: {_SIDE_HELP}")] = "latest",
    fail_on: Annotated[
        CompareOn,
        typer.Option("--fail-on", help="What fails (1): a case that regressed; a pass rate that fell beyond chance."),
    ] = CompareOn.NEVER,
    form: Annotated[CompareForm, typer.Option("--format", help="How it is told.")] = CompareForm.CONSOLE,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file for it, whole or not there; the console's text stays.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Compare two runs: what regressed, what was fixed, and whether it is more than chance.

    Exit codes: 0 as --fail-on wants it, 1 not so, 2 wrong input, 3 undecided where errors could hide a regression,
    4 store or disk.
    """
    with exits():
        head = run_in_loop(_compare(base, candidate, form, output, store))
        if turned_away():
            raise typer.Exit(ExitCode.FAULT)
        raise typer.Exit(_code(head, fail_on))


def _code(head: dict[str, Json], fail_on: CompareOn) -> ExitCode:
    if fail_on is CompareOn.NEVER:
        return ExitCode.PASSED
    found = head["regression" if fail_on is CompareOn.REGRESSION else "significant_regression"]
    return {"found": ExitCode.FAILED, "undecided": ExitCode.UNDECIDED, "none": ExitCode.PASSED}[found]


async def _compare(
    base: str, candidate: str, form: CompareForm, output: Path | None, store: str | None
) -> dict[str, Json]:
    from jurat.suiterun.comparing import find_side, is_report
    from jurat.workbench import Workbench

    bench = Workbench()
    reports = [text for text in (base, candidate) if is_report(text)]
    if output is not None:
        _refuse_output(output, bench, store, reports)
    async with _opened(bench, store, needed=len(reports) < 2) as opened:
        sides = (await find_side(base, "BASE", opened), await find_side(candidate, "CANDIDATE", opened))
        if sides[0].record.id == sides[1].record.id:
            tell(f"beware: the run {sides[0].record.id} is compared with itself")
        return await _tell(sides, opened, form, output)


def _refuse_output(output: Path, bench: Workbench, store: str | None, reports: list[str]) -> None:
    from jurat.cli._output import refuse_shared_output, refuse_unwritable

    place = bench.store_place(store)
    others = {"the store": place if isinstance(place, Path) else None, "the configuration file": bench.config.file}
    others |= {f"the report {text}": Path(text) for text in reports}
    refuse_shared_output(output, others, option="--output", command="jurat compare")
    refuse_unwritable(output, "jurat compare")


@contextlib.asynccontextmanager
async def _opened(bench: Workbench, store: str | None, *, needed: bool) -> AsyncIterator[Store | None]:
    """The store, where a run of it is asked for. Two reports need none."""
    if not needed:
        yield None
        return
    opened = await bench.open_store(store, must_exist=True, reads=True)
    try:
        yield opened
    finally:
        await opened.aclose()


async def _tell(sides: Any, store: Store | None, form: CompareForm, output: Path | None) -> dict[str, Json]:
    """Compare, and write what was asked for; gives everything but the cases."""
    from jurat.cli._outs import standard_output, whole
    from jurat.report.comparison_markdown import ComparisonMarkdown
    from jurat.report.comparison_page import ComparisonPage
    from jurat.report.comparison_report import ComparisonWriter
    from jurat.report.console_look import Look, in_colour, plain
    from jurat.suiterun.comparing import compared

    width = min(columns(100), _MAX_WIDTH)
    page = ComparisonPage(Look(width=width, paint=in_colour if coloured() else plain))
    if output is None and form is CompareForm.CONSOLE:
        head = await compared(sides[0], sides[1], store, page)
        say(page.text(head))
        return head
    with standard_output() if output is None else whole(output) as sink:
        if form is CompareForm.JSON:
            with ComparisonWriter(sink) as writer:
                head = await compared(sides[0], sides[1], store, page, writer)
                writer.end(head)
        else:
            other = ComparisonMarkdown() if form is CompareForm.MARKDOWN else ComparisonPage(Look(width=width))
            head = await compared(sides[0], sides[1], store, page, other)
            sink.write(other.text(head).encode("utf-8", "backslashreplace"))
    if output is not None:
        say(page.text(head))
    return head
