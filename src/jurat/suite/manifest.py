"""Reads suite files: from a file's text to a suite, or every fault at once with file, line and path.

A suite file, the files that it includes and its cases file are read as one. The order of what they hold is: the file
itself, then each included file in turn, then the rows of the cases file. What is sound is read on when something else
is not, so that an author hears of everything together. Nothing here opens a file: `SuiteFiles` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.suite.case import Case, Place
from jurat.suite.cases_file import CasesFile, cases_file_spec, read_cases
from jurat.suite.files import SuiteFiles
from jurat.suite.loaded import LoadedSuite, Origin, follows
from jurat.suite.manifest_case import read_case
from jurat.suite.manifest_checks import CaseChecks, prompt_faults
from jurat.suite.manifest_files import Files
from jurat.suite.manifest_keys import LISTS, SUITE
from jurat.suite.manifest_parts import made_limits, made_subject
from jurat.suite.records import Record
from jurat.suite.suite import Prompt, SubjectSpec, Suite
from jurat.yamltext import read_document

__all__ = ["gather_suite", "read_suite"]

MOST_ROW_FAULTS = 100
"""How many faults of the rows of a cases file are told one by one."""


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
        The suite as far as it is sound; None when the file is no document with a name.
    """
    read = Files(files)
    document = read_document(text, name, read.faults)
    if document is None:
        faults.extend(read.faults)
        return None
    read.add(document)
    reading = _Reading(read, files)
    loaded = reading.suite()
    found = [fault for file in read.every for fault in file.placed_faults()]
    faults.extend(fault for fault in found if not follows(fault, read.faults))
    faults.extend(read.faults)
    faults.extend(reading.row_faults)
    return loaded


class _Reading:
    """Makes a suite of files that were read: finds out who is asked what, and reads the cases in that light."""

    def __init__(self, files: Files, disk: SuiteFiles) -> None:
        self._files, self._main, self._disk = files, files.every[0], disk
        self._cases: list[Case] = []
        self._origins: list[Origin] = []
        self._places: dict[str, Place] = {}
        self.row_faults: list[Fault] = []

    def suite(self) -> LoadedSuite | None:
        """The suite as far as it is sound."""
        files, main = self._files, self._main
        prompts: tuple[Prompt, ...] = tuple(files.prompts.values.values())
        subject = None if files.lacks("subject") else made_subject(main.read.get("subject"))
        prompt = self._prompt(prompts, subject.prompt if subject else None)
        for index, one in enumerate(prompts):
            for fault in prompt_faults(one, f"prompts[{index}]"):
                files.give(files.prompts.origins, fault)
        checks = CaseChecks(subject, prompt, files.assertions, asks=bool(prompts) or files.lacks("prompt", "prompts"))
        for fault in checks.assertion_faults:
            files.give(files.assertion_origins, fault)
        self._read_cases(checks)
        if (spec := self._cases_file()) is not None:
            self._read_rows(spec, checks)
        self._look_for_cases()
        main.faults.extend(checks.subject_faults())
        return self._made(prompts, subject or made_subject(None))

    def _made(self, prompts: tuple[Prompt, ...], subject: SubjectSpec) -> LoadedSuite | None:
        files, read = self._files, self._main.read
        if "suite" not in read:
            return None
        sampling = self._sound_parts("sampling")
        suite = Suite(
            name=read["suite"],
            description=read.get("description"),
            subject=subject,
            cases=tuple(self._cases),
            providers=MappingProxyType(files.providers.values),
            prompts=prompts,
            samples=sampling.get("samples", 1),
            reducer=sampling.get("reducer", "all"),
            policy=read.get("policy", ()),
            limits=made_limits(self._sound_parts("limits")),
            file=self._main.document.file,
        )
        origins = {
            "cases": tuple(self._origins),
            "assertions": tuple(files.assertion_origins),
            "providers": tuple(files.providers.origins),
            "prompts": tuple(files.prompts.origins),
        }
        return LoadedSuite(suite=suite, document=self._main.document, origins=MappingProxyType(origins))

    def _sound_parts(self, name: str) -> Mapping[str, Any]:
        """What could be read of an object of the suite, though something else in it is at fault."""
        written = self._main.document.value.get(name, {})
        shape = SUITE.keys[name].shape
        return shape.read_parts(written, name, []) if isinstance(shape, Record) else {}

    def _prompt(self, prompts: tuple[Prompt, ...], wanted: str | None) -> Prompt | None:
        """The prompt that is used, or None."""
        files, main = self._files, self._main
        names = ", ".join(files.prompts.values) or "none"
        if wanted is None:
            if len(prompts) > 1 and not main.lacks("subject"):
                path = "subject" if "subject" in main.read else "prompts"
                main.fault(path, f"the subject to say which prompt it takes: {names}", "nothing", "Add prompt: NAME")
            return prompts[0] if len(prompts) == 1 else None
        if wanted not in files.prompts.values and not files.lacks("prompt", "prompts"):
            path = "subject.prompt"
            main.fault(path, f"a prompt of the suite ({names})", repr(wanted[:80]))
        return files.prompts.values.get(wanted)

    # --- cases -----------------------------------------------------------------------------------------------------

    def _read_cases(self, checks: CaseChecks) -> None:
        shared = tuple(self._files.assertions)
        for file in self._files.every:
            values, document = file.read.get("cases", ()), file.document
            if not isinstance(values, list | tuple):
                LISTS["cases"].read(values, "cases", file.faults)
                continue
            for index, value in enumerate(values):
                path = f"cases[{index}]"
                place = Place(file=document.file, line=document.line_of(path))
                case, whole = read_case(value, path, file.faults, place=place, shared=shared)
                if case is not None and whole:
                    file.faults.extend(checks.faults_of(case, path))
                if case is not None and self._add(case, f"{path}.name", file.faults):
                    self._origins.append(Origin(document=document, path=path))

    def _add(self, case: Case, path: str, faults: list[Fault]) -> bool:
        """Add a case, unless an earlier one has its name."""
        first = self._places.setdefault(case.name, case.place)
        if first is not case.place:
            found = f"the name of the case at {first.file}:{first.line}"
            faults.append(Fault(path=path, expected="a name of its own", found=found))
            return False
        self._cases.append(case)
        return True

    def _cases_file(self) -> CasesFile | None:
        main = self._main
        if "cases_file" not in main.read:
            return None
        written, before = main.read["cases_file"], len(main.faults)
        SUITE.keys["cases_file"].shape.read(written, "cases_file", main.faults)
        return cases_file_spec(written, "cases_file", main.faults) if len(main.faults) == before else None

    def _read_rows(self, spec: CasesFile, checks: CaseChecks) -> None:
        faults: list[Fault] = []
        told = _Told(self.row_faults, spec.path)
        shared = tuple(self._files.assertions)
        for row in read_cases(self._disk, spec, "cases_file", faults):
            found: list[Fault] = []
            case, whole = read_case(row.value, "", found, place=row.place, shared=shared)
            if case is not None and whole:
                found += checks.faults_of(case, "")
            if case is not None:
                self._add(case, "name", found)
            told.add(replace(fault, file=row.place.file, line=row.place.line) for fault in found)
        self._main.faults.extend(fault for fault in faults if fault.file is None)
        self.row_faults.extend(fault for fault in faults if fault.file is not None)
        told.close()

    def _look_for_cases(self) -> None:
        faults = any(file.faults for file in self._files.every) or self.row_faults or self._files.faults
        if not self._cases and not faults:
            self._main.fault("cases", "at least one case", "none")


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
