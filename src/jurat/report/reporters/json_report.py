"""The JSON report (`jurat.report.run_report`) as a reporter: of one run the report, of several an array of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, cast

from jurat.jsontext import Json
from jurat.report.record import RunRecord
from jurat.report.reporters.reporter import ReportOptions, Sink, Told
from jurat.report.run_report import ReportWriter, report_head

__all__ = ["JsonReporter"]


class JsonReporter:
    """Writes JSON."""

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        self._sink, self._options = cast(IO[bytes], sink), options
        self._writer: ReportWriter | None = None
        self._between = b"[\n" if options.runs != 1 else b""

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """The report's head."""
        self._sink.write(self._between)
        self._between = b",\n"
        head = report_head(run, summary, gate)
        self._writer = ReportWriter(self._sink, head, run.samples, include_output=self._options.include_output)

    def case(self, told: Told) -> None:
        """One case, on a line."""
        if self._writer is not None:
            self._writer.case(told.case, told.trials)

    def end(self) -> None:
        """The report's end."""
        if self._writer is not None:
            self._writer.end()

    def close(self) -> None:
        """The array's end."""
        if self._options.runs != 1:
            self._sink.write(b"]\n" if self._between == b",\n" else b"[\n]\n")
