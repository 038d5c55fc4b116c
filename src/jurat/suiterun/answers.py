"""The answers of an earlier run, for the run that judges them anew: read case by case, held no longer than needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from jurat.report.record import RunRecord, SubjectRecord
from jurat.store import Store

__all__ = ["ParentAnswers"]

_Answers = dict[int, SubjectRecord]


class ParentAnswers:
    """The answers of a run, by their places in another one (`jurat.engine.answering.OutputSource`).

    Args:
        parent: the run that gave them.
        places: by the index of a case in the run that asks, its index in the other.
        samples: how many answers of a case are asked for.
    """

    def __init__(self, store: Store, parent: str, places: Mapping[int, int], samples: int) -> None:
        self._runs, self._parent, self._places, self._samples = store.runs, parent, places, samples
        self._read: dict[int, asyncio.Task[_Answers]] = {}
        self._given: dict[int, int] = {}

    @classmethod
    async def of(cls, store: Store, record: RunRecord) -> ParentAnswers:
        """Those for a run that judges the answers of its parent. Cases are the same by their names.

        Raises:
            StoreError: when the parent is not in the store.
        """
        parent = await store.runs.get(str(record.parent))
        known = {case.name: case.case_index async for case in store.runs.cases(parent.id)}
        places = {case.case_index: known[case.name] async for case in store.runs.cases(record.id) if case.name in known}
        return cls(store, parent.id, places, record.samples)

    async def answer(self, case_index: int, trial_index: int) -> SubjectRecord | None:
        """The answer of one trial; None when there is none."""
        if case_index not in self._places:
            return None
        task = self._read.get(case_index)
        if task is None:
            task = self._read[case_index] = asyncio.create_task(self._of_case(self._places[case_index]))
        answers = await asyncio.shield(task)
        self._given[case_index] = self._given.get(case_index, 0) + 1
        if self._given[case_index] == self._samples:
            self._read.pop(case_index, None)
        return answers.get(trial_index)

    async def _of_case(self, case_index: int) -> _Answers:
        return {trial.trial_index: trial.subject async for trial in self._runs.trials(self._parent, case_index)}
