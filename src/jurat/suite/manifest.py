"""Reads suite files: from a file's text to a suite, or every fault at once with file, line and path.

A suite file, the files that it includes and its cases file are read as one. The order of what they hold is: the file
itself, then each included file in turn, then the rows of the cases file. What is sound is read on when something else
is not, so that an author hears of everything together. Nothing here opens a file: `SuiteFiles` does.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.suite.case import Case, Place
from jurat.suite.cases_file import cases_file_spec, read_cases
from jurat.suite.files import SuiteFiles
from jurat.suite.loaded import LoadedSuite, Origin
from jurat.suite.manifest_case import read_case
from jurat.suite.manifest_checks import CaseChecks, prompt_faults, respelled_faults
from jurat.suite.manifest_keys import FRAGMENT, SUITE
from jurat.suite.manifest_parts import made_limits, made_prompts, made_subject
from jurat.suite.manifest_secrets import file_secrets
from jurat.suite.shapes import Record
from jurat.suite.suite import Prompt, Suite
from jurat.yamltext import MAX_BYTES, Document, parse_document

__all__ = ["gather_suite", "read_suite"]

MAX_DEPTH = 8
"""How deep files may include one another."""
MAX_FILES = 1_000
MOST_ROW_FAULTS = 100
"""How many faults of the rows of a cases file are told one by one."""

_APART = ("cases", "cases_file")


def read_suite(text: bytes, name: str, files: SuiteFiles) -> LoadedSuite:
    """Read a suite file and the files that it names, its documents left aside.

    Args:
        text: the file's content, JSON when its name ends in `.json`, YAML otherwise.
        name: the file as its author calls it.
        files: the suite's folder.

    Raises:
        AuthoringError: with every fault of every file.
    """
    faults: list[Fault] = []
    loaded = gather_suite(text, name, files, faults)
    if faults or loaded is None:
        raise AuthoringError("suite", faults)
    return loaded


def gather_suite(text: bytes, name: str, files: SuiteFiles, faults: list[Fault]) -> LoadedSuite | None:
    """As `read_suite`, but the faults are added to a list, and what is sound is given back all the same.

    Returns:
        The suite as far as it is sound; None when the file is no document with a name and cases.
    """
    try:
        document = parse_document(text, name)
    except AuthoringError as error:
        faults.extend(error.faults)
        return None
    reading = _Reading(files)
    reading.add_file(document, SUITE, trail=())
    loaded = reading.finish()
    faults.extend(reading.all_faults())
    return loaded


@dataclass(slots=True)
class _File:
    """One file of the suite: what it says, its members that were read, and its faults, still without lines."""

    document: Document
    read: dict[str, Any]
    faults: list[Fault]

    def fault(self, path: str, expected: str, found: str, hint: str | None = None) -> None:
        self.faults.append(Fault(path=path, expected=expected, found=found, hint=hint))

    def placed_faults(self) -> list[Fault]:
        """The faults with file and line, in the order of the file."""
        return sorted((self._placed(fault) for fault in self.faults), key=lambda fault: fault.line or 0)

    def _placed(self, fault: Fault) -> Fault:
        document = self.document
        spelling = document.spelling_of(fault.path) if fault.found == "a number" else None
        found = f"the number {spelling}" if spelling else fault.found
        return replace(fault, found=found, file=document.file, line=document.line_of(fault.path))


@dataclass(slots=True)
class _Parts:
    """Members of one kind from all files, by name, with where each stands."""

    what: str
    named: dict[str, Any] = field(default_factory=dict)
    origins: list[Origin] = field(default_factory=list)

    def add(self, name: str, value: Any, file: _File, path: str, name_path: str) -> None:
        if name in self.named:
            first = self.origins[list(self.named).index(name)]
            there = f"{first.document.file}:{first.document.line_of(first.path)}"
            file.fault(name_path, "a name of its own", f"the name of the {self.what} at {there}")
            return
        self.named[name] = value
        self.origins.append(Origin(document=file.document, path=path))


class _Told:
    """The faults of rows: the first ones as they are, the others as a number."""

    def __init__(self, faults: list[Fault], name: str) -> None:
        self._faults, self._name, self._count = faults, name, 0

    def add(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self._count += 1
            if self._count <= MOST_ROW_FAULTS:
                self._faults.append(fault)

    def close(self) -> None:
        if (more := self._count - MOST_ROW_FAULTS) > 0:
            found = f"and {more:,} more faults, which are not listed"
            self._faults.append(Fault(path="rows", expected="cases", found=found, file=self._name))


class _Reading:
    """One reading of a suite with all of its files."""

    def __init__(self, files: SuiteFiles) -> None:
        self._disk = files
        self._files: list[_File] = []
        self._names: set[str] = set()
        self._providers = _Parts("provider")
        self._prompts = _Parts("prompt")
        self._assertions: list[Mapping[str, Json]] = []
        self._assertion_origins: list[Origin] = []
        self._cases: list[Case] = []
        self._case_origins: list[Origin] = []
        self._case_places: dict[str, Place] = {}
        self._row_faults: list[Fault] = []

    def all_faults(self) -> list[Fault]:
        return [fault for file in self._files for fault in file.placed_faults()] + self._row_faults

    # --- files -----------------------------------------------------------------------------------------------------

    def add_file(self, document: Document, shape: Record, trail: tuple[str, ...]) -> None:
        """Read a file, its cases left for later, and then the files that it includes."""
        faults: list[Fault] = []
        read = shape.read_parts(document.value, "", faults, _APART)
        file = _File(document, read, faults)
        self._files.append(file)
        if isinstance(document.value, Mapping):
            faults.extend(file_secrets(document.value))
            faults.extend(respelled_faults(document))
        self._merge(file)
        include = read.get("include", ())
        for index, path in enumerate((include,) if isinstance(include, str) else include):
            self._include(file, "include" if isinstance(include, str) else f"include[{index}]", path, trail)

    def _merge(self, file: _File) -> None:
        for index, row in enumerate(file.read.get("providers", ())):
            path = f"providers[{index}]"
            self._providers.add(row["name"], row, file, path, f"{path}.name")
        for prompt, path in made_prompts(file.read):
            self._prompts.add(prompt.name, prompt, file, path, path)
        for index, assertion in enumerate(file.read.get("assertions", ())):
            self._assertions.append(assertion)
            self._assertion_origins.append(Origin(document=file.document, path=f"assertions[{index}]"))

    def _include(self, file: _File, at: str, path: str, trail: tuple[str, ...]) -> None:
        name = posixpath.normpath(path)
        if name in trail:
            file.fault(at, "files that do not include one another in a circle", " → ".join((*trail, name)))
        elif name in self._names or name == file.document.file:
            file.fault(at, "each file included once", f"{path!r} again")
        elif len(trail) >= MAX_DEPTH or len(self._names) >= MAX_FILES:
            bound = f"at most {MAX_DEPTH} files within one another and {MAX_FILES:,} in all"
            file.fault(at, bound, "more")
        else:
            self._names.add(name)
            if (document := self._fragment(file, at, path)) is not None:
                self.add_file(document, FRAGMENT, (*trail, name))

    def _fragment(self, file: _File, at: str, path: str) -> Document | None:
        try:
            content = self._disk.read(path, limit=MAX_BYTES)
        except AuthoringError as error:
            for fault in error.faults:
                file.fault(at, fault.expected, fault.found, fault.hint)
            return None
        try:
            return parse_document(content, path)
        except AuthoringError as error:
            self._row_faults.extend(error.faults)
            return None

    # --- the whole -------------------------------------------------------------------------------------------------

    def finish(self) -> LoadedSuite | None:
        """Read the cases, look at how the parts fit together, and make the suite as far as it is sound."""
        main = self._files[0]
        prompts = tuple(self._prompts.named.values())
        subject = made_subject(main.read.get("subject"))
        prompt = self._prompt(main, prompts, subject.prompt)
        self._check_prompts(prompts)
        checks = CaseChecks(subject, prompt, self._assertions)
        for fault in checks.assertion_faults:
            self._fault_at(self._assertion_origins, fault)
        self._read_cases(checks)
        self._read_rows(main, checks)
        self._look_for_cases(main)
        main.faults.extend(checks.subject_faults)
        if subject_fault := checks.subject_fault():
            main.faults.append(subject_fault)
        return self._made(main, prompts, subject)

    def _made(self, main: _File, prompts: tuple[Prompt, ...], subject: Any) -> LoadedSuite | None:
        read = main.read
        if "suite" not in read:
            return None
        sampling = read.get("sampling", {})
        suite = Suite(
            name=read["suite"],
            description=read.get("description"),
            subject=subject,
            cases=tuple(self._cases),
            providers=MappingProxyType(self._providers.named),
            prompts=prompts,
            samples=sampling.get("samples", 1),
            reducer=sampling.get("reducer", "all"),
            policy=read.get("policy", ()),
            limits=made_limits(read.get("limits", {})),
            file=main.document.file,
        )
        origins = {
            "cases": tuple(self._case_origins),
            "assertions": tuple(self._assertion_origins),
            "providers": tuple(self._providers.origins),
            "prompts": tuple(self._prompts.origins),
        }
        return LoadedSuite(suite=suite, document=main.document, origins=MappingProxyType(origins))

    def _prompt(self, main: _File, prompts: tuple[Prompt, ...], wanted: str | None) -> Prompt | None:
        """The prompt that is used, or None."""
        if wanted is None:
            if len(prompts) > 1:
                path = "subject" if "subject" in main.read else "prompts"
                names = ", ".join(self._prompts.named)
                main.fault(
                    path, f"the subject to say which prompt it takes: {names}", "none", "Write {…, prompt: NAME}"
                )
            return prompts[0] if len(prompts) == 1 else None
        if wanted not in self._prompts.named:
            names = ", ".join(self._prompts.named) or "none"
            main.fault("subject.prompt", f"a prompt of the suite ({names})", repr(wanted[:80]))
        return self._prompts.named.get(wanted)

    def _check_prompts(self, prompts: tuple[Prompt, ...]) -> None:
        for index, prompt in enumerate(prompts):
            for fault in prompt_faults(prompt, f"prompts[{index}]"):
                self._fault_at(self._prompts.origins, fault)

    def _fault_at(self, origins: list[Origin], fault: Fault) -> None:
        """Give a fault whose path begins with an index (`prompts[1].text`) to the file in which that part stands."""
        head, _, rest = fault.path.partition("]")
        origin = origins[int(head.partition("[")[2])]
        file = next(file for file in self._files if file.document is origin.document)
        file.faults.append(replace(fault, path=origin.path + rest))

    # --- cases -----------------------------------------------------------------------------------------------------

    def _read_cases(self, checks: CaseChecks) -> None:
        shared = tuple(self._assertions)
        for file in self._files:
            values = file.read.get("cases", ())
            if not isinstance(values, list | tuple):
                SUITE.keys["cases"].shape.read(values, "cases", file.faults)
                continue
            for index, value in enumerate(values):
                path, document = f"cases[{index}]", file.document
                place = Place(file=document.file, line=document.line_of(path))
                case = read_case(value, path, file.faults, place=place, shared=shared)
                if case is None:
                    continue
                file.faults.extend(checks.faults_of(case, path))
                if (there := self._taken(case)) is not None:
                    file.fault(f"{path}.name", "a name of its own", f"the name of the case at {there}")
                    continue
                self._cases.append(case)
                self._case_origins.append(Origin(document=document, path=path))

    def _taken(self, case: Case) -> str | None:
        """Where a case of the same name was written; or notes that the name is taken now."""
        first = self._case_places.setdefault(case.name, case.place)
        return None if first is case.place else f"{first.file}:{first.line}"

    def _read_rows(self, main: _File, checks: CaseChecks) -> None:
        if "cases_file" not in main.read:
            return
        before = len(main.faults)
        SUITE.keys["cases_file"].shape.read(main.read["cases_file"], "cases_file", main.faults)
        if len(main.faults) > before:
            return
        spec = cases_file_spec(main.read["cases_file"], "cases_file", main.faults)
        if spec is None:
            return
        faults: list[Fault] = []
        told = _Told(self._row_faults, spec.path)
        shared = tuple(self._assertions)
        for row in read_cases(self._disk, spec, "cases_file", faults):
            found: list[Fault] = []
            case = read_case(row.value, "", found, place=row.place, shared=shared)
            if case is not None:
                found += checks.faults_of(case, "")
                if (there := self._taken(case)) is not None:
                    found.append(
                        Fault(path="name", expected="a name of its own", found=f"the name of the case at {there}")
                    )
                self._cases.append(case)
            told.add(replace(fault, file=row.place.file, line=row.place.line) for fault in found)
        main.faults.extend(fault for fault in faults if fault.file is None)
        self._row_faults.extend(fault for fault in faults if fault.file is not None)
        told.close()

    def _look_for_cases(self, main: _File) -> None:
        faults = any(file.faults for file in self._files) or self._row_faults
        if not self._cases and not faults:
            main.fault("cases", "at least one case", "none")
