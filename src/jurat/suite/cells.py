"""From a cell of a table to a field of a case.

A cell of CSV is text; JSON Lines and Parquet have values of their own. Either way a field gets what it can be: lists
and objects from JSON text, labels from words, a document from its path. What it cannot be is left for the reader of
cases to tell, or raised here when only the cell shows it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from jurat.jsontext import Json, JsonSyntaxError, canonical, parse_strict

__all__ = ["CellFault", "Cells", "typed_value"]

_STRUCTURES = ("variables", "messages", "documents", "execution", "metadata", "assertions")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_BETWEEN_LABELS = re.compile(r"[,;|]")


class CellFault(ValueError):
    """A cell that cannot become what its field needs."""

    def __init__(self, expected: str, found: str, hint: str | None = None) -> None:
        self.expected, self.found, self.hint = expected, found, hint
        super().__init__(f"expected {expected}, found {found}")


def typed_value(cell: str) -> Json:
    """A number, a boolean or null where the cell is exactly how that prints; otherwise the text as it is.

    So 42, -1.5 and true become values, while 007, 1.10, 1e3, +1 and TRUE stay what they are.
    """
    if not _SCALAR.fullmatch(cell):
        return cell
    try:
        value: Json = parse_strict(cell)
        return value if json.dumps(value) == cell else cell
    except (JsonSyntaxError, ValueError):  # a number that overflows, or one of thousands of digits
        return cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """How the cells of one file are read.

    Attributes:
        text: whether every cell is text, as in CSV.
        typed: whether text cells may become numbers, booleans and null.
    """

    text: bool
    typed: bool = False

    def put(self, case: dict[str, Json], name: str, cell: Json) -> None:
        """Write a cell into a case under a field such as `expected` or `variables.country`.

        A null is no value, and neither is an empty cell, except for an output and a variable: those can be empty text.

        Raises:
            CellFault: when the cell cannot become what the field needs.
        """
        root, dot, member = name.partition(".")
        if cell is None or (cell == "" and root not in ("output", "variables")):
            return
        if not dot:
            if root != "variables" or cell != "":
                self._put_whole(case, root, cell)
            return
        members = case.setdefault(root, {})
        if not isinstance(members, dict) or member in members:
            raise CellFault(f"{name} from one column", f"another column that gives {root}")
        members[member] = typed_value(cell) if root == "execution" and self.text else self._value(cell)

    def _put_whole(self, case: dict[str, Json], name: str, cell: Json) -> None:
        value = self._whole(name, cell)
        if value is None:
            return
        before = case.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            if twice := sorted(before.keys() & value.keys()):
                raise CellFault(f"{name}.{twice[0][:80]} from one column", "it in two")
            value = {**before, **value}
        case[name] = value

    def _whole(self, name: str, cell: Json) -> Json:
        if name == "name":
            return _name(cell)
        if name == "output":
            return _output(cell)
        if name == "labels" and isinstance(cell, str) and not cell.lstrip().startswith("["):
            return [label.strip() for label in _BETWEEN_LABELS.split(cell) if label.strip()]
        if name in (*_STRUCTURES, "labels") and isinstance(cell, str):
            return _structure(name, cell)
        if name == "pass_threshold" and self.text:
            return _number(cell)
        return self._value(cell)

    def _value(self, cell: Json) -> Json:
        return typed_value(cell) if self.typed and isinstance(cell, str) and self.text else cell


def _name(cell: Json) -> Json:
    if isinstance(cell, str):
        return cell.strip() or None
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) else cell


def _output(cell: Json) -> Json:
    """Text as it is, other values as JSON text. A bare number with a fraction is left: 1.10 would become 1.1."""
    return cell if isinstance(cell, str | float) else canonical(cell)


def _number(cell: str) -> Json:
    """The number that a cell spells, however it is spelled: 0.80 too. Other cells are left as they are."""
    try:
        value = parse_strict(cell)
    except JsonSyntaxError:
        return cell
    return value if isinstance(value, int | float) and not isinstance(value, bool) else cell


def _structure(name: str, cell: str) -> Any:
    if not cell.lstrip().startswith(("[", "{")):
        if name == "documents":
            return [cell.strip()]
        raise CellFault(f"JSON ({'an array' if name in ('messages', 'assertions') else 'an object'})", "other text")
    try:
        return parse_strict(cell)
    except JsonSyntaxError as error:
        raise CellFault("JSON", f"{error.what} (character {error.column} of the cell)") from None
