"""The window through which a suite reads the other files of its folder. Pure: who implements it touches the disk.

Paths are written with `/` on every system and are relative to the folder of the suite file, in whatever file of the
suite they stand.
"""

from __future__ import annotations

from typing import IO, Protocol

__all__ = ["SuiteFiles"]


class SuiteFiles(Protocol):
    """The files of a suite's folder, and no others."""

    def read(self, path: str, *, limit: int) -> bytes:
        """The content of a file.

        Raises:
            AuthoringError: for a path that leads out of the folder, a file that is missing, or one of more than `limit`
                bytes.
        """
        ...

    def open(self, path: str) -> IO[bytes]:
        """A file of any size, to be read once from its beginning and closed by the caller.

        Raises:
            AuthoringError: for a path that leads out of the folder, or a file that is missing.
        """
        ...
