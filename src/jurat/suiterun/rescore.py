"""Judging the answers of an earlier run anew, by other assertions. No subject is asked; the old run stays as it is.

A case is the same one when it has the same name and asks the same; a case that asks something else was not answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, canonical
from jurat.report.record import RunRecord, RunStatus
from jurat.store import Store
from jurat.suite.case import Case
from jurat.suite.codec import case_to_json, prompt_hash
from jurat.suite.loaded import LoadedSuite
from jurat.suite.suite import Suite
from jurat.suiterun.lifecycle import begin
from jurat.suiterun.options import RunOptions
from jurat.suiterun.prepare import Prepared, chosen_prompt, prepare
from jurat.vocabulary import nearest

__all__ = ["begin_rescore"]

_ASKED = ("variables", "messages", "output", "pictures")
"""What of a case decides what its subject is asked, or what it is said to have answered."""


async def begin_rescore(
    store: Store, parent: RunRecord, loaded: LoadedSuite, options: RunOptions
) -> tuple[Prepared, RunRecord]:
    """A new run in the store that judges the answers of another one.

    Args:
        parent: whose answers are judged.
        loaded: the suite that says how.

    Raises:
        AuthoringError: when the run is not complete, or the suite asks something else than it did.
    """
    if parent.status is not RunStatus.COMPLETED:
        hint = f"Complete it first: jurat resume {parent.id}"
        fault = Fault(path="RUN", expected="a completed run", found=f"one that is {parent.status.value}", hint=hint)
        raise AuthoringError("rescore", [fault])
    prepared = prepare(loaded, replace(options, samples=parent.samples), asks=False)
    try:
        faults = await _differences(store, parent, prepared)
        if faults:
            raise AuthoringError("rescore", loaded.placed(faults))
        return prepared, await begin(prepared, store, parent=parent.id)
    except BaseException:
        await prepared.aclose()
        raise


async def _differences(store: Store, parent: RunRecord, prepared: Prepared) -> list[Fault]:
    """What keeps answers of the earlier run from being answers to this suite."""
    faults = _another_prompt(parent, prepared.suite)
    known = {case.name: case async for case in store.runs.cases(parent.id)}
    wanted = {known[planned.case.name].case_hash for planned in prepared.cases if planned.case.name in known}
    bodies = await store.runs.snapshots(sorted(wanted))
    numbers = {case.name: index for index, case in enumerate(prepared.suite.cases)}
    for planned in prepared.cases:
        path = f"cases[{numbers[planned.case.name]}]"
        before = known.get(planned.case.name)
        if before is None:
            near = nearest(planned.case.name, list(known))
            hint = f"Did you mean {near}? " if near else ""
            hint += "Leave the others out with --filter"
            expected = f"a case of run {parent.id}"
            faults.append(Fault(path=f"{path}.name", expected=expected, found=repr(planned.case.name[:80]), hint=hint))
        elif _asks_something_else(bodies[before.case_hash].body, planned.case):
            expected = f"what case {planned.case.name!r} asked in run {parent.id}"
            hint = "Its answers are answers to the old question; run the suite anew"
            faults.append(Fault(path=path, expected=expected, found="something else", hint=hint))
    return faults


def _another_prompt(parent: RunRecord, suite: Suite) -> list[Fault]:
    prompt = chosen_prompt(suite)
    wanted = parent.snapshots.get("prompt", ())
    if prompt is None or not wanted or prompt_hash(prompt) in wanted:
        return []
    hint = "Its answers are answers to the old prompt; run the suite anew"
    return [Fault(path="prompt", expected=f"the prompt of run {parent.id}", found="another one", hint=hint)]


def _asks_something_else(before: Mapping[str, Json], case: Case) -> bool:
    now = case_to_json(case)
    if _attached(before) != _attached(now):
        return True
    return any(canonical(before.get(name)) != canonical(now.get(name)) for name in _ASKED)


def _attached(case: Mapping[str, Json]) -> list[Json]:
    """The documents that a model was shown as they are, by their hashes."""
    return [document.get("sha256") for document in case.get("documents", ()) if document.get("attach")]
