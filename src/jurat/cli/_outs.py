"""Where a report goes: each with its own reporter and its own file, and none of them able to spoil another.

A file that cannot be written is given up, and so is a reporter that raises; the others are written to their end, and
what was wrong is told afterwards.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from jurat.cli._output import whole_file
from jurat.cli._stdout import columns, say, say_data
from jurat.errors import StoreError
from jurat.jsontext import Json
from jurat.report.console_look import Look, in_colour, plain
from jurat.report.record import RunRecord
from jurat.report.reporters import Reporter, Sink, Told
from jurat.report.run_console import RunConsole

__all__ = [
    "ConsoleReporter",
    "Out",
    "appended",
    "from_workspace",
    "room_left",
    "standard_output",
    "step_summary",
    "whole",
]

_MAX_WIDTH = 120


class _StandardOutput:
    """Standard output as a sink: a good deal at a time, and never an error when its reader goes away."""

    def __init__(self, for_people: bool) -> None:
        self._for_people = for_people
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        self._held.append(data)
        self._size += len(data)
        if self._size >= 1 << 16:
            self.flush()

    def flush(self) -> None:
        data = b"".join(self._held)
        if self._for_people:
            say(data.decode("utf-8"))
        else:
            say_data(data)
        self._held, self._size = [], 0


@contextmanager
def standard_output(*, for_people: bool = False) -> Iterator[Sink]:
    """Standard output: in the terminal's encoding for people, in UTF-8 for programs."""
    out = _StandardOutput(for_people)
    yield out
    out.flush()


def whole(path: Path) -> AbstractContextManager[Sink]:
    """A file that is there when all is written."""
    return whole_file(path)


@contextmanager
def appended(path: Path) -> Iterator[Sink]:
    """The end of a file that others write to as well.

    Raises:
        StoreError: when it cannot be written.
    """
    try:
        with path.open("ab") as stream:
            yield stream
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}") from None


class ConsoleReporter:
    """The text for people as a reporter; it is written when its run is told.

    Args:
        sink: where it goes.
        coloured: whether colours are used.
    """

    def __init__(self, sink: Sink, coloured: bool) -> None:
        self._sink = sink
        width = min(columns(100), _MAX_WIDTH)
        self._look = Look(width=width, paint=in_colour if coloured else plain)
        self._page: RunConsole | None = None
        self._rest: tuple[Mapping[str, Json], Mapping[str, Json] | None] = ({}, None)

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """A page for the run."""
        self._page, self._rest = RunConsole(run, self._look), (summary, gate)

    def case(self, told: Told) -> None:
        """Taken in, if it did not pass."""
        if self._page is not None:
            self._page.case(told.case, told.trials, told.outcome)

    def end(self) -> None:
        """The page is written."""
        if self._page is not None:
            self._sink.write(self._page.text(*self._rest).encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Nothing is left to say."""


class Out:
    """One report on its way: opened when it is made, and closed by `close`.

    Args:
        place: opens the sink.
        make: makes the reporter that writes to it.
    """

    def __init__(self, place: AbstractContextManager[Sink], make: Callable[[Sink], Reporter]) -> None:
        self.failed: Exception | None = None
        self._stack = ExitStack()
        self._reporter: Reporter | None = None
        with self._guarded():
            self._reporter = make(self._stack.enter_context(place))

    def tell(self, step: Callable[[Reporter], None]) -> None:
        """Have the reporter take a step, unless it was given up."""
        if self._reporter is not None:
            with self._guarded():
                step(self._reporter)

    def close(self) -> None:
        """The report's end; the file takes its name."""
        self.tell(lambda reporter: reporter.close())
        if self._reporter is not None:
            with self._guarded():
                self._stack.close()

    def drop(self) -> None:
        """Give the report up, as if its file could not be written: nothing takes its name."""
        self._reporter = None
        with contextlib.suppress(Exception):  # the one passed in comes back, and what else the end of a report raises
            self._stack.__exit__(InterruptedError, InterruptedError(), None)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # it is kept, and raised when the other reports are written
            self._reporter = None
            self.failed = self._given_up(error)

    def _given_up(self, error: Exception) -> Exception:
        """What the sink's own context makes of the error: it knows the file's name."""
        try:
            self._stack.__exit__(type(error), error, error.__traceback__)
        except Exception as told:
            error = told
        return StoreError(f"report: cannot be written: {error.strerror}") if isinstance(error, OSError) else error


def room_left(summary: Path) -> int:
    """How many bytes a step's summary still takes: with one byte too many GitHub shows nothing of it."""
    from jurat.report.reporters.markdown import MOST_BYTES

    try:
        return MOST_BYTES - summary.stat().st_size
    except OSError:  # it is not there yet, or whoever writes to it will be told
        return MOST_BYTES


def from_workspace(file: str) -> str:
    """A file's name from the root of the checkout, where a step of GitHub Actions has one that holds it."""
    root = os.environ.get("GITHUB_WORKSPACE")
    if not root:
        return file
    whole = os.path.normpath(Path.cwd().resolve() / file)  # a link in the checkout is called as the link is
    try:
        inner = Path(whole).relative_to(os.path.realpath(root))
    except ValueError:  # it stands elsewhere
        return file
    return inner.as_posix()


def step_summary() -> Path | None:
    """Where GitHub Actions wants a step's summary, when there is such a step."""
    named = os.environ.get("GITHUB_STEP_SUMMARY")
    return Path(named) if named else None
