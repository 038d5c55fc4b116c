"""Reads one case, as it stands in a suite file or comes out of a cases file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from jurat.errors import Fault
from jurat.jsontext import Json
from jurat.suite.case import Case, CaseDocument, Place
from jurat.suite.manifest_keys import CASE
from jurat.suite.manifest_secrets import case_secrets

__all__ = ["read_case"]

Assertions = tuple[Mapping[str, Json], ...]


def read_case(value: object, path: str, faults: list[Fault], *, place: Place, shared: Assertions = ()) -> Case | None:
    """One case, checked for everything that can be seen in it alone.

    Args:
        value: as it was written.
        path: where it stands (`cases[2]`), for the faults; empty for a row.
        place: where it was written.
        shared: the assertions of the whole suite, which come before its own.

    Returns:
        None when there was a fault.
    """
    before = len(faults)
    read = CASE.read_parts(value, path, faults)
    if isinstance(value, Mapping):
        faults.extend(case_secrets(value, path))
    if "execution" in read and "output" not in read:
        inner = f"{path}.execution" if path else "execution"
        faults.append(Fault(path=inner, expected="an output beside it, whose making it tells", found="no output"))
    if len(faults) > before:
        return None
    if "documents" in read:
        read["documents"] = tuple(_document(one) for one in read["documents"])
    given = {name: part for name, part in read.items() if part not in (None, ())}
    given = {name: part for name, part in given.items() if part or not isinstance(part, Mapping)}
    own = given.pop("assertions", ())
    return Case(**given, assertions=shared + own if own else shared, place=place)


def _document(value: str | dict[str, Any]) -> CaseDocument:
    given = {"path": value} if isinstance(value, str) else value
    if "path" in given:
        name = given.get("name") or given["path"].rpartition("/")[2]
        return CaseDocument(name=name, path=given["path"], media_type=given.get("media_type"))
    text = given["text"]
    return CaseDocument(
        name=given.get("name", ""),
        media_type=given.get("media_type", "text/plain"),
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
