"""A comparison as one JSON document, versioned (`jurat_comparison`): the head and the summary, then a case a line.

The cases come before what they come to, so that they are put aside on the disk until the summary is known: a comparison
of any size is written in constant memory. Two comparisons of the same runs are equal byte for byte.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from typing import IO, Protocol

from jurat.jsontext import Json

__all__ = ["COMPARISON_VERSION", "ComparisonWriter", "Sink"]

COMPARISON_VERSION = 1
"""Numbers the shape."""

_IN_MEMORY = 8_000_000
_encode = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode
_SURROGATE = re.compile("[\ud800-\udfff]")


class Sink(Protocol):
    """Where bytes of UTF-8 go."""

    def write(self, data: bytes, /) -> object: ...


class ComparisonWriter:
    """Writes a comparison: `case` once for each, then `end` with everything else. A context manager."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._aside: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # closed by __exit__
        self._between = b"\n"

    def __enter__(self) -> ComparisonWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._aside.close()

    def case(self, case: Mapping[str, Json]) -> None:
        """Put one case aside (`CaseComparison.to_json()`)."""
        self._aside.write(self._between + _bytes(case))
        self._between = b",\n"

    def end(self, head: Mapping[str, Json]) -> None:
        """Write the whole; `head` is everything of the comparison but its cases."""
        lines = [_bytes(name) + b":" + _bytes(value) for name, value in head.items()]
        self._sink.write(b"{" + b",\n".join(lines) + b',\n"cases":[')
        self._aside.seek(0)
        shutil.copyfileobj(self._aside, self._sink)
        self._sink.write(b"\n]}\n")


def _bytes(value: Json) -> bytes:
    text = _encode(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate is no character, and no reason to lose a comparison
        return _SURROGATE.sub("\ufffd", text).encode("utf-8")
