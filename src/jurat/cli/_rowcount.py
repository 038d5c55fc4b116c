"""How many rows a job will judge, found out beforehand, so that progress can be told in parts of a whole.

What was read says little of what is done: a small file is read whole before the first verdict. So rows are counted as
the readers of `jurat.suite` count them, blank ones left out, and no further than to the job's limit. A file that is too
large to count, or is no text, has an unknown number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import IO

__all__ = ["row_count"]

_COUNTED = 64 * 1024 * 1024
"""How large an input may be for its rows to be counted beforehand: some tenths of a second."""
_BLANK_CELLS = b' ",;\t\r\n'
"""What a row of empty cells is made of."""


class _NeverClosed(Exception):
    """A quotation mark that is never closed: where rows begin is then another matter."""


def row_count(stream: IO[bytes], size: int | None, limit: int | None) -> int | None:
    """How many rows of an open input will be judged, its place left as it was.

    Args:
        size: the bytes of the input; None where it cannot be read twice.
        limit: how many rows at most; None for all.

    Returns:
        None where it is not known.
    """
    name = str(getattr(stream, "name", "")).lower()
    if size is None or size > _COUNTED or name.endswith(".parquet"):
        return None
    at = stream.tell()
    rows = _csv_rows(stream) if name.endswith((".csv", ".tsv")) else (line for line in stream if line.strip())
    try:
        return sum(1 for _ in itertools.islice(rows, limit))
    except _NeverClosed:
        return None
    finally:
        stream.seek(at)


def _csv_rows(stream: IO[bytes]) -> Iterator[bytes]:
    """The last line of every row behind the column names that has something in it."""
    if stream.readline().lstrip(b'\xef\xbb\xbf"').lower().startswith(b"sep="):
        stream.readline()
    inside = filled = False
    for line in stream:
        inside ^= line.count(b'"') % 2 == 1
        filled |= bool(line.strip(_BLANK_CELLS))
        if not inside:
            if filled:
                yield line
            filled = False
    if inside:
        raise _NeverClosed
