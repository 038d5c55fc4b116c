"""Progress on a terminal; silence everywhere else.

A terminal gets a bar measured by the lines of the input that are decided (of an input that is large or no text: by the
bytes that were read), with rate, remaining time, counts and spend, and above it the first verdicts as they are reached.
Everybody else gets those verdicts only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import IO, Protocol

from jurat.cli._stdout import own_errors, say, tell
from jurat.cli._verdicts import verdict_text
from jurat.engine import Judged
from jurat.jsontext import Json
from jurat.judge import Judge
from jurat.metrics import Tally

__all__ = ["Progress", "line_count", "make_progress"]


_COUNTED = 64 * 1024 * 1024
"""How large an input may be for its lines to be counted beforehand: a tenth of a second."""


_LOOKED_BACK_S = 1800.0
"""How far back the remaining time is estimated from. A verdict may take a minute, and two are needed."""


class Progress(Protocol):
    """Is told every verdict between entering and leaving, and once what ended the calls before their time."""

    def watch(self, judged: Judged, result: Mapping[str, Json]) -> None: ...

    def notice(self, message: str) -> None: ...

    def __enter__(self) -> Progress: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def make_progress(judge: Judge, tally: Tally, size: int | None, stream: IO[bytes], *, show: int) -> Progress:
    """The progress that suits where standard error goes."""
    if own_errors().isatty():
        return _Bar(judge, tally, size, stream, show)
    return _Quiet(judge, show)


class _Quiet:
    """Prints the first verdicts, and nothing else."""

    def __init__(self, judge: Judge, show: int) -> None:
        self._judge, self._left = judge, show

    def watch(self, judged: Judged, result: Mapping[str, Json]) -> None:
        if self._left > 0:
            self._left -= 1
            say(verdict_text(self._judge, judged, result))

    def notice(self, message: str) -> None:
        tell(message)

    def __enter__(self) -> _Quiet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        say()


def line_count(stream: IO[bytes], size: int | None) -> int | None:
    """How many lines a text file has, its place left as it was; None for one that is too large to count, or no text.

    What was read says little of what is done: a small file is read whole before the first verdict.
    """
    if size is None or size > _COUNTED or str(getattr(stream, "name", "")).lower().endswith(".parquet"):
        return None
    at = stream.tell()
    stream.seek(0)
    count, last = 0, b"\n"
    while chunk := stream.read(1 << 20):
        count, last = count + chunk.count(b"\n"), chunk[-1:]
    stream.seek(at)
    return count + (last != b"\n")


class _Bar:
    """A live bar on standard error, verdicts above it on standard output."""

    def __init__(self, judge: Judge, tally: Tally, size: int | None, stream: IO[bytes], show: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._judge, self._tally, self._stream, self._left = judge, tally, stream, show
        self._live = RichProgress(
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[counts]}", markup=False),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=Console(file=own_errors()),
            transient=True,
            speed_estimate_period=_LOOKED_BACK_S,
        )
        lines = line_count(stream, size)
        self._by_lines = lines is not None
        self._task = self._live.add_task("judging", total=size if lines is None else lines, counts="starting")
        self._seekable = size is not None

    def watch(self, judged: Judged, result: Mapping[str, Json]) -> None:
        if self._left > 0:
            self._left -= 1
            self._above(verdict_text(self._judge, judged, result))
        done = judged.item.row.number if self._by_lines else None
        if self._seekable and not self._by_lines and not self._stream.closed:
            done = self._stream.tell()
        self._live.update(self._task, completed=done, counts=self._counts())

    def notice(self, message: str) -> None:
        self._live.stop()
        tell(message)
        self._live.start()

    def _above(self, text: str) -> None:
        """Print where the bar is, and let it be drawn again below."""
        self._live.stop()
        say(text)
        self._live.start()

    def _counts(self) -> str:
        rate, elapsed = self._tally.rate, self._live.tasks[0].elapsed or 0.0
        speed = f"{self._tally.total / elapsed:.1f}/s" if elapsed > 0 else "…"
        spent = f"${self._tally.known_cost_usd:.4f}" + ("+" if self._tally.unpriced else "")
        return (
            f"{self._tally.total} rows  {speed}  {rate.passed} passed  {rate.failed} failed  "
            f"{self._tally.statuses['unverified']} unverified  {self._tally.statuses['error']} errors  {spent}"
        )

    def __enter__(self) -> _Bar:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
