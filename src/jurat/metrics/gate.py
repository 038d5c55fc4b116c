"""What a policy comes to for a run: passed, failed, or undecided, rule by rule, each with its reason in words.

Numbers are compared exactly as they were written; the text shows as many digits as it takes to see it. What nobody
decided counts neither way: a rule is decided when it would come out the same had all of that passed and had all of it
failed. A definite failure is a failure whatever else is undecided, and nothing passes where nothing was decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from jurat.jsontext import Json
from jurat.metrics.exact import as_float, as_written
from jurat.metrics.policy import Policy, Rule, RuleType, rule_to_json
from jurat.metrics.rates import Rate
from jurat.metrics.run_parts import AssertionTally, Flips, Latency, Outcomes, Stage
from jurat.metrics.run_tally import RunTally
from jurat.report.digits import count, percent, short, told_apart, told_apart_percent

__all__ = ["GateOutcome", "RuleOutcome", "Verdict", "decide"]

Bounds = tuple[Fraction, Fraction]


class Verdict(StrEnum):
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
    outcome: Verdict
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

    outcome: Verdict
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


def decide(policy: Policy, tally: RunTally, baseline: RunTally | None = None) -> GateOutcome:
    """Hold a run against a policy.

    Args:
        tally: of the run, made with `policy.watch`.
        baseline: of the run that `no_regression` compares with.

    Raises:
        ValueError: when the tally was not told what the policy needs.
    """
    if not policy.rules:
        rules = [_every_case(tally)]
    else:
        rules = [_DECIDERS[rule.type](rule, tally, baseline) for rule in policy.rules]
    outcome = _together(rules)
    if outcome is Verdict.PASSED and not _anything_decided(tally):
        outcome, reason = Verdict.UNDECIDED, "not a single trial was decided"
    else:
        reason = _words(outcome, rules, policy)
    return GateOutcome(outcome=outcome, reason=reason, rules=tuple(rules), policy=policy.hash if policy.rules else None)


def _together(rules: Iterable[RuleOutcome]) -> Verdict:
    found = {rule.outcome for rule in rules}
    return next((word for word in (Verdict.FAILED, Verdict.UNDECIDED) if word in found), Verdict.PASSED)


def _anything_decided(tally: RunTally) -> bool:
    return tally.trials.rate.decided > 0


def _words(outcome: Verdict, rules: list[RuleOutcome], policy: Policy) -> str:
    if not policy.rules:
        return rules[0].reason
    alike = sum(rule.outcome is outcome for rule in rules)
    verb = {Verdict.PASSED: "met", Verdict.FAILED: "broken", Verdict.UNDECIDED: "undecided"}[outcome]
    if outcome is Verdict.PASSED and len(rules) > 1:
        return f"all {len(rules)} rules are met"
    return f"{alike} of {count(len(rules), 'rule')} {'is' if alike == 1 else 'are'} {verb}"


# --- without a policy ----------------------------------------------------------------------------------------------


def _every_case(tally: RunTally) -> RuleOutcome:
    rate = tally.cases.rate
    total = rate.decided + rate.undecided
    failed, undecided = count(rate.failed, "case"), count(rate.undecided, "case")
    if rate.failed:
        also = f", {rate.undecided:,} undecided" if rate.undecided else ""
        outcome, reason = Verdict.FAILED, f"{failed} of {total:,} failed{also}"
    elif rate.undecided:
        outcome, reason = Verdict.UNDECIDED, f"{undecided} of {total:,} undecided, none failed"
    elif total:
        outcome, reason = Verdict.PASSED, "every case passed" if total > 1 else "the one case passed"
    else:
        outcome, reason = Verdict.UNDECIDED, "there was no case"
    return RuleOutcome(
        rule={},
        outcome=outcome,
        reason=reason,
        actual=rate.value,
        bounds=rate.bounds if rate.undecided else None,
        limit=1.0,
        n=rate.decided,
        undecided=rate.undecided,
    )


# --- rates ---------------------------------------------------------------------------------------------------------


def _overall(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    return _rate(rule, _counted(rule, tally.cases, tally.trials), "")


def _label(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    groups = tally.groups if rule.metadata is None else tally.metadata_groups
    if rule.group not in groups:
        raise ValueError(f"the tally was not told to count {rule.group!r}")
    group = groups[rule.group]
    return _rate(rule, _counted(rule, group.cases, group.trials), f" of {rule.group}")


def _counted(rule: Rule, cases: Outcomes, trials: Outcomes) -> Rate:
    return (trials if rule.of == "trials" else cases).rate


def _rate(rule: Rule, rate: Rate, whose: str) -> RuleOutcome:
    what = "trial" if rule.of == "trials" else "case"
    limit = as_written(rule.minimum or 0)
    total = rate.decided + rate.undecided
    if not total:
        return _nothing(rule, rule.minimum or 0, f"there is no {what}{whose}")
    worst, best = Fraction(rate.passed, total), Fraction(rate.passed + rate.undecided, total)
    actual = Fraction(rate.passed, rate.decided) if rate.decided else None
    outcome = _at_least(actual, (worst, best), limit, _covered(rule, rate.decided, total))
    shown, wanted = told_apart_percent(_shown_side(outcome, actual, (worst, best)), limit)
    if rate.undecided and not _covered(rule, rate.decided, total):
        found = f"{_between(worst, best)} of {count(total, what)}{whose} pass, as {rate.undecided:,} are undecided"
    else:
        of = "decided " if rate.undecided else ""
        found = f"{shown} of {rate.decided:,} {of}{_plural(what, rate.decided)}{whose} passed"
    return _outcome(rule, outcome, actual, (worst, best), rule.minimum, rate.decided, rate.undecided, found, wanted)


def _plural(what: str, number: int) -> str:
    return what if number == 1 else what + "s"


def _covered(rule: Rule, decided: int, total: int) -> bool:
    share = as_written(rule.minimum_decided if rule.minimum_decided is not None else 1)
    return decided > 0 and Fraction(decided, total) >= share


def _at_least(actual: Fraction | None, bounds: Bounds, limit: Fraction, covered: bool) -> Verdict:
    """At least the limit: by the decided alone where enough is decided, else only if both bounds agree."""
    low, high = (actual, actual) if covered and actual is not None else bounds
    if low >= limit:
        return Verdict.PASSED
    return Verdict.FAILED if high < limit else Verdict.UNDECIDED


def _at_most(actual: Fraction | None, bounds: Bounds, limit: Fraction, covered: bool) -> Verdict:
    turned = None if actual is None else -actual
    return _at_least(turned, (-bounds[1], -bounds[0]), -limit, covered)


def _shown_side(outcome: Verdict, actual: Fraction | None, bounds: Bounds) -> Fraction:
    """What stands for the actual value in a sentence; the nearer bound where nothing is decided."""
    if actual is not None:
        return actual
    return bounds[0] if outcome is Verdict.PASSED else bounds[1]


def _between(low: Fraction, high: Fraction) -> str:
    return f"{percent(low).removesuffix(' %')} to {percent(high)}"


def _case_rate(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    limit = rule.minimum or 0
    rates = tally.case_rates.get(limit)
    if rates is None:
        raise ValueError("the tally was not told to count the pass rates of single cases")
    decided, total = rates.met + rates.below, rates.met + rates.below + rates.undecided
    wanted = told_apart_percent(1, rates.limit)[1]
    if not total:
        return _nothing(rule, limit, "there is no case")
    if rates.below:
        outcome = Verdict.FAILED
        named = ", ".join(rates.names[:3]) + (", …" if rates.below > 3 else "")
        found = f"{count(rates.below, 'case')} of {total:,} passed less often ({named})"
    elif rates.undecided:
        outcome, found = Verdict.UNDECIDED, f"{count(rates.undecided, 'case')} of {total:,} undecided"
    else:
        shown = told_apart_percent(rates.lowest or 0, rates.limit)[0]
        outcome, found = Verdict.PASSED, f"the lowest pass rate of {count(total, 'case')} is {shown}"
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=f"{found}; at least {wanted} of each case's trials are needed",
        actual=None if rates.lowest is None else as_float(rates.lowest),
        limit=limit,
        n=decided,
        undecided=rates.undecided,
    )


# --- scores --------------------------------------------------------------------------------------------------------


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


def _score(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    limit, chosen = rule.minimum or 0, _chosen(rule, tally)
    if isinstance(chosen, str):
        return _nothing(rule, limit, chosen)
    mean = _mean(*chosen)
    total = mean.decided + mean.undecided
    covered = _covered(rule, mean.decided, total)
    outcome = _at_least(mean.actual, mean.bounds, as_written(limit), covered)
    shown, wanted = told_apart(_shown_side(outcome, mean.actual, mean.bounds), limit)
    if mean.undecided and not covered:
        low, high = (short(end) for end in mean.bounds)
        found = f"the mean score of {_asked(rule)} lies from {low} to {high}, as {mean.undecided:,} of {total:,} "
        found += "are undecided"
    else:
        found = f"the mean score of {_asked(rule)} is {shown} over {mean.decided:,} decided"
    return _outcome(rule, outcome, mean.actual, mean.bounds, limit, mean.decided, mean.undecided, found, wanted)


# --- against a baseline --------------------------------------------------------------------------------------------


def _regression(rule: Rule, tally: RunTally, baseline: RunTally | None) -> RuleOutcome:
    drop = rule.maximum_drop or 0
    if baseline is None:
        named = f"the baseline {rule.baseline}" if rule.baseline else "a baseline"
        return _nothing(rule, drop, f"{named} was not given, so there is nothing to compare with")
    of_scores = rule.assertion is not None or rule.template is not None
    measure = _measured_score if of_scores else _measured_rate
    new, old = measure(rule, tally), measure(rule, baseline)
    for found, words in ((new, "this run"), (old, "the baseline")):
        if isinstance(found, str):
            return _nothing(rule, drop, f"{words}: {found}")
    assert isinstance(new, _Mean)  # noqa: S101 - for the type checker, as a text returned above
    assert isinstance(old, _Mean)  # noqa: S101
    return _compared(rule, new, old, drop, percent if not of_scores else short)


def _measured_rate(rule: Rule, tally: RunTally) -> _Mean | str:
    rate = _counted(rule, tally.cases, tally.trials)
    total = rate.decided + rate.undecided
    if not total:
        return "there is no case"
    bounds = (Fraction(rate.passed, total), Fraction(rate.passed + rate.undecided, total))
    actual = Fraction(rate.passed, rate.decided) if rate.decided else None
    return _Mean(actual=actual, bounds=bounds, decided=rate.decided, undecided=rate.undecided)


def _measured_score(rule: Rule, tally: RunTally) -> _Mean | str:
    chosen = _chosen(rule, tally)
    return chosen if isinstance(chosen, str) else _mean(*chosen)


def _compared(rule: Rule, new: _Mean, old: _Mean, drop: float, shown: Callable[[Fraction], str]) -> RuleOutcome:
    """The change, and the change had the undecided of either run come out for or against it."""
    ranges = [
        (run.actual, run.actual)
        if run.actual is not None and _covered(rule, run.decided, run.decided + run.undecided)
        else run.bounds
        for run in (new, old)
    ]
    change = None if new.actual is None or old.actual is None else new.actual - old.actual
    bounds = (ranges[0][0] - ranges[1][1], ranges[0][1] - ranges[1][0])
    outcome = _at_least(change, bounds, -as_written(drop), covered=False)
    told = [
        f"{'unknown' if run.actual is None else shown(run.actual)} over {run.decided:,} decided"
        + (f" ({run.undecided:,} undecided)" if run.undecided else "")
        for run in (new, old)
    ]
    uneven = new.undecided * (old.decided + old.undecided) != old.undecided * (new.decided + new.undecided)
    warning = "; the runs are unequally decided, so that the rates may not be comparable" if uneven else ""
    lost = "no drop is" if not drop else f"a drop of at most {shown(as_written(drop))} is"
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=f"{told[0]}, in the baseline {told[1]}; {lost} allowed{warning}",
        actual=None if change is None else as_float(change),
        bounds=(as_float(bounds[0]), as_float(bounds[1])) if bounds[0] != bounds[1] else None,
        limit=-drop if drop else 0.0,
        n=new.decided,
        undecided=new.undecided,
    )


# --- spending and time ---------------------------------------------------------------------------------------------


def _total_cost(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    return _cost(rule, [tally.subject, tally.judge], "the run")


def _judge_cost(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    return _cost(rule, [tally.judge], "judging")


def _cost(rule: Rule, stages: list[Stage], what: str) -> RuleOutcome:
    known = sum((stage.cost.exact for stage in stages), Fraction(0))
    unknown, limit = sum(stage.unpriced for stage in stages), rule.maximum or 0
    outcome = Verdict.FAILED if known > as_written(limit) else Verdict.UNDECIDED if unknown else Verdict.PASSED
    shown, wanted = told_apart(known, limit)
    beside = f", and an unknown amount for {count(unknown, 'answer or verdict', 'answers and verdicts')}"
    found = f"{what} cost ${shown}{beside if unknown else ''}"
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=f"{found}; at most ${wanted} may be spent",
        actual=as_float(known) if not unknown else None,
        limit=limit,
        n=sum(stage.asked for stage in stages),
        undecided=unknown,
    )


def _latency(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    timed = (tally.judge if rule.stage == "judge" else tally.subject).latency
    limit, total = rule.maximum or 0, timed.n + timed.unknown
    whose = "verdict" if rule.stage == "judge" else "answer"
    if not timed.n:
        return _nothing(rule, limit, f"no {whose} was timed")
    covered = _covered(rule, timed.n, total)
    decider = _mean_latency if rule.percentile is None else _percentile_latency
    outcome, actual, shown = decider(rule, timed, limit, covered)
    beside = f" ({timed.unknown:,} more were not timed)" if timed.unknown else ""
    which = "the mean" if rule.percentile is None else f"the {rule.percentile:g}th percentile"
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=f"{which} of {count(timed.n, whose)}{beside} is {shown} ms; "
        f"at most {told_apart(0, limit)[1]} ms will do",
        actual=actual,
        limit=limit,
        n=timed.n,
        undecided=timed.unknown,
    )


def _mean_latency(_: Rule, timed: Latency, limit: float, covered: bool) -> tuple[Verdict, float, str]:
    """What was not timed took no less than nothing, and has no upper bound."""
    total, mean = timed.n + timed.unknown, timed.sum.exact / timed.n
    bound = as_written(limit)
    if covered:
        outcome = Verdict.PASSED if mean <= bound else Verdict.FAILED
    else:
        outcome = Verdict.FAILED if timed.sum.exact / total > bound else Verdict.UNDECIDED
    return outcome, as_float(mean), told_apart(mean, limit)[0]


def _percentile_latency(rule: Rule, timed: Latency, limit: float, covered: bool) -> tuple[Verdict, float, str]:
    """Decided by counting those within the limit: exact, where the percentile itself is known to one per cent."""
    if limit not in timed.at_most:
        raise ValueError(f"the tally was not told to count durations of at most {limit:g} ms")
    share, within = as_written(rule.percentile or 0) / 100, timed.at_most[limit]
    needed_known, needed = _rank(share, timed.n), _rank(share, timed.n + timed.unknown)
    if covered:
        outcome = Verdict.PASSED if within >= needed_known else Verdict.FAILED
    elif within >= needed:
        outcome = Verdict.PASSED
    else:
        outcome = Verdict.FAILED if within + timed.unknown < needed else Verdict.UNDECIDED
    about = timed.quantile(float(share)) or 0.0
    if (about <= limit) != (within >= needed_known):  # nearer to the limit than the percentile is known
        return outcome, limit, f"just {'within' if within >= needed_known else 'above'} {told_apart(0, limit)[1]}"
    return outcome, about, told_apart(about, limit)[0]


def _rank(share: Fraction, n: int) -> int:
    """How many of n have to be within the limit: the rank of the percentile."""
    return max(1, -(-share * n // 1))


# --- errors and flips ----------------------------------------------------------------------------------------------


def _errors(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    limit = rule.maximum or 0
    if rule.of == "evaluators":
        errors, known, missing, what = tally.judge_errors.total(), tally.assessments, 0, "verdict"
    else:
        counts = tally.trials.counts
        known, missing, what = counts.total(), tally.trials.unfinished, "trial"
        errors = tally.subject_errors.total() if rule.of == "subject" else counts["error"]  # type: ignore[index]
    total = known + missing
    if not total:
        return _nothing(rule, limit, f"there is no {what}")
    actual = Fraction(errors, known) if known else None
    bounds = (Fraction(errors, total), Fraction(errors + missing, total))
    outcome = _at_most(actual, bounds, as_written(limit), covered=not missing)
    shown, wanted = told_apart_percent(actual if actual is not None else bounds[1], as_written(limit))
    whose = {"subject": " of the subject", "evaluators": " of evaluators"}.get(rule.of or "", "")
    found = f"{count(errors, 'error')}{whose} in {count(known, what)} ({shown})"
    found += f", {missing:,} not made" if missing else ""
    return _outcome(rule, outcome, actual, bounds, limit, known, missing, found, f"at most {wanted}")


def _flips(rule: Rule, tally: RunTally, _: RunTally | None) -> RuleOutcome:
    limit, flips = rule.maximum or 0, Flips()
    everything = rule.assertion is None and rule.template is None
    if rule.of != "judge" and everything:
        flips = tally.trial_flips
    else:
        for key, made in tally.assertions.items():
            if everything or rule.counts(key.name, key.template):
                flips.include(made.judge_flips if rule.of == "judge" else made.trial_flips)
    repeats = "repeats of a judge" if rule.of == "judge" else "trials of a case"
    if not flips.total:
        return _nothing(rule, limit, f"there are no {repeats} to compare")
    actual = Fraction(flips.minority, flips.decided) if flips.decided else None
    bounds = (Fraction(flips.least, flips.total), Fraction(flips.most, flips.total))
    undecided = flips.total - flips.decided
    outcome = _at_most(actual, bounds, as_written(limit), covered=not undecided)
    shown, wanted = told_apart_percent(actual if actual is not None else bounds[1], as_written(limit))
    whose = "their judge's" if rule.of == "judge" else "their case's"
    what = "repeats" if rule.of == "judge" else "trials"
    found = f"of {flips.decided:,} decided {what} {shown} differ from {whose} majority"
    found += f" ({undecided:,} more are undecided or have none to compare with)" if undecided else ""
    return _outcome(rule, outcome, actual, bounds, limit, flips.decided, undecided, found, f"at most {wanted}")


# --- what all share ------------------------------------------------------------------------------------------------


def _nothing(rule: Rule, limit: float, why: str) -> RuleOutcome:
    return RuleOutcome(rule=rule_to_json(rule), outcome=Verdict.UNDECIDED, reason=why, limit=limit)


def _outcome(
    rule: Rule,
    outcome: Verdict,
    actual: Fraction | None,
    bounds: Bounds,
    limit: float | None,
    n: int,
    undecided: int,
    found: str,
    wanted: str,
) -> RuleOutcome:
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


_DECIDERS: dict[RuleType, Callable[[Rule, RunTally, RunTally | None], RuleOutcome]] = {
    RuleType.OVERALL_PASS_RATE: _overall,
    RuleType.LABEL_PASS_RATE: _label,
    RuleType.CASE_PASS_RATE: _case_rate,
    RuleType.EVALUATOR_SCORE: _score,
    RuleType.NO_REGRESSION: _regression,
    RuleType.TOTAL_COST_USD: _total_cost,
    RuleType.JUDGE_COST_USD: _judge_cost,
    RuleType.LATENCY_MS: _latency,
    RuleType.ERROR_RATE: _errors,
    RuleType.FLIP_RATE: _flips,
}
