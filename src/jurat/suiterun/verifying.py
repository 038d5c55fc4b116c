"""Whether the record of a store holds: what the store proves by itself, and each run's gate by its policy and trials.

The store knows hashes, counts and statuses; what a policy comes to is known here. A run in which the store has found
something wrong is not looked at further: its gate would rest on that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping

from jurat._version import __version__
from jurat.engine import trial_status
from jurat.errors import StoreError
from jurat.jsontext import Json, canonical
from jurat.metrics import read_policy
from jurat.metrics.report_check import differences
from jurat.report.record import CaseRecord, RunRecord, RunStatus
from jurat.store import Store, StoreFault
from jurat.suiterun.baseline import regressions_of
from jurat.suiterun.lifecycle import tally_of

__all__ = ["verify_store"]

_PAGE = 100
_DAMAGED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
_UNREADABLE = (StoreError, *_DAMAGED)


async def verify_store(store: Store) -> AsyncIterator[StoreFault]:
    """Every fault, as it is found; nothing when all is well.

    Raises:
        StoreError: when the database cannot be read, or a newer jurat wrote it.
    """
    faulty: set[str | None] = set()
    async for fault in store.verify(trial_status):
        faulty.add(fault.key)
        yield fault
    last = None
    while runs := await _page(store, last, faulty=bool(faulty)):
        for run in runs:
            if run.id not in faulty:
                for told in await _settled(store, run):
                    yield StoreFault(key=run.id, message=f"run {run.id}{told}")
        last = runs[-1].id


async def _page(store: Store, last: str | None, *, faulty: bool) -> list[RunRecord]:
    try:
        return await store.runs.runs(limit=_PAGE, before=last)
    except _DAMAGED:
        if faulty:  # then it has been told already that a run's row cannot be read
            return []
        raise


async def _settled(store: Store, run: RunRecord) -> list[str]:
    """What is wrong with a run, unless it has changed meanwhile."""
    try:
        found = [*_ends(run), *[told async for told in _cases(store, run)]]
        if run.status is RunStatus.COMPLETED and not found:
            found += [told async for told in _gate(store, run)]
    except _UNREADABLE as error:
        found = [f": its figures cannot be derived from what is stored of it ({type(error).__name__})"]
    return found if found and await store.runs.get(run.id) == run else []


def _ends(run: RunRecord) -> Iterator[str]:
    completed = run.status is RunStatus.COMPLETED
    if completed != (run.gate is not None):
        yield f": expected a gate exactly of a completed run, found {'none' if completed else 'one'}"
    if completed and run.finished_at is None:
        yield ": expected the time at which it was completed, found none"


async def _cases(store: Store, run: RunRecord) -> AsyncIterator[str]:
    """Whether cases are called, labelled and described as their snapshots say."""
    page: list[CaseRecord] = []
    async for case in store.runs.cases(run.id):
        page.append(case)
        if len(page) == _PAGE:
            for told in await _renamed(store, page):
                yield told
            page.clear()
    for told in await _renamed(store, page):
        yield told


async def _renamed(store: Store, cases: list[CaseRecord]) -> list[str]:
    bodies = await store.runs.snapshots(sorted({case.case_hash for case in cases}))
    found = []
    for case in cases:
        body = bodies[case.case_hash].body
        told = {"name": case.name, "labels": list(case.labels), "metadata": dict(case.metadata)}
        for name, value in told.items():
            if canonical(value) != canonical(body.get(name, {"labels": [], "metadata": {}}.get(name))):
                found.append(f", case {case.case_index}: its {name} differs from its snapshot's")
    return found


async def _gate(store: Store, run: RunRecord) -> AsyncIterator[str]:
    """Where the gate is not what the run's policy and its trials come to."""
    body = (await store.runs.snapshot(run.suite_hash)).body
    if body.get("suite") != run.suite:
        yield ": its suite is called otherwise than in its snapshot"
    policy = read_policy(body.get("policy", ()), "policy", [])
    again = policy.decide(await tally_of(store, run, policy), await regressions_of(policy, store, run)).to_json()
    for path in differences(again, run.gate, "gate"):
        if _is_ours(run.provenance) or not path.endswith(".reason"):  # other versions may say it in other words
            yield f": its {path} is not what its policy and its trials come to"


def _is_ours(provenance: Mapping[str, Json]) -> bool:
    return provenance.get("jurat") == __version__
