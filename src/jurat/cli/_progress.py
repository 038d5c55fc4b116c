"""Progress on a terminal; silence everywhere else.

A terminal gets a bar measured by the rows that are decided, out of those that will be judged (of an input that is large
or no text: by the bytes that were read), with the remaining time, and counts and spend as far as the line has room for
them; above it the first verdicts as they are reached. Everybody else gets those verdicts only, and is told when a model
is being started on this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import IO, Protocol

from jurat.cli._rowcount import row_count
from jurat.cli._stdout import own_errors, say, tell
from jurat.cli._verdicts import VerdictTexts
from jurat.engine import Judged
from jurat.jsontext import Json
from jurat.judge import Judge
from jurat.metrics import Tally

__all__ = ["Progress", "make_progress", "shortened"]


_LOOKED_BACK_S = 1800.0
"""How far back the remaining time is estimated from. A verdict may take a minute, and two are needed."""
_BAR_WIDTH = 12
_TAKEN = _BAR_WIDTH + len(" 100%  0:00:00 left  ")
"""What of a line the bar, the percentage and the remaining time take, with the blanks between them."""
_STARTING = "starting the model"


class Progress(Protocol):
    """Is told every verdict between entering and leaving, and once what ended the calls before their time."""

    def watch(self, judged: Judged, result: Mapping[str, Json]) -> None: ...

    def notice(self, message: str) -> None: ...

    def __enter__(self) -> Progress: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def make_progress(
    judge: Judge, tally: Tally, size: int | None, stream: IO[bytes], *, show: int, limit: int | None = None
) -> Progress:
    """The progress that suits where standard error goes.

    Args:
        size: the bytes of the input; None where they are not known.
        show: how many verdicts are printed.
        limit: how many rows are judged at most; None for all.
    """
    if own_errors().isatty():
        return _Bar(judge, tally, size, stream, show, limit)
    return _Quiet(judge, show)


def _tell_start(judge: Judge, told: Callable[[], None]) -> None:
    """Have it told when the judge's model is being started on this machine, which takes a while."""
    if judge.provider.settings.kind == "local":
        from jurat.provider.local import LocalProvider

        if isinstance(judge.provider, LocalProvider):
            judge.provider.starting = told


class _Quiet:
    """Prints the first verdicts, and nothing else."""

    def __init__(self, judge: Judge, show: int) -> None:
        self._texts, self._left = VerdictTexts(judge), show
        _tell_start(judge, lambda: tell(_STARTING))

    def watch(self, judged: Judged, result: Mapping[str, Json]) -> None:
        if self._left > 0:
            self._left -= 1
            say(self._texts.text(judged, result))

    def notice(self, message: str) -> None:
        tell(message)

    def __enter__(self) -> _Quiet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        say()


class _Bar:
    """A live bar on standard error, verdicts above it on standard output."""

    def __init__(
        self, judge: Judge, tally: Tally, size: int | None, stream: IO[bytes], show: int, limit: int | None
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._texts, self._tally, self._stream, self._left = VerdictTexts(judge), tally, stream, show
        counted = row_count(stream, size, limit)
        self._rows = limit if counted is None else counted
        self._seekable = size is not None
        self._live = RichProgress(
            BarColumn(bar_width=_BAR_WIDTH),
            TaskProgressColumn(),
            TextColumn("{task.fields[rows]}", markup=False),
            TimeRemainingColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            TextColumn("{task.fields[counts]}", markup=False),
            console=Console(file=own_errors()),
            transient=True,
            speed_estimate_period=_LOOKED_BACK_S,
        )
        total = size if self._rows is None else self._rows
        left = "" if total is None else "left"
        self._task = self._live.add_task("judging", total=total, rows=self._decided(), left=left, counts="starting")
        _tell_start(judge, lambda: self._live.update(self._task, counts=_STARTING))

    def watch(self, judged: Judged, result: Mapping[str, Json]) -> None:
        if self._left > 0:
            self._left -= 1
            self._above(self._texts.text(judged, result))
        rows = self._decided()
        room = self._live.console.width - _TAKEN - len(rows)
        self._live.update(self._task, completed=self._done(), rows=rows, counts=shortened(self._counts(), room))

    def _done(self) -> int | None:
        """How far the job is, in what the bar is measured by; None where that is not known."""
        if self._rows is not None:
            return self._tally.total
        return self._stream.tell() if self._seekable and not self._stream.closed else None

    def _decided(self) -> str:
        done, rows = self._tally.total, self._rows
        if rows is None:
            return "1 row" if done == 1 else f"{done:,} rows"
        whole = max(rows, done)  # quotation marks may have misled the count
        return f"{done:,}/{whole:,} {'row' if whole == 1 else 'rows'}"

    def notice(self, message: str) -> None:
        self._live.stop()
        tell(message)
        self._live.start()

    def _above(self, text: str) -> None:
        """Print where the bar is, and let it be drawn again below."""
        self._live.stop()
        say(text)
        self._live.start()

    def _counts(self) -> list[str]:
        """What was decided and spent, the most telling first; what is none is left out."""
        rate, statuses = self._tally.rate, self._tally.statuses
        errors, spent = statuses["error"], self._tally.known_cost_usd
        told = [f"{rate.passed:,} passed", f"{rate.failed:,} failed"]
        told += [f"{errors:,} error{'' if errors == 1 else 's'}"] if errors else []
        told += [f"{statuses['unverified']:,} unverified"] if statuses["unverified"] else []
        return [*told, *([f"${spent:.4f}{'+' if self._tally.unpriced else ''}"] if spent else [])]

    def __enter__(self) -> _Bar:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


def shortened(parts: Sequence[str], room: int) -> str:
    """As many of the parts, from the first, as have room in a line."""
    text = ""
    for part in parts:
        longer = f"{text}  {part}" if text else part
        if len(longer) > room:
            break
        text = longer
    return text
