"""What a policy comes to for a run: passed, failed, or undecided, rule by rule, each with its reason in words.

Numbers are compared exactly as they were written; the text shows as many digits as it takes to see it. What nobody
decided counts neither way: a rule is decided when it would come out the same had all of that passed and had all of it
failed. A definite failure is a failure whatever else is undecided, and nothing passes where nothing was decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jurat.metrics.gate_limits import error_rate, flip_rate, judge_cost_usd, latency_ms, total_cost_usd
from jurat.metrics.gate_rates import case_pass_rate, label_pass_rate, overall_pass_rate
from jurat.metrics.gate_regressions import no_regression
from jurat.metrics.gate_scores import evaluator_score
from jurat.metrics.outcome import GateOutcome, GateStatus, RuleOutcome
from jurat.metrics.policy import Policy, Rule, RuleType
from jurat.metrics.regressions import Regressions
from jurat.metrics.run_tally import RunTally
from jurat.report.digits import count

__all__ = ["GateOutcome", "GateStatus", "RuleOutcome", "Verdict", "decide"]

Verdict = GateStatus

_DECIDERS: dict[RuleType, Callable[[Rule, RunTally, Regressions | None], RuleOutcome]] = {
    RuleType.OVERALL_PASS_RATE: overall_pass_rate,
    RuleType.LABEL_PASS_RATE: label_pass_rate,
    RuleType.CASE_PASS_RATE: case_pass_rate,
    RuleType.EVALUATOR_SCORE: evaluator_score,
    RuleType.NO_REGRESSION: no_regression,
    RuleType.TOTAL_COST_USD: total_cost_usd,
    RuleType.JUDGE_COST_USD: judge_cost_usd,
    RuleType.LATENCY_MS: latency_ms,
    RuleType.ERROR_RATE: error_rate,
    RuleType.FLIP_RATE: flip_rate,
}


def decide(policy: Policy, tally: RunTally, baseline: Regressions | None = None) -> GateOutcome:
    """Hold a run against a policy.

    Args:
        tally: of the run, made with `policy.watch`.
        baseline: the run beside the one that `no_regression` compares with, case by case.

    Raises:
        ValueError: when the tally was not told what the policy needs.
    """
    if not policy.rules:
        rules = [_every_case(tally)]
    else:
        rules = [_DECIDERS[rule.type](rule, tally, baseline) for rule in policy.rules]
    outcome = _together(rules)
    if outcome is GateStatus.PASSED and not _anything_decided(tally):
        outcome, reason = GateStatus.UNDECIDED, "not a single trial was decided"
    else:
        reason = _words(outcome, rules, policy)
    return GateOutcome(outcome=outcome, reason=reason, rules=tuple(rules), policy=policy.hash if policy.rules else None)


def _together(rules: Iterable[RuleOutcome]) -> GateStatus:
    found = {rule.outcome for rule in rules}
    return next((word for word in (GateStatus.FAILED, GateStatus.UNDECIDED) if word in found), GateStatus.PASSED)


def _anything_decided(tally: RunTally) -> bool:
    return tally.trials.rate.decided > 0


def _words(outcome: GateStatus, rules: list[RuleOutcome], policy: Policy) -> str:
    if not policy.rules:
        return rules[0].reason
    alike = sum(rule.outcome is outcome for rule in rules)
    verb = {GateStatus.PASSED: "met", GateStatus.FAILED: "broken", GateStatus.UNDECIDED: "undecided"}[outcome]
    if outcome is GateStatus.PASSED and len(rules) > 1:
        return f"all {len(rules)} rules are met"
    return f"{alike} of {count(len(rules), 'rule')} {'is' if alike == 1 else 'are'} {verb}"


# --- without a policy ----------------------------------------------------------------------------------------------


def _every_case(tally: RunTally) -> RuleOutcome:
    rate = tally.cases.rate
    total = rate.decided + rate.undecided
    failed, undecided = count(rate.failed, "case"), count(rate.undecided, "case")
    if rate.failed:
        also = f", {rate.undecided:,} undecided" if rate.undecided else ""
        outcome, reason = GateStatus.FAILED, f"{failed} of {total:,} failed{also}"
    elif rate.undecided:
        outcome, reason = GateStatus.UNDECIDED, f"{undecided} of {total:,} undecided, none failed"
    elif total:
        outcome, reason = GateStatus.PASSED, "every case passed" if total > 1 else "the one case passed"
    else:
        outcome, reason = GateStatus.UNDECIDED, "there was no case"
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
