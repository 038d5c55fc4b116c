"""Recorded outputs, row by row: JSON Lines, CSV or Parquet, in any number, in constant memory.

A row that cannot be read is a row with a fault, named by its line; it never stops the others. What is wrong with the
file as a whole (no such column, a repeated header, UTF-16) is the author's error and raised before the first row.
The stream is opened by the caller; nothing here touches a file system.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from typing import IO

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import JsonSyntaxError, parse_strict, type_name
from jurat.suite.csvrows import MAX_CELL, csv_rows, skip_line
from jurat.suite.row import LineStream, Row, bad_row

__all__ = ["KINDS", "MAX_CELL", "MAX_LINE", "FileKind", "Row", "file_kind", "read_rows"]

MAX_LINE = 64 * 1024 * 1024
"""The most bytes of one JSON line."""

FileKind = str
KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
"""What the end of a file's name says of its rows."""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def file_kind(name: str) -> FileKind:
    """What kind of rows a file holds, by the end of its name.

    Raises:
        AuthoringError: for any other ending.
    """
    for ending, kind in KINDS.items():
        if name.lower().endswith(ending):
            return kind
    expected = "a file that ends in " + ", ".join(KINDS)
    raise AuthoringError("input", [Fault(path=name, expected=expected, found="another ending")])


def read_rows(
    stream: IO[bytes],
    kind: FileKind,
    name: str,
    wanted: Collection[str] | None = None,
    *,
    delimiter: str | None = None,
) -> Iterator[Row]:
    """The rows of an open stream, in order, one at a time. Blank rows are passed over.

    Args:
        wanted: the columns that will be looked at; others need not be read. None: all.
        delimiter: of CSV; None finds it in the line of column names.

    Raises:
        AuthoringError: when the file as a whole cannot be read.
    """
    if kind == "parquet":
        from jurat.suite.parquet import parquet_rows

        return parquet_rows(stream, name, wanted)
    head = stream.read(3)
    if head[:2] in _UTF16:
        raise _whole(name, "UTF-8 text", "UTF-16", "Save the file as UTF-8")
    lines = _Ahead(b"" if head == b"\xef\xbb\xbf" else head, stream)
    return csv_rows(lines, name, delimiter) if kind == "csv" else _json_rows(lines, name)


class _Ahead:
    """A stream of which some bytes were read already, which may hold several lines."""

    def __init__(self, head: bytes, rest: LineStream) -> None:
        self._head, self._rest = head, rest

    def readline(self, limit: int, /) -> bytes:
        """The next line, at most so many bytes of it."""
        if not self._head:
            return self._rest.readline(limit)
        end = self._head.find(b"\n") + 1
        line, self._head = (self._head[:end], self._head[end:]) if end else (self._head, b"")
        return line if end else line + self._rest.readline(limit - len(line))


def _whole(name: str, expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("input", [Fault(path="", file=name, expected=expected, found=found, hint=hint)])


def _json_rows(stream: LineStream, name: str) -> Iterator[Row]:
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            skip_line(stream)
            yield bad_row(name, number, "", f"a line of at most {MAX_LINE:,} bytes", "a longer one")
        elif line.strip():
            yield _json_row(line, number, name)


def _json_row(line: bytes, number: int, name: str) -> Row:
    digest = hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()
    try:
        value = parse_strict(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return bad_row(name, number, digest, "UTF-8 text", f"a byte that is none at {error.start + 1}")
    except JsonSyntaxError as error:
        return bad_row(name, number, digest, "one JSON object", f"{error.what} (column {error.column})")
    if not isinstance(value, dict):
        return bad_row(name, number, digest, "one JSON object", type_name(value))
    return Row(number=number, digest=digest, values=value)
