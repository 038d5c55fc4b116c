"""`jurat runs`: what the store holds, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import exits
from jurat.cli._forms import Form, StoreOption
from jurat.cli._stdout import columns, line, say_json
from jurat.cli._text import visible
from jurat.eventloop import run_in_loop
from jurat.report.plaintext import fitted

if TYPE_CHECKING:
    from jurat.report.record import RunRecord

__all__ = ["runs"]

_LEAD = "{:<24}{:<12}{:<10}{:>6}"
_WIDE = 100

_UNBOUNDED = 10_000
"""Where it goes to a file or a pipe, a line may be of any length."""


def runs(
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Runs of this suite alone.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 20,
    form: Annotated[Form, typer.Option("--format", help="How to print the list.")] = Form.CONSOLE,
    store: StoreOption = None,
) -> None:
    """List runs: how far they came, what their gate said, when they began, which suite they ran."""
    with exits():
        found = run_in_loop(_runs(limit, suite, store))
        if form is Form.JSON:
            from jurat.report.run_json import run_json

            told = [{**run_json(run), "gate": _outcome(run)} for run in found]
            say_json(told)
        else:
            line(_table(found, columns(_UNBOUNDED)))


async def _runs(limit: int, suite: str | None, store: str | None) -> list[RunRecord]:
    from jurat.workbench import Workbench

    bench = Workbench()
    place = bench.store_place(store)
    if isinstance(place, Path) and not place.exists():  # which is no fault, and no reason to make a store
        return []
    opened = await bench.open_store(store, reads=True)
    try:
        return await opened.runs.runs(limit=limit, suite=suite)
    finally:
        await opened.aclose()


def _outcome(run: RunRecord) -> str | None:
    return None if run.gate is None else str(run.gate["outcome"])


def _table(found: Sequence[RunRecord], width: int) -> str:
    """A line for each run. Where there is no room, the time stays away, which the run's name tells too; long names are
    cut.
    """
    if not found:
        return "no runs"
    rows = [("run", "status", "gate", "trials", "begun", "suite"), *map(_cells, found)]
    lines = []
    for *cells, begun, suite in rows:
        lead = _LEAD.format(*cells) + (f"  {begun:<19}" if width >= _WIDE else "") + "  "
        lines.append(lead + fitted(suite, width - len(lead)))
    return "\n".join(lines)


def _cells(run: RunRecord) -> tuple[str, ...]:
    suite = f"{visible(run.suite)}{' (rescored)' if run.parent else ''}"
    trials = str(run.cases * run.samples)
    return run.id, run.status.value, _outcome(run) or "-", trials, run.created_at.removesuffix("Z"), suite
