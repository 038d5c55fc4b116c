"""From a row's columns to a context: which column is which field.

`output=answer,rendered_input=question,context=passage` says that the output stands in the column `answer`, and so on.
A field that is not mapped is taken from the column of its own name, if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from jurat.errors import AuthoringError, Fault
from jurat.evidence import Context
from jurat.jsontext import Json, canonical
from jurat.suite.rows import Row
from jurat.vocabulary import nearest

__all__ = ["FIELDS", "Columns", "Item", "parse_mapping"]

FIELDS = ("output", "rendered_input", "expected", "context", "messages", "documents", "metadata", "id")
"""What a column can be mapped to. `context` is the grounding text."""

_TEXTS = ("output", "rendered_input", "context")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A row made ready to judge: a context and its grounding text, or the fault that prevents it.

    `kept` holds the columns that are passed through to the verdict unread.
    """

    row: Row
    id: str | None = None
    context: Context | None = None
    grounding: str | None = None
    kept: Mapping[str, Json] | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column each field comes from, and which columns are passed through."""

    fields: Mapping[str, str]
    kept: tuple[str, ...] = ()
    name: str = "input"

    def item(self, row: Row) -> Item:
        """Make a row ready. What is wrong with it is in the item, not raised."""
        if row.values is None:
            return Item(row=row, fault=row.fault)
        found: dict[str, Json] = {}
        for field, column in self.fields.items():
            if column in row.values:
                found[field] = row.values[column]
            elif field == "output" or column != field:
                return Item(row=row, fault=self._fault(row, column, f"the column for {field}", "no such column"))
        return self._item(row, found)

    def _item(self, row: Row, found: dict[str, Json]) -> Item:
        for field in _TEXTS:
            if found.get(field) is not None:
                found[field] = as_text(found[field])
        name, grounding = found.pop("id", None), found.pop("context", None)
        kept = {column: row.values.get(column) for column in self.kept} if row.values and self.kept else None
        given = {field: value for field, value in found.items() if value is not None or field == "output"}
        try:
            context = Context(**given)
        except AuthoringError as error:
            first = error.faults[0]
            path = self.fields.get(first.path.partition(".")[0].partition("[")[0], first.path)
            return Item(row=row, kept=kept, fault=self._fault(row, path, first.expected, first.found))
        return Item(
            row=row, id=None if name is None else as_text(name), context=context, grounding=grounding, kept=kept
        )

    def _fault(self, row: Row, path: str, expected: str, found: str) -> Fault:
        return Fault(path=path, expected=expected, found=found, file=self.name, line=row.number)


def as_text(value: Json) -> str:
    """Text as it is; any other JSON value in its canonical form, which is then what quotes are checked against."""
    return value if isinstance(value, str) else canonical(value)


def parse_mapping(text: str, *, kept: Sequence[str] = (), name: str = "input") -> Columns:
    """Read `field=column,field=column`; every field that is not named keeps its own name.

    Raises:
        AuthoringError: for a part without `=`, an unknown field (the nearest is named) or a field given twice.
    """
    fields = {field: field for field in FIELDS}
    faults: list[Fault] = []
    given: set[str] = set()
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column:
            faults.append(Fault(path="--map", expected="field=column", found=repr(part)))
        elif field not in FIELDS:
            near = nearest(field, FIELDS)
            hint = f"Did you mean {near}?" if near else None
            faults.append(Fault(path="--map", expected="one of " + ", ".join(FIELDS), found=repr(field), hint=hint))
        elif field in given:
            faults.append(Fault(path="--map", expected=f"{field} once", found="it twice"))
        else:
            given.add(field)
            fields[field] = column
    if faults:
        raise AuthoringError("column mapping", faults)
    return Columns(fields=MappingProxyType(fields), kept=tuple(kept), name=name)
