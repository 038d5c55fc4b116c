"""The record proves itself: every hash, count and word of the runs is derived anew, and told where it differs.

Looked at are, a page at a time: snapshots against their hashes; each run's cases and trials against its plan; each
assessment's columns against its result map; each trial's rows against its seal, and its status against its assessments;
each case's outcome against its trials. The rule by which assessments become a trial's status is the engine's, and is
handed in.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

from jurat.errors import Fault, StoreError
from jurat.evaluation.reducers import reduce_statuses, reducer_from_json
from jurat.report.record import AssessmentRecord, RunRecord, RunStatus
from jurat.store.database import Database
from jurat.store.responses import StoreFault
from jurat.store.rows import Row
from jurat.store.run_rows import error_category, read_assessment
from jurat.store.run_statements import ANSWERS_OF, ASSESSMENTS_OF, SEALS_OF, TRIALS_OF
from jurat.store.runs import RunStore
from jurat.store.seals import seal_of
from jurat.store.shared import names_in
from jurat.store.texts import read_json, read_text
from jurat.store.verify_statements import (
    BEYOND,
    BEYOND_WITHHELD,
    CASE_BODIES,
    CASES_PAGE,
    KNOWN,
    LOOSE,
    RUNS_PAGE,
    SNAPSHOTS_PAGE,
    STATUSES_PAGE,
)
from jurat.vocabulary import Status

__all__ = ["TrialRule", "verify_runs"]

TrialRule = Callable[[Sequence[AssessmentRecord], float | None], Status]
"""Gives the status of a trial whose subject answered, from its assessments and its case's pass threshold."""

_PAGE = 256
_LAST = 2**31 - 1
_NO_ANSWER = (None,) * 4
_place = itemgetter(0, 1)


async def verify_runs(database: Database, runs: RunStore, rule: TrialRule | None) -> AsyncIterator[StoreFault]:
    """What is wrong with runs and snapshots; nothing when all is well. Without a rule, statuses are taken as they are.

    Raises:
        StoreError: when the database cannot be read, or a newer jurat wrote it.
    """
    async for fault in _snapshots(database):
        yield fault
    for told, statement in LOOSE:
        for number, *place in await database.read(statement):
            yield _fault("", f"{told} (run number {number})", *place)
    async for fault in _amounts(database):
        yield fault
    last = -1
    while rows := await database.read(RUNS_PAGE, last, _PAGE):
        for number, name in rows:
            try:
                async for fault in _run(database, number, await runs.get(read_text(name)), rule):
                    yield fault
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                yield _fault(read_text(name), f"holds what was never written by jurat ({type(error).__name__})")
        last = rows[-1][0]


def _fault(run: str, told: str, *place: int) -> StoreFault:
    """A fault with its place, as a sentence."""
    words = [f"{word} {number}" for word, number in zip(("case", "trial", "assessment"), place, strict=False)]
    where = ", ".join([f"run {run}", *words] if run else words)
    return StoreFault(key=run or None, message=f"{where}: {told}")


async def _amounts(database: Database) -> AsyncIterator[StoreFault]:
    told = "expected amounts from 0 on (tokens, cost, duration, attempts), found another"
    for statement in BEYOND:
        for name, *place in await database.read(statement):
            yield _fault(read_text(name), told, *place)
    for (key,) in await database.read(BEYOND_WITHHELD):
        yield StoreFault(key=key, message=told)


async def _snapshots(database: Database) -> AsyncIterator[StoreFault]:
    last = ""
    while rows := await database.read(SNAPSHOTS_PAGE, last, _PAGE):
        for name, kind, body in rows:
            if f"sha256:{sha256(body.encode()).hexdigest()}" != name:
                yield StoreFault(key=name, message=f"snapshot {name} ({kind}): its content is not what its hash names")
        last = rows[-1][0]


async def _run(database: Database, number: int, run: RunRecord, rule: TrialRule | None) -> AsyncIterator[StoreFault]:
    rests_on = [run.suite_hash, *(name for names in run.snapshots.values() for name in names)]
    for name in await _missing(database, rests_on):
        yield _fault(run.id, f"the snapshot {name} that it rests on is not there")
    async for fault in _cases(database, number, run):
        yield fault
    after = (-1, _LAST)
    while trials := await database.read(TRIALS_OF, number, *after, _LAST, _LAST, _PAGE):
        async for fault in _trials(database, number, run.id, (after, trials), rule):
            yield fault
        after = _place(trials[-1])


async def _missing(database: Database, names: Sequence[str]) -> list[str]:
    """Those snapshots of the named that are not there."""
    found: set[str] = set()
    for start in range(0, len(names), _PAGE):
        found.update(name for (name,) in await database.read(KNOWN, json.dumps(names[start : start + _PAGE])))
    return [name for name in dict.fromkeys(names) if name not in found]


# --- cases -----------------------------------------------------------------------------------------------------------


