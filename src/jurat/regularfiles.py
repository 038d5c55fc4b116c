"""Files that a person names, opened only if they are regular ones.

A pipe with a name holds up whoever opens it until somebody writes there, and a device may never end. Both are refused
before and after opening, like a file that cannot be read: as an OSError whose `strerror` says what was found.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

__all__ = ["kind_of", "open_regular", "read_regular"]


def open_regular(path: Path) -> IO[bytes]:
    """The file, open for reading; links are followed.

    Raises:
        OSError: when it cannot be read, or is no regular file.
        ValueError: for a name that no file can have.
    """
    _refuse_others(path, path.stat().st_mode)  # before it is opened: to open a device may set it to work
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        _refuse_others(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, limit: int = -1) -> bytes:
    """The content of the file, or its first `limit` bytes. Raises as `open_regular`."""
    with open_regular(path) as file:
        return file.read(limit)


def _refuse_others(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"{kind_of(mode)}, which is not read", str(path))


def kind_of(mode: int) -> str:
    """What a file that is no regular one is, in words."""
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((word for test, word in kinds if test(mode)), "a device")
