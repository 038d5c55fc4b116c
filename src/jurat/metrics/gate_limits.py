"""Rules that limit: what a run may cost, how long answers may take, how often there may be errors or contradictions."""

from __future__ import annotations

from fractions import Fraction

from jurat.metrics.exact import as_float, as_written
from jurat.metrics.outcome import (
    GateStatus,
    RuleOutcome,
    at_most,
    covered,
    nothing,
    rule_outcome,
)
from jurat.metrics.policy import Rule, rule_to_json
from jurat.metrics.regressions import Regressions
from jurat.metrics.run_parts import Flips, Latency, Stage
from jurat.metrics.run_tally import RunTally
from jurat.report.digits import count, told_apart, told_apart_percent

__all__ = ["error_rate", "flip_rate", "judge_cost_usd", "latency_ms", "total_cost_usd"]


def total_cost_usd(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    return _cost(rule, [tally.subject, tally.judge], "the run")


def judge_cost_usd(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    return _cost(rule, [tally.judge], "judging")


def _cost(rule: Rule, stages: list[Stage], what: str) -> RuleOutcome:
    known = sum((stage.cost.exact for stage in stages), Fraction(0))
    unknown, limit = sum(stage.unpriced for stage in stages), rule.maximum or 0
    outcome = GateStatus.FAILED if known > as_written(limit) else GateStatus.UNDECIDED if unknown else GateStatus.PASSED
    shown, wanted = told_apart(known, limit)
    unpriced = count(unknown, "answer or verdict", "answers and verdicts")
    if unknown and not known:
        found = f"what {what} cost is not known, for {unpriced}"
    else:
        found = f"{what} cost ${shown}" + (f", and an unknown amount for {unpriced}" if unknown else "")
    return RuleOutcome(
        rule=rule_to_json(rule),
        outcome=outcome,
        reason=f"{found}; at most ${wanted} may be spent",
        actual=as_float(known) if not unknown else None,
        limit=limit,
        n=sum(stage.asked for stage in stages),
        undecided=unknown,
    )


def latency_ms(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    timed = (tally.judge if rule.stage == "judge" else tally.subject).latency
    limit, total = rule.maximum or 0, timed.n + timed.unknown
    whose = "verdict" if rule.stage == "judge" else "answer"
    if not timed.n:
        return nothing(rule, limit, f"no {whose} was timed")
    enough = covered(rule, timed.n, total)
    decider = _mean_latency if rule.percentile is None else _percentile_latency
    outcome, actual, shown = decider(rule, timed, limit, enough)
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


def _mean_latency(_: Rule, timed: Latency, limit: float, enough: bool) -> tuple[GateStatus, float, str]:
    """What was not timed took no less than nothing, and has no upper bound."""
    total, mean = timed.n + timed.unknown, timed.sum.exact / timed.n
    bound = as_written(limit)
    if enough:
        outcome = GateStatus.PASSED if mean <= bound else GateStatus.FAILED
    else:
        outcome = GateStatus.FAILED if timed.sum.exact / total > bound else GateStatus.UNDECIDED
    return outcome, as_float(mean), told_apart(mean, limit)[0]


def _percentile_latency(rule: Rule, timed: Latency, limit: float, enough: bool) -> tuple[GateStatus, float, str]:
    """Decided by counting those within the limit: exact, where the percentile itself is known to one per cent."""
    if limit not in timed.at_most:
        raise ValueError(f"the tally was not told to count durations of at most {limit:g} ms")
    share, within = as_written(rule.percentile or 0) / 100, timed.at_most[limit]
    needed_known, needed = _rank(share, timed.n), _rank(share, timed.n + timed.unknown)
    if enough:
        outcome = GateStatus.PASSED if within >= needed_known else GateStatus.FAILED
    elif within >= needed:
        outcome = GateStatus.PASSED
    else:
        outcome = GateStatus.FAILED if within + timed.unknown < needed else GateStatus.UNDECIDED
    about = timed.quantile(float(share)) or 0.0
    if (about <= limit) != (within >= needed_known):  # nearer to the limit than the percentile is known
        return outcome, limit, f"just {'within' if within >= needed_known else 'above'} {told_apart(0, limit)[1]}"
    return outcome, about, told_apart(about, limit)[0]


def _rank(share: Fraction, n: int) -> int:
    """How many of n have to be within the limit: the rank of the percentile."""
    return max(1, -(-share * n // 1))


# --- errors and flips ----------------------------------------------------------------------------------------------


def error_rate(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
    limit = rule.maximum or 0
    if rule.of == "evaluators":
        errors, known, missing, what = tally.judge_errors.total(), tally.assessments, 0, "verdict"
    else:
        counts = tally.trials.counts
        known, missing, what = counts.total(), tally.trials.unfinished, "trial"
        errors = tally.subject_errors.total() if rule.of == "subject" else counts["error"]  # type: ignore[index]
    total = known + missing
    if not total:
        return nothing(rule, limit, f"there is no {what}")
    actual = Fraction(errors, known) if known else None
    bounds = (Fraction(errors, total), Fraction(errors + missing, total))
    outcome = at_most(actual, bounds, as_written(limit), enough=not missing)
    shown, wanted = told_apart_percent(actual if actual is not None else bounds[1], as_written(limit))
    whose = {"subject": " of the subject", "evaluators": " of evaluators"}.get(rule.of or "", "")
    found = f"{count(errors, 'error')}{whose} in {count(known, what)} ({shown})"
    found += f", {missing:,} not made" if missing else ""
    return rule_outcome(rule, outcome, actual, bounds, limit, known, missing, found, f"at most {wanted}")


def flip_rate(rule: Rule, tally: RunTally, _: Regressions | None) -> RuleOutcome:
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
        return nothing(rule, limit, f"there are no {repeats} to compare")
    actual = Fraction(flips.minority, flips.decided) if flips.decided else None
    bounds = (Fraction(flips.least, flips.total), Fraction(flips.most, flips.total))
    undecided = flips.total - flips.decided
    outcome = at_most(actual, bounds, as_written(limit), enough=not undecided)
    shown, wanted = told_apart_percent(actual if actual is not None else bounds[1], as_written(limit))
    whose = "their judge's" if rule.of == "judge" else "their case's"
    what = "repeats" if rule.of == "judge" else "trials"
    found = f"of {flips.decided:,} decided {what} {shown} differ from {whose} majority"
    found += f" ({undecided:,} more are undecided or have none to compare with)" if undecided else ""
    return rule_outcome(rule, outcome, actual, bounds, limit, flips.decided, undecided, found, f"at most {wanted}")
