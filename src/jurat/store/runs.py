"""Runs in the store: begun whole, filled trial by trial, and read back a page at a time.

What a method was given is on the disk when it returns. A trial is written once: whoever writes it a second time
changes nothing. A run belongs to the process that began or claimed it (`jurat.store.owners`); where that process is
gone, the run is shown as interrupted, and whoever claims it goes on with it. Nothing here holds a whole run in memory
but `keys` and `statuses`, which hold two numbers a trial.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from jurat.errors import AuthoringError, Fault, StoreError
from jurat.jsontext import Json
from jurat.report.record import CaseRecord, RunRecord, RunStatus, Snapshot, TrialRecord
from jurat.store.claims import HEARTBEAT_S, Claims, owner_row, read_owner
from jurat.store.database import Change, Database
from jurat.store.journals import ScopedJournal
from jurat.store.owners import Owner, is_gone
from jurat.store.rows import Row
from jurat.store.run_rows import (
    case_row,
    read_case,
    read_run,
    read_snapshot,
    read_trial,
    run_row,
    snapshot_row,
    text_rows,
    whole_rows,
)
from jurat.store.run_statements import (
    ADD_ANSWER,
    ADD_ASSESSMENT,
    ADD_CASE,
    ADD_OWNER,
    ADD_RUN,
    ADD_SCOPE,
    ADD_SNAPSHOT,
    ADD_TRIAL,
    ANSWERS_OF,
    ASSESSMENTS_OF,
    CASES_OF,
    COUNT_TRIALS,
    DISOWN_WITHHELD,
    END_CASE,
    FIND_RUN,
    FORGET_ERRORS,
    FORGET_WITHHELD,
    KEYS_OF,
    PAID_OF,
    PREFIXED,
    RUNS,
    SCOPE,
    SNAPSHOT,
    SNAPSHOTS,
    SPENT_BY,
    STATUSES_OF,
    TRIALS_OF,
)
from jurat.store.shared import names_in
from jurat.store.texts import keep_json, keep_text, read_json
from jurat.vocabulary import Status, nearest

__all__ = ["RunStore"]

_LAST = 2**31 - 1
_PAGE = 1_000
_COLUMNS_OF_RUN = 15
_place = itemgetter(0, 1)


class RunStore:
    """The runs of a database. Made by `jurat.store.Store`; every method raises StoreError when it cannot be done."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}
        self._claims = Claims(database, self._look)

    # --- writing -------------------------------------------------------------------------------------------------

    async def begin(self, run: RunRecord, cases: Sequence[CaseRecord], snapshots: Sequence[Snapshot]) -> None:
        """Keep a new run with its cases and what it rests on, and take it for this process.

        Raises:
            StoreError: also when a run of this id is there already.
        """
        name = keep_text(run.id)
        with self._told(f"run {run.id}"):
            changes: list[Change] = [
                (ADD_SNAPSHOT, sorted({row[0]: row for row in map(snapshot_row, snapshots)}.values())),
                (ADD_RUN, [run_row(run)]),
                (ADD_SCOPE, [(name,)]),
                (ADD_CASE, [(name, *case_row(case)) for case in cases]),
            ]
        owner = self._claims.ready()
        try:
            await self._database.write([*changes, (ADD_OWNER, [(name, *owner_row(owner))])])
        except BaseException:
            self._claims.dropped(owner)
            raise
        self._claims.taken(run.id, owner)

    async def commit_trials(self, run_id: str, trials: Sequence[TrialRecord]) -> None:
        """Keep trials with their assessments. A trial that is there already stays as it is.

        Raises:
            StoreError: also when the run has no such case, a value in a trial has no JSON form, or another process has
                taken the run over.
        """
        if not trials:
            return
        run = await self._number(run_id)
        with self._told(f"run {run_id}: a trial"):
            rows = [whole_rows(run_id, run, trial) for trial in trials]
            changes: list[Change] = [
                (ADD_TRIAL, [trial for trial, _, _ in rows]),
                (ADD_ANSWER, [answer for _, answer, _ in rows]),
                (ADD_ASSESSMENT, [row for _, _, assessments in rows for row in assessments]),
                (ADD_SNAPSHOT, text_rows(trials)),
            ]
        await self._database.write([*changes, *self._claims.sign_of_life(run_id, run)])

    async def finish(
        self, run_id: str, status: RunStatus, finished_at: str, case_statuses: Sequence[Status], gate: Json = None
    ) -> None:
        """End a run: its status, each case's outcome in the plan's order (none where they are not known), its gate.

        Raises:
            StoreError: also when a run is to be completed of which trials or outcomes are missing, or another process
                is at work on it.
        """
        number, run, _ = await self._row(run_id)
        if status is RunStatus.COMPLETED:
            ((found,),) = await self._database.read(COUNT_TRIALS, number)
            wanted = run.cases * run.samples
            if found != wanted:
                raise StoreError(
                    f"{self._database.shown}: run {run_id}: expected {wanted} trials before it is completed, "
                    f"found {found}; resume it"
                )
        if case_statuses and len(case_statuses) != run.cases:
            raise StoreError(
                f"{self._database.shown}: run {run_id}: expected the outcomes of {run.cases} cases, "
                f"found {len(case_statuses)}"
            )
        with self._told(f"run {run_id}: the gate"):
            kept = None if gate is None else keep_json(gate)
        outcomes = [(one.value, number, index) for index, one in enumerate(case_statuses)]
        await self._claims.end(run_id, (status.value, finished_at, kept), [(END_CASE, outcomes)])

    async def interrupt(self, run_id: str, at: str) -> None:
        """Leave a run unfinished: what it has stays, and whoever claims it goes on with it.

        Raises:
            StoreError: also when another process is at work on it.
        """
        await self._claims.end(run_id, (RunStatus.INTERRUPTED.value, at, None), [])

    async def delete_errors(self, run_id: str) -> int:
        """Take out the trials that are errors, and forget asking for the replies that were no valid answers.

        Returns:
            How many trials went; a resumed run asks for them anew.
        """
        run, scope = await self._number(run_id), await self._scope(run_id)
        erred = sum(1 for status in (await self.statuses(run_id)).values() if status is Status.ERROR)
        await self._database.write(
            ((FORGET_ERRORS, [(run,)]), (FORGET_WITHHELD, [(scope,)]), (DISOWN_WITHHELD, [(scope,)]))
        )
        return erred

    def journal(self, run_id: str) -> ScopedJournal:
        """The journal in which this run's replies are kept and found again."""
        return ScopedJournal(self._database, keep_text(run_id))

    # --- whose it is ---------------------------------------------------------------------------------------------

    async def claim(self, run_id: str) -> None:
        """Take a run for this process, to go on with it; from now on it is running.

        Raises:
            StoreError: when there is no such run, or a live process is at work on it; the message says which.
        """
        await self._claims.claim(run_id)

    async def touch(self, run_id: str) -> None:
        """Say that this process is still at work on the run; others take it over after a minute's silence.

        Raises:
            StoreError: also when the run has been taken over by another process; then this one must stop.
        """
        await self._claims.touch(run_id)

    @contextlib.asynccontextmanager
    async def heartbeat(self, run_id: str) -> AsyncIterator[None]:
        """Inside: a sign of life every few seconds, so that a run that waits long for answers stays this process's.

        When another process has taken the run over nevertheless, the next `commit_trials` says so.
        """

        async def beat() -> None:
            while True:
                await asyncio.sleep(HEARTBEAT_S)
                with contextlib.suppress(StoreError):  # the next commit says what stands in the way
                    await self.touch(run_id)

        task = asyncio.create_task(beat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait((task,))

    def let_go(self) -> None:
        """This process is at work on no run of this store any more; those not ended are shown as interrupted."""
        self._claims.let_go()

    # --- reading -------------------------------------------------------------------------------------------------

    async def get(self, run_id: str) -> RunRecord:
        """The run of this whole id.

        Raises:
            StoreError: when there is none.
        """
        return (await self._row(run_id))[1]

    async def find(self, text: str) -> RunRecord:
        """The run that a person means: by its id, by a beginning that no other run has, or `latest`.

        Raises:
            AuthoringError: when none or several are meant; those that are near are named.
        """
        if text == "latest":
            if newest := await self.runs(1):
                return newest[0]
            raise _no_run(text, "none: the store holds no runs")
        if rows := await self._database.read(FIND_RUN, keep_text(text)):
            return self._shown(rows[0])[1]
        stem = keep_text(text)
        ids = [row[0] for row in await self._database.read(PREFIXED, len(stem), stem, 6)] if text else []
        if len(ids) == 1:
            return self._shown((await self._database.read(FIND_RUN, ids[0]))[0])[1]
        if ids:
            more = ", …" if len(ids) > 5 else ""
            raise _no_run(text, f"several that begin so: {', '.join(ids[:5])}{more}")
        known = [run.id for run in await self.runs(200)]
        near = nearest(text, known)
        hint = f"Did you mean {near}?" if near else "`jurat runs` lists them"
        raise _no_run(text, "none that begins so", hint)

    async def runs(self, limit: int = 50, before: str | None = None, suite: str | None = None) -> list[RunRecord]:
        """The newest runs first, at most `limit`: those before a run, and those of one suite, where that is asked."""
        named = "" if suite is None else keep_text(suite)
        rows = await self._database.read(
            RUNS, None if before is None else keep_text(before), int(suite is not None), named, limit
        )
        return [self._shown(row)[1] for row in rows]

    async def cases(self, run_id: str, case_index: int | None = None, page: int = 1_000) -> AsyncIterator[CaseRecord]:
        """The run's cases in the plan's order, or the one that is asked for."""
        run = await self._number(run_id)
        after, last = (-1, _LAST) if case_index is None else (case_index - 1, case_index)
        while rows := await self._database.read(CASES_OF, run, after, last, page):
            for row in rows:
                yield read_case(row)
            after = rows[-1][0]

    async def keys(self, run_id: str) -> set[tuple[int, int]]:
        """Which trials are there, by case and trial; nothing else of them is read."""
        return {(row[0], row[1]) for row in await self._database.read(KEYS_OF, await self._number(run_id))}

    async def statuses(self, run_id: str) -> dict[tuple[int, int], Status]:
        """What became of each trial that is there, by case and trial."""
        rows = await self._database.read(STATUSES_OF, await self._number(run_id))
        return {(row[0], row[1]): Status(row[2]) for row in rows}

    async def borne(self, run_id: str) -> Iterator[str]:
        """The keys of the calls whose cost stands in the trials that are there (`TrialRecord.paid`)."""
        rows = await self._database.read(PAID_OF, await self._number(run_id))
        return (key for (paid,) in rows for key in read_json(paid))

    async def spent_usd(self, run_id: str) -> float:
        """What the trials that are there are known to have cost, subject and judges together."""
        run = await self._number(run_id)
        return float((await self._database.read(SPENT_BY, run, run))[0][0])

    async def trials(self, run_id: str, case_index: int | None = None, page: int = 256) -> AsyncIterator[TrialRecord]:
        """The run's trials in the plan's order, or those of one case; at most `page` of them are held at once."""
        run = await self._number(run_id)
        after = (-1, _LAST) if case_index is None else (case_index - 1, _LAST)
        last = (_LAST, _LAST) if case_index is None else (case_index, _LAST)
        while rows := await self._database.read(TRIALS_OF, run, *after, *last, page):
            until = _place(rows[-1])
            answers = await self._database.read(ANSWERS_OF, run, *after, *until)
            found = await self._database.read(ASSESSMENTS_OF, run, *after, *until)
            texts = await self._texts(names_in(row[-1] for row in found))
            for trial in _joined(rows, answers, found, texts):
                yield trial
            after = until

    async def snapshot(self, name: str) -> Snapshot:
        """A snapshot by its hash.

        Raises:
            StoreError: when there is none.
        """
        if rows := await self._database.read(SNAPSHOT, name):
            return read_snapshot(rows[0])
        raise StoreError(
            f"{self._database.shown}: the snapshot {name[:80]} is not there; `jurat store verify` tells more"
        )

    async def snapshots(self, names: Sequence[str]) -> dict[str, Snapshot]:
        """Snapshots by their hashes, a page of them in one go; those that are not there are left out."""
        found: dict[str, Snapshot] = {}
        for start in range(0, len(names), _PAGE):
            rows = await self._database.read(SNAPSHOTS, json.dumps(names[start : start + _PAGE]))
            found.update((row[0], read_snapshot(row)) for row in rows)
        return found

    async def _texts(self, names: set[str]) -> Mapping[str, Json]:
        return {name: (await self.snapshot(name)).body for name in names}

    # --- inside --------------------------------------------------------------------------------------------------

    async def _row(self, run_id: str) -> tuple[int, RunRecord, Owner | None]:
        rows = await self._database.read(FIND_RUN, keep_text(run_id))
        if not rows:
            raise StoreError(f"{self._database.shown}: there is no run {run_id[:80]}")
        return self._shown(rows[0])

    async def _look(self, run_id: str) -> tuple[int, Owner | None]:
        number, _, owner = await self._row(run_id)
        return number, owner

    def _shown(self, row: Row) -> tuple[int, RunRecord, Owner | None]:
        """Number, run and owner; a run whose owner is gone shows as interrupted."""
        run, owner = read_run(row[1:_COLUMNS_OF_RUN]), read_owner(row[_COLUMNS_OF_RUN:])
        if run.status is RunStatus.RUNNING and (owner is None or is_gone(owner)):
            run = replace(run, status=RunStatus.INTERRUPTED)
        return row[0], run, owner

    async def _number(self, run_id: str) -> int:
        if run_id not in self._numbers:
            self._numbers[run_id] = (await self._row(run_id))[0]
        return self._numbers[run_id]

    async def _scope(self, run_id: str) -> int:
        rows = await self._database.read(SCOPE, keep_text(run_id))
        return int(rows[0][0]) if rows else -1

    @contextlib.contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Inside: a value that has no JSON form is told as a fault of the record."""
        try:
            yield
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(
                f"{self._database.shown}: {what} holds a value that has no JSON form ({type(error).__name__}); "
                "nothing of it was written"
            ) from error


def _joined(
    trials: Sequence[Row], answers: Sequence[Row], assessments: Sequence[Row], texts: Mapping[str, Json]
) -> Iterator[TrialRecord]:
    told = {_place(row): row[2:] for row in answers}
    found = {place: [row[2:] for row in rows] for place, rows in groupby(assessments, _place)}
    for row in trials:
        place = _place(row)
        yield read_trial(row, told.get(place, (None,) * 4), found.get(place, ()), texts)


def _no_run(text: str, found: str, hint: str | None = None) -> AuthoringError:
    fault = Fault(
        path="RUN", expected=f"a run {text[:80]!r}: an id, a beginning of one, or latest", found=found, hint=hint
    )
    return AuthoringError("run", [fault])
