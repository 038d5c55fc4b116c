"""Judging a file: rows in, verdicts out, each durable as it is reached, and a summary that holds for all of them.

This is composition: the reader of rows, the engine, the store and the verdict file are joined here, and nowhere do
they know each other. Resuming repeats no paid call: rows whose verdict the file holds are passed over, and replies that
the store holds are used again, so that the file ends up as an undisturbed run would have left it. Every line
names the job that it belongs to, so that verdicts reached in different ways never stand in one file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from jurat.engine import Journal, Judged, JudgingJob
from jurat.errors import AuthoringError, Fault
from jurat.evaluation.reducers import reducer_to_json
from jurat.forecast import Forecast, Side
from jurat.jsontext import Json, canonical
from jurat.judge import Judge
from jurat.judge.foresee import foreseen
from jurat.metrics import Tally
from jurat.provider.protocol import Usage
from jurat.report import VerdictFile, verdict_map
from jurat.suite import Columns, Item, Row, read_rows
from jurat.vocabulary import Cache, content_id, nearest

__all__ = ["FileJob", "Watcher"]

_LOOK_AHEAD = 100
"""How many rows are looked at before a mapped column counts as missing from all."""

Watcher = Callable[[Judged, Mapping[str, Json]], None]
"""Is told every fresh verdict, in order, with its result map."""


def _unsaid(_: str) -> None:
    """Where nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileJob:
    """One file to judge.

    Attributes:
        stream: the open input; `kind` says what it holds, `name` how messages call it.
        columns: which column is which field.
        concurrency: how many calls may be in flight, from 1.
        limit: how many rows at most, from the first; None for all.
        cache: whether replies from earlier runs are used.
        resume: whether what the verdict file and the journal hold of this very job is kept and used.
        budget_usd: no call is begun once so much is known to be spent, by earlier rounds too; None for no bound.
    """

    stream: IO[bytes]
    kind: str
    name: str
    columns: Columns
    judge: Judge
    concurrency: int
    limit: int | None = None
    cache: Cache = Cache.OFF
    resume: bool = False
    budget_usd: float | None = None

    async def run(
        self,
        journal: Journal,
        out: VerdictFile | None,
        tally: Tally,
        watch: Watcher,
        notice: Callable[[str], None] = _unsaid,
    ) -> None:
        """Judge every row that the verdict file does not hold yet. `notice` is told when no more calls are made.

        Args:
            journal: keeps the replies.
            out: where verdicts go; None keeps them nowhere but in the tally.
            tally: counts every verdict, those already in the file included.
            watch: is told every fresh verdict.

        Raises:
            AuthoringError: when the input as a whole is wrong, or the file was made from other rows or by another
                judge.
            StoreError: when the record cannot be kept.
        """
        items = self._items()
        fingerprint = self.fingerprint
        if out is not None and self.resume:
            self._pass_over(items, out, tally, fingerprint)
        elif out is not None:
            out.clear()

        def deliver(judged: Sequence[Judged]) -> None:
            results = [_line(one, fingerprint) for one in judged]
            if out is not None:
                out.append(results)
            for one, result in zip(judged, results, strict=True):
                tally.add(result)
                watch(one, result)

        job = JudgingJob(
            self.judge,
            items,
            _OfAnyJob(journal) if self.cache is Cache.READ else journal,
            deliver,
            concurrency=self.concurrency,
            recall=self.resume or self.cache is Cache.READ,
            cached=self.cache is Cache.READ,
            budget_usd=self.budget_usd,
            spent_usd=tally.known_cost_usd,
            notice=notice,
        )
        await job.run()

    def foresee(self, known: Sequence[Usage] = ()) -> Forecast:
        """What judging the whole file would ask for. Nothing is asked.

        Args:
            known: usages of calls that this judge made before.
        """
        settings, rows = self.judge.provider.settings, 0
        side = Side(settings=settings, name=settings.name, purpose="judge", known=list(known))
        for item in self._items():
            rows += 1
            if item.context is not None:
                for tokens, limit in foreseen(self.judge, item.context, item.grounding):
                    side.add(tokens, limit)
        return Forecast.of(self.name, rows, [side])

    @property
    def fingerprint(self) -> str:
        """Names everything beside the rows that a verdict line depends on, and nothing that it does not."""
        judge, settings = self.judge, self.judge.settings
        parts = {
            "judge": judge.facts.identity,
            "rubric": judge.rubric.reference,
            "provider": judge.facts.provider,
            "threshold": judge.threshold,
            "evidence": settings.evidence,
            "samples": settings.samples,
            "reducer": reducer_to_json(settings.reducer),
            "expected": settings.expected,
            "grounding": settings.grounding,
            "fields": dict(self.columns.fields),
            "kept": list(self.columns.kept),
        }
        return content_id(canonical(parts).encode())

    def _items(self) -> Iterator[Item]:
        wanted = {*self.columns.fields.values(), *self.columns.kept}
        rows = read_rows(self.stream, self.kind, self.name, wanted)
        first = list(itertools.islice(rows, _LOOK_AHEAD))
        _refuse_missing_columns(first, self.columns)
        every = itertools.chain(first, rows)
        return map(self.columns.item, itertools.islice(every, self.limit))

    def _pass_over(self, items: Iterator[Item], out: VerdictFile, tally: Tally, fingerprint: str) -> None:
        """Count what the file holds, and move on to the first row that it does not."""
        for line in out.lines(self.judge.score_range):
            item = next(items, None)
            if item is None or line["row"] != item.row.number or line["row_sha256"] != item.row.digest:
                found = "fewer rows" if item is None else f"another row {item.row.number}"
                raise _not_this_job(out, f"the verdict of row {line['row']} of this input", found)
            if line["metadata"].get("judge") != self.judge.facts.identity:
                raise _not_this_job(out, "verdicts of this judge", f"one of another judge at row {line['row']}")
            if line["job"] != fingerprint:
                raise _not_this_job(out, "verdicts with these options", f"one with others at row {line['row']}")
            tally.add(line)


