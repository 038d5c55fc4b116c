"""Reads one case, as it stands in a suite file or comes out of a cases file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from jurat.errors import Fault
from jurat.jsontext import Json
from jurat.suite.case import Case, CaseDocument, Place
from jurat.suite.manifest_keys import CASE, LISTS
from jurat.suite.manifest_secrets import case_secrets
from jurat.suite.shapes import inner

__all__ = ["read_case"]

Assertions = tuple[Mapping[str, Json], ...]


def read_case(
    value: object, path: str, faults: list[Fault], *, place: Place, shared: Assertions = ()
) -> tuple[Case | None, bool]:
    """One case, checked for everything that can be seen in it alone.

    Args:
        value: as it was written.
        path: where it stands (`cases[2]`), for the faults; empty for a row.
        place: where it was written.
        shared: the assertions of the whole suite, which come before its own.

    Returns:
        The case as far as it is sound, None when it has no name; and whether all of its parts could be read, so that
        they can be held against one another.
    """
    read = CASE.read_parts(value, path, faults)
    if not isinstance(value, Mapping):
        return None, False
    faults.extend(case_secrets(value, path))
    if "execution" in value and "output" not in value:
        faults.append(
            Fault(
                path=inner(path, "execution"), expected="an output beside it, whose making it tells", found="no output"
            )
        )
    if "name" not in read:
        return None, False
    whole = all(name in read for name in value if name in CASE.keys)
    if "assertions" not in read and isinstance(value.get("assertions"), list | tuple):
        read["assertions"] = _in_place(value["assertions"])
    if not whole and "variables" in value and "variables" not in read:
        read.pop("assertions", None)  # their placeholders could not be filled
        shared = ()
    return _made(read, place, shared), whole


def _in_place(written: Sequence[object]) -> Assertions:
    """The assertions that are sound, each at its index; an empty one stands for each that is not."""
    sound = dict(LISTS["assertions"].read_parts(written, "", []))
    return tuple(sound.get(index, MappingProxyType({})) for index in range(len(written))) if sound else ()


def _made(read: dict[str, Any], place: Place, shared: Assertions) -> Case:
    if "documents" in read:
        read["documents"] = tuple(_document(one) for one in read["documents"])
    given = {name: part for name, part in read.items() if name == "expected" or not _is_empty(part)}
    own = given.pop("assertions", ())
    return Case(**given, assertions=shared + own if own else shared, place=place)


def _is_empty(part: object) -> bool:
    """Whether the default says as much, in one object for all cases."""
    return isinstance(part, tuple | Mapping) and not part


def _document(value: str | dict[str, Any]) -> CaseDocument:
    given = {"path": value} if isinstance(value, str) else value
    if "path" in given:
        name = given.get("name") or given["path"].rpartition("/")[2]
        return CaseDocument(
            name=name,
            path=given["path"],
            media_type=given.get("media_type"),
            attach=bool(given.get("attach", False)),
        )
    text = given["text"]
    return CaseDocument(
        name=given.get("name", ""),
        media_type=given.get("media_type", "text/plain"),
        text=text,
        attach=bool(given.get("attach", False)),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
