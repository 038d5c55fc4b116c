"""The files of one folder and no others: how a suite reads what it names.

Paths are written with `/` on every system and are relative to the folder; symbolic links are followed only as far as
they stay inside, and what is opened is a regular file, read to a bound. Refused are absolute paths, `..` that leads
out, back-slashes, addresses, folders, pipes, sockets and devices.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

from jurat.errors import AuthoringError, Fault
from jurat.regularfiles import kind_of
from jurat.vocabulary import nearest

__all__ = ["FolderFiles"]

_DRIVE = re.compile(r"[A-Za-z]:")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


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
        _refuse("a file", f"{path!r}, which is {kind_of(mode)}")
    descriptor = _open_in_steps(root, steps)
    try:
        if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode):
            _refuse("a file", f"{path!r}, which is {kind_of(mode)}")
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


def _refuse(expected: str, found: str, hint: str | None = None) -> NoReturn:
    raise AuthoringError("file", [Fault(path="", expected=expected, found=found, hint=hint)]) from None


def _trouble(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "a name that no file can have"
