"""Cases from a table: a file of rows in JSON Lines, CSV or Parquet, each row a case.

What comes out is a case as it would stand under `cases:`, so that one reader checks both and nothing is checked twice.
Each keeps the line that it was written on and the columns that its values came from. A row that cannot be read is a
fault with file, line and column; it costs its own row, and all faults come together. Names are unique in one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.suite.case import Place
from jurat.suite.cases_spec import CASE_FIELDS, CasesFile, cases_file_spec, is_case_field
from jurat.suite.cells import CellFault, Cells
from jurat.suite.row import Row
from jurat.suite.rows import read_rows
from jurat.vocabulary import nearest

if TYPE_CHECKING:
    from jurat.suite.files import SuiteFiles

__all__ = ["CASE_FIELDS", "CaseRow", "CasesFile", "cases_file_spec", "read_cases"]

MOST_FAULTS = 100
"""How many faulty rows of one file are told one by one; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """A row as a case.

    Attributes:
        value: the case as it would stand in the suite file; not yet checked.
        place: the file and the line.
        columns: from each field to the column that it came from, for messages.
    """

    value: Mapping[str, Json]
    place: Place
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def read_cases(files: SuiteFiles, spec: CasesFile, path: str, faults: list[Fault]) -> Iterator[CaseRow]:
    """The rows of a cases file as cases, in order, one at a time; blank rows are passed over.

    Args:
        path: where the suite file names it (`cases_file`); faults of the file as a whole stand there.
        faults: every fault is added. Those of rows carry the cases file's name and the line.
    """
    told = _Told(faults, spec.path)
    try:
        with files.open(spec.path) as stream:
            rows = read_rows(stream, spec.kind, spec.path, _wanted(spec), delimiter=spec.delimiter)
            yield from _Reading(spec, path, told).cases(rows)
    except AuthoringError as error:
        faults.extend(fault if fault.path or fault.file else replace(fault, path=path) for fault in error.faults)
    except OSError as error:  # the disk, in the middle of it
        found = error.strerror or type(error).__name__
        faults.append(Fault(path=path, expected="a file that can be read", found=f"{spec.path!r}: {found}"))
    told.close()


def _wanted(spec: CasesFile) -> set[str] | None:
    return None if spec.columns is None else set(spec.columns.values())


class _Told:
    """The faults of rows: the first ones as they are, the others as a number."""

    def __init__(self, faults: list[Fault], name: str) -> None:
        self._faults, self._name, self._count = faults, name, 0

    def add(self, fault: Fault) -> None:
        self._count += 1
        if self._count <= MOST_FAULTS:
            self._faults.append(fault)

    def close(self) -> None:
        if (more := self._count - MOST_FAULTS) > 0:
            found = f"and {more:,} more faults, which are not listed"
            self._faults.append(Fault(path="rows", expected="cases", found=found, file=self._name))


class _Reading:
    """One reading of one file: which names were seen, and whether the mapped columns were."""

    def __init__(self, spec: CasesFile, path: str, told: _Told) -> None:
        self._spec, self._path, self._told = spec, path, told
        self._cells = Cells(text=spec.kind == "csv", typed=spec.typed)
        self._names: dict[str, int] = {}
        self._stem = spec.path.rpartition("/")[2].partition(".")[0]
        self._missing = {self._trimmed(column): name for name, column in (spec.columns or {}).items()}
        self._named = spec.columns is not None and "name" in spec.columns

    def cases(self, rows: Iterator[Row]) -> Iterator[CaseRow]:
        """The cases, in order. Raises AuthoringError when the columns are not those that were mapped."""
        first: Sequence[str] | None = None
        for row in rows:
            if row.values is None:
                assert row.fault is not None  # noqa: S101 (a row has either)
                self._told.add(row.fault)
                continue
            if first is None:
                first = row.columns or tuple(row.values)
                self._look_at_columns(first)
            elif self._missing:  # a line of JSON may have what the first one had not
                self._meet(row.values)
            case = self._case(row, row.values)
            if case is not None:
                yield case
        if first is not None:
            self._refuse_missing(first)

    # --- columns -------------------------------------------------------------------------------------------------

    def _trimmed(self, column: str) -> str:
        """A column's name without the blanks around it, which in CSV nobody sees."""
        return column.strip() if self._spec.kind == "csv" else column

    def _look_at_columns(self, columns: Sequence[str]) -> None:
        trimmed = [self._trimmed(column) for column in columns]
        if twice := [column for column in trimmed if column and trimmed.count(column) > 1]:
            found = f"{twice[0][:80]!r} twice"
            fault = Fault(path="", expected="column names that differ", found=found, file=self._spec.path)
            raise AuthoringError("cases file", [fault])
        self._meet(columns)
        if self._spec.kind != "jsonl":
            self._refuse_missing(columns)
        self._named = self._named or (self._spec.columns is None and "name" in trimmed)

    def _meet(self, columns: Iterable[str]) -> None:
        for column in columns:
            self._missing.pop(self._trimmed(column), None)

    def _refuse_missing(self, columns: Sequence[str]) -> None:
        if not self._missing:
            return
        faults = []
        for column, name in self._missing.items():
            near = nearest(column, tuple(columns))
            hint = f"Did you mean {near[:80]!r}?" if near else None
            found = f"{column[:80]!r}, which it does not have"
            where = f"{self._path}.columns.{name}"
            faults.append(Fault(path=where, expected=f"a column of {self._spec.path}", found=found, hint=hint))
        raise AuthoringError("cases file", faults)

    # --- rows ----------------------------------------------------------------------------------------------------

    def _case(self, row: Row, values: Mapping[str, Json]) -> CaseRow | None:
        value: dict[str, Json] = {}
        columns = self._fields(values)
        for name, column in columns.items():
            try:
                self._cells.put(value, name, values[column])
            except CellFault as fault:
                self._fault(row, column, fault.expected, fault.found, fault.hint)
                return None
        if not self._name(row, value, columns):
            return None
        return CaseRow(value=value, place=Place(file=self._spec.path, line=row.number), columns=columns)

    def _fields(self, values: Mapping[str, Json]) -> dict[str, str]:
        """From field to column, of the columns that this row has."""
        there = {self._trimmed(column): column for column in values}
        if self._spec.columns is None:
            there.pop("", None)
            return {name if is_case_field(name) else f"variables.{name}": column for name, column in there.items()}
        mapped = ((name, self._trimmed(column)) for name, column in self._spec.columns.items())
        return {name: there[column] for name, column in mapped if column in there}

    def _name(self, row: Row, value: dict[str, Json], columns: Mapping[str, str]) -> bool:
        """Whether the case has a name that no case before it has; gives it one where the file has none for any."""
        column = columns.get("name", "name")
        name = value.get("name")
        if name is None:
            if self._named:
                self._fault(row, column, "a name", "none")
                return False
            name = value["name"] = f"{self._stem}-{row.number}"
        if not isinstance(name, str):
            return True  # for the reader of cases to tell
        if name in self._names:
            self._fault(row, column, "a name of its own", f"{name[:80]!r}, which line {self._names[name]} has")
            return False
        self._names[name] = row.number
        return True

    def _fault(self, row: Row, column: str, expected: str, found: str, hint: str | None = None) -> None:
        file, line = self._spec.path, row.number
        self._told.add(Fault(path=column, expected=expected, found=found, hint=hint, file=file, line=line))
