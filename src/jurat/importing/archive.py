"""An archive (ZIP) whose members are read one by one, each up to a bound, and nothing is ever unpacked to a disk.

Members that are compressed with Zstandard, as newer writers do, are read by Python from 3.14 on, and before that with
the extra `data`.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import IO

from jurat.errors import AuthoringError, Fault

__all__ = ["MAGIC", "Archive"]

MAGIC = b"PK\x03\x04"
_ZSTD = 93
_MOST = 16 * 1024**3
"""The most bytes of all members together: what unpacks to more is no log but a trap."""
_LOCAL = struct.Struct("<4s22xHH")
"""A member's own header: its mark, and at the end how long its name and what follows it are."""


class Archive:
    """The members of an archive.

    Args:
        stream: its bytes, which can be read anew from anywhere.
        name: the file as its author calls it.

    Raises:
        AuthoringError: when it is no archive that can be read.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name, self._left = stream, name, _MOST
        try:
            self._zip = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error):
            raise self._fault("an archive that is whole", "one that is broken or cut off") from None

    def names(self) -> list[str]:
        """The names of its members, each once, in its order."""
        return list(dict.fromkeys(self._zip.namelist()))

    def read(self, name: str, *, limit: int) -> bytes:
        """What a member holds.

        Raises:
            AuthoringError: when it is larger than `limit`, cannot be read, or the archive unpacks to too much.
        """
        info = self._zip.getinfo(name)
        most = min(limit, self._left)
        if info.file_size > most:
            raise self._fault(f"members of at most {most:,} bytes, unpacked", "a larger one", name=name)
        try:
            data = self._packed(info, most) if self._is_foreign(info) else self._plain(info, most)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, zlib.error, struct.error):
            raise self._fault("members that can be read", "one that is broken, or locked", name=name) from None
        if len(data) > most:
            raise self._fault(f"members of at most {most:,} bytes, unpacked", "a larger one", name=name)
        self._left -= len(data)
        return data

    def _is_foreign(self, info: zipfile.ZipInfo) -> bool:
        return info.compress_type == _ZSTD and not hasattr(zipfile, "ZIP_ZSTANDARD")

    def _plain(self, info: zipfile.ZipInfo, most: int) -> bytes:
        with self._zip.open(info) as member:
            return member.read(most + 1)

    def _packed(self, info: zipfile.ZipInfo, most: int) -> bytes:
        """A member in Zstandard, where Python itself cannot read it."""
        try:
            import pyarrow as pa
        except ImportError:
            hint = "pip install 'jurat[data]' reads it, and so does Python 3.14"
            raise self._fault("members that can be unpacked", "Zstandard", hint, info.filename) from None
        self._stream.seek(info.header_offset)
        mark, name, extra = _LOCAL.unpack(self._stream.read(_LOCAL.size))
        if mark != MAGIC or info.compress_size > most or info.flag_bits & 1:
            raise zipfile.BadZipFile
        self._stream.seek(name + extra, 1)
        packed = self._stream.read(info.compress_size)
        with pa.input_stream(pa.BufferReader(packed), compression="zstd") as member:
            data = bytes(member.read(most + 1))
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile
        return data

    def _fault(self, expected: str, found: str, hint: str | None = None, name: str | None = None) -> AuthoringError:
        place = self._name if name is None else f"{self._name}/{name}"
        return AuthoringError("import", [Fault(path="", expected=expected, found=found, hint=hint, file=place)])
