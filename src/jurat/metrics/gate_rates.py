"""Rules about how many pass: of all, of a label, of every single case."""

from __future__ import annotations

from fractions import Fraction

from jurat.metrics.exact import as_float, as_written
from jurat.metrics.outcome import (
    GateStatus,
    RuleOutcome,
    at_least,
    covered,
    nothing,
    rule_outcome,
    shown_side,
)
from jurat.metrics.policy import Rule, rule_to_json
from jurat.metrics.rates import Rate
from jurat.metrics.regressions import Regressions
from jurat.metrics.run_parts import Outcomes
from jurat.metrics.run_tally import RunTally
from jurat.report.digits import count, told_apart_percent

__all__ = ["case_pass_rate", "counted", "label_pass_rate", "overall_pass_rate"]


def overall_pass_rate(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    return _rate(rule, counted(rule, tally.cases, tally.trials), "")


def label_pass_rate(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    groups = tally.groups if rule.metadata is None else tally.metadata_groups
    if rule.group not in groups:
        raise ValueError(f"the tally was not told to count {rule.group!r}")
    group = groups[rule.group]
    return _rate(rule, counted(rule, group.cases, group.trials), f" of {rule.group}")


def counted(rule: Rule, cases: Outcomes, trials: Outcomes) -> Rate:
    return (trials if rule.of == "trials" else cases).rate


def _rate(rule: Rule, rate: Rate, whose: str) -> RuleOutcome:
    what = "trial" if rule.of == "trials" else "case"
    limit = as_written(rule.minimum or 0)
    total = rate.decided + rate.undecided
    if not total:
        return nothing(rule, rule.minimum or 0, f"there is no {what}{whose}")
    worst, best = Fraction(rate.passed, total), Fraction(rate.passed + rate.undecided, total)
    actual = Fraction(rate.passed, rate.decided) if rate.decided else None
    outcome = at_least(actual, (worst, best), limit, covered(rule, rate.decided, total))
    shown, wanted = told_apart_percent(shown_side(outcome, actual, (worst, best)), limit)
    if rate.undecided and not covered(rule, rate.decided, total):
        found = f"{_between(worst, best, limit)} of {count(total, what)}{whose} pass, with {rate.undecided:,} undecided"
    else:
        of = "decided " if rate.undecided else ""
        found = f"{shown} of {rate.decided:,} {of}{_plural(what, rate.decided)}{whose} passed"
    return rule_outcome(rule, outcome, actual, (worst, best), rule.minimum, rate.decided, rate.undecided, found, wanted)


def _plural(what: str, number: int) -> str:
    return what if number == 1 else what + "s"


def _between(low: Fraction, high: Fraction, limit: Fraction) -> str:
    texts = [told_apart_percent(bound, limit)[0] for bound in (low, high)]
    return f"{texts[0].removesuffix(' %')} to {texts[1]}"


def case_pass_rate(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    limit = rule.minimum or 0
    rates = tally.case_rates.get(limit)
    if rates is None:
        raise ValueError("the tally was not told to count the pass rates of single cases")
    decided, total = rates.met + rates.below, rates.met + rates.below + rates.undecided
    wanted = told_apart_percent(1, rates.limit)[1]
    if not total:
        return nothing(rule, limit, "there is no case")
    if rates.below:
        outcome = GateStatus.FAILED
        told = [f"{name}: {told_apart_percent(best, rates.limit)[0]}" for name, best in rates.worst[:3]]
        named = ", ".join(told) + (", …" if rates.below > 3 else "")
        found = f"{count(rates.below, 'case')} of {total:,} passed less often ({named})"
    elif rates.undecided:
        outcome, found = GateStatus.UNDECIDED, f"{count(rates.undecided, 'case')} of {total:,} undecided"
    else:
        shown = told_apart_percent(rates.lowest or 0, rates.limit)[0]
        outcome, found = GateStatus.PASSED, f"the lowest pass rate of {count(total, 'case')} is {shown}"
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=f"{found}; at least {wanted} of each case's trials are needed",
        actual=None if rates.lowest is None else as_float(rates.lowest),
        limit=limit,
        n=decided,
        undecided=rates.undecided,
    )
