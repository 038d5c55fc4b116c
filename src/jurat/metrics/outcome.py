"""What a rule and a gate come to, as data, and how a value with an uncertain part is held against a limit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from jurat.jsontext import Json
from jurat.metrics.exact import as_float, as_written
from jurat.metrics.policy import Rule, rule_to_json

__all__ = [
    "Bounds",
    "GateOutcome",
    "GateStatus",
    "RuleOutcome",
    "at_least",
    "at_most",
    "covered",
    "nothing",
    "rule_outcome",
    "shown_side",
]

Bounds = tuple[Fraction, Fraction]
"""What a value could be, were everything decided: at the worst, at the best."""


class GateStatus(StrEnum):
    """What became of a rule, or of the gate."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """One rule, decided.

    Attributes:
        rule: as it was written; empty for the rule that holds where there is no policy.
        outcome: what became of it.
        actual: what was found, over what is decided; None when nothing is.
        bounds: what it could be, were everything decided; None where nothing is undecided, or it has no bound.
        limit: what it was held against.
        n: how many it rests on; `undecided` how many are left out of that.
        reason: the same in words.
    """

    rule: dict[str, Json]
    outcome: GateStatus
    reason: str
    limit: float
    actual: float | None = None
    bounds: tuple[float, float] | None = None
    n: int = 0
    undecided: int = 0

    def to_json(self) -> dict[str, Json]:
        """As reports hold it."""
        return {
            "rule": self.rule,
            "outcome": self.outcome.value,
            "actual": self.actual,
            "bounds": None if self.bounds is None else list(self.bounds),
            "limit": self.limit,
            "n": self.n,
            "undecided": self.undecided,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """What all rules together come to."""

    outcome: GateStatus
    reason: str
    rules: tuple[RuleOutcome, ...]
    policy: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As `RunRecord.gate` and reports hold it; `policy` names the policy by its content, None for none."""
        return {
            "schema_version": 1,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "policy": self.policy,
            "rules": [rule.to_json() for rule in self.rules],
        }


# --- holding against a limit ---------------------------------------------------------------------------------------


def covered(rule: Rule, decided: int, total: int) -> bool:
    """Whether enough is decided (`minimum_decided`, everything by default) for the decided alone to count."""
    share = as_written(rule.minimum_decided if rule.minimum_decided is not None else 1)
    return decided > 0 and Fraction(decided, total) >= share


def at_least(actual: Fraction | None, bounds: Bounds, limit: Fraction, enough: bool) -> GateStatus:
    """At least the limit: by the decided alone where enough is decided, else only if both bounds agree."""
    low, high = (actual, actual) if enough and actual is not None else bounds
    if low >= limit:
        return GateStatus.PASSED
    return GateStatus.FAILED if high < limit else GateStatus.UNDECIDED


def at_most(actual: Fraction | None, bounds: Bounds, limit: Fraction, enough: bool) -> GateStatus:
    """At most the limit, in the same way."""
    turned = None if actual is None else -actual
    return at_least(turned, (-bounds[1], -bounds[0]), -limit, enough)


def shown_side(outcome: GateStatus, actual: Fraction | None, bounds: Bounds) -> Fraction:
    """What stands for the actual value in a sentence; the nearer bound where nothing is decided."""
    if actual is not None:
        return actual
    return bounds[0] if outcome is GateStatus.PASSED else bounds[1]


def nothing(rule: Rule, limit: float, why: str) -> RuleOutcome:
    """There is nothing to decide by."""
    return RuleOutcome(rule=rule_to_json(rule), outcome=GateStatus.UNDECIDED, reason=why, limit=limit)


def rule_outcome(
    rule: Rule,
    outcome: GateStatus,
    actual: Fraction | None,
    bounds: Bounds,
    limit: float | None,
    n: int,
    undecided: int,
    found: str,
    wanted: str,
) -> RuleOutcome:
    """An outcome whose sentence is what was found, and what was wanted (`90 %`, or `at most 10 %`)."""
    needed = wanted if wanted.startswith("at most") else f"at least {wanted}"
    tail = "will do" if wanted.startswith("at most") else "are needed" if wanted.endswith("%") else "is needed"
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=f"{found}; {needed} {tail}",
        actual=None if actual is None else as_float(actual),
        bounds=(as_float(bounds[0]), as_float(bounds[1])) if undecided else None,
        limit=limit or 0.0,
        n=n,
        undecided=undecided,
    )
