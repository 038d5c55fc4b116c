"""An assessment: one evaluator's finding on one trial. Checked when made, so that nothing later has to doubt it.

A score exists exactly when the status is `pass` or `fail`. Evaluator trouble is `error` and carries its category;
missing evidence is `unverified` and carries a finding that says what was missing. Neither is ever a 0 or a NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from jurat.errors import ErrorCategory
from jurat.jsontext import Json
from jurat.vocabulary import Status

__all__ = ["Assessment", "Finding", "Measurement", "Quote", "Severity", "TypedError"]


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something worth saying beside the verdict: a stable code and a sentence free of model text."""

    code: str
    message: str
    severity: Severity = Severity.INFO


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A named, finite number with its unit (`ms`, `usd`, `ratio`, `count`)."""

    name: str
    value: float
    unit: str

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not math.isfinite(self.value):
            raise ValueError(f"measurement {self.name}: expected a finite number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A piece of the evidence: the entry's number, and text that stands there to the letter."""

    message_index: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedError:
    """Why an evaluator could not decide, as it is recorded."""

    type: ErrorCategory
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One evaluator's finding.

    Attributes:
        evaluator: the evaluator's name, unique within a case.
        revision: the evaluator's own revision; a change of meaning is a new one.
        score: within the evaluator's range exactly when the status is decided, else None.
        reason: why, in words; may hold model text, so it is shown where it's asked for only.
        quotes: verified against the evidence.
        error: set exactly when the status is `error`.
        details: further plain data for the result map.

    Raises:
        ValueError: when the parts contradict each other.
    """

    evaluator: str
    revision: str
    status: Status
    score: float | None = None
    reason: str | None = None
    quotes: tuple[Quote, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: TypedError | None = None
    details: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if self.status.decided != (self.score is not None):
            raise ValueError(f"{self.evaluator}: a score stands exactly with pass or fail, status is {self.status}")
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"{self.evaluator}: expected a finite score")
        if (self.status is Status.ERROR) != (self.error is not None):
            raise ValueError(f"{self.evaluator}: an error stands exactly with the status error, it is {self.status}")

    @property
    def passed(self) -> bool:
        """True for `pass` alone: whatever is undecided has not passed."""
        return self.status is Status.PASS
