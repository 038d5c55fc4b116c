"""Two runs side by side: each out of the store or out of a JSON report, joined case by case by their names.

Both are read once, in lockstep. A case waits in memory only as long as the other run has not come to it, so that two
runs of one suite are compared in constant space. A report is held against its own rows before it is believed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from jurat.errors import AuthoringError, Fault
from jurat.evaluation import Reducer, reduce_statuses, reducer_from_json
from jurat.jsontext import Json
from jurat.metrics import check_report
from jurat.metrics.comparison import CaseComparison, compare_case
from jurat.metrics.comparison_parts import Appearance
from jurat.metrics.comparison_tally import ComparisonTally
from jurat.regularfiles import open_regular
from jurat.report.comparison_report import COMPARISON_VERSION
from jurat.report.content import Content, content_of
from jurat.report.record import CaseRecord, RunRecord, RunStatus, TrialRecord
from jurat.report.run_json import case_from_json, trial_from_json
from jurat.report.run_reader import ReportReader
from jurat.store import Store
from jurat.suiterun.bycase import by_case

__all__ = ["Side", "Teller", "cases_of_both", "compare_sides", "compared", "find_side", "is_report"]

_AT_ONCE = 256
_Pair = tuple[Appearance | None, Appearance | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two runs: its record, and where its cases are read from (`report`, else the store)."""

    record: RunRecord
    store: Store | None = None
    report: Path | None = None

    def to_json(self) -> dict[str, Json]:
        """As a comparison tells it."""
        run = self.record
        return {
            "id": run.id,
            "suite": run.suite,
            "suite_hash": run.suite_hash,
            "created_at": run.created_at,
            "samples": run.samples,
            "reducer": run.reducer,
            "cases": run.cases,
            "gate": None if run.gate is None else run.gate["outcome"],
            "source": "store" if self.report is None else "report",
        }

    async def cases(self) -> AsyncIterator[Appearance]:
        """Every case, in the plan's order.

        Raises:
            AuthoringError: when a report cannot be read on.
        """
        run = self.record
        reducer = reducer_from_json(run.reducer, "reducer", [])
        if reducer is None:
            raise ValueError(f"run {run.id}: the reducer is none that is known")
        if self.report is not None:
            for case, trials in _of_report(self.report):
                yield _appearance(run, case, trials, reducer)
        elif self.store is not None:
            async for case, trials in by_case(self.store, run):
                yield _appearance(run, case, trials, reducer)


def _appearance(run: RunRecord, case: CaseRecord, trials: Sequence[TrialRecord], reducer: Reducer) -> Appearance:
    status = reduce_statuses([trial.status for trial in trials], reducer)
    return Appearance(case=case, trials=trials, status=status, planned=run.samples, content=case.content)


def _of_report(path: Path) -> Iterator[tuple[CaseRecord, list[TrialRecord]]]:
    with open_regular(path) as stream:
        for told in ReportReader(stream, str(path)).cases():
            case = case_from_json(told)
            yield case, [trial_from_json(trial, case.case_index) for trial in told["trials"]]


# --- finding them --------------------------------------------------------------------------------------------------


def is_report(text: str) -> bool:
    """Whether a report is meant and no run of the store: a file that is there, or a name that ends in `.json`."""
    return text.endswith(".json") or Path(text).is_file()


async def find_side(text: str, word: str, store: Store | None) -> Side:
    """The run that a person means.

    Args:
        text: a run as `RunStore.find` takes it, or the file of a JSON report.
        word: what it is called in messages: BASE or CANDIDATE.
        store: of the runs; needed for them alone.

    Raises:
        AuthoringError: when there is none, it is not completed, or the report is none or contradicts itself.
    """
    if is_report(text):
        side = Side(record=_read_report(Path(text), word), report=Path(text))
    elif store is None:
        raise ValueError("a store is needed to find a run")
    else:
        side = Side(record=await store.runs.find(text), store=store)
    run = side.record
    if run.status is not RunStatus.COMPLETED or not run.cases:
        found = "one of no case" if run.status is RunStatus.COMPLETED else f"{run.id}, which is {run.status.value}"
        hint = None if run.status is RunStatus.COMPLETED else f"Complete it first: jurat resume {run.id}"
        raise _refused(word, "a completed run", found, hint)
    return side


