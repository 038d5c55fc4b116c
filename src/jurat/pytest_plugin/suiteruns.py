"""Suites on the way: a run in the store like any other, whose cases are told one by one as they are decided.

The cases of a suite that are tests of one session are one run, carried out side by side; each test waits for its own.
Where every case is on its own (several processes, `-x`), each is a run of one case in the same store.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jurat._api import Run
from jurat.engine.recorder import Silent
from jurat.evaluation.reducers import reduce_statuses
from jurat.pytest_plugin.telling import CaseResult, case_result
from jurat.report.record import RunRecord, TrialRecord
from jurat.suite.loaded import LoadedSuite
from jurat.suite.suite import Suite
from jurat.suiterun import Prepared, begin, carry_on, checked_options, prepare

if TYPE_CHECKING:
    from jurat.store import Store

__all__ = ["OpenStore", "Order", "asked_of", "carry_out", "carry_prepared", "only", "opened", "prepared_for"]

OpenStore = Callable[[str | Path], contextlib.AbstractAsyncContextManager["Store"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be run.

    Attributes:
        suite: as it was read, or made.
        given: options of the run, as `jurat.run_suite` has them.
        names: these cases alone; None for all.
        store: where the run is kept.
        show_output: whether answers and quotes are told.
        told: gets each case, as soon as it is decided.
        begun: gets the run's record.
    """

    suite: LoadedSuite | Suite
    given: Mapping[str, Any]
    names: Collection[str] | None = None
    store: str | Path | None = None
    show_output: bool = False
    told: Callable[[CaseResult], None]
    begun: Callable[[RunRecord], None] = lambda _: None


async def carry_out(order: Order, open_store: OpenStore) -> Run:
    """Run a suite and keep its record.

    Raises:
        AuthoringError: when something is wrong with it, before anything is spent.
        StoreError: when the record cannot be kept.
        asyncio.CancelledError: the run is `interrupted`, and kept.
    """
    prepared = prepared_for(order)
    try:
        return await carry_prepared(order, prepared, open_store)
    finally:
        await prepared.aclose()


def prepared_for(order: Order) -> Prepared:
    """The suite of an order as a plan, for the caller to close.

    Raises:
        AuthoringError: when something is wrong with it.
    """
    return prepare(order.suite, checked_options(**order.given))


async def carry_prepared(order: Order, prepared: Prepared, open_store: OpenStore) -> Run:
    """As `carry_out`, by a plan that stays open."""
    if order.names is not None:
        prepared = only(prepared, order.names)
    place = prepared.bench.store_place(None if order.store is None else str(order.store))
    async with open_store(place) as store:
        record = await begin(prepared, store)
        order.begun(record)
        finished = await carry_on(prepared, store, record, watch=_Watch(prepared, order))
    return Run(record=finished.record, summary=finished.tally.summary(), place=str(place))


def only(prepared: Prepared, names: Collection[str]) -> Prepared:
    """The plan with the cases of these names alone."""
    chosen = [planned for planned in prepared.cases if planned.case.name in names]
    return replace(prepared, cases=tuple(replace(one, case_index=index) for index, one in enumerate(chosen)))


def asked_of(suite: Suite) -> set[str]:
    """The names by which a suite calls providers."""
    found = {str(name) for name in suite.providers}
    if suite.subject.provider is not None:
        found.add(suite.subject.provider)
    for case in suite.cases:
        for one in case.assertions:
            if one.get("type") == "rubric_judge":
                found.add(str(one.get("provider", one.get("provider_id", "local"))))
    return found


@contextlib.asynccontextmanager
async def opened(place: str | Path) -> AsyncIterator[Store]:
    """A store for one run alone."""
    from jurat.store import Store

    store = await Store.open(place)
    try:
        yield store
    finally:
        await store.aclose()


class _Watch(Silent):
    """Gathers a case's trials, and tells it when it has all of them."""

    def __init__(self, prepared: Prepared, order: Order) -> None:
        self._prepared, self._order = prepared, order
        self._held: dict[int, list[TrialRecord]] = {}

    def trial(self, trial: TrialRecord) -> None:
        """See RunWatcher."""
        held = self._held.setdefault(trial.case_index, [])
        held.append(trial)
        if len(held) == self._prepared.samples:
            del self._held[trial.case_index]
            self._tell(trial.case_index, sorted(held, key=lambda one: one.trial_index))

    def _tell(self, index: int, trials: list[TrialRecord]) -> None:
        prepared = self._prepared
        status = reduce_statuses([one.status for one in trials], prepared.reducer)
        name, show = prepared.cases[index].case.name, self._order.show_output
        self._order.told(case_result(name, trials, status, samples=prepared.samples, show_output=show))
