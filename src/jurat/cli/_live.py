"""A run while it is under way, on a terminal: how far it is, what was decided, what it costs, what goes wrong.

It is drawn on standard error, so that standard output stays the report's; and only where standard error is a terminal.
Everybody else gets silence.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from jurat.cli._stdout import own_errors, tell
from jurat.cli._text import visible
from jurat.errors import ErrorCategory
from jurat.evaluation.reducers import Reducer, reduce_statuses
from jurat.report.record import TrialRecord
from jurat.vocabulary import Status

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LiveView", "Standing", "live_view"]

_FRESH_S = 0.25
"""How often what is shown is counted anew; the bar itself moves as rich pleases."""
_MOST_CATEGORIES = 6


class Standing:
    """What is known of a run so far. Counts cases as decided when the last of their trials is there.

    Args:
        cases: how many there are.
        samples: trials of each.
        reducer: how they become one outcome.
    """

    def __init__(self, cases: int, samples: int, reducer: Reducer) -> None:
        self.cases, self.samples, self._reducer = cases, samples, reducer
        self.trials = 0
        self.fresh = 0
        self.outcomes: Counter[Status] = Counter()
        self.errors: Counter[str] = Counter()
        self.spent_usd = 0.0
        self.unpriced = False
        self.calls = 0
        self._open: dict[int, list[Status]] = {}

    def before(self, statuses: Sequence[tuple[int, Status]]) -> None:
        """Take in the trials that an earlier part of the run has left: case by case, each with its status."""
        for case_index, status in statuses:
            self._decide(case_index, status)

    def trial(self, trial: TrialRecord) -> None:
        """Take in one more."""
        self.fresh += 1
        self._decide(trial.case_index, trial.status)
        parts = (trial.subject.spending, *(one.spending for one in trial.assessments))
        for part in parts:
            if part.cost_usd is None:
                self.unpriced = True
            else:
                self.spent_usd += part.cost_usd
        if trial.subject.error is not None:
            self.errors[trial.subject.error.type.value] += 1
        for one in trial.assessments:
            if one.status is Status.ERROR:
                self.errors[one.result["evaluator"].get("error", {}).get("type", "error")] += 1

    def _decide(self, case_index: int, status: Status) -> None:
        self.trials += 1
        if self.samples == 1:
            self.outcomes[status] += 1
            return
        known = self._open.setdefault(case_index, [])
        known.append(status)
        if len(known) == self.samples:
            self.outcomes[reduce_statuses(self._open.pop(case_index), self._reducer)] += 1

    @property
    def decided(self) -> int:
        return self.outcomes.total()

    def lines(self, elapsed_s: float) -> list[str]:
        """The figures in words, one line for what was reached and one for errors, if there are any."""
        found = self.outcomes
        undecided = self.decided - found[Status.PASS] - found[Status.FAIL]
        parts = [
            f"{self.decided:,} of {self.cases:,} cases",
            f"{found[Status.PASS]:,} passed",
            f"{found[Status.FAIL]:,} failed",
            *([f"{undecided:,} undecided"] if undecided else []),
            f"${self.spent_usd:.4f}{'+' if self.unpriced else ''}",
        ]
        if elapsed_s > 0 and self.fresh:
            parts.append(f"{self.fresh / elapsed_s:.1f}/s")
        if self.calls:
            parts.append(f"{self.calls} calls")
        lines = ["  ".join(parts)]
        if known := Counter(dict(self.errors)):  # a copy: it is read beside the loop
            told = [f"{number:,} × {category}" for category, number in known.most_common(_MOST_CATEGORIES)]
            lines.append("errors: " + ", ".join(told))
        return lines


class LiveView(Protocol):
    """Watches a run (`jurat.engine.RunWatcher`) between entering and leaving."""

    def trial(self, trial: TrialRecord) -> None: ...

    def call_started(self, name: str) -> None: ...

    def call_ended(self, name: str, error: ErrorCategory | None) -> None: ...

    def notice(self, message: str) -> None: ...

    def __enter__(self) -> LiveView: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def live_view(title: str, standing: Standing) -> LiveView:
    """The view that suits where standard error goes. `standing` is kept up to date by it."""
    drawn = own_errors().isatty() and os.environ.get("TERM") != "dumb"
    return _Screen(title, standing) if drawn else _Silent(standing)


class _Silent:
    """Keeps count, and shows nothing but notices."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    def trial(self, trial: TrialRecord) -> None:
        self._standing.trial(trial)

    def call_started(self, name: str) -> None:  # noqa: ARG002  # all calls are counted together
        self._standing.calls += 1

    def call_ended(self, name: str, error: ErrorCategory | None) -> None:  # noqa: ARG002
        self._standing.calls -= 1

    def notice(self, message: str) -> None:
        tell(visible(message))

    def __enter__(self) -> _Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was drawn."""


class _Screen(_Silent):
    """A bar with the figures below it, gone when the run is over."""

    def __init__(self, title: str, standing: Standing) -> None:
        super().__init__(standing)
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("trials"),
            TimeRemainingColumn(compact=True),
            auto_refresh=False,
        )
        total = standing.cases * standing.samples
        self._task = self._bar.add_task(visible(title)[:40], total=total, completed=standing.trials)
        self._shown: tuple[float, RenderableType] | None = None
        self._started = time.monotonic()
        console = Console(file=own_errors(), markup=False, highlight=False)
        self._live = Live(get_renderable=self._drawn, console=console, transient=True, refresh_per_second=8)

    def notice(self, message: str) -> None:
        self._live.console.print(visible(message), soft_wrap=True)

    def _drawn(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        at = time.monotonic()
        if self._shown is None or at - self._shown[0] >= _FRESH_S:
            self._bar.update(self._task, completed=self._standing.trials)
            lines = self._standing.lines(at - self._started)
            self._shown = (at, Group(self._bar, *(Text(line, no_wrap=True, overflow="ellipsis") for line in lines)))
        return self._shown[1]

    def __enter__(self) -> _Screen:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown = None  # the last word is the latest one
        self._live.stop()
