"""`jurat store`: whether the record is sound, and how much there is of it. What a store holds stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._stdout import line, say_json
from jurat.cli._text import visible
from jurat.eventloop import run_in_loop

if TYPE_CHECKING:
    from jurat.jsontext import Json
    from jurat.store import RecordStats, Store, StoreFault

__all__ = ["app"]

app = typer.Typer(help="Verify the store, or count what it holds.", no_args_is_help=True)

_MOST_IN_JSON = 1_000


class Form(StrEnum):
    """How the findings are printed."""

    CONSOLE = "console"
    JSON = "json"


_Place = Annotated[str | None, typer.Option("--store", help="Which store: a file or a PostgreSQL URL.")]
_Form = Annotated[Form, typer.Option("--format", help="How the findings are printed.")]


@app.command()
def verify(store: _Place = None, form: _Form = Form.CONSOLE) -> None:
    """Derive every hash, count, status and gate anew, and say where the record differs from itself.

    Exit codes: 0 the record is sound, 4 it is not or cannot be read.
    """
    with exits():
        if not run_in_loop(_verify(store, form)):
            raise typer.Exit(ExitCode.FAULT)


@app.command()
def stats(store: _Place = None, form: _Form = Form.CONSOLE) -> None:
    """Say how many runs, trials and replies the store holds, and how large it is.

    Exit codes: 0, or 4 when it cannot be read.
    """
    with exits():
        shown, found = run_in_loop(_stats(store))
        if form is Form.JSON:
            say_json({"store": shown, **asdict(found)})
        else:
            line(_table(shown, found))


async def _open(place: str | None) -> Store:
    from jurat.store import Store
    from jurat.workbench import Workbench

    return await Store.open(Workbench().store_place(place), must_exist=True, reads=True)


async def _verify(place: str | None, form: Form) -> bool:
    from jurat.suiterun import verify_store

    store = await _open(place)
    count, kept = 0, list[dict[str, "Json"]]()
    try:
        async for fault in verify_store(store):
            count += 1
            if form is Form.CONSOLE:
                line(_sentence(fault))
            elif len(kept) < _MOST_IN_JSON:
                kept.append({"key": fault.key, "message": fault.message})
        found = await store.stats()
    finally:
        await store.aclose()
    if form is Form.JSON:
        report = {"store": store.shown, "sound": not count, "faults": count, "first_faults": kept}
        say_json(report)
    else:
        line(_verdict(store.shown, count, found))
    return not count


async def _stats(place: str | None) -> tuple[str, RecordStats]:
    store = await _open(place)
    try:
        return store.shown, await store.stats()
    finally:
        await store.aclose()


def _sentence(fault: StoreFault) -> str:
    """A fault, with the reply's key where the message does not name what it is about."""
    named = fault.key is None or fault.key in fault.message
    return visible(fault.message if named else f"reply {fault.key}: {fault.message}")


def _verdict(shown: str, faults: int, found: RecordStats) -> str:
    looked = f"{found.runs:,} runs, {found.trials:,} trials, {found.assessments:,} assessments"
    replies = found.replies.kept + found.replies.withheld
    outcome = "sound" if not faults else f"{faults:,} faults"
    return f"{visible(shown)}: {outcome} ({looked}, {replies:,} replies)"


def _table(shown: str, found: RecordStats) -> str:
    kept, withheld = found.replies.kept, found.replies.withheld
    rows: Mapping[str, str] = {
        "runs": f"{found.runs:,}",
        "cases": f"{found.cases:,}",
        "trials": f"{found.trials:,}",
        "assessments": f"{found.assessments:,}",
        "snapshots": f"{found.snapshots:,}",
        "replies": f"{kept:,} of {found.replies.kept_bytes:,} bytes; {withheld:,} withheld",
        "size": f"{found.bytes:,} bytes",
    }
    return "\n".join([visible(shown), *(f"  {name:<12} {value}" for name, value in rows.items())])
