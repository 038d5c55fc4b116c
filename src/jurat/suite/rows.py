"""Recorded outputs, row by row: JSON Lines, CSV or Parquet, in any number, in constant memory.

A row that cannot be read is a row with a fault, named by its line; it never stops the others. What is wrong with the
file as a whole (no such column, a repeated header, UTF-16) is the author's error and raised before the first row.
The stream is opened by the caller; nothing here touches a file system.
"""

from __future__ import annotations

import csv
import hashlib
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import JsonSyntaxError, parse_strict, type_name
from jurat.suite.row import Row, bad_row

__all__ = ["KINDS", "MAX_CELL", "MAX_LINE", "FileKind", "Row", "file_kind", "read_rows"]

MAX_LINE = 64 * 1024 * 1024
"""The most bytes of one JSON line."""
MAX_CELL = 16 * 1024 * 1024
"""The most characters of one CSV cell."""
MAX_RECORD_LINES = 10_000
"""The most lines of one CSV row, its quoted cells included: a stray quotation mark may not swallow the whole file."""

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
    rest = b"" if head == b"\xef\xbb\xbf" else head
    return _csv_rows(stream, rest, name, delimiter) if kind == "csv" else _json_rows(stream, rest, name)


def _whole(name: str, expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("input", [Fault(path="", file=name, expected=expected, found=found, hint=hint)])


# --- JSON Lines ----------------------------------------------------------------------------------------------------


def _json_rows(stream: IO[bytes], head: bytes, name: str) -> Iterator[Row]:
    number = 0
    while line := head + stream.readline(MAX_LINE + 1):
        head = b""
        number += 1
        if len(line) > MAX_LINE:
            _skip_line(stream)
            yield bad_row(name, number, "", f"a line of at most {MAX_LINE:,} bytes", "a longer one")
        elif line.strip():
            yield _json_row(line, number, name)


def _skip_line(stream: IO[bytes]) -> None:
    while (piece := stream.readline(MAX_LINE)) and not piece.endswith(b"\n"):
        pass


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


# --- CSV -----------------------------------------------------------------------------------------------------------


def _csv_rows(stream: IO[bytes], head: bytes, name: str, delimiter: str | None) -> Iterator[Row]:
    first = head + stream.readline(MAX_CELL)
    if not first.strip():
        raise _whole(name, "a line of column names", "an empty file")
    lines = _Lines(first, stream)
    delimiter = delimiter or _delimiter(first)
    with _wide_cells():
        try:
            header = next(csv.reader(lines, delimiter=delimiter, strict=True))
        except (csv.Error, _TooLong):
            raise _whole(name, "a line of column names", "one that is too long, or unmatched quotation marks") from None
        _check_header(header, name)
        yield from _csv_body(lines, header, delimiter, name)


def _csv_body(lines: _Lines, header: Sequence[str], delimiter: str, name: str) -> Iterator[Row]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = lines.begin_record()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except _TooLong:
            lost = f", read from line {number} to line {lines.number}" if lines.number > number else ""
            yield bad_row(name, number, "", "a CSV row", f"a cell of more than {MAX_CELL:,} characters{lost}")
            reader = csv.reader(lines, delimiter=delimiter, strict=True)  # a fresh one: this one is inside a cell
            continue
        except (csv.Error, _TooManyLines) as error:
            digest, found = lines.first_digest(), _csv_fault(str(error)) + _reach(number, lines.number)
            lines.step_back()
            yield bad_row(name, number, digest, "a CSV row", found)
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            continue
        if any(cell.strip() for cell in cells):
            yield _csv_row(cells, header, number, name)


class _TooLong(Exception):
    """A line that is not held in memory."""


class _TooManyLines(Exception):
    """A row that goes on and on: most likely a quotation mark that nobody closed."""


class _Lines:
    """The lines of a byte stream as text, counted, none of them longer than a cell may be.

    The lines of the record at hand are kept, so that a stray quotation mark costs the line that it stands in and not
    the rows behind it: after a fault, reading goes on at the line after the record's first.
    """

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._rest = first, rest
        self._again: deque[str] = deque()
        self._record: list[str] = []
        self.number = 0

    def begin_record(self) -> int:
        """Forget the record before; the number of the line at which the next one begins."""
        self._record = []
        return self.number + 1

    def step_back(self) -> None:
        """Give the lines after the record's first once more."""
        self._again.extendleft(reversed(self._record[1:]))
        self.number -= max(len(self._record) - 1, 0)

    def first_digest(self) -> str:
        """The digest of the record's first line."""
        first = self._record[0] if self._record else ""
        return hashlib.sha256(first.rstrip("\r\n").encode("utf-8", "surrogateescape")).hexdigest()

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._read()
        self.number += bool(line)
        if not line:
            raise StopIteration
        self._record.append(line)
        if len(self._record) > MAX_RECORD_LINES:
            raise _TooManyLines
        return line

    def _read(self) -> str:
        line, self._first = self._first or self._rest.readline(MAX_CELL + 1), b""
        if len(line) > MAX_CELL:
            self.number += 1
            _skip_line(self._rest)
            raise _TooLong("field limit")
        return line.decode("utf-8", "surrogateescape")


def _csv_row(cells: Sequence[str], header: Sequence[str], number: int, name: str) -> Row:
    joined = "\x1f".join(cells).encode("utf-8", "surrogateescape")
    digest = hashlib.sha256(joined).hexdigest()
    if len(cells) != len(header):
        return bad_row(name, number, digest, f"{len(header)} cells", f"{len(cells)}")
    for column, cell in zip(header, cells, strict=True):
        if "\x00" in cell:
            return bad_row(name, number, digest, "text", "a NUL character", path=column)
        if not cell.isascii() and any("\udc80" <= character <= "\udcff" for character in cell):
            return bad_row(name, number, digest, "UTF-8 text", "a byte that is none", path=column)
    return Row(number=number, digest=digest, values=dict(zip(header, cells, strict=True)))


def _csv_fault(message: str) -> str:
    if "field limit" in message:
        return f"a cell of more than {MAX_CELL:,} characters"
    if "NUL" in message:
        return "a NUL character"
    if not message:
        return f"one of more than {MAX_RECORD_LINES:,} lines, so a quotation mark that is never closed"
    return "a quotation mark inside an unquoted cell (double it) or one that is never closed"


def _reach(first: int, last: int) -> str:
    """What the fault took with it: nothing but its own line, since the lines behind are read again."""
    if last <= first:
        return ""
    return f"; its end was looked for up to line {last}, and lines {first + 1} to {last} are read as rows of their own"


def _delimiter(first: bytes) -> str:
    """The one of comma, semicolon and tab that the column names use most; a comma when they use none."""
    return max(",;\t", key=lambda mark: first.count(mark.encode()))


def _check_header(header: Sequence[str], name: str) -> None:
    seen: dict[str, int] = {}
    for column, title in enumerate(header, start=1):
        if title in seen:
            raise _whole(name, "column names that differ", f"{title!r} in columns {seen[title]} and {column}")
        seen[title] = column


@contextmanager
def _wide_cells() -> Iterator[None]:
    before = csv.field_size_limit(MAX_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
