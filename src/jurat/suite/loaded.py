"""A suite together with where each part of it was written, in whichever of its files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from jurat.errors import Fault
from jurat.suite.case import Place
from jurat.suite.suite import Suite
from jurat.yamltext import Document

__all__ = ["LoadedSuite", "Origin", "follows"]

_HEAD = re.compile(r"(cases|assertions|providers|prompts)\[(\d{1,9})\]")
_SPELLED = {"reducer": "sampling.reducer", "samples": "sampling.samples", "subject.function": "subject.python"}
"""Where in the file stands what the suite calls otherwise."""
_ASSERTION = re.compile(r"\.assertions\[(\d{1,9})\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The file in which a part stands, and its path there."""

    document: Document
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite, and where it was written.

    Attributes:
        suite: the suite.
        document: the suite file itself.
        origins: where the parts stand that may come from other files, by `cases`, `assertions` (those of the whole
            suite), `providers` and `prompts`, in the suite's order. Cases of a `cases_file` are behind those listed.
    """

    suite: Suite
    document: Document
    origins: Mapping[str, tuple[Origin, ...]] = field(repr=False)

    def locate(self, path: str) -> Place:
        """Where the value at a path of the suite was written, such as `cases[2].assertions[0].threshold`.

        A case's assertions are counted as in `Case.assertions`: the suite's own come first. For a path that is not
        there, the place of the closest value around it.
        """
        found = self._origin(path)
        if isinstance(found, Place):
            return found
        return Place(file=found.document.file, line=found.document.line_of(found.path))

    def placed(self, faults: Iterable[Fault]) -> list[Fault]:
        """The faults with file and line, and with the paths that their authors know; each told once.

        A fault of an assertion of the whole suite would otherwise be told for every case. One that names a file already
        stays as it is.
        """
        made: dict[Fault, None] = {}
        for fault in faults:
            if fault.file is not None:
                made[fault] = None
                continue
            place, found = self.locate(fault.path), self._origin(fault.path)
            path = fault.path if isinstance(found, Place) else found.path
            made[replace(fault, path=path, file=place.file, line=place.line)] = None
        return list(made)

    def _origin(self, path: str) -> Origin | Place:
        head = _HEAD.match(path)
        if head is None:
            return Origin(document=self.document, path=_spelled(path))
        part, index, rest = head[1], int(head[2]), path[head.end() :]
        if part == "cases" and (own := _ASSERTION.match(rest)):
            shared = self.origins["assertions"]
            number, tail = int(own[1]), rest[own.end() :]
            if number < len(shared):
                return _beneath(shared[number], tail)
            rest = f".assertions[{number - len(shared)}]{tail}"
        known = self.origins.get(part, ())
        if index < len(known):
            return _beneath(known[index], rest)
        if part == "cases" and index < len(self.suite.cases):
            return self.suite.cases[index].place
        return Origin(document=self.document, path=path)


def _spelled(path: str) -> str:
    return next((there + path[len(own) :] for own, there in _SPELLED.items() if _within(path, own)), path)


def _within(path: str, above: str) -> bool:
    return path == above or (path.startswith(above) and path[len(above)] in ".[")


def follows(fault: Fault, told: Iterable[Fault]) -> bool:
    """Whether a fault is of a value that is refused already, whole: what it lacks then says nothing more."""
    return any(one.file == fault.file and one.path and _within(fault.path, one.path) for one in told)


def _beneath(origin: Origin, rest: str) -> Origin:
    return Origin(document=origin.document, path=origin.path + rest)
