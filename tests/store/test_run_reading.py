"""What is read of a run is bounded, and of a list of runs or trials no more than the list needs."""

from __future__ import annotations

from typing import Any

import pytest
from run_samples import a_run, begun, every_trial

from jurat.store import Store
from jurat.store.grouping import Grouped
from jurat.store.rows import Row
from jurat.store.run_statements import ANSWERS_OF, ASSESSMENTS_OF, TRIALS_OF
from jurat.store.statements import Statement

RUN = a_run().id
BODIES = (TRIALS_OF, ANSWERS_OF, ASSESSMENTS_OF)


class Reads:
    """Every statement that is read, with how many rows it gave."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[Statement, int]] = []
        read, made = Grouped.read, self.made

        async def watched(self: Grouped, statement: Statement, *arguments: Any) -> list[Row]:
            found = await read(self, statement, *arguments)
            made.append((statement, len(found)))
            return found

        monkeypatch.setattr(Grouped, "read", watched)

    def most(self, *statements: Statement) -> int:
        """The most rows that any of these statements gave at once."""
        return max(rows for statement, rows in self.made if statement in statements)


async def test_of_a_long_run_a_few_hundred_trials_are_held_at_once(
    runs: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(runs, cases=300, samples=2)
    await runs.runs.commit_trials(RUN, every_trial(300, 2))
    reads = Reads(monkeypatch)

    assert len([trial async for trial in runs.runs.trials(RUN)]) == 600
    assert reads.most(TRIALS_OF, ANSWERS_OF) == 256


async def test_whoever_wants_to_know_which_trials_are_there_reads_none_of_them(
    runs: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(runs, cases=3, samples=2)
    await runs.runs.commit_trials(RUN, every_trial(3, 2))
    reads = Reads(monkeypatch)

    assert len(await runs.runs.keys(RUN)) == len(await runs.runs.statuses(RUN)) == 6
    assert [run.id for run in await runs.runs.runs()] == [RUN]
    assert not [statement for statement, _ in reads.made if statement in BODIES]
