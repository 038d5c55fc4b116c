"""A ZIP archive, opened to read a few of its parts, each counted while it is unpacked: what sizes it declares is not
believed. Archives inside of it are never opened.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from jurat.documents.faults import Unreadable

__all__ = ["MAX_PARTS", "MAX_UNPACKED", "Archive"]

MAX_UNPACKED = 50 * 1024 * 1024
"""The most bytes that all parts read of one archive may unpack to."""
MAX_RATIO = 100
"""The most that a part may unpack to, as a multiple of its packed size, once it is larger than `_SMALL`."""
MAX_PARTS = 10_000
"""The most parts of one archive."""

_SMALL = 2 * 1024 * 1024
_PIECE = 64 * 1024
_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1


class Archive:
    """The parts of a ZIP archive by name.

    Raises:
        Unreadable: when it is damaged or has too many parts.
    """

    def __init__(self, data: bytes) -> None:
        if data.count(_ENTRY) > MAX_PARTS:  # before the list of parts is read into memory
            raise Unreadable(f"an archive of at most {MAX_PARTS:,} parts", "one of more parts")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError):
            raise Unreadable("a ZIP archive", "a damaged file, or one that is cut off") from None
        self._left = MAX_UNPACKED

    def names(self) -> list[str]:
        """The names of all parts."""
        return self._zip.namelist()

    def pieces(self, name: str) -> Iterator[bytes]:
        """A part's content, piece by piece.

        Raises:
            Unreadable: for a part that is missing, damaged, encrypted, packed in an unusual way, or too large unpacked.
        """
        try:
            entry = self._zip.getinfo(name)
            if entry.flag_bits & _ENCRYPTED:
                raise Unreadable("a document that opens without a password", "an encrypted one")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Unreadable("a deflated part", "one that is packed in another way")
            with self._zip.open(entry) as part:
                yield from self._counted(part, entry.compress_size)
        except KeyError:
            raise Unreadable(f"an archive with the part {name[:80]}", "one without") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OverflowError, NotImplementedError, OSError):
            raise Unreadable("an archive that is whole", "a damaged part") from None

    def _counted(self, part: IO[bytes], packed: int) -> Iterator[bytes]:
        size = 0
        while piece := part.read(_PIECE):
            size += len(piece)
            self._left -= len(piece)
            if self._left < 0 or size > max(_SMALL, packed * MAX_RATIO):
                bound = f"at most {MAX_UNPACKED // 2**20} MiB unpacked, and {MAX_RATIO} times its packed size"
                raise Unreadable(bound, "more: a decompression bomb, most likely")
            yield piece

    def read(self, name: str) -> bytes:
        """A part's whole content; raises like `pieces`."""
        return b"".join(self.pieces(name))
