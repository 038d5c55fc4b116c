"""The report of a run: one JSON document, versioned (`jurat_report`), written in one pass and in constant space.

Two reports of the same record are equal byte for byte. The head, the gate and the summary come first, then a case a
line, so that a reader need not hold more than one of them either. The text is UTF-8 with `\\n`, on every system.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from jurat.jsontext import Json
from jurat.report.record import CaseRecord, RunRecord, TrialRecord
from jurat.report.run_json import case_json, plain, run_json

__all__ = ["REPORT_VERSION", "ReportWriter", "comparable", "report_head", "write_report"]

REPORT_VERSION = 1
"""Numbers the shape. A reader refuses one that it does not know."""

_encode = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode
_SURROGATE = re.compile("[\ud800-\udfff]")


def report_head(run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> dict[str, Json]:
    """Everything of a report but its cases.

    Args:
        run: whose report it is.
        summary: `RunTally.summary()` of all its cases.
        gate: `GateOutcome.to_json()`, or None of a run that is not completed.
    """
    return {
        "jurat_report": REPORT_VERSION,
        "run": run_json(run),
        "gate": None if gate is None else plain(gate),
        "summary": plain(summary),
    }


class ReportWriter:
    """Writes a report piece by piece; `case` once for each, in the plan's order, then `end`.

    Args:
        sink: a binary stream.
        head: of `report_head`.
        samples: trials a case.
        include_output: whether answers and conversations are told.
    """

    def __init__(
        self, sink: IO[bytes], head: Mapping[str, Json], samples: int, *, include_output: bool = False
    ) -> None:
        self._sink, self._samples, self._include_output = sink, samples, include_output
        self._between = "\n"
        lines = [f"{_encode(name)}:{_encode(value)}" for name, value in head.items()]
        self._write("{" + ",\n".join(lines) + ',\n"cases":[')

    def case(self, case: CaseRecord, trials: Sequence[TrialRecord]) -> None:
        """Write one case with all its trials."""
        self._write(self._between + _encode(self.told(case, trials)))
        self._between = ",\n"

    def told(self, case: CaseRecord, trials: Sequence[TrialRecord]) -> dict[str, Json]:
        """What is written of a case."""
        return case_json(case, trials, self._samples, include_output=self._include_output)

    def end(self) -> None:
        """Write the end; the stream is left open."""
        self._write("\n]}\n")

    def _write(self, text: str) -> None:
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:  # a lone surrogate is no character, and no reason to lose a report
            data = _SURROGATE.sub("\ufffd", text).encode("utf-8")
        self._sink.write(data)


def write_report(
    sink: IO[bytes],
    run: RunRecord,
    cases: Iterable[tuple[CaseRecord, Sequence[TrialRecord]]],
    summary: Mapping[str, Json],
    gate: Mapping[str, Json] | None,
    *,
    include_output: bool = False,
) -> None:
    """Write a whole report; the cases are taken one by one and not kept."""
    writer = ReportWriter(sink, report_head(run, summary, gate), run.samples, include_output=include_output)
    for case, trials in cases:
        writer.case(case, trials)
    writer.end()


# --- what may differ between two equal runs ------------------------------------------------------------------------

_OF_ITS_OWN = ("id", "created_at", "finished_at", "options", "provenance", "parent")
_TIMES = ("duration_ms", "latency_ms")


def comparable(report: Mapping[str, Any]) -> dict[str, Json]:
    """The report without what differs between two runs that came out alike: its name, when and where it ran, how long
    things took, on which lines its assertions stand. Everything that was decided, said and spent stays."""
    made: dict[str, Any] = plain(report)
    made["run"] = _without(made["run"], _OF_ITS_OWN)
    made["run"]["snapshots"] = _without(made["run"]["snapshots"], ("places",))
    made["summary"] = _without(made["summary"], _TIMES)
    if made["gate"] is not None:
        made["gate"]["rules"] = [_timeless_rule(rule) for rule in made["gate"]["rules"]]
    for case in made["cases"]:
        for trial in case["trials"]:
            _drop_times(trial)
    return made


def _without(value: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name not in names}


def _timeless_rule(rule: dict[str, Any]) -> dict[str, Any]:
    return _without(rule, ("actual", "reason")) if rule["rule"].get("type") == "latency_ms" else rule


def _drop_times(trial: dict[str, Any]) -> None:
    subject = trial["subject"]
    subject["execution"] = _without(subject["execution"], _TIMES)
    for holder in (subject, *trial["assessments"]):
        if holder["spending"] is not None:
            holder["spending"] = _without(holder["spending"], _TIMES)
    for made in trial["assessments"]:
        made["result"]["evaluator"] = _without(made["result"]["evaluator"], _TIMES)
