"""Rules about scores, and about what was better before."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jurat.metrics.exact import as_float, as_written
from jurat.metrics.gate_rates import counted
from jurat.metrics.outcome import (
    Bounds,
    RuleOutcome,
    at_least,
    covered,
    nothing,
    rule_outcome,
    shown_side,
)
from jurat.metrics.policy import Rule, rule_to_json
from jurat.metrics.run_parts import AssertionTally
from jurat.metrics.run_tally import RunTally
from jurat.report.digits import apart, short, told_apart

__all__ = ["evaluator_score", "no_regression"]


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


def evaluator_score(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
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


# --- against a baseline --------------------------------------------------------------------------------------------


def no_regression(rule: Rule, tally: RunTally, baseline: RunTally | None) -> RuleOutcome:
    drop = rule.maximum_drop or 0
    if baseline is None:
        named = f"the baseline {rule.baseline}" if rule.baseline else "a baseline"
        return nothing(rule, drop, f"{named} was not given, so there is nothing to compare with")
    of_scores = rule.assertion is not None or rule.template is not None
    measure = _measured_score if of_scores else _measured_rate
    new, old = measure(rule, tally), measure(rule, baseline)
    for found, words in ((new, "this run"), (old, "the baseline")):
        if isinstance(found, str):
            return nothing(rule, drop, f"{words}: {found}")
    assert isinstance(new, _Mean)  # noqa: S101 - for the type checker, as a text returned above
    assert isinstance(old, _Mean)  # noqa: S101
    return _compared(rule, new, old, shares=not of_scores)


def _measured_rate(rule: Rule, tally: RunTally) -> _Mean | str:
    rate = counted(rule, tally.cases, tally.trials)
    total = rate.decided + rate.undecided
    if not total:
        return "there is no case"
    bounds = (Fraction(rate.passed, total), Fraction(rate.passed + rate.undecided, total))
    actual = Fraction(rate.passed, rate.decided) if rate.decided else None
    return _Mean(actual=actual, bounds=bounds, decided=rate.decided, undecided=rate.undecided)


def _measured_score(rule: Rule, tally: RunTally) -> _Mean | str:
    chosen = _chosen(rule, tally)
    return chosen if isinstance(chosen, str) else _mean(*chosen)


def _compared(rule: Rule, new: _Mean, old: _Mean, *, shares: bool) -> RuleOutcome:
    """The change, and the change had the undecided of either run come out for or against it."""
    drop, ranges = rule.maximum_drop or 0, [_range(rule, run) for run in (new, old)]
    change = None if new.actual is None or old.actual is None else new.actual - old.actual
    bounds = (ranges[0][0] - ranges[1][1], ranges[0][1] - ranges[1][0])
    outcome = at_least(change, bounds, -as_written(drop), enough=False)
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=_change_in_words(new, old, drop, shares=shares),
        actual=None if change is None else as_float(change),
        bounds=(as_float(bounds[0]), as_float(bounds[1])) if bounds[0] != bounds[1] else None,
        limit=-drop if drop else 0.0,
        n=new.decided,
        undecided=new.undecided,
    )


def _range(rule: Rule, run: _Mean) -> Bounds:
    if run.actual is not None and covered(rule, run.decided, run.decided + run.undecided):
        return run.actual, run.actual
    return run.bounds


def _change_in_words(new: _Mean, old: _Mean, drop: float, *, shares: bool) -> str:
    scale, unit = (100, " %") if shares else (1, "")
    if new.actual is None or old.actual is None:
        values = ["unknown" if run.actual is None else short(run.actual * scale) + unit for run in (new, old)]
    else:
        values = [text + unit for text in apart(new.actual * scale, old.actual * scale)]
    told = [
        f"{value} over {run.decided:,} decided" + (f" ({run.undecided:,} undecided)" if run.undecided else "")
        for value, run in zip(values, (new, old), strict=True)
    ]
    most = f"{told_apart(0, as_written(drop) * scale)[1]}{' percentage points' if shares else ''}"
    allowed = f"a drop of at most {most} is allowed" if drop else "no drop is allowed"
    uneven = new.undecided * (old.decided + old.undecided) != old.undecided * (new.decided + new.undecided)
    warning = "; beware, the runs are not equally decided" if uneven else ""
    return f"{told[0]}, in the baseline {told[1]}; {allowed}{warning}"
