"""Rows of a Parquet file, a batch at a time; only the columns that are looked at are read.

A page that is damaged takes its row group with it, a value that cannot be turned into JSON its row: each such row is a
row with a fault, and the others stand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO, Any

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import NotJson, canonical
from jurat.suite.row import Row, bad_row

__all__ = ["parquet_rows"]

_BATCH = 256
_MOST_LOST = 1_000_000
"""How many unreadable rows of one group are told one by one; a damaged count may not make it more."""


def parquet_rows(stream: IO[bytes], name: str, wanted: Collection[str] | None = None) -> Iterator[Row]:
    """The rows of a Parquet file, in order. `wanted` columns alone are read; None: all.

    Raises:
        AuthoringError: when it is no Parquet file, or a column name stands twice.
    """
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise _whole(name, "pyarrow, to read Parquet", "none", "Run: pip install 'jurat[data]'") from None
    try:
        table = ParquetFile(stream)
        columns = tuple(table.schema_arrow.names)
        groups = [table.metadata.row_group(index).num_rows for index in range(table.num_row_groups)]
    except Exception:  # whatever the library raises for a damaged footer: it is no file that can be read
        raise _whole(name, "a Parquet file", "something else, or a damaged one") from None
    if twice := sorted({column for column in columns if columns.count(column) > 1}):
        raise _whole(name, "column names that differ", f"{twice[0]!r} more than once")
    chosen = columns if wanted is None else tuple(column for column in columns if column in wanted)
    return _rows(table, groups, columns, chosen, name)


def _rows(table: Any, groups: Sequence[int], columns: Sequence[str], chosen: Sequence[str], name: str) -> Iterator[Row]:
    before = 0
    for index, count in enumerate(groups):
        number = before
        for values in _group(table, index, chosen):
            number += 1
            yield _row(values, number, name, columns)
        for lost in range(number + 1, min(before + count, number + _MOST_LOST) + 1):
            yield bad_row(name, lost, "", "data that can be read", "a damaged part of the file")
        before += count


def _group(table: Any, index: int, chosen: Sequence[str]) -> Iterator[Mapping[str, Any] | None]:
    """The rows of one row group, as far as they can be read; None for one that cannot be turned into Python values."""
    batches = table.iter_batches(batch_size=_BATCH, row_groups=[index], columns=list(chosen))
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            batch = batch.select(list(chosen))
        except Exception:  # whatever the library raises: the caller tells every row that is missing
            return
        yield from _values(batch)


def _values(batch: Any) -> Iterator[Mapping[str, Any] | None]:
    try:
        values = batch.to_pylist()
    except Exception:  # one bad value: found row by row
        values = [_one(batch.slice(place, 1)) for place in range(batch.num_rows)]
    yield from values


def _one(row: Any) -> Mapping[str, Any] | None:
    try:
        values: Mapping[str, Any] = row.to_pylist()[0]
    except Exception:  # a value of which the library can make nothing
        return None
    return values


def _row(values: Mapping[str, Any] | None, number: int, name: str, columns: Sequence[str]) -> Row:
    if values is None:
        return bad_row(name, number, "", "JSON values", "text that is no UTF-8, or a value that cannot be read")
    try:
        digest = hashlib.sha256(canonical(values).encode()).hexdigest()
    except NotJson as error:
        return bad_row(name, number, "", "a JSON value", error.found, path=error.path or "row")
    return Row(number=number, digest=digest, values=values, columns=columns)


def _whole(name: str, expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("input", [Fault(path="", file=name, expected=expected, found=found, hint=hint)])
