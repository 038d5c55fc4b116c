"""A suite in the making: what all cases share, and what was counted on the way.

An importer writes the suite's own parts here while it gives away case after case; what hangs on the cases, such as
whether somebody has to answer, is settled when the last has come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jurat.importing.source import Source
from jurat.jsontext import Json

__all__ = ["Draft", "Raw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A case as an importer makes it, not yet checked, and where it came from.

    Attributes:
        literal: whether `{{` in its messages is text, as in every recorded conversation.
    """

    source: Source
    path: str
    case: dict[str, Any]
    line: int | None = None
    literal: bool = True

    def note(self, path: str, reason: str) -> None:
        """Note something about a part of it."""
        inner = path if path.startswith("[") or not self.path or not path else f".{path}"
        self.source.note(f"{self.path}{inner}", reason, line=self.line)


@dataclass(slots=True, kw_only=True)
class Draft:
    """The suite without its cases.

    Attributes:
        provider: who answers and judges where the file names nobody.
        head: the suite's members by their names.
        wanted: paths into items that templates of the file refer to.
        names: the names of cases, with how many wanted each.
        cases, assertions, unanswered: how many cases and assertions were taken over, and cases without an output.
    """

    provider: str | None = None
    head: dict[str, Any] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)
    names: dict[str, int] = field(default_factory=dict)
    cases: int = 0
    assertions: int = 0
    unanswered: int = 0

    def add_provider(self, row: Mapping[str, Json]) -> str:
        """Add a provider row unless it stands there already; the name that it has now."""
        rows = self.head.setdefault("providers", [])
        plain = dict(row)
        for one in rows:
            if {**one, "name": ""} == {**plain, "name": ""}:
                return str(one["name"])
        taken = {one["name"] for one in rows}
        name, number = str(plain["name"]), 2
        while name in taken:
            name, number = f"{plain['name']}-{number}", number + 1
        rows.append({**plain, "name": name})
        return name
