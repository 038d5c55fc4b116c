"""Reading a run's report back, one case at a time, and believing nothing that its schema does not allow.

A report as `ReportWriter` writes it is read line by line, whatever its size. One that another tool has laid out anew is
read too, as a whole. That its parts agree with each other is for `jurat.metrics.report_check` to say.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import IO, Any

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, JsonSyntaxError, parse_strict, type_name
from jurat.report.record import RunRecord
from jurat.report.run_json import run_from_json
from jurat.report.run_report import REPORT_VERSION
from jurat.report.run_schema import case_schema, head_schema

__all__ = ["ReportReader"]

_LONGEST = 64 * 1024 * 1024
"""The most bytes of one line, and of a report that is not laid out in lines: 64 MiB."""
_START = b'{"jurat_report":'
_CASES = b'"cases":[\n'
_END = b"]}\n"
_MOST_FAULTS = 20


class ReportReader:
    """A report, opened. `run`, `gate` and `summary` are there at once; `cases` are read as they are asked for.

    Args:
        stream: a binary stream.
        file: its name as the author knows it, for the messages.

    Raises:
        AuthoringError: when it is no report, or its head is not as the schema says.
    """

    def __init__(self, stream: IO[bytes], file: str | None = None) -> None:
        self._stream, self.file = stream, file
        self._line = 1
        self._whole: list[Json] | None = None
        head = self._head()
        self._refuse_unsound(head, "", _of_heads(), 1)
        self.head: dict[str, Json] = head
        self.summary: dict[str, Json] = head["summary"]
        self.gate: dict[str, Json] | None = head["gate"]
        self.run: RunRecord = run_from_json(head["run"], self.gate)

    def cases(self) -> Iterator[dict[str, Json]]:
        """Every case as the report tells it; once.

        Raises:
            AuthoringError: at the first that is not as the schema says, or where the report is cut off.
        """
        validator = _of_cases()
        for index, (line, told) in enumerate(self._read_cases()):
            self._refuse_unsound(told, f"cases[{index}]", validator, line)
            yield told

    # --- layout ----------------------------------------------------------------------------------------------------

    def _head(self) -> dict[str, Json]:
        first = self._readline()
        if not first.startswith(_START) or not first.endswith(b",\n"):
            return self._relaid(first)
        lines = [first]
        while (line := self._readline()) != _CASES:
            if not line.endswith(b",\n") or len(lines) > 100:
                raise self._wrong("", "a report", "one that is cut off, or another document")
            lines.append(line)
        text = b"".join(lines).removesuffix(b",\n") + b"}"
        return self._versioned(self._parsed(text, 1))

    def _relaid(self, first: bytes) -> dict[str, Json]:
        rest = self._stream.read(_LONGEST + 1)
        if len(first) + len(rest) > _LONGEST:
            raise self._wrong("", f"a report in lines, or of at most {_LONGEST:,} bytes", "a larger one")
        whole = self._versioned(self._parsed(first + rest, 1))
        cases = whole.pop("cases", None)
        if not isinstance(cases, list):
            raise self._wrong("cases", "a list", type_name(cases))
        self._whole = cases
        return whole

    def _versioned(self, value: Json) -> dict[str, Json]:
        version = value.get("jurat_report") if isinstance(value, dict) else None
        if not isinstance(value, dict) or version != REPORT_VERSION or isinstance(version, bool):
            found = "nothing" if version is None else "another version"
            raise self._wrong("jurat_report", f"{REPORT_VERSION}", found)
        return value

    def _read_cases(self) -> Iterator[tuple[int, Json]]:
        if self._whole is not None:
            yield from ((1, told) for told in self._whole)
            return
        count, between = 0, True
        while (line := self._readline()) != _END:
            if not line.endswith(b"\n"):
                raise self._wrong("cases", "the end of the report", f"it is cut off after {count:,} cases")
            if not between:
                raise self._wrong("cases", "a comma between two cases", "none")
            between = line.endswith(b",\n")
            yield self._line, self._parsed(line.removesuffix(b"\n").removesuffix(b","), self._line)
            count += 1
        if between and count:
            raise self._wrong("cases", "another case after a comma", "the end of the list")
        if self._stream.read(1):
            raise self._wrong("", "nothing after the report's end", "something")

    def _readline(self) -> bytes:
        line = self._stream.readline(_LONGEST)
        self._line += line.endswith(b"\n")
        return line

    def _parsed(self, text: bytes, line: int) -> Json:
        try:
            return parse_strict(text.decode("utf-8"))
        except UnicodeDecodeError:
            raise self._wrong("", "UTF-8", "other bytes", line) from None
        except JsonSyntaxError as error:
            raise self._wrong("", "JSON", error.what, line + error.line - 1) from None

    # --- faults ----------------------------------------------------------------------------------------------------

    def _refuse_unsound(self, value: Json, at: str, validator: Any, line: int) -> None:
        if validator.is_valid(value):
            return
        faults = []
        for error, _ in zip(validator.iter_errors(value), range(_MOST_FAULTS), strict=False):
            path = at + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
            faults.append(
                Fault(
                    path=path.removeprefix("."),
                    expected=f"what the schema says of {error.kind.name}",
                    found="something else",
                    file=self.file,
                    line=line,
                    hint="jurat schema report",
                )
            )
        raise AuthoringError("report", faults)

    def _wrong(self, path: str, expected: str, found: str, line: int | None = None) -> AuthoringError:
        fault = Fault(path=path, expected=expected, found=found, file=self.file, line=line or self._line)
        return AuthoringError("report", [fault])


@functools.cache
def _of_heads() -> Any:
    return _validator(head_schema())


@functools.cache
def _of_cases() -> Any:
    return _validator(case_schema())


def _validator(schema: dict[str, Json]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(schema)
