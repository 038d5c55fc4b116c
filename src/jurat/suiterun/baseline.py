"""Which run a policy's `no_regression` compares with: settled before the new run makes its first call."""

from __future__ import annotations

from jurat.errors import AuthoringError, Fault
from jurat.metrics.policy import Policy
from jurat.metrics.rules import RuleType
from jurat.report.record import RunRecord, RunStatus
from jurat.store import Store

__all__ = ["baseline_for"]

_LOOKED_AT = 100


async def baseline_for(policy: Policy, suite: str, store: Store) -> RunRecord | None:
    """The run that the policy names, else the suite's last completed one; None where nothing is compared with.

    Raises:
        AuthoringError: when the run that it names is not there or not completed, or its rules name several.
    """
    rules = [rule for rule in policy.rules if rule.type is RuleType.NO_REGRESSION]
    if not rules:
        return None
    named = sorted({rule.baseline for rule in rules if rule.baseline is not None})
    if len(named) > 1:
        raise _refused("one baseline for all rules", " and ".join(map(repr, named)))
    if not named:
        runs = await store.runs.runs(limit=_LOOKED_AT, suite=suite)
        return next((run for run in runs if run.status is RunStatus.COMPLETED), None)
    found = await store.runs.find(named[0])
    if found.status is not RunStatus.COMPLETED:
        raise _refused("a completed run", f"{found.id}, which is {found.status.value}")
    return found


def _refused(expected: str, found: str) -> AuthoringError:
    return AuthoringError("policy", [Fault(path="policy.baseline", expected=expected, found=found)])
