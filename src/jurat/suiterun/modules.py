"""Python modules beside a suite: importable while it runs, and never taken for one of the same name from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jurat.errors import Fault
from jurat.suite.suite import SubjectKind, Suite

__all__ = ["foreign_modules"]


def foreign_modules(suite: Suite, folder: Path) -> list[Fault]:
    """Make the suite's folder a place to import from, and find out what would come from somewhere else all the same.

    A module is imported once in a process. A second suite whose folder has one of the same name would be run with the
    first one's functions, and nobody would notice.
    """
    wanted = dict(_functions(suite))
    if not wanted:
        return []
    place = folder.resolve()
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))
    faults = []
    for function, path in wanted.items():
        name = function.partition(":")[0]
        own = _own_file(place, name)
        loaded = getattr(sys.modules.get(name), "__file__", None)
        if own is not None and loaded is not None and Path(loaded).resolve() != own:
            hint = "Run the suites one by one, or give the modules names of their own"
            found = f"one of the same name that was imported from {Path(loaded).parent}"
            faults.append(Fault(path=path, expected=f"the module {name} beside the suite", found=found, hint=hint))
    return faults


def _own_file(folder: Path, name: str) -> Path | None:
    """The file of a module that stands in a folder."""
    stem = folder.joinpath(*name.split("."))
    return next((file for file in (stem.with_suffix(".py"), stem / "__init__.py") if file.is_file()), None)


def _functions(suite: Suite) -> Iterator[tuple[str, str]]:
    """Every `module:function` of a suite, with the first path at which it stands."""
    found: dict[str, str] = {}

    def note(function: Any, path: str) -> None:
        if isinstance(function, str):
            found.setdefault(function, path)

    if suite.subject.kind is SubjectKind.PYTHON:
        note(suite.subject.settings.get("function"), "subject")
    for index, row in enumerate(suite.providers.values()):
        if row.get("kind") == "python":
            note(row.get("function"), f"providers[{index}].function")
    for index, case in enumerate(suite.cases):
        for place, one in enumerate(case.assertions):
            if one.get("type") == "python":
                note(one.get("function", one.get("value")), f"cases[{index}].assertions[{place}]")
    yield from found.items()
