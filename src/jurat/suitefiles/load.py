"""A suite as it stands on the disk, with what its documents say.

A document that many cases show is read once, and one that cannot be read costs no other.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from jurat.documents import MAX_DOCUMENT_BYTES, Extracted, extract
from jurat.errors import AuthoringError, Fault
from jurat.folderfiles import FolderFiles
from jurat.regularfiles import read_regular
from jurat.suite.case import Case, CaseDocument
from jurat.suite.loaded import LoadedSuite
from jurat.suite.manifest import gather_suite
from jurat.suitefiles.shown import with_bytes
from jurat.yamltext import MAX_BYTES

__all__ = ["MAX_TEXTS", "load_suite"]

MAX_TEXTS = 200_000_000
"""The most characters that all documents of one suite may have together."""

_SIDE_BY_SIDE = 4

Job = TypeVar("Job")
Made = TypeVar("Made")


def load_suite(path: Path) -> LoadedSuite:
    """Read a suite, its cases, documents and pictures. May take seconds where there are PDFs.

    Args:
        path: the suite file, YAML or JSON; its folder is what the suite may read.

    Returns:
        The suite, in which every document has its text, media type and hash, and what a model is shown its bytes.

    Raises:
        AuthoringError: with every fault of every file.
    """
    faults: list[Fault] = []
    files = FolderFiles(path.parent)
    loaded = gather_suite(_suite_text(path), str(path), files, faults)
    if loaded is not None:
        loaded = _with_documents(loaded, files, faults)
        wrong: list[Fault] = []
        loaded = replace(loaded, suite=with_bytes(loaded.suite, files, wrong))
        faults.extend(loaded.placed(wrong))
    if faults or loaded is None:
        raise AuthoringError("suite", faults)
    return loaded


def _suite_text(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES + 1)  # a longer one is refused by whoever reads the text
    except FileNotFoundError:
        found = "no such file"
    except OSError as error:
        found = error.strerror or type(error).__name__
    except ValueError:
        found = "a name that no file can have"
    raise AuthoringError("suite", [Fault(path="suite file", expected="a file", found=found, file=str(path))])


# --- the documents -------------------------------------------------------------------------------------------------

_Wanted = tuple[str, str | None]
"""Which file, and what the author says it is."""


def _with_documents(loaded: LoadedSuite, files: FolderFiles, faults: list[Fault]) -> LoadedSuite:
    """The suite with its documents read, each file once, however many cases show it."""
    wanted: dict[_Wanted, str] = {}
    for where, document in _documents(loaded.suite.cases):
        if document.path is not None:
            wanted.setdefault((document.path, document.media_type), where)
    found = dict(zip(wanted, _side_by_side(list(wanted), _Reader(files).read), strict=True))
    wrong = [replace(one.fault, path=wanted[job], file=None) for job, one in found.items() if one.fault]
    faults.extend(loaded.placed(wrong))
    cases = tuple(_case(case, found) for case in loaded.suite.cases)
    return replace(loaded, suite=replace(loaded.suite, cases=cases))


def _documents(cases: Sequence[Case]) -> Iterator[tuple[str, CaseDocument]]:
    for number, case in enumerate(cases):
        for index, document in enumerate(case.documents):
            yield f"cases[{number}].documents[{index}]", document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """One document as it was read: its text and its hash, or its fault, or neither because enough was read before."""

    extracted: Extracted | None = None
    sha256: str | None = None
    fault: Fault | None = None


class _Reader:
    """Reads documents until their texts together exceed the bound. From any thread."""

    def __init__(self, files: FolderFiles) -> None:
        self._files, self._left, self._lock = files, MAX_TEXTS, threading.Lock()

    def read(self, job: _Wanted) -> _Read:
        """One document."""
        if self._left < 0:
            return _Read()
        path, media_type = job
        try:
            data = self._files.read(path, limit=MAX_DOCUMENT_BYTES)
        except AuthoringError as error:
            return _Read(fault=error.faults[0])
        try:
            extracted = extract(data, path, media_type=media_type)
        except AuthoringError as error:
            fault = error.faults[0]
            return _Read(fault=replace(fault, found=f"{fault.found} ({path})"))
        return self._bounded(_Read(extracted=extracted, sha256=hashlib.sha256(data).hexdigest()), len(extracted.text))

    def _bounded(self, one: _Read, size: int) -> _Read:
        with self._lock:
            enough, self._left = self._left < 0, self._left - size
            if enough:
                return _Read()
            if self._left >= 0:
                return one
        expected = f"documents of at most {MAX_TEXTS:,} characters together"
        return _Read(fault=Fault(path="", expected=expected, found="this one, which is too much, and perhaps more"))


def _case(case: Case, found: Mapping[_Wanted, _Read]) -> Case:
    if not case.documents:
        return case
    return replace(case, documents=tuple(_document(document, found) for document in case.documents))


def _document(document: CaseDocument, found: Mapping[_Wanted, _Read]) -> CaseDocument:
    if document.path is None:  # its text stands in the suite
        return document
    one = found[(document.path, document.media_type)]
    if one.extracted is None:
        return document
    return replace(document, media_type=one.extracted.media_type, text=one.extracted.text, sha256=one.sha256)


def _side_by_side(jobs: Sequence[Job], work: Callable[[Job], Made]) -> list[Made]:
    """What `work` makes of each job, in their order; a few at once.

    In daemon threads, so that Ctrl-C need not wait for a PDF to be given up.
    """
    made: dict[int, Made | BaseException] = {}
    left, lock = iter(enumerate(jobs)), threading.Lock()

    def labour() -> None:
        while True:
            with lock:
                number, job = next(left, (None, None))
            if number is None or job is None:
                return
            try:
                made[number] = work(job)
            except BaseException as error:  # for the thread that asked
                made[number] = error

    count = min(len(jobs), _SIDE_BY_SIDE, os.cpu_count() or 1)
    threads = [threading.Thread(target=labour, name="jurat-documents", daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results: list[Made] = []
    for _, one in sorted(made.items(), key=lambda pair: pair[0]):
        if isinstance(one, BaseException):
            raise one
        results.append(one)
    return results