def _read_report(path: Path, word: str) -> RunRecord:
    try:
        with open_regular(path) as stream:
            return check_report(stream, str(path)).run
    except OSError as error:
        raise _refused(word, "a run, or a file with a JSON report", error.strerror or "no such file") from None


def _refused(word: str, expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("jurat compare", [Fault(path=word, expected=expected, found=found, hint=hint)])


# --- joining them --------------------------------------------------------------------------------------------------


async def compare_sides(base: Side, candidate: Side, store: Store | None) -> AsyncIterator[CaseComparison]:
    """As `cases_of_both`, of runs that are meant to be compared.

    Raises:
        AuthoringError: when the runs have no case in common.
        StoreError: when the store cannot be read.
    """
    common = 0
    async for found in cases_of_both(base, candidate, store):
        common += None not in (found.base, found.candidate)
        yield found
    if not common:
        missing = f"none of the {base.record.cases:,} cases of run {base.record.id}"
        hint = "Cases are the same by their names. Are these runs of one suite?"
        raise _refused("CANDIDATE", "a run with cases of the base", missing, hint)


class Teller(Protocol):
    """Is told of every case, as a comparison tells it."""

    def case(self, case: dict[str, Json], /) -> None: ...


async def compared(base: Side, candidate: Side, store: Store | None, *tellers: Teller) -> dict[str, Json]:
    """Compare two runs: every case is told as it is found, and what they come to is given, with everything but the
    cases.

    Raises:
        AuthoringError: when the runs have no case in common.
        StoreError: when the store cannot be read.
    """
    tally = ComparisonTally(base.record, candidate.record)
    async for found in compare_sides(base, candidate, store):
        tally.add(found)
        told = found.to_json()
        for teller in tellers:
            teller.case(told)
    return {
        "jurat_comparison": COMPARISON_VERSION,
        "base": base.to_json(),
        "candidate": candidate.to_json(),
        "regression": tally.regression.value,
        "significant_regression": tally.significant_regression.value,
        "summary": tally.summary(),
    }


async def cases_of_both(base: Side, candidate: Side, store: Store | None) -> AsyncIterator[CaseComparison]:
    """Every case of either run: first those of both, as the runs come to them, then removed and added ones.

    Args:
        store: in which, beside the runs' own, the contents of cases are looked up that are not the same to the letter.

    Raises:
        StoreError: when the store cannot be read.
    """
    pairs: list[_Pair] = []
    stores = list({id(one): one for one in (base.store, candidate.store, store) if one is not None}.values())
    async for pair in _joined(base, candidate):
        pairs.append(pair)
        if len(pairs) >= _AT_ONCE:
            for found in await _compared(pairs, stores):
                yield found
            pairs = []
    for found in await _compared(pairs, stores):
        yield found


async def _joined(base: Side, candidate: Side) -> AsyncIterator[_Pair]:
    streams = [base.cases(), candidate.cases()]
    waiting: list[dict[str, Appearance]] = [{}, {}]
    open_ones = {0, 1}
    while open_ones:
        for own in sorted(open_ones):
            seen = await anext(streams[own], None)
            if seen is None:
                open_ones.discard(own)
                continue
            other = waiting[1 - own].pop(seen.case.name, None)
            if other is None:
                waiting[own][seen.case.name] = seen
            else:
                yield (seen, other) if own == 0 else (other, seen)
    for seen in waiting[0].values():
        yield seen, None
    for seen in waiting[1].values():
        yield None, seen


async def _compared(pairs: Sequence[_Pair], stores: Sequence[Store]) -> list[CaseComparison]:
    unlike = {
        seen.case.case_hash
        for old, new in pairs
        if old is not None and new is not None and old.case.case_hash != new.case.case_hash
        for seen in (old, new)
        if seen.content is None
    }
    contents: dict[str, Content] = {}
    for store in stores if unlike else ():
        found = await store.runs.snapshots(sorted(unlike - contents.keys()))
        contents.update({name: content_of(one.body) for name, one in found.items()})

    def whole(seen: Appearance | None) -> Appearance | None:
        return None if seen is None else replace(seen, content=seen.content or contents.get(seen.case.case_hash))

    return [compare_case(whole(old), whole(new)) for old, new in pairs]
