"""Which run a policy's `no_regression` compares with, settled before the new run makes its first call; and the two runs
side by side, once it is over.

Where the policy names none, a run that failed is no baseline: else a regression would be met by running it again. Nor
is a run of some of the cases, unless the new one is of the same. A run that could not be compared, since it was
measured in another way than those before it, is one: what is measured now has to begin somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.metrics.policy import Policy
from jurat.metrics.regressions import Regressions
from jurat.metrics.rules import RuleType
from jurat.report.record import RunRecord, RunStatus
from jurat.store import Store
from jurat.suiterun.comparing import Side, cases_of_both

__all__ = ["baseline_for", "regressions_of"]

_LOOKED_AT = 500


async def baseline_for(policy: Policy, suite: str, store: Store, chosen: str | None = None) -> RunRecord | None:
    """The run that the policy names, else the suite's last one that will do; None where nothing is compared with.

    Args:
        chosen: the expression by which cases of the suite were chosen for the new run.

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
        return await _last(suite, store, chosen)
    found = await store.runs.find(named[0])
    if found.status is not RunStatus.COMPLETED:
        raise _refused("a completed run", f"{found.id}, which is {found.status.value}")
    return found


async def _last(suite: str, store: Store, chosen: str | None) -> RunRecord | None:
    """The last run that will do; where there is none, the last that did not fail, or else the last."""
    runs = await store.runs.runs(limit=_LOOKED_AT, suite=suite)
    completed = [run for run in runs if run.status is RunStatus.COMPLETED]
    sizes: dict[str, int] = {}
    for fits in (_settles, _did_not_fail, _any):
        for run in completed:
            if fits(run.gate) and await _looks_at_as_much(run, store, chosen, sizes):
                return run
    return None


def _settles(gate: Mapping[str, Json] | None) -> bool:
    """Passed; or all that kept it from passing is that it could not be compared, and not that anything is undecided."""
    if not _did_not_fail(gate) or gate is None:
        return False
    unmet = [one for one in gate["rules"] if one["outcome"] != "passed"]
    return all(one["rule"].get("type") == RuleType.NO_REGRESSION and not one["undecided"] for one in unmet)


def _did_not_fail(gate: Mapping[str, Json] | None) -> bool:
    return gate is not None and gate["outcome"] != "failed"


def _any(gate: Mapping[str, Json] | None) -> bool:
    return gate is not None


async def _looks_at_as_much(run: RunRecord, store: Store, chosen: str | None, sizes: dict[str, int]) -> bool:
    """Whether it is a run of the whole suite, or of the same cases; `sizes` remembers how many a suite has."""
    if chosen is not None and run.options.get("filter") == chosen:
        return True
    if run.suite_hash not in sizes:
        sizes[run.suite_hash] = len((await store.runs.snapshot(run.suite_hash)).body.get("cases", ()))
    return sizes[run.suite_hash] <= run.cases


def _refused(expected: str, found: str) -> AuthoringError:
    return AuthoringError("policy", [Fault(path="policy.baseline", expected=expected, found=found)])


async def regressions_of(policy: Policy, store: Store, record: RunRecord) -> Regressions | None:
    """A run beside its baseline, from the rows of both; None where it has none.

    Raises:
        StoreError: when the store cannot be read.
    """
    named = record.options.get("baseline")
    if named is None or not policy.wants_baseline:
        return None
    base = await store.runs.get(str(named))
    found = Regressions(policy.rules, base.id)
    async for one in cases_of_both(Side(record=base, store=store), Side(record=record, store=store), store):
        found.add(one)
    return found
