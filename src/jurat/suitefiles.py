"""Suites from the disk: the suite file, the files of its folder that it names, and what its documents say.

A suite reads its own folder and nothing else. Paths are written with `/` on every system and are relative to the folder
of the suite file; symbolic links are followed only as far as they stay inside, and what is opened is a regular file of
bounded size. All faults come together: those of the suite, of its cases and of its documents.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, NoReturn, TypeVar

from jurat.documents import MAX_DOCUMENT_BYTES, Extracted, extract
from jurat.errors import AuthoringError, Fault
from jurat.suite.case import Case, CaseDocument
from jurat.suite.loaded import LoadedSuite
from jurat.suite.manifest import gather_suite
from jurat.vocabulary import nearest
from jurat.yamltext import MAX_BYTES

__all__ = ["MAX_TEXTS", "FolderFiles", "load_suite"]

MAX_TEXTS = 200_000_000
"""The most characters that all documents of one suite may have together."""

_DRIVE = re.compile(r"[A-Za-z]:")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SIDE_BY_SIDE = 4

Job = TypeVar("Job")
Made = TypeVar("Made")


def load_suite(path: Path) -> LoadedSuite:
    """Read a suite, its cases and its documents. May take seconds where there are PDFs.

    Args:
        path: the suite file, YAML or JSON; its folder is what the suite may read.

    Returns:
        The suite, in which every document has its text, media type and hash.

    Raises:
        AuthoringError: with every fault of every file.
    """
    faults: list[Fault] = []
    files = FolderFiles(path.parent)
    loaded = gather_suite(_suite_text(path), str(path), files, faults)
    if loaded is not None:
        loaded = _with_documents(loaded, files, faults)
    if faults or loaded is None:
        raise AuthoringError("suite", faults)
    return loaded


def _suite_text(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)  # a longer one is refused by whoever reads the text
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        found = _trouble(error)
    raise AuthoringError("suite", [Fault(path="suite file", expected="a file", found=found, file=str(path))])


def _trouble(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "a name that no file can have"


# --- the folder ----------------------------------------------------------------------------------------------------


class FolderFiles:
    """The files of one folder and of those in it, and no others. A `jurat.suite.files.SuiteFiles`."""

    def __init__(self, folder: Path) -> None:
        self._root = folder.resolve()

    def read(self, path: str, *, limit: int) -> bytes:
        """The content of a file of at most `limit` bytes.

        Raises:
            AuthoringError: for a path that leads out of the folder, and for a file that is missing, larger, or none.
        """
        with self.open(path) as file:
            try:
                data = file.read(limit + 1)
            except OSError as error:
                _refuse("a file that can be read", f"{path!r}: {_trouble(error)}")
        if len(data) > limit:
            bound = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit:,} bytes"
            _refuse(f"a file of at most {bound}", f"{path!r}, which is larger")
        return data

    def open(self, path: str) -> IO[bytes]:
        """A file of any size, for the caller to close.

        Raises:
            AuthoringError: for a path that leads out of the folder, and for a file that is missing or no regular one.
        """
        steps = self._steps(path)
        try:
            return _opened(self._root, steps, path)
        except FileNotFoundError:  # it was there a moment ago
            _refuse("a file of the suite's folder", f"{path!r}, which is not there")
        except OSError as error:
            _refuse("a file that can be read", f"{path!r}: {_trouble(error)}")

    def _steps(self, path: str) -> tuple[str, ...]:
        """Where a path leads after every symbolic link, as steps from the folder."""
        _check_spelling(path)
        try:
            place = (self._root / path).resolve(strict=True)
        except FileNotFoundError:
            _refuse("a file of the suite's folder", f"{path!r}, which is not there", self._near(path))
        except RuntimeError:  # Python before 3.13 says so of links that go in circles
            _refuse("a file of the suite's folder", f"{path!r}, which is a link that leads to itself")
        except (OSError, ValueError) as error:
            _refuse("a file of the suite's folder", f"{path!r}: {_trouble(error)}")
        if not place.is_relative_to(self._root):
            _refuse("a file inside of the suite's folder", f"{path!r}, which leads out of it through a link")
        return place.relative_to(self._root).parts

    def _near(self, path: str) -> str | None:
        """The file next to where it should be whose name comes closest."""
        folder, _, name = path.rpartition("/")
        with suppress(OSError, AuthoringError):
            steps = self._steps(folder) if folder else ()
            near = nearest(name, [entry.name for entry in os.scandir(self._root.joinpath(*steps))])
            return f"Did you mean {folder}/{near}?".replace(" /", " ") if near else None
        return None


def _check_spelling(path: str) -> None:
    """Refuse what is no path inside of a folder, before any disk is asked."""
    expected = "a path inside of the suite's folder"
    if not path.strip() or "\x00" in path:
        _refuse("the path of a file", repr(path))
    if _ADDRESS.match(path):
        _refuse(expected, f"{path[:80]!r}, an address", "Nothing is fetched; keep a copy in the folder")
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        _refuse(expected, f"{path!r}, an absolute one", "Write it relative to the suite file")
    if "\\" in path:
        _refuse(expected, f"{path!r}, with back-slashes", f"Write {path.replace(chr(92), '/')}, on every system")
    depth = 0
    for step in path.split("/"):
        depth += -1 if step == ".." else step not in ("", ".")
        if depth < 0:
            _refuse(expected, f"{path!r}, which leads out of it")


def _opened(root: Path, steps: Sequence[str], path: str) -> IO[bytes]:
    """Open a regular file, step by step and never through a link: what was looked at before is what is opened."""
    mode = root.joinpath(*steps).stat().st_mode  # before it is opened: to open a device may set it to work
    if not stat.S_ISREG(mode):
        _refuse("a file", f"{path!r}, which is {_kind(mode)}")
    descriptor = _open_in_steps(root, steps)
    try:
        if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode):
            _refuse("a file", f"{path!r}, which is {_kind(mode)}")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _open_in_steps(root: Path, steps: Sequence[str]) -> int:
    if os.open not in os.supports_dir_fd:
        return os.open(root.joinpath(*steps), os.O_RDONLY | getattr(os, "O_BINARY", 0))
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO that took its place would hang
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for left, step in zip(range(len(steps), 0, -1), steps, strict=True):
        try:
            inner = os.open(step, flags | (os.O_DIRECTORY if left > 1 else 0), dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((word for test, word in kinds if test(mode)), "a device")


def _refuse(expected: str, found: str, hint: str | None = None) -> NoReturn:
    raise AuthoringError("file", [Fault(path="", expected=expected, found=found, hint=hint)]) from None


# --- the documents -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """One document as it was read: its text and its hash, or its fault."""

    extracted: Extracted | None = None
    sha256: str | None = None
    fault: Fault | None = None


_Wanted = tuple[str, str | None]
"""Which file, and what the author says it is."""


def _with_documents(loaded: LoadedSuite, files: FolderFiles, faults: list[Fault]) -> LoadedSuite:
    """The suite with its documents read, each file once, however many cases show it."""
    wanted: dict[_Wanted, str] = {}
    for where, document in _documents(loaded.suite.cases):
        if document.path is not None:
            wanted.setdefault((document.path, document.media_type), where)
    found = dict(zip(wanted, _side_by_side(list(wanted), lambda job: _read(job, files)), strict=True))
    wrong = [replace(one.fault, path=wanted[job], file=None) for job, one in found.items() if one.fault]
    size = sum(len(one.extracted.text) for one in found.values() if one.extracted)
    if size > MAX_TEXTS:
        expected = f"documents of at most {MAX_TEXTS:,} characters together"
        wrong.append(Fault(path="cases", expected=expected, found=f"{size:,}"))
    faults.extend(loaded.placed(wrong))
    cases = tuple(_case(case, found) for case in loaded.suite.cases)
    return replace(loaded, suite=replace(loaded.suite, cases=cases))


def _documents(cases: Sequence[Case]) -> Iterator[tuple[str, CaseDocument]]:
    for number, case in enumerate(cases):
        for index, document in enumerate(case.documents):
            yield f"cases[{number}].documents[{index}]", document


def _read(job: _Wanted, files: FolderFiles) -> _Read:
    path, media_type = job
    try:
        data = files.read(path, limit=MAX_DOCUMENT_BYTES)
    except AuthoringError as error:
        return _Read(fault=error.faults[0])
    try:
        extracted = extract(data, path, media_type=media_type)
    except AuthoringError as error:
        fault = error.faults[0]
        return _Read(fault=replace(fault, found=f"{fault.found} ({path})"))
    return _Read(extracted=extracted, sha256=hashlib.sha256(data).hexdigest())


def _case(case: Case, found: dict[_Wanted, _Read]) -> Case:
    if not case.documents:
        return case
    return replace(case, documents=tuple(_document(document, found) for document in case.documents))


def _document(document: CaseDocument, found: dict[_Wanted, _Read]) -> CaseDocument:
    if document.path is None:
        digest = document.sha256 or hashlib.sha256((document.text or "").encode()).hexdigest()
        return replace(document, media_type=document.media_type or "text/plain", sha256=digest)
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
