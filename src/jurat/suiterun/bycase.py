"""A run's rows case by case, as everything reads them that tells of a run or compares it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from jurat.report.record import CaseRecord, RunRecord, TrialRecord
from jurat.store import Store

__all__ = ["by_case"]


async def by_case(store: Store, record: RunRecord) -> AsyncIterator[tuple[CaseRecord, list[TrialRecord]]]:
    """Every case of a run with the trials that it has, in the plan's order; one case at a time is held."""
    trials = store.runs.trials(record.id)
    ahead = await anext(trials, None)
    async for case in store.runs.cases(record.id):
        own: list[TrialRecord] = []
        while ahead is not None and ahead.case_index == case.case_index:
            own.append(ahead)
            ahead = await anext(trials, None)
        yield case, own
