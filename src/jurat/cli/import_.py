"""`jurat import`: files of other tools become suites, and what could not be taken over is listed."""

from __future__ import annotations

import json
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._stdout import line, say_data, tell
from jurat.cli._text import visible
from jurat.errors import AuthoringError, Fault

if TYPE_CHECKING:
    from jurat.importing import Draft, Notes

__all__ = ["FORMATS_HELP", "import_"]

_INLINE_CASES = 1_000
_INLINE_BYTES = 4_000_000
"""What a suite file holds itself; more cases stand in a file of rows beside it."""

FORMATS_HELP = "auto finds it by the content; or promptfoo, deepeval, otel, langfuse, inspect, openai-evals."
_PROVIDER_HELP = "Who answers and judges where the file names nobody that is known: a name, or kind:model."


def import_(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=FORMATS_HELP, show_default=False)],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of that format.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The suite file, YAML or JSON by its ending. Default: standard output."),
    ] = None,
    provider: Annotated[str | None, typer.Option(metavar="PROVIDER", help=_PROVIDER_HELP)] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The suite's name. Default: the file's.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="End with 2 when anything was not taken over.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
) -> None:
    """Turn a file of another tool into a suite. What has no counterpart is listed with its place and the reason.

    Exit codes: 0 done, 2 wrong input (with --strict also when anything was not taken over), 4 disk.
    """
    with exits():
        from jurat.importing import Notes

        speak = tell if out is None else line
        notes = Notes(lambda note: speak(visible(str(note))))
        draft = _import(form, files, out, provider, name, notes, overwrite=overwrite)
        notes.close()
        speak(_summary(draft, notes))
        if strict and notes.count:
            raise typer.Exit(ExitCode.WRONG_INPUT)


def _summary(draft: Draft, notes: Notes) -> str:
    cases, assertions = _count(draft.cases, "case"), _count(draft.assertions, "assertion")
    bare = "" if draft.assertions else " (a case without any is unverified)"
    return f"taken over: {cases}, {assertions}{bare}; not taken over as it stood: {notes.count:,}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _import(
    form: str,
    files: list[Path],
    out: Path | None,
    provider: str | None,
    name: str | None,
    notes: Notes,
    *,
    overwrite: bool,
) -> Draft:
    from jurat.folderfiles import FolderFiles
    from jurat.importing import Draft, Source, compose, finished, importer_for

    beside = None if out is None else out.with_name(f"{out.stem}.cases.jsonl")
    _refuse_places(files, out, beside, overwrite=overwrite)
    draft = Draft(provider=provider)
    with ExitStack() as open_files:
        sources = [
            Source(str(path), open_files.enter_context(_opened(path)), notes, FolderFiles(path.parent))
            for path in files
        ]
        readers = [(importer_for(form, source), source) for source in sources]
        raws = chain.from_iterable(reader.read(source, draft) for reader, source in readers)
        spool = open_files.enter_context(tempfile.TemporaryFile())
        inline = _spooled(finished(raws, draft), spool, out)
        if draft.cases == 0:
            notes.close()
            fault = Fault(path="", expected="at least one case", found="none", file=str(files[0]))
            raise AuthoringError("import", [fault])
        suite = compose(draft, name or files[0].stem, partial(notes.add, str(files[0])))
        if name is not None:
            suite["suite"] = name
        if inline is None and out is not None and beside is not None:
            _write(beside, lambda stream: _copy(spool, stream))
            suite["cases_file"] = beside.name
        else:
            suite["cases"] = inline
        _put(suite, out)
    if out is not None and inline is not None:
        from jurat.suitecheck import checked_suite

        checked_suite(out)
    return draft


def _refuse_places(files: list[Path], out: Path | None, beside: Path | None, *, overwrite: bool) -> None:
    from jurat.cli._output import refuse_unfit_files

    if out is None or beside is None:
        return
    if out.is_file() and not overwrite:
        hint = "Name another, or add --overwrite"
        fault = Fault(path="--out", expected="a file that is not there yet", found="one", hint=hint, file=str(out))
        raise AuthoringError("jurat import", [fault])
    others: dict[str, str | Path | None] = {f"the file to import, {path}": path for path in files}
    refuse_unfit_files([("--out", out), ("--out", beside)], others, "jurat import")


def _opened(path: Path) -> IO[bytes]:
    from jurat.regularfiles import kind_of

    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # to open a pipe would be to wait for whoever writes
            found = f"{kind_of(mode)}; save it as a file first"
            raise AuthoringError("import", [Fault(path="", expected="a file", found=found, file=str(path))])
        stream = path.open("rb")
    except FileNotFoundError:
        found = "no such file"
    except OSError as error:
        found = error.strerror or type(error).__name__
    except ValueError:
        found = "a name that no file can have"
    else:
        return stream
    raise AuthoringError("import", [Fault(path="", expected="a file that can be read", found=found, file=str(path))])


def _spooled(cases: Iterator[dict[str, Any]], spool: IO[bytes], out: Path | None) -> list[dict[str, Any]] | None:
    """The cases, as long as a suite file may hold them; beyond that None, and all of them are in the spool."""
    held: list[dict[str, Any]] | None = []
    size = 0
    for case in cases:
        row = json.dumps(case, ensure_ascii=False).encode() + b"\n"
        spool.write(row)
        size += len(row)
        if held is not None and len(held) < _INLINE_CASES and size <= _INLINE_BYTES:
            held.append(case)
        elif out is None:
            expected = "--out with so many cases, which stand in a file beside the suite then"
            raise AuthoringError("jurat import", [Fault(path="--out", expected=expected, found="standard output")])
        else:
            held = None
    return held


def _copy(spool: IO[bytes], stream: IO[bytes]) -> None:
    import shutil

    spool.seek(0)
    shutil.copyfileobj(spool, stream)


def _write(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    from jurat.cli._output import whole_file

    with whole_file(path) as stream:
        fill(stream)


def _put(suite: dict[str, Any], out: Path | None) -> None:
    """Write the suite as `jurat suite fmt` lays it out."""
    from jurat.yamlformat import format_document
    from jurat.yamltext import to_yaml

    if out is not None and out.suffix.lower() == ".json":
        text = json.dumps(suite, ensure_ascii=False, indent=2) + "\n"
    else:
        text = format_document(to_yaml(suite).encode())
    if out is None:
        say_data(text)
    else:
        _write(out, lambda stream: stream.write(text.encode()))
