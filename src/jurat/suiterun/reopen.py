"""Going on with a run from what the store holds of it: the suite, as it was when the run was begun.

The suite file may be gone or changed; the run's own snapshot counts. What comes from elsewhere (a rubric file, a row of
the configuration, a function's module) is looked up again, and has to be what it was: two halves of a run that rest on
different things would be no run.
"""

from __future__ import annotations

from collections.abc import Mapping
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

__all__ = ["reopen", "suite_of"]


async def reopen(store: Store, record: RunRecord, *, providers: Providers | None = None) -> Prepared:
    """The plan of a run that is in the store, ready to be gone on with.

    Args:
        providers: the objects that the run was begun with, by name, where it was begun by a program.

    Raises:
        AuthoringError: when something that it rests on has changed, or cannot be found any more.
    """
    options = options_from_json(record.options, providers)
    # The snapshot holds the chosen cases alone, so there is nothing left to choose.
    prepared = prepare(await suite_of(store, record), replace(options, filter=None), asks=record.parent is None)
    faults = [*await _changed(store, record, prepared), *_another_subject(record, prepared)]
    if faults:
        await prepared.aclose()
        raise AuthoringError(f"run {record.id}", faults)
    return replace(prepared, options=options)


async def suite_of(store: Store, record: RunRecord) -> Suite:
    """The suite that a run was made of, with the cases that were chosen for it."""
    snapshot = await store.runs.snapshot(record.suite_hash)
    records = [case async for case in store.runs.cases(record.id)]
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


async def _changed(store: Store, record: RunRecord, prepared: Prepared) -> list[Fault]:
    found = {one.hash for one in parts_of(prepared)}
    faults = []
    for kind in ("prompt", "provider", "rubric"):
        for name in record.snapshots.get(kind, ()):
            if name not in found:
                body = (await store.runs.snapshot(name)).body
                called = f" {body['name']}" if isinstance(body, Mapping) and "name" in body else ""
                expected = f"the {kind}{called} that the run was begun with"
                faults.append(Fault(path=kind, expected=expected, found="another one", hint=_HINT))
    return faults


_HINT = "Bring it back as it was, or begin a new run with jurat run"


def _another_subject(record: RunRecord, prepared: Prepared) -> list[Fault]:
    now = None if prepared.subject is None else thaw(dict(prepared.subject.identity))
    if canonical(now) == canonical(record.provenance.get("subject")):
        return []
    expected = "the subject that the run was begun with"
    return [Fault(path="subject", expected=expected, found="another one", hint=_HINT)]
