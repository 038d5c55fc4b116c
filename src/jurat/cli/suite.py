"""`jurat suite validate` and `jurat suite fmt`: suite files are checked, and laid out, without anything being run."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._stdout import line, tell
from jurat.cli._text import visible
from jurat.errors import AuthoringError, Fault, StoreError
from jurat.regularfiles import read_regular

if TYPE_CHECKING:
    from jurat.suite.suite import Suite

__all__ = ["app"]

app = typer.Typer(help="Check suite files, or lay them out.", no_args_is_help=True)

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Suite files, YAML or JSON.", show_default=False)]


@app.command()
def validate(files: Files) -> None:
    """Check suite files with everything that they name, and tell all faults at once. Nothing is run or asked."""
    from jurat.suitecheck import checked_suite

    sound = True
    for file in files:
        with exits():
            try:
                suite = checked_suite(file)
            except AuthoringError as error:
                tell(visible(str(error)).rstrip())
                sound = False
            else:
                line(visible(f"{file}: {_summary(suite)}"))
    if not sound:
        raise typer.Exit(ExitCode.WRONG_INPUT)


def _summary(suite: Suite) -> str:
    assertions = sum(len(case.assertions) for case in suite.cases)
    spec = suite.subject
    named = spec.provider or spec.settings.get("function") or spec.settings.get("url") or "recorded outputs"
    return f"{suite.name}, {_count(len(suite.cases), 'case')}, {_count(assertions, 'assertion')}, subject {named}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


@app.command()
def fmt(
    files: Files,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; end with 1 when a file would be changed.")
    ] = False,
) -> None:
    """Lay suite files out anew: indentation, quotes and folded text. Comments stay, and so does what is said."""
    changed, unsound = 0, False
    for file in files:
        with exits():
            try:
                changed += _lay_out(file, check)
            except AuthoringError as error:
                tell(visible(str(error)).rstrip())
                unsound = True
    if unsound:
        raise typer.Exit(ExitCode.WRONG_INPUT)
    if check and changed:
        raise typer.Exit(ExitCode.FAILED)


def _lay_out(file: Path, check: bool) -> bool:
    """Whether the file was, or would be, changed."""
    from jurat.yamlformat import format_document

    before = _content(file)
    after = format_document(before, str(file)).encode()
    if after == before:
        return False
    if not check:
        _write(file, after)
    line(visible(f"{file}: {'would be ' if check else ''}laid out anew"))
    return True


def _content(file: Path) -> bytes:
    from jurat.yamltext import MAX_BYTES

    try:
        return read_regular(file, MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or "a name that no file can have"
    raise AuthoringError(
        "suite file", [Fault(path="", expected="a file that can be read", found=found, file=str(file))]
    )


def _write(file: Path, content: bytes) -> None:
    """Put the content in the place of the file's: wholly or not at all, with the file's own permissions."""
    place = file.resolve()
    try:
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:50]}.")
        beside = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            beside.chmod(place.stat().st_mode & 0o7777)
            beside.replace(place)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
    except OSError as error:
        what = f"{file} could not be written ({error.strerror}); it is left as it was"
        raise StoreError(what) from None
