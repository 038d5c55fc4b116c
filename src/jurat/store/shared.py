"""Long texts that many result maps repeat are stored once.

A rubric in the author's own words may be thousands of characters long and stands in the result map of every assessment
that was made by it. Where it is long, the stored map names a snapshot of kind `text` in its place:
`{"metadata": {"rubric": {"jurat_text": "sha256:…"}}}`. Reading puts the text back.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from jurat.errors import StoreError
from jurat.jsontext import Json
from jurat.report.record import Snapshot
from jurat.store.texts import keep_canonical
from jurat.vocabulary import content_id

__all__ = ["KEY", "names_in", "part_of", "shared_part", "whole"]

KEY = "jurat_text"
_LONG = 256
_NAME = re.compile(rf'"{KEY}":"(sha256:[0-9a-f]{{64}})"')


def shared_part(result: Mapping[str, Json]) -> Snapshot | None:
    """What of a result map is to be stored apart: its rubric, where that is long."""
    metadata = result.get("metadata")
    rubric = metadata.get("rubric") if isinstance(metadata, Mapping) else None
    if isinstance(rubric, str):
        return _of_text(rubric) if len(rubric) > _LONG else None
    # Somebody's own value that looks like one of our names must not be taken for one.
    return _named(rubric) if isinstance(rubric, Mapping) and KEY in rubric else None


@functools.lru_cache(maxsize=64)
def _of_text(text: str) -> Snapshot:
    return _named(text)


def _named(value: Json) -> Snapshot:
    return Snapshot(hash=content_id(keep_canonical(value).encode()), kind="text", body=value)


def part_of(result: Mapping[str, Json], shared: Snapshot) -> dict[str, Json]:
    """The result map that is stored: with a name in the place of what is stored apart."""
    return {**result, "metadata": {**result["metadata"], "rubric": {KEY: shared.hash}}}


def names_in(stored: Iterable[str]) -> set[str]:
    """The snapshots that stored result maps name."""
    return {name for text in stored if KEY in text for name in _NAME.findall(text)}


def whole(result: dict[str, Json], texts: Mapping[str, Json]) -> dict[str, Json]:
    """The result map as it was, given the snapshots' bodies.

    Raises:
        StoreError: when the one that it names is not among them.
    """
    metadata = result.get("metadata")
    rubric = metadata.get("rubric") if isinstance(metadata, dict) else None
    if isinstance(metadata, dict) and isinstance(rubric, dict) and KEY in rubric:
        if rubric[KEY] not in texts:
            raise StoreError(f"the text {rubric[KEY]} of a result is not in the store; `jurat store verify` tells more")
        metadata["rubric"] = texts[rubric[KEY]]
    return result
