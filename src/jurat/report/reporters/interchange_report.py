"""`report/v1` as a reporter: one run's report in the form in which it is handed on.

Everything that may be kept back is kept back, unless outputs were asked for: then the whole is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, cast

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.report.interchange import InterchangeWriter, interchange_head
from jurat.report.record import RunRecord
from jurat.report.redaction import EVERYTHING, Withheld
from jurat.report.reporters.reporter import ReportOptions, Sink, Told

__all__ = ["InterchangeReporter"]


class InterchangeReporter:
    """Writes one report.

    Raises:
        AuthoringError: when it would be of several runs.
    """

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        if options.runs > 1:
            fault = Fault(path="report", expected="one run, whose report it is", found=f"{options.runs} runs")
            raise AuthoringError("report", [fault])
        self._sink = cast(IO[bytes], sink)
        self._withheld = frozenset[Withheld]() if options.include_output else EVERYTHING
        self._writer: InterchangeWriter | None = None

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """The report's head."""
        head = interchange_head(run, summary, gate, self._withheld)
        self._writer = InterchangeWriter(self._sink, head, run.samples, self._withheld)

    def case(self, told: Told) -> None:
        """One case, on a line."""
        if self._writer is not None:
            self._writer.case(told.case, told.trials)

    def end(self) -> None:
        """The report's end."""
        if self._writer is not None:
            self._writer.end()

    def close(self) -> None:
        """Nothing is left to say."""
