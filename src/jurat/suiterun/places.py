"""Where the assertions of a run's cases were written, kept with the run: reports point at the very line.

It is a snapshot of its own, since nothing that a run rests on holds lines: the same suite laid out anew is the same
suite. What stands in the suite for all cases is told once, and what was read from tables has no lines of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jurat.jsontext import Json, canonical
from jurat.report.record import CaseRecord, RunRecord, Snapshot
from jurat.store import Store
from jurat.suite.case import Place
from jurat.suite.loaded import LoadedSuite
from jurat.suiterun.prepare import Prepared
from jurat.vocabulary import content_id

__all__ = ["PLACES", "Places", "places_of", "read_places"]

PLACES = "places"
"""The kind of the snapshot."""


class Places:
    """Where assertions were written, by case. Nothing is known where a run has kept nothing."""

    def __init__(self, body: Mapping[str, Any] | None) -> None:
        told: Mapping[str, Any] = body or {}
        self._files: Sequence[str] = told.get("files", ())
        self._shared = self._read(told.get("shared", ()))
        self._own: Mapping[str, Sequence[Sequence[int]]] = told.get("own", {})

    def of(self, case: CaseRecord) -> tuple[Place, ...]:
        """Where the assertions of a case were written, in their order, as far as that is known."""
        return (*self._shared, *self._read(self._own.get(str(case.case_index), ())))

    def _read(self, pairs: Sequence[Sequence[int]]) -> tuple[Place, ...]:
        return tuple(Place(file=self._files[file], line=line) for file, line in pairs)


def places_of(prepared: Prepared) -> Snapshot | None:
    """The places of the assertions of the cases that are run; None of a suite that was written in no file."""
    loaded = prepared.loaded
    if loaded is None:
        return None
    body = _Writer(loaded).body(prepared)
    return Snapshot(hash=content_id(canonical(body).encode()), kind=PLACES, body=body)


class _Writer:
    """Gathers the places; every file is named once."""

    def __init__(self, loaded: LoadedSuite) -> None:
        self._loaded = loaded
        self._shared = len(loaded.origins["assertions"])
        self._written = len(loaded.origins["cases"])
        self._files: dict[str, int] = {}

    def body(self, prepared: Prepared) -> dict[str, Json]:
        shared = [self._pair(f"assertions[{number}]") for number in range(self._shared)]
        own: dict[str, Json] = {}
        numbers = {id(case): index for index, case in enumerate(prepared.suite.cases)}
        for planned in prepared.cases:
            index, count = numbers[id(planned.case)], len(planned.case.assertions)
            if index < self._written and count > self._shared:
                path = f"cases[{index}].assertions"
                own[str(planned.case_index)] = [self._pair(f"{path}[{place}]") for place in range(self._shared, count)]
        return {"files": [*self._files], "shared": shared, "own": own}

    def _pair(self, path: str) -> list[Json]:
        place = self._loaded.locate(path)
        return [self._files.setdefault(place.file or "", len(self._files)), place.line]


async def read_places(store: Store, run: RunRecord) -> Places:
    """The places that a run has kept.

    Raises:
        StoreError: when the store does not have what the run's record names.
    """
    names = run.snapshots.get(PLACES, ())
    return Places((await store.runs.snapshot(names[0])).body if names else None)
