"""`report/v1`: the form in which a run's report is handed on, redacted and canonical.

It is the JSON report (`jurat.report.run_report`) with one member more, `withheld`, which says what was kept back: the
conversation, reasons and excerpts, unless they were asked for. There is one way to write a report: UTF-8, members of
the head in their order, a case a line, keys sorted, no blanks. Reading is as strict as writing: other bytes for the
same report, a text that was said to be kept back, or a member that is not known are refused.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO, Any

from jurat.errors import AuthoringError
from jurat.jsontext import Json
from jurat.report.record import CaseRecord, RunRecord, TrialRecord
from jurat.report.redaction import EVERYTHING, Withheld, redacted, withheld_from_json
from jurat.report.run_reader import ReportReader
from jurat.report.run_report import ReportWriter, report_head

__all__ = ["InterchangeReader", "InterchangeWriter", "interchange_head"]

_encode = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def interchange_head(
    run: RunRecord,
    summary: Mapping[str, Json],
    gate: Mapping[str, Json] | None,
    withheld: Collection[Withheld] = EVERYTHING,
) -> dict[str, Json]:
    """The head of a report that is handed on; the arguments are those of `report_head`."""
    head = report_head(run, summary, gate)
    return {"jurat_report": head.pop("jurat_report"), "withheld": sorted(withheld), **head}


class InterchangeWriter(ReportWriter):
    """Writes a report that is handed on; `case` once for each case, then `end`.

    Args:
        sink: a binary stream.
        head: of `interchange_head`.
        samples: trials a case.
        withheld: what is kept back, as the head says.
    """

    def __init__(
        self,
        sink: IO[bytes],
        head: Mapping[str, Json],
        samples: int,
        withheld: Collection[Withheld] = EVERYTHING,
    ) -> None:
        self._withheld = withheld
        super().__init__(sink, head, samples, include_output=Withheld.CONVERSATION not in withheld)

    def told(self, case: CaseRecord, trials: Sequence[TrialRecord]) -> dict[str, Json]:
        """The case without what is kept back."""
        return redacted(super().told(case, trials), self._withheld)


class InterchangeReader(ReportReader):
    """A report that was handed on, opened. `withheld` says what it keeps back.

    Raises:
        AuthoringError: when it is none, or is written in another way than by `InterchangeWriter`.
    """

    def __init__(self, stream: IO[bytes], file: str | None = None) -> None:
        super().__init__(stream, file)
        found = withheld_from_json(self.head.get("withheld"))
        if found is None:
            raise self._wrong("withheld", "what is kept back, sorted, each once", "something else", 2)
        self.withheld = found

    def cases(self) -> Iterator[dict[str, Json]]:
        """Every case; once."""
        for index, told in enumerate(super().cases()):
            if _encode(redacted(told, self.withheld)) != _encode(told):
                raise self._wrong(f"cases[{index}]", "nothing of what is kept back", "some of it")
            yield told

    def _relaid(self, first: bytes) -> dict[str, Json]:
        del first
        raise self._wrong("", "a report as it was handed on, in lines", "another layout or another document", 1)

    def _parsed(self, text: bytes, line: int) -> Json:
        value = super()._parsed(text, line)
        if _written(value, head=line == 1) != text:
            raise self._wrong("", "JSON in its canonical form", "another spelling of it", line)
        return value


def _written(value: Any, *, head: bool) -> bytes | None:
    """As the writer would have it; None of what it would not write."""
    try:
        if head and isinstance(value, dict):
            return ("{" + ",\n".join(f"{_encode(name)}:{_encode(part)}" for name, part in value.items()) + "}").encode()
        return _encode(value).encode()
    except (ValueError, AuthoringError):
        return None
