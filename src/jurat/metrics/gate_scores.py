"""Rules about scores."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jurat.metrics.exact import as_written
from jurat.metrics.outcome import (
    Bounds,
    RuleOutcome,
    at_least,
    covered,
    nothing,
    rule_outcome,
    shown_side,
)
from jurat.metrics.policy import Rule
from jurat.metrics.regressions import Regressions
from jurat.metrics.run_parts import AssertionTally
from jurat.metrics.run_tally import RunTally
from jurat.report.digits import told_apart

__all__ = ["evaluator_score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mean:
    """The mean score of some assertions on one scale, and what it could be."""

    actual: Fraction | None
    bounds: Bounds
    decided: int
    undecided: int


def _mean(tallies: list[AssertionTally], scale: tuple[float, float]) -> _Mean:
    decided = sum(tally.scores.n for tally in tallies)
    total = sum((tally.scores.total for tally in tallies), Fraction(0))
    undecided = sum(tally.outcomes.total for tally in tallies) - decided
    low, high = (as_written(end) for end in scale)
    n = decided + undecided
    bounds = ((total + undecided * low) / n, (total + undecided * high) / n) if n else (low, high)
    return _Mean(actual=total / decided if decided else None, bounds=bounds, decided=decided, undecided=undecided)


def _chosen(rule: Rule, tally: RunTally) -> tuple[list[AssertionTally], tuple[float, float]] | str:
    """The tallies that a rule asks for, and their common scale; or why there is none."""
    found = {key: made for key, made in tally.assertions.items() if rule.counts(key.name, key.template)}
    scales = {key.scale for key in found if key.scale is not None}
    if not found:
        return f"no verdict of {_asked(rule)} was recorded"
    if len(scales) > 1:
        return f"{_asked(rule)} scores on different scales, which have no common mean"
    return list(found.values()), next(iter(scales), (0.0, 100.0))


def _asked(rule: Rule) -> str:
    return f"the assertion {rule.assertion}" if rule.assertion is not None else f"the template {rule.template}"


def evaluator_score(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    limit, chosen = rule.minimum or 0, _chosen(rule, tally)
    if isinstance(chosen, str):
        return nothing(rule, limit, chosen)
    mean = _mean(*chosen)
    total = mean.decided + mean.undecided
    enough = covered(rule, mean.decided, total)
    outcome = at_least(mean.actual, mean.bounds, as_written(limit), enough)
    shown, wanted = told_apart(shown_side(outcome, mean.actual, mean.bounds), limit)
    if mean.undecided and not enough:
        low, high = (told_apart(end, limit)[0] for end in mean.bounds)
        found = f"the mean score of {_asked(rule)} is {low} to {high}, with {mean.undecided:,} of {total:,} undecided"
    else:
        found = f"the mean score of {_asked(rule)} is {shown} over {mean.decided:,} decided"
    return rule_outcome(rule, outcome, mean.actual, mean.bounds, limit, mean.decided, mean.undecided, found, wanted)
