"""A folder that reports are written into, and nothing outside of it, whatever a report's name is.

A report appears under its name when it is whole and safe on the disk; until then what stood there stands. Names are
relative, with `/`, and such as every system can have; folders on the way are made. No link is followed, neither on the
way nor at the end: a link in a report's place is replaced, not written through.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from jurat.errors import AuthoringError, Fault, StoreError

__all__ = ["FolderSink"]

_DRIVE = re.compile(r"[A-Za-z]:")
_ELSEWHERE = re.compile(
    r'(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?|.*[ .]|.*[<>:"|?*].*', re.IGNORECASE | re.DOTALL
)
"""What is no name on Windows, or another file's: devices, streams, names that lose their end."""
_LONGEST = 200
"""The most bytes of one name; a name beside it has to have room too."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderSink:
    """Writes files into one folder.

    Args:
        folder: it is made where it is not there; a link to a folder is followed here, and nowhere below.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A file to write, which takes its name at the end of the block; an error leaves all as it was.

        Raises:
            AuthoringError: for a name that leads out of the folder, or is none.
            StoreError: when it cannot be written.
        """
        *way, last = _steps(name)
        try:
            with contextlib.ExitStack() as stack:
                inner = self._enter(way, stack)
                yield from _whole(inner, last)
        except OSError as error:
            raise StoreError(f"{self._folder / name}: cannot be written: {_words(error)}") from None

    def _enter(self, way: Sequence[str], stack: contextlib.ExitStack) -> int:
        """The folder in which the file will stand, opened step by step."""
        self._folder.mkdir(parents=True, exist_ok=True)
        inner = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, inner)
        for step in way:
            with contextlib.suppress(FileExistsError):
                os.mkdir(step, dir_fd=inner)
            inner = os.open(step, _FOLDER, dir_fd=inner)
            stack.callback(os.close, inner)
        return inner


def _whole(folder: int, name: str) -> Iterator[IO[bytes]]:
    beside = f".{name}.{secrets.token_hex(6)}.part"
    try:
        with os.fdopen(os.open(beside, _NEW, 0o644, dir_fd=folder), "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)


def _steps(name: str) -> list[str]:
    """The steps of a name, none of which leads up or elsewhere."""
    steps = name.split("/")
    wrong = None
    if name.startswith("/") or _DRIVE.match(name):
        wrong = "an absolute path"
    elif "\\" in name:
        wrong = "one with back-slashes"
    elif any(step in ("", ".", "..") for step in steps):
        wrong = "one with an empty step, or with . or .."
    elif any(len(step.encode("utf-8", "replace")) > _LONGEST for step in steps):
        wrong = f"one with a step of more than {_LONGEST} bytes"
    elif any(_ELSEWHERE.fullmatch(step) for step in steps):
        wrong = "one that is none on Windows, or that of a device"
    elif any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 or 0xD800 <= ord(sign) < 0xE000 for sign in name):
        wrong = "one with control characters"
    if wrong:
        raise AuthoringError("report", [Fault(path="name", expected="a name inside of the folder", found=wrong)])
    return steps


def _words(error: OSError) -> str:
    return error.strerror or type(error).__name__
