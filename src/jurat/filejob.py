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
from typing import IO, Any

from jurat.engine import Journal, Judged, JudgingJob
from jurat.errors import AuthoringError, Fault
from jurat.evaluation.reducers import reducer_to_json
from jurat.forecast import Forecast, Side
from jurat.jsontext import Json, JsonSyntaxError, canonical, parse_strict
from jurat.judge import Judge
from jurat.judge.evidencegap import evidence_gap
from jurat.judge.foresee import foreseen
from jurat.metrics import Tally
from jurat.provider.protocol import Usage
from jurat.report import VerdictFile, verdict_map
from jurat.report.verdict_line import what_is_wrong
from jurat.report.verdict_tail import Tail, was_asked
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
        resume: whether what the verdict file and the journal hold of this very job is kept and used. Rows that were not
            asked about, for want of money, time or a key, are then.
        retry_errors: whether, of a job that is resumed, all rows are asked about anew that came to an error.
        budget_usd: no call is begun once so much is known to be spent, by earlier rounds too; None for no bound.
        timeout_s: for the whole job; what is not answered by then is an error `timeout`. None for no bound.
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
    retry_errors: bool = False
    budget_usd: float | None = None
    timeout_s: float | None = None

    async def run(
        self,
        journal: Journal,
        out: VerdictFile | None,
        tally: Tally,
        watch: Watcher,
        notice: Callable[[str], None] = _unsaid,
    ) -> None:
        """Judge every row that the verdict file does not hold yet.

        `notice` is told beforehand what the rubric needs and the first rows lack, and when no more calls are made.

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
        items, tail = self._items(notice), None
        if out is not None and self.resume:
            tail = self._pass_over(items, out, tally)
        elif out is not None:
            out.clear()
        fingerprint = self.fingerprint

        def deliver(judged: Sequence[Judged]) -> None:
            results = [_line(one, fingerprint) for one in judged]
            if tail is not None and out is not None:
                for result in results:
                    tail.settle(int(result["row"]))
                    out.append([result])
            elif out is not None:
                out.append(results)
            for one, result in zip(judged, results, strict=True):
                tally.add(result)
                watch(one, result)

        job = JudgingJob(
            self.judge,
            items if tail is None or out is None else self._anew(items, out, tail),
            journal,
            deliver,
            concurrency=self.concurrency,
            recall=self.resume,
            retry=self.retry_errors,
            cache_read=self.cache is Cache.READ,
            budget_usd=self.budget_usd,
            spent_usd=tally.known_cost_usd,
            timeout_s=self.timeout_s,
            notice=notice,
        )
        try:
            await job.run()
        finally:
            if tail is not None:
                tail.close()

    def foresee(
        self,
        known: Sequence[Usage] = (),
        done: IO[bytes] | None = None,
        notice: Callable[[str], None] = _unsaid,
    ) -> Forecast:
        """What judging the whole file would ask for. Nothing is asked.

        Args:
            known: usages of calls that this judge made before.
            done: the verdict file that would be gone on with: rows whose verdicts stand are not asked about.
            notice: is told what the rubric needs and the first rows lack.
        """
        settings, rows = self.judge.provider.settings, 0
        side = Side(settings=settings, name=settings.name, purpose="judge", known=list(known))
        standing = self._standing(done) if done is not None else iter(())
        last = next(standing, 0)
        for item in self._items(notice):
            rows += 1
            while last and last < item.row.number:
                last = next(standing, 0)
            if item.context is not None and last != item.row.number:
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

    def _items(self, notice: Callable[[str], None]) -> Iterator[Item]:
        wanted = {*self.columns.fields.values(), *self.columns.kept}
        rows = read_rows(self.stream, self.kind, self.name, wanted)
        first = list(itertools.islice(rows, _LOOK_AHEAD))
        _refuse_missing_columns(first, self.columns)
        if warning := evidence_gap(self.judge, self.columns, [*map(self.columns.item, first[: self.limit])]):
            notice(warning)
        every = itertools.chain(first, rows)
        return map(self.columns.item, itertools.islice(every, self.limit))

    # --- going on --------------------------------------------------------------------------------------------------

    def _pass_over(self, items: Iterator[Item], out: VerdictFile, tally: Tally) -> Tail | None:
        """Count what the file holds and stands, and move on to the first row of which it holds no such verdict.

        Returns:
            The lines from the first on that does not stand; None where all do.
        """
        fingerprint, start = self.fingerprint, None
        for line in out.lines(self.judge.score_range):
            if line["metadata"].get("judge") != self.judge.facts.identity:
                raise _not_this_job(out, "verdicts of this judge", f"one of another judge at row {line['row']}")
            if line["job"] != fingerprint:
                raise _not_this_job(out, "verdicts with these options", f"one with others at row {line['row']}")
            if start is None and not self._stands(line):
                start = out.end
            if start is None:
                _same_row(line, next(items, None), out)
            if self._stands(line):
                tally.add(line)
        return None if start is None else Tail(out, start, self._stands)

    def _stands(self, line: Mapping[str, Any]) -> bool:
        """Whether a verdict is not reached anew."""
        return was_asked(line) and not (self.retry_errors and line["status"] == "error")

    def _standing(self, done: IO[bytes]) -> Iterator[int]:
        """The rows whose verdicts stand, in order, of a file that is only looked at; what is wrong with it is told by
        whoever goes on with it."""
        for line in done:
            try:
                verdict = parse_strict(line.decode())
            except (UnicodeDecodeError, JsonSyntaxError):
                return
            if not isinstance(verdict, dict) or what_is_wrong(verdict, self.judge.score_range) is not None:
                return
            if self._stands(verdict):
                yield int(verdict["row"])

    def _anew(self, items: Iterator[Item], out: VerdictFile, tail: Tail) -> Iterator[Item]:
        """The rows without a verdict that stands."""
        while (following := tail.following()) is not None:
            line, stands = following
            item = _same_row(line, next(items, None), out)
            if not stands:
                yield item
        yield from items


def _same_row(line: Mapping[str, Any], item: Item | None, out: VerdictFile) -> Item:
    """The row of a verdict.

    Raises:
        AuthoringError: when the input has another one in its place.
    """
    if item is None or line["row"] != item.row.number or line["row_sha256"] != item.row.digest:
        found = "fewer rows" if item is None else f"another row {item.row.number}"
        raise _not_this_job(out, f"the verdict of row {line['row']} of this input", found)
    return item


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