async def _cases(database: Database, number: int, run: RunRecord) -> AsyncIterator[StoreFault]:
    """Whether the plan's cases and trials are there, and each case's outcome is that of its trials."""
    cases, trials, after = 0, 0, -1
    while rows := await database.read(CASES_PAGE, number, after, _PAGE):
        found = await database.read(STATUSES_PAGE, number, after, rows[-1][0])
        missing = set(await _missing(database, [row[2] for row in rows]))
        of_case: dict[int, list[Row]] = {}
        for trial in found:
            of_case.setdefault(trial[0], []).append(trial)
        for index, status, name in rows:
            if name in missing:
                yield _fault(run.id, f"its snapshot {name} is not there", index)
            for told in _case(run, status, of_case.get(index, [])):
                yield _fault(run.id, told, index)
        cases, trials, after = cases + len(rows), trials + len(found), rows[-1][0]
    if cases != run.cases or after != run.cases - 1:
        yield _fault(run.id, f"expected {run.cases} cases, found {cases}, the last of number {after}")
    if run.status is RunStatus.COMPLETED and trials != run.cases * run.samples:
        yield _fault(run.id, f"expected {run.cases * run.samples} trials in a completed run, found {trials}")


def _case(run: RunRecord, status: str | None, trials: Sequence[Row]) -> Iterator[str]:
    if any(trial[1] >= run.samples for trial in trials):
        yield f"expected trials below number {run.samples}, found one beyond"
    if run.status is not RunStatus.COMPLETED:
        return
    faults: list[Fault] = []
    reducer = reducer_from_json(run.reducer, "reducer", faults)
    if status is None:
        yield "expected an outcome in a completed run, found none"
    elif reducer is not None and trials:
        wanted = reduce_statuses([Status(trial[2]) for trial in trials], reducer)
        if status != wanted:
            yield f"expected the outcome {wanted} by its trials, found {status}"


# --- trials and assessments ------------------------------------------------------------------------------------------


async def _trials(
    database: Database,
    number: int,
    run: str,
    page: tuple[tuple[int, int], Sequence[Row]],
    rule: TrialRule | None,
) -> AsyncIterator[StoreFault]:
    after, trials = page
    first, until = trials[0][0], _place(trials[-1])
    assessments = await database.read(ASSESSMENTS_OF, number, *after, *until)
    for name in await _missing(database, sorted(names_in(row[-1] for row in assessments))):
        yield _fault(run, f"the text {name} that a result names is not there")
    thresholds = {index: _threshold(body) for index, body in await database.read(CASE_BODIES, number, first, until[0])}
    answers = {_place(row): row[2:] for row in await database.read(ANSWERS_OF, number, *after, *until)}
    seals = {_place(row): row[2] for row in await database.read(SEALS_OF, number, *after, *until)}
    of_trial = {place: [row[2:] for row in rows] for place, rows in groupby(assessments, _place)}
    for trial in trials:
        place = _place(trial)
        own = of_trial.get(place, [])
        found = [(told, (*place, position)) for position, row in enumerate(own) for told in _columns(row)]
        derived = _trial(trial, own, thresholds.get(place[0]), rule if place[0] in thresholds else None)
        found += [(told, place) for told in derived]
        sealed = (None, seal_of(run, trial, answers.get(place, _NO_ANSWER), own))
        if not found and seals.get(place) not in sealed:  # where more is known, this would say nothing new
            found = [("what is stored of it is not what its seal was made of", place)]
        for told, where in found:
            yield _fault(run, told, *where)


def _trial(trial: Row, assessments: Sequence[Row], threshold: float | None, rule: TrialRule | None) -> Iterator[str]:
    """Whether a trial has its assessments, and the status that they come to."""
    status, wanted, category = trial[2], trial[3], trial[5]
    if len(assessments) != wanted:
        yield f"expected {wanted} assessments, found {len(assessments)}"
    elif category is not None:
        if status != Status.ERROR:
            yield f"expected the status error, since the subject gave no answer, found {status}"
    elif rule is not None and (derived := _derived(assessments, threshold, rule)) not in (None, status):
        yield f"expected the status {derived} by its assessments, found {status}"


def _derived(assessments: Sequence[Row], threshold: float | None, rule: TrialRule) -> Status | None:
    try:
        return rule([read_assessment(row, _Whatever()) for row in assessments], threshold)
    except (StoreError, ValueError, TypeError, KeyError, AttributeError):
        return None  # the assessments themselves are told to be wrong


class _Whatever(dict[str, None]):
    """Stands for the texts that results share: no status depends on them."""

    def __missing__(self, key: str) -> None:
        return None

    def __contains__(self, key: object) -> bool:
        return True


def _threshold(body: str) -> float | None:
    """A case's pass threshold by its snapshot."""
    if '"pass_threshold"' not in body:
        return None
    found = read_json(body)
    value = found.get("pass_threshold") if isinstance(found, dict) else None
    return value if isinstance(value, int | float) else None


def _columns(row: Row) -> Iterator[str]:
    """Whether the columns of an assessment say what its result map says."""
    _, kind, status, score, _, _, category, *_, stored = row
    try:
        result = read_json(stored)
    except ValueError:
        result = None
    if not isinstance(result, Mapping):
        yield "expected a result map, found something else"
        return
    told = {"type": read_text(kind), "status": status, "score": score}
    for name, value in told.items():
        if result.get(name) != value:
            yield f"the column {name} differs from the result's"
    if Status(status).decided != (score is not None):
        yield "expected a score exactly with pass or fail"
    if error_category(result) != category:
        yield "the column error_category differs from the result's"