class _OfAnyJob:
    """A journal that finds again what any job asked for."""

    def __init__(self, journal: Journal) -> None:
        self.recall = self.recall_any = journal.recall_any
        self.commit, self.withhold = journal.commit, journal.withhold


def _line(judged: Judged, fingerprint: str) -> dict[str, Json]:
    item = judged.item
    made: dict[str, Json] = {
        "row": item.row.number,
        "id": item.id,
        "row_sha256": item.row.digest,
        "job": fingerprint,
    }
    if item.kept:
        made["kept"] = dict(item.kept)
    made.update(verdict_map(judged.verdict))
    return made


def _not_this_job(out: VerdictFile, expected: str, found: str) -> AuthoringError:
    hint = "Give the same input and options as before, choose another file with --out, or start anew with --overwrite"
    return AuthoringError(
        "verdict file", [Fault(path="", file=str(out.path), expected=expected, found=found, hint=hint)]
    )


def _refuse_missing_columns(rows: Sequence[Row], columns: Columns) -> None:
    """A column that none of the first rows has is the author's slip, not a hundred faulty rows."""
    if not rows:
        raise AuthoringError("input", [Fault(path="", file=columns.name, expected="at least one row", found="none")])
    seen = {column for row in rows if row.values is not None for column in (row.columns or row.values)}
    if not seen:
        return
    faults = [
        Fault(
            path="--map",
            file=columns.name,
            expected=f"a column {column!r} for {field}",
            found="no such column in the first rows, which have " + ", ".join(sorted(seen)),
            hint=_meant(column, seen),
        )
        for field, column in columns.fields.items()
        if column not in seen and (field == "output" or column != field)
    ]
    faults += [
        Fault(
            path="--keep", file=columns.name, expected=f"a column {column!r}", found="none", hint=_meant(column, seen)
        )
        for column in columns.kept
        if column not in seen
    ]
    if faults:
        raise AuthoringError("input", faults)


def _meant(column: str, seen: set[str]) -> str | None:
    near = nearest(column, sorted(seen))
    return f"Did you mean {near}?" if near else None
