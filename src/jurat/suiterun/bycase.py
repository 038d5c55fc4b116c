"""A run's rows case by case, as everything reads them that tells of a run or compares it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from jurat.report.content import content_of
from jurat.report.record import CaseRecord, RunRecord, TrialRecord
from jurat.store import Store

__all__ = ["by_case"]


_AT_ONCE = 256


async def by_case(
    store: Store, record: RunRecord, *, contents: bool = False
) -> AsyncIterator[tuple[CaseRecord, list[TrialRecord]]]:
    """Every case of a run with the trials that it has, in the plan's order; one case at a time is held.

    Args:
        contents: whether what each case asks and how it is measured is looked up.
    """
    trials = store.runs.trials(record.id)
    ahead = await anext(trials, None)
    async for case in _cases(store, record, contents=contents):
        own: list[TrialRecord] = []
        while ahead is not None and ahead.case_index == case.case_index:
            own.append(ahead)
            ahead = await anext(trials, None)
        yield case, own


async def _cases(store: Store, record: RunRecord, *, contents: bool) -> AsyncIterator[CaseRecord]:
    page: list[CaseRecord] = []
    async for case in store.runs.cases(record.id):
        if not contents:
            yield case
            continue
        page.append(case)
        if len(page) == _AT_ONCE:
            for whole in await _with_contents(store, page):
                yield whole
            page = []
    for whole in await _with_contents(store, page):
        yield whole


async def _with_contents(store: Store, page: list[CaseRecord]) -> list[CaseRecord]:
    bodies = await store.runs.snapshots(sorted({case.case_hash for case in page})) if page else {}
    contents = {name: content_of(one.body) for name, one in bodies.items()}
    return [replace(case, content=contents.get(case.case_hash)) for case in page]
