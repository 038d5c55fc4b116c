"""The front door to comparisons: two runs, wherever they are, held against each other."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jurat._api import Run, run_here
from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, type_name
from jurat.metrics.comparison_result import Comparison
from jurat.suiterun.comparing import Side, compared, find_side, is_report
from jurat.workbench import Workbench

if TYPE_CHECKING:
    from jurat.store import Store

__all__ = ["acompare_runs", "compare_runs"]


def compare_runs(
    base: Run | str | Path, candidate: Run | str | Path = "latest", *, store: str | Path | None = None
) -> Comparison:
    """Hold a run against an earlier one, case by case, as `jurat compare` does. Works where an event loop runs, too.

    Args:
        base: what is compared with: a run, its id or a beginning of it, `latest`, or the file of a JSON report.
        candidate: what is compared.
        store: where runs are kept that are given by id; by default as for `run_suite`.

    Raises:
        AuthoringError: when a run is not there or not completed, a report contradicts itself, or the runs have no case
            in common.
        StoreError: when a store cannot be read.
    """
    return run_here(acompare_runs(base, candidate, store=store))


async def acompare_runs(
    base: Run | str | Path, candidate: Run | str | Path = "latest", *, store: str | Path | None = None
) -> Comparison:
    """As `compare_runs`, in the running event loop."""
    given = {"base": base, "candidate": candidate}
    faults = [
        Fault(path=name, expected="a run, its id, or the file of a report", found=type_name(value))
        for name, value in given.items()
        if not isinstance(value, Run | str | Path)
    ]
    if faults:
        raise AuthoringError("compare_runs", faults)
    async with contextlib.AsyncExitStack() as stack:
        stores = _Stores(stack, store)
        sides = [await _side(value, name.upper(), stores) for name, value in given.items()]
        teller = _Gathered()
        head = await compared(sides[0], sides[1], sides[1].store or sides[0].store, teller)
    return Comparison(document={**head, "cases": teller.cases})


class _Gathered:
    def __init__(self) -> None:
        self.cases: list[Mapping[str, Any]] = []

    def case(self, case: dict[str, Json], /) -> None:
        self.cases.append(case)


class _Stores:
    """The stores that the runs are in, each opened once."""

    def __init__(self, stack: contextlib.AsyncExitStack, address: str | Path | None) -> None:
        self._stack, self._address = stack, None if address is None else str(address)
        self._bench = Workbench()
        self._opened: dict[str, Store] = {}

    async def at(self, place: str | None = None) -> Store:
        address = str(self._bench.store_place(place or self._address))
        if address not in self._opened:
            opened = await self._bench.open_store(address, must_exist=True, reads=True)
            self._stack.push_async_callback(opened.aclose)
            self._opened[address] = opened
        return self._opened[address]


async def _side(value: Run | str | Path, word: str, stores: _Stores) -> Side:
    if isinstance(value, Run):
        return await find_side(value.record.id, word, await stores.at(value.place))
    if isinstance(value, Path) or is_report(value):
        return await find_side(str(value), word, None)
    return await find_side(value, word, await stores.at())
