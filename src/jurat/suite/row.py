"""A row of the input: its number, and its values or the fault that prevents them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from jurat.errors import Fault
from jurat.jsontext import Json

__all__ = ["LineStream", "Row", "bad_row"]


class LineStream(Protocol):
    """Bytes that are read line by line."""

    def readline(self, limit: int, /) -> bytes:
        """The next line with its end, at most so many bytes of it; nothing at the end."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: its number (the line in the file, from 1), its values or its fault, and a digest of what it holds.

    `columns` names every column of the file where `values` need not hold them all.
    """

    number: int
    digest: str
    values: Mapping[str, Json] | None = None
    fault: Fault | None = None
    columns: Sequence[str] = ()


def bad_row(
    name: str, number: int, digest: str, expected: str, found: str, path: str = "row", hint: str | None = None
) -> Row:
    """A row that cannot be read."""
    fault = Fault(path=path, expected=expected, found=found, hint=hint, file=name, line=number)
    return Row(number=number, digest=digest, fault=fault)
