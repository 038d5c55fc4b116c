"""Going on with a run from what the store holds of it: the suite, as it was when the run was begun.

The suite file may be gone or changed; the run's own snapshot counts. What comes from elsewhere (a rubric file, a row of
the configuration, a function's module) is looked up again, and has to be what it was: two halves of a run that rest on
different things would be no run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from jurat.errors import AuthoringError, Fault, StoreError
from jurat.jsontext import Json, canonical, thaw
from jurat.report.record import RunRecord
from jurat.store import Store
from jurat.suite.case import Place
from jurat.suite.codec import case_from_json, suite_from_json
from jurat.suite.suite import Suite
from jurat.suiterun.options import Providers, options_from_json
from jurat.suiterun.prepare import Prepared, prepare
from jurat.suiterun.snapshots import parts_of
from jurat.vocabulary import Status

__all__ = ["reopen", "stored_suite"]


async def reopen(
    store: Store,
    record: RunRecord,
    *,
    providers: Providers | None = None,
    retry_errors: bool = False,
    bounds: Mapping[str, Json] | None = None,
) -> Prepared:
    """What is left of the plan of a run that is in the store, ready to be gone on with.

    Cases that have all their trials are not read: of a large run of which little is left, little is prepared.

    Args:
        providers: the objects that the run was begun with, by name, where it was begun by a program.
        retry_errors: whether trials that came to an error are made anew.
        bounds: `concurrency`, `budget_usd` and `timeout_s`, where they take the place of those that it was begun with:
            they decide how far it comes, and no verdict.

    Raises:
        AuthoringError: when something that it rests on has changed, or cannot be found any more.
    """
    given = {name: value for name, value in (bounds or {}).items() if value is not None}
    options = options_from_json({**record.options, **given}, providers)
    # A recording is whole only with everybody in it, also those whose cases are all done.
    left = range(record.cases) if options.record is not None else await _left(store, record, retry_errors)
    suite = await stored_suite(store, record, set(left))
    # The snapshot holds the chosen cases alone, so there is nothing left to choose.
    prepared = prepare(suite, replace(options, filter=None), asks=record.parent is None, whole=False)
    cases = tuple(replace(case, case_index=index) for index, case in zip(left, prepared.cases, strict=True))
    faults = [*_changed(record, prepared), *_another_subject(record, prepared)]
    if faults:
        await prepared.aclose()
        raise AuthoringError(f"run {record.id}", faults)
    return replace(prepared, options=options, cases=cases)


async def _left(store: Store, record: RunRecord, retry_errors: bool) -> list[int]:
    """The cases that lack trials."""
    statuses = await store.runs.statuses(record.id)
    kept = (place for place, status in statuses.items() if not (retry_errors and status is Status.ERROR))
    made = Counter(case_index for case_index, _ in kept)
    return [index for index in range(record.cases) if made[index] < record.samples]


async def stored_suite(store: Store, record: RunRecord, left: Collection[int] | None = None) -> Suite:
    """The suite that a run was made of, with the cases that were chosen for it, or these of them.

    Raises:
        StoreError: when it cannot be read, or part of it is not there.
    """
    snapshot = await store.runs.snapshot(record.suite_hash)
    every = store.runs.cases(record.id)
    records = [case async for case in every if left is None or case.case_index in left]
    bodies = await store.runs.snapshots(sorted({case.case_hash for case in records}))
    if missing := [case.name for case in records if case.case_hash not in bodies]:
        raise StoreError(f"{store.shown}: run {record.id}: the snapshot of case {missing[0][:80]!r} is not there")
    alike: dict[str, Mapping[str, Json]] = {}
    cases = []
    for record_of in records:
        case = case_from_json(bodies[record_of.case_hash].body)
        # What was one assertion of the whole suite is one object again, so that it is built once.
        assertions = tuple(alike.setdefault(canonical(one), one) for one in case.assertions)
        place = Place(file=record_of.file, line=record_of.line)
        cases.append(replace(case, assertions=assertions, place=place))
    file = record.options.get("suite_file")
    return replace(suite_from_json(snapshot.body, cases), file=file if isinstance(file, str) else None)


def _changed(record: RunRecord, prepared: Prepared) -> list[Fault]:
    """What the rest of the run would rest on, and its beginning did not."""
    known = {name for kind in ("prompt", "provider", "rubric") for name in record.snapshots.get(kind, ())}
    faults = []
    for one in parts_of(prepared):
        if one.hash not in known:
            called = f" {one.body['name']}" if isinstance(one.body, Mapping) and "name" in one.body else ""
            expected = f"the {one.kind}{called} that the run was begun with"
            faults.append(Fault(path=one.kind, expected=expected, found="another one", hint=_HINT))
    return faults


_HINT = "Bring it back as it was, or begin a new run with jurat run"


def _another_subject(record: RunRecord, prepared: Prepared) -> list[Fault]:
    now = None if prepared.subject is None else thaw(dict(prepared.subject.identity))
    if canonical(now) == canonical(record.provenance.get("subject")):
        return []
    expected = "the subject that the run was begun with"
    return [Fault(path="subject", expected=expected, found="another one", hint=_HINT)]
