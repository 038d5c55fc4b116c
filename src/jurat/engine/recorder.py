"""What the engine hands on: finished trials to whoever keeps the record, and news to whoever watches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jurat.engine.plan import Place
from jurat.errors import ErrorCategory
from jurat.report.record import TrialRecord

__all__ = ["MemoryRecorder", "Recorder", "RunWatcher", "Silent"]


class Recorder(Protocol):
    """Keeps trials by their place. What was committed is durable when `commit_trials` returns.

    The same trial may be committed again, which changes nothing. Raises StoreError when it cannot be kept.
    """

    async def commit_trials(self, trials: Sequence[TrialRecord]) -> None: ...


class RunWatcher(Protocol):
    """Is told what happens, as it happens, in whatever order. It must not wait, and must not raise."""

    def trial(self, trial: TrialRecord) -> None:
        """A trial is finished and durable."""

    def call_started(self, name: str) -> None:
        """A call to this provider or subject is on its way."""

    def call_ended(self, name: str, error: ErrorCategory | None) -> None:
        """It came to a reply that is durable, or to an error."""

    def notice(self, message: str) -> None:
        """Something that a person should know, once."""


class Silent:
    """A watcher that looks away. Made to be derived from."""

    def trial(self, trial: TrialRecord) -> None:
        """See RunWatcher."""

    def call_started(self, name: str) -> None:
        """See RunWatcher."""

    def call_ended(self, name: str, error: ErrorCategory | None) -> None:
        """See RunWatcher."""

    def notice(self, message: str) -> None:
        """See RunWatcher."""


class MemoryRecorder:
    """A record that is forgotten with the process: for tests, and for callers that want no files."""

    def __init__(self) -> None:
        self.trials: dict[Place, TrialRecord] = {}

    async def commit_trials(self, trials: Sequence[TrialRecord]) -> None:
        for trial in trials:
            self.trials.setdefault((trial.case_index, trial.trial_index), trial)

    def in_order(self) -> list[TrialRecord]:
        """The trials in the plan's order."""
        return [self.trials[place] for place in sorted(self.trials)]
