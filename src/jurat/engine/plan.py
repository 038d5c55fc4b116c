"""The plan of a run: which cases, how often each, and by which assertions they are decided. Laid out before anything
is asked, and never changed: the record's places are the plan's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from jurat.assertions import Assertion
from jurat.suite.case import Case
from jurat.suite.suite import Prompt

__all__ = ["MAX_SAMPLES", "Place", "Plan", "PlannedCase"]

MAX_SAMPLES = 20
"""The most trials that a case may have."""

Place = tuple[int, int]
"""Where a trial stands: the case's index and the trial's, both from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """One case in its place, with its assertions ready to be asked."""

    case_index: int
    case: Case
    assertions: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a run will do, case by case and, within a case, trial by trial.

    Attributes:
        cases: in order; each index once.
        samples: how many trials each case gets, 1 to 20.
        prompt: the prompt version that the subject is asked with, or None.
        prompt_version: how contexts name it.

    Raises:
        ValueError: for another number of samples.
    """

    cases: Sequence[PlannedCase]
    samples: int = 1
    prompt: Prompt | None = None
    prompt_version: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.samples, bool) or not 1 <= self.samples <= MAX_SAMPLES:
            raise ValueError(f"expected 1 to {MAX_SAMPLES} samples, found {self.samples!r}")

    @property
    def trials(self) -> int:
        """How many trials the plan has."""
        return len(self.cases) * self.samples

    def places(self, done: Collection[Place] = frozenset()) -> Iterator[tuple[PlannedCase, list[int]]]:
        """Every case that still has trials to be made, in order, with their indexes."""
        for planned in self.cases:
            index = planned.case_index
            left = [trial for trial in range(self.samples) if (index, trial) not in done]
            if left:
                yield planned, left
