"""What a suite says of its cases file: which file, of what format, and which column is which field of a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, found_word, type_name
from jurat.suite.rows import KINDS, file_kind
from jurat.vocabulary import nearest

__all__ = ["CASE_FIELDS", "CasesFile", "cases_file_spec", "is_case_field"]

CASE_FIELDS = (
    *("name", "variables", "messages", "documents", "expected", "output"),
    *("execution", "labels", "metadata", "assertions", "pass_threshold"),
)
"""What a column can be mapped to; of variables, metadata and execution also one member: `variables.country`."""

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
