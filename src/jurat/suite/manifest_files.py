"""The files of a suite: the suite file itself and those that it includes, each read for what it holds.

Providers, prompts and assertions of all files come together here, with where each stands; cases are left as they were
written. An included file that cannot be read, includes in a circle or is included twice is a fault where it is named.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.suite.files import SuiteFiles
from jurat.suite.loaded import Origin
from jurat.suite.manifest_checks import respelled_faults
from jurat.suite.manifest_keys import FRAGMENT, LISTS, SUITE
from jurat.suite.manifest_parts import made_prompts
from jurat.suite.manifest_secrets import file_secrets
from jurat.suite.records import Record
from jurat.yamltext import MAX_BYTES, Document, read_document

__all__ = ["File", "Files", "Named"]

MAX_DEPTH = 8
"""How deep files may include one another."""
MAX_FILES = 1_000

_APART = (*LISTS, "cases_file")


@dataclass(slots=True)
class File:
    """One file of the suite.

    Attributes:
        read: its members that were read; the long lists and `cases_file` as they were written.
        faults: what is wrong with it, still without file and line.
    """

    document: Document
    read: dict[str, Any]
    faults: list[Fault]

    def fault(self, path: str, expected: str, found: str, hint: str | None = None) -> None:
        """Add a fault."""
        self.faults.append(Fault(path=path, expected=expected, found=found, hint=hint))

    def lacks(self, name: str) -> bool:
        """Whether a member was written, and could not be read."""
        value = self.document.value
        return isinstance(value, Mapping) and name in value and name not in self.read

    def placed_faults(self) -> list[Fault]:
        """The faults with file and line, in the order of the file; a number as it was spelled."""
        return sorted((self._placed(fault) for fault in self.faults), key=lambda fault: fault.line or 0)

    def _placed(self, fault: Fault) -> Fault:
        document = self.document
        spelling = document.spelling_of(fault.path) if fault.found == "a number" else None
        found = f"the number {spelling[:40]}" if spelling else fault.found
        return replace(fault, found=found, file=document.file, line=document.line_of(fault.path))


@dataclass(slots=True)
class Named:
    """Members of one kind from all files, each under a name of its own, with where it stands."""

    what: str
    values: dict[str, Any] = field(default_factory=dict)
    origins: list[Origin] = field(default_factory=list)

    def add(self, name: str, value: Any, file: File, path: str, name_path: str) -> None:
        """Add one, or a fault that names both places where its name was given."""
        if name in self.values:
            first = self.origins[list(self.values).index(name)]
            there = f"{first.document.file}:{first.document.line_of(first.path)}"
            file.fault(name_path, "a name of its own", f"the name of the {self.what} at {there}")
            return
        self.values[name] = value
        self.origins.append(Origin(document=file.document, path=path))


class Files:
    """All files of one suite.

    Attributes:
        every: the files that could be read, the suite file first.
        faults: what makes a file no sound document, with file and line.
        complete: whether every included file could be read.
    """

    def __init__(self, disk: SuiteFiles) -> None:
        self.every: list[File] = []
        self.faults: list[Fault] = []
        self.complete = True
        self.providers = Named("provider")
        self.prompts = Named("prompt")
        self.assertions: list[Mapping[str, Json]] = []
        self.assertion_origins: list[Origin] = []
        self._disk = disk
        self._names: set[str] = set()

    def lacks(self, *names: str) -> bool:
        """Whether any of these members was written somewhere, and could not be read."""
        return not self.complete or any(file.lacks(name) for file in self.every for name in names)

    def add(self, document: Document, shape: Record = SUITE, trail: tuple[str, ...] = ()) -> None:
        """Read a file, and then the files that it includes.

        Args:
            trail: the files that led here.
        """
        faults: list[Fault] = []
        read = shape.read_parts(document.value, "", faults, _APART)
        file = File(document, read, faults)
        self.every.append(file)
        if isinstance(document.value, Mapping):
            faults.extend(file_secrets(document.value))
            faults.extend(respelled_faults(document))
        self._merge(file)
        include = read.get("include", ())
        for index, path in enumerate((include,) if isinstance(include, str) else include):
            self._include(file, "include" if isinstance(include, str) else f"include[{index}]", path, trail)

    def _merge(self, file: File) -> None:
        for index, row in LISTS["providers"].read_parts(file.read.get("providers", ()), "providers", file.faults):
            path = f"providers[{index}]"
            self.providers.add(row["name"], row, file, path, f"{path}.name")
        for prompt, path in made_prompts(file.read):
            self.prompts.add(prompt.name, prompt, file, path, path)
        written = file.read.get("assertions", ())
        for index, assertion in LISTS["assertions"].read_parts(written, "assertions", file.faults):
            self.assertions.append(assertion)
            self.assertion_origins.append(Origin(document=file.document, path=f"assertions[{index}]"))

    def _include(self, file: File, at: str, path: str, trail: tuple[str, ...]) -> None:
        name = posixpath.normpath(path)
        if name in trail:
            file.fault(at, "files that do not include one another in a circle", " → ".join((*trail, name)))
        elif name in self._names:
            file.fault(at, "each file included once", f"{path!r} again")
        elif len(trail) >= MAX_DEPTH or len(self._names) >= MAX_FILES:
            bound = f"at most {MAX_DEPTH} files within one another and {MAX_FILES:,} in all"
            file.fault(at, bound, "more")
        else:
            self._names.add(name)
            if (document := self._fragment(file, at, path)) is not None:
                self.add(document, FRAGMENT, (*trail, name))

    def _fragment(self, file: File, at: str, path: str) -> Document | None:
        try:
            content = self._disk.read(path, limit=MAX_BYTES)
        except AuthoringError as error:
            self.complete = False
            for fault in error.faults:
                file.fault(at, fault.expected, fault.found, fault.hint)
            return None
        document = read_document(content, path, self.faults)
        self.complete = self.complete and document is not None
        return document

    def give(self, origins: list[Origin], fault: Fault) -> None:
        """Give a fault whose path begins with an index (`prompts[1].text`) to the file in which that part stands."""
        head, _, rest = fault.path.partition("]")
        origin = origins[int(head.partition("[")[2])]
        file = next(file for file in self.every if file.document is origin.document)
        file.faults.append(replace(fault, path=origin.path + rest))
