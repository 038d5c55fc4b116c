"""Rows of CSV (RFC 4180), one at a time, in bounded memory whatever the file holds.

The delimiter is found in the line of column names: the one of comma, semicolon and tab that stands there most often
outside of quotation marks; a first line such as `sep=;`, as spreadsheets write it, decides by itself. A stray quotation
mark costs the line that it stands in and not the rows behind it. Columns without a name are passed over.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.suite.row import LineStream, Row, bad_row

__all__ = ["MAX_CELL", "MAX_RECORD", "MAX_RECORD_LINES", "csv_rows", "skip_line"]

MAX_CELL = 16 * 1024 * 1024
"""The most characters of one cell, and the most bytes of one line."""
MAX_RECORD_LINES = 10_000
"""The most lines of one row, its quoted cells included: a stray quotation mark may not swallow the whole file."""
MAX_RECORD = 64 * 1024 * 1024
"""The most characters of one row."""

_DELIMITERS = ",;\t"
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')
_SEP = re.compile(rb'"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)
_SKIP = 1024 * 1024
_LOOKED_AT = 100_000
"""In how many characters of a faulty row the cell at fault is looked for."""
_DOUBLE = 'Put a cell that holds quotation marks or delimiters in such marks, and double those inside: "{""a"": 1}"'


def csv_rows(stream: LineStream, name: str, delimiter: str | None = None) -> Iterator[Row]:
    """The rows behind the line of column names.

    Args:
        delimiter: None finds it.

    Raises:
        AuthoringError: when there is no sound line of column names.
    """
    first = stream.readline(MAX_CELL)
    lines = _Lines(first, stream)
    if said := _SEP.fullmatch(first):
        next(lines)
        first = stream.readline(MAX_CELL)
        lines.put_back(first)
        delimiter = delimiter or said[1].decode()
    if not first.strip():
        raise _whole(name, "a line of column names", "an empty one" if first else "an empty file")
    delimiter = delimiter or _delimiter(first)
    header = _header(lines, delimiter, name)
    yield from _body(lines, header, delimiter, name)


def skip_line(stream: LineStream) -> None:
    """Read on behind the end of the line, and keep nothing of it."""
    while (piece := stream.readline(_SKIP)) and not piece.endswith(b"\n"):
        pass


def _delimiter(first: bytes) -> str:
    """The one that the column names use most outside of quotation marks; a comma when they use none."""
    bare = _QUOTED.sub(b"", first)
    return max(_DELIMITERS, key=lambda mark: bare.count(mark.encode()))


# --- the column names ----------------------------------------------------------------------------------------------


def _header(lines: _Lines, delimiter: str, name: str) -> Sequence[str]:
    try:
        header = _next(csv.reader(lines, delimiter=delimiter, strict=True))
    except (csv.Error, _TooLong, _Endless) as error:
        hint = "Save the file with line feeds" if "new-line" in str(error) else None
        found = "lines that end in a carriage return alone" if hint else "one too long, or unmatched quotation marks"
        raise _whole(name, "a line of column names", found, hint) from None
    seen: dict[str, int] = {}
    for column, title in enumerate(header, start=1):
        if (trouble := _no_text(title)) is not None:
            raise _whole(name, "column names in UTF-8", f"{trouble} in column {column}", "Save the file as UTF-8")
        if title and title in seen:
            raise _whole(name, "column names that differ", f"{title[:80]!r} in columns {seen[title]} and {column}")
        seen[title] = column
    return header


def _whole(name: str, expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("input", [Fault(path="", file=name, expected=expected, found=found, hint=hint)])


# --- the rows ------------------------------------------------------------------------------------------------------


def _body(lines: _Lines, header: Sequence[str], delimiter: str, name: str) -> Iterator[Row]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = lines.begin_record()
        try:
            cells = _next(reader)
        except StopIteration:
            return
        except _TooLong:
            lost = f", read from line {number} to line {lines.number}" if lines.number > number else ""
            yield bad_row(name, number, "", "a CSV row", f"a cell of more than {MAX_CELL:,} characters{lost}")
            reader = csv.reader(lines, delimiter=delimiter, strict=True)  # a fresh one: this one is inside a cell
            continue
        except (csv.Error, _Endless) as error:
            yield _broken(lines, number, header, delimiter, name, error)
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            continue
        if any(cell.strip() for cell in cells):
            yield _row(cells, header, number, name)


def _next(reader: Any) -> list[str]:
    """The reader's next row. The module's limit of cells is one for all of its users, so it is lifted for no longer."""
    before = csv.field_size_limit(MAX_CELL)
    try:
        cells: list[str] = next(reader)
    finally:
        csv.field_size_limit(before)
    return cells


def _row(cells: Sequence[str], header: Sequence[str], number: int, name: str) -> Row:
    joined = "\x1f".join(cells).encode("utf-8", "surrogateescape")
    digest = hashlib.sha256(joined).hexdigest()
    if len(cells) != len(header):
        hint = _DOUBLE if len(cells) > len(header) else None
        return bad_row(name, number, digest, f"{len(header)} cells", f"{len(cells)}", hint=hint)
    for column, cell in zip(header, cells, strict=True):
        if (found := _no_text(cell)) is not None:
            return bad_row(name, number, digest, "text in UTF-8", found, path=column or "row")
    values = {column: cell for column, cell in zip(header, cells, strict=True) if column}
    return Row(number=number, digest=digest, values=values)


def _no_text(cell: str) -> str | None:
    """What stands in a cell that is no text, if there is such a thing."""
    if "\x00" in cell:
        return "a NUL character"
    if not cell.isascii() and any("\udc80" <= character <= "\udcff" for character in cell):
        return "a byte that is none"
    return None


# --- broken rows ---------------------------------------------------------------------------------------------------


def _broken(lines: _Lines, number: int, header: Sequence[str], delimiter: str, name: str, error: Exception) -> Row:
    """The fault of a row that cannot be divided into cells; reading goes on at the line behind its first."""
    cell, trouble = _quoting(lines.record(_LOOKED_AT), delimiter)
    found, hint = _csv_fault(error, trouble)
    found, digest = found + _reach(number, lines.number), lines.first_digest()
    lines.step_back()
    path = header[cell - 1] if cell is not None and cell <= len(header) else ""
    return bad_row(name, number, digest, "a CSV row", found, path=path or "row", hint=hint)


def _csv_fault(error: Exception, trouble: str | None) -> tuple[str, str | None]:
    message = str(error)
    if isinstance(error, _Endless):
        return message, None
    if "field limit" in message:
        return f"a cell of more than {MAX_CELL:,} characters", None
    if "new-line" in message:
        return "a carriage return inside of an unquoted cell", _DOUBLE
    return trouble or "a quotation mark that is never closed", _DOUBLE


def _quoting(record: str, delimiter: str) -> tuple[int | None, str | None]:
    """In which cell (from 1) the quotation marks of a row go wrong, and how; None where they do not."""
    cell, state = 1, "start"
    for character in record:
        if state == "quoted":
            state = "closed" if character == '"' else state
        elif character == delimiter:
            cell, state = cell + 1, "start"
        elif character == '"' and state in ("start", "closed"):
            state = "quoted"
        elif character in "\r\n":
            break
        elif state == "closed":
            return cell, "text behind a closing quotation mark"
        else:
            state = "plain"
    return (cell, "a quotation mark that is never closed") if state == "quoted" else (None, None)


def _reach(first: int, last: int) -> str:
    """What the fault took with it: nothing but its own line, since the lines behind are read again."""
    if last <= first:
        return ""
    return f"; its end was looked for up to line {last}, and lines {first + 1} to {last} are read as rows of their own"


class _TooLong(Exception):
    """A line that is not held in memory."""


class _Endless(Exception):
    """A row that goes on and on: most likely a quotation mark that nobody closed. Its text is what was found."""


class _Lines:
    """The lines of a byte stream as text, counted, none of them longer than a cell may be.

    The lines of the record at hand are kept, so that after a fault reading can go on at the line after its first.
    """

    def __init__(self, first: bytes, rest: LineStream) -> None:
        self._first, self._rest = first, rest
        self._again: deque[str] = deque()
        self._record: list[str] = []
        self._size = 0
        self.number = 0

    def put_back(self, line: bytes) -> None:
        """Give this line next."""
        self._first = line

    def begin_record(self) -> int:
        """Forget the record before; the number of the line at which the next one begins."""
        self._record, self._size = [], 0
        return self.number + 1

    def step_back(self) -> None:
        """Give the lines after the record's first once more."""
        self._again.extendleft(reversed(self._record[1:]))
        self.number -= max(len(self._record) - 1, 0)

    def record(self, most: int) -> str:
        """The record's text as far as it was read, at most so many characters of it."""
        parts: list[str] = []
        for line in self._record:
            parts.append(line[: most + 1])
            most -= len(line)
            if most < 0:
                break
        return "".join(parts)

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
        self._size += len(line)
        if len(self._record) > MAX_RECORD_LINES:
            raise _Endless(f"one of more than {MAX_RECORD_LINES:,} lines, so a quotation mark that is never closed")
        if self._size > MAX_RECORD:
            raise _Endless(f"one of more than {MAX_RECORD:,} characters")
        return line

    def _read(self) -> str:
        line, self._first = self._first or self._rest.readline(MAX_CELL + 1), b""
        if len(line) > MAX_CELL:
            self.number += 1
            skip_line(self._rest)
            raise _TooLong
        return line.decode("utf-8", "surrogateescape")
