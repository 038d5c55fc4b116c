"""Cases from a table: a file of rows in JSON Lines, CSV or Parquet, each row a case.

What comes out is a case as it would stand under `cases:`, so that one reader checks both and nothing is checked twice.
Each keeps the line that it was written on and the columns that its values came from. A row that cannot be read is a
fault with file, line and column; it costs its own row, and all faults come together. Names are unique in one file.

Cells of CSV are text. With `values: typed`, numbers, `true`, `false` and `null` are read as JSON, unless that would
change how they are written: 007, 1.10 and 1e3 stay text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, found_word, type_name
from jurat.suite.case import Place
from jurat.suite.cells import CellFault, Cells
from jurat.suite.row import Row
from jurat.suite.rows import KINDS, file_kind, read_rows
from jurat.vocabulary import nearest

if TYPE_CHECKING:
    from jurat.suite.files import SuiteFiles

__all__ = ["CASE_FIELDS", "CaseRow", "CasesFile", "cases_file_spec", "read_cases"]

CASE_FIELDS = (
    *("name", "variables", "messages", "documents", "expected", "output"),
    *("execution", "labels", "metadata", "assertions", "pass_threshold"),
)
"""What a column can be mapped to; of variables, metadata and execution also one member: `variables.country`."""

MOST_FAULTS = 100
"""How many faulty rows of one file are told one by one; the others are counted."""

_OPEN = ("variables", "metadata", "execution")
_KEYS = ("path", "format", "columns", "values", "delimiter")
_FORMATS = {"jsonl": "jsonl", "csv": "csv", "tsv": "csv", "parquet": "parquet"}
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True, kw_only=True)
class CasesFile:
    """Which file, and how its rows become cases.

    Attributes:
        path: in the suite's folder.
        kind: `jsonl`, `csv` or `parquet`.
        columns: from field to column; only these are read. None: columns that are called like a field of a case are
            that field, every other is a variable.
        typed: whether CSV cells may become numbers, booleans and null.
        delimiter: of CSV; None finds it in the line of column names.
    """

    path: str
    kind: str
    columns: Mapping[str, str] | None = None
    typed: bool = False
    delimiter: str | None = None


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


# --- what the author says of the file ------------------------------------------------------------------------------


def cases_file_spec(value: Json, path: str, faults: list[Fault]) -> CasesFile | None:
    """Read `cases_file`: a path, or `{path, format, columns, values, delimiter}`.

    Args:
        path: where it stands (`cases_file`), for the faults.
        faults: every fault is added, without file and line.

    Returns:
        None when there was a fault.
    """
    before = len(faults)
    if isinstance(value, str):
        value = {"path": value}
    if not isinstance(value, Mapping):
        faults.append(Fault(path=path, expected="a path or {path, columns, …}", found=type_name(value)))
        return None
    _known_keys(value, _KEYS, path, faults)
    kind = _kind(value, path, faults)
    columns = _columns(value.get("columns"), f"{path}.columns", faults)
    typed = _one_of(value.get("values", "text"), ("text", "typed"), f"{path}.values", faults) == "typed"
    delimiter = value.get("delimiter")
    if delimiter is not None:
        _one_of(delimiter, _DELIMITERS, f"{path}.delimiter", faults)
    if len(faults) > before or kind is None:
        return None
    return CasesFile(path=value["path"], kind=kind, columns=columns, typed=typed, delimiter=delimiter)


def _kind(value: Mapping[str, Json], path: str, faults: list[Fault]) -> str | None:
    name, given = value.get("path"), value.get("format")
    if not isinstance(name, str) or not name.strip():
        faults.append(Fault(path=f"{path}.path", expected="the path of a file", found=found_word(name)))
        return None
    if given is not None:
        chosen = _one_of(given, tuple(_FORMATS), f"{path}.format", faults)
        return _FORMATS.get(chosen) if chosen else None
    try:
        return file_kind(name)
    except AuthoringError:
        endings = ", ".join(KINDS)
        hint = f"Say which it is: format: {', '.join(_FORMATS)}"
        faults.append(
            Fault(path=f"{path}.path", expected=f"a file that ends in {endings}", found=repr(name), hint=hint)
        )
        return None


def _columns(value: Json, path: str, faults: list[Fault]) -> Mapping[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not value:
        faults.append(Fault(path=path, expected="from field to column: {name: id, …}", found=type_name(value)))
        return None
    for name, column in value.items():
        inner = f"{path}.{name}"
        if not isinstance(column, str):
            faults.append(Fault(path=inner, expected="the name of a column", found=type_name(column)))
        if not is_case_field(name):
            near = nearest(name, CASE_FIELDS)
            hint = f"Did you mean {near}?" if near else f"For a variable, write variables.{name}"
            expected = "one of " + ", ".join(CASE_FIELDS)
            faults.append(Fault(path=inner, expected=expected, found="this key", hint=hint))
    return MappingProxyType(dict(value))


def is_case_field(name: str) -> bool:
    """Whether a name is a field of a case, or a member of one that has members."""
    root, dot, member = name.partition(".")
    return name in CASE_FIELDS or bool(root in _OPEN and dot and member)


def _known_keys(value: Mapping[str, Json], known: tuple[str, ...], path: str, faults: list[Fault]) -> None:
    for key in value:
        if key not in known:
            near = nearest(str(key), known)
            hint = f"Did you mean {near}?" if near else None
            faults.append(
                Fault(path=f"{path}.{key}", expected="one of " + ", ".join(known), found="this key", hint=hint)
            )


def _one_of(value: Json, known: tuple[str, ...], path: str, faults: list[Fault]) -> str | None:
    if isinstance(value, str) and value in known:
        return value
    faults.append(Fault(path=path, expected="one of " + ", ".join(map(repr, known)), found=found_word(value)))
    return None


# --- the rows ------------------------------------------------------------------------------------------------------


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
        faults.extend(error.faults)
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
        self._missing = dict(spec.columns or {})
        self._seen: set[str] = set()

    def cases(self, rows: Iterator[Row]) -> Iterator[CaseRow]:
        looked = False
        for row in rows:
            if row.values is None:
                assert row.fault is not None  # noqa: S101 (a row has either)
                self._told.add(row.fault)
                continue
            if self._spec.kind != "jsonl" and not looked:
                self._look_for_columns(row.columns or tuple(row.values))
                looked = True
            case = self._case(row, row.values)
            if case is not None:
                yield case
        if self._spec.kind == "jsonl" and self._seen:
            self._look_for_columns(tuple(self._seen))

    def _look_for_columns(self, columns: Sequence[str]) -> None:
        """Raise for the columns that the author mapped and that are not there."""
        stripped = {column.strip() for column in columns}
        faults = []
        for name, column in (self._spec.columns or {}).items():
            if column.strip() not in stripped:
                near = nearest(column, tuple(columns))
                faults.append(
                    Fault(
                        path=f"{self._path}.columns.{name}",
                        expected=f"a column of {self._spec.path}",
                        found=f"{column[:80]!r}, which it does not have",
                        hint=f"Did you mean {near[:80]!r}?" if near else None,
                    )
                )
        if faults:
            raise AuthoringError("cases file", faults)

    def _case(self, row: Row, values: Mapping[str, Json]) -> CaseRow | None:
        if self._spec.kind == "jsonl" and self._spec.columns:
            self._seen.update(values)
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
        if self._spec.columns is None:
            names = {column: column.strip() for column in values if column.strip()}
            return {name if is_case_field(name) else f"variables.{name}": column for column, name in names.items()}
        there = {column.strip(): column for column in values}
        mapped = self._spec.columns.items()
        return {name: there[column.strip()] for name, column in mapped if column.strip() in there}

    def _name(self, row: Row, value: dict[str, Json], columns: Mapping[str, str]) -> bool:
        """Whether the case has a name that no case before it has; gives it one where the file has none for any."""
        name = value.get("name")
        if name is None:
            if "name" in (columns if self._spec.columns is None else self._spec.columns):
                self._fault(row, columns.get("name", "name"), "a name", "none")
                return False
            name = value["name"] = f"{self._stem}-{row.number}"
        if not isinstance(name, str):
            return True  # for the reader of cases to tell
        if name in self._names:
            found = f"{name[:80]!r}, which line {self._names[name]} has"
            self._fault(row, columns.get("name", "name"), "a name of its own", found)
            return False
        self._names[name] = row.number
        return True

    def _fault(self, row: Row, column: str, expected: str, found: str, hint: str | None = None) -> None:
        self._told.add(
            Fault(path=column, expected=expected, found=found, hint=hint, file=self._spec.path, line=row.number)
        )
