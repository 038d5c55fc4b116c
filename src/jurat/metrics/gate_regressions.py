"""The rule about what was better before: case by case, over what both runs have and measured alike."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from jurat.metrics.exact import as_float, as_written
from jurat.metrics.outcome import GateStatus, RuleOutcome, at_least, covered, nothing
from jurat.metrics.policy import Rule, rule_to_json
from jurat.metrics.regressions import Paired, Regressions
from jurat.metrics.run_tally import RunTally
from jurat.report.digits import apart, count, short, told_apart

__all__ = ["no_regression"]


def no_regression(rule: Rule, tally: RunTally, baseline: Regressions | None) -> RuleOutcome:
    limit = rule.maximum_regressed or rule.maximum_drop or 0
    if baseline is None:
        named = f"the baseline {rule.baseline}" if rule.baseline else "a baseline"
        return nothing(rule, limit, f"{named} was not given, so there is nothing to compare with")
    found = baseline.of(rule)
    what = "case" if rule.assertion is None and rule.template is None else "verdict"
    if not found.total:
        return nothing(rule, limit, f"this run and the baseline {baseline.baseline} have no {what} in common")
    if len(found.scales) > 1:
        return nothing(rule, limit, "the scores are on different scales, which have no common mean")
    del tally
    counted = _counted if rule.maximum_regressed is not None else _compared
    return counted(rule, found, baseline, what)


def _compared(rule: Rule, found: Paired, baseline: Regressions, what: str) -> RuleOutcome:
    """The mean change, and what it would be had everything that is not known gone for the run or against it."""
    drop, bounds = rule.maximum_drop or 0, found.bounds
    enough = covered(rule, found.decided, found.total)
    outcome = at_least(found.change, bounds, -as_written(drop), enough=enough)
    words = [_values(found, what), _allowed(drop, shares=what == "case"), *_beside(found, baseline, what)]
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason="; ".join(words),
        actual=None if found.change is None else as_float(found.change),
        bounds=(as_float(bounds[0]), as_float(bounds[1])) if bounds[0] != bounds[1] else None,
        limit=-drop if drop else 0.0,
        n=found.decided,
        undecided=found.undecided,
    )


def _counted(rule: Rule, found: Paired, baseline: Regressions, what: str) -> RuleOutcome:
    """How many cases regressed, and how many more could have unseen."""
    limit = rule.maximum_regressed or 0
    most = found.regressed + found.hidden
    outcome = GateStatus.UNDECIDED if most > limit else GateStatus.PASSED
    if found.regressed > limit:
        outcome = GateStatus.FAILED
    told = f"{count(found.regressed, what)} of {found.total:,} in both runs regressed, {found.fixed:,} fixed"
    hidden = [f"{found.hidden:,} could have regressed unseen"] if found.hidden else []
    allowed = "none may regress" if not limit else f"at most {limit:g} may regress"
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason="; ".join([told, *hidden, allowed, *_beside(found, baseline, what, changed=False)]),
        actual=float(found.regressed),
        bounds=(float(found.regressed), float(most)) if found.hidden else None,
        limit=float(limit),
        n=found.decided,
        undecided=found.undecided,
    )


# --- in words ------------------------------------------------------------------------------------------------------


def _values(found: Paired, what: str) -> str:
    if not found.decided:
        return f"of {count(found.total, what)} in both runs none is decided in both"
    scale, unit = (100, " %") if what == "case" else (1, "")
    new, old = (Fraction(total, found.decided) * scale for total in (found.new, found.old))
    told = (short(new), short(old)) if new == old else apart(new, old)
    return f"{told[0]}{unit} over {count(found.decided, what)} decided in both runs, in the baseline {told[1]}{unit}"


def _allowed(drop: float, *, shares: bool) -> str:
    if not drop:
        return "no drop is allowed"
    most = told_apart(0, as_written(drop) * (100 if shares else 1))[1]
    return f"a drop of at most {most}{' percentage points' if shares else ''} is allowed"


def _beside(found: Paired, baseline: Regressions, what: str, *, changed: bool = True) -> Iterator[str]:
    """What else there is: none of it is in the values."""
    told = {
        "undecided in either run": found.undecided,
        "measured in another way": found.apart,
        f"of a {what} that asks something else" if what == "verdict" else "asking something else": found.anew,
    }
    if changed and what == "case" and (found.regressed or found.fixed):
        yield f"{found.regressed:,} regressed, {found.fixed:,} fixed"
    yield from (f"{number:,} {words}" for words, number in told.items() if number)
    new = [f"{count(baseline.added, 'case')} new"] if baseline.added else []
    gone = [f"{count(baseline.removed, 'case')} gone"] if baseline.removed else []
    if new or gone:
        yield ", ".join([*new, *gone])
