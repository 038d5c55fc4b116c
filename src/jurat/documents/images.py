"""PNG and JPEG: their size, read from the header. No pixel is decoded, so that no picture can exhaust its reader."""

from __future__ import annotations

import struct
import zlib

from jurat.documents.faults import Unreadable

__all__ = ["jpeg_size", "png_size"]

_SIGNATURE = 8
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset((0x01, *range(0xD0, 0xD8)))
_SCAN, _END = 0xDA, 0xD9
_LAST = b"\xff\xd9"


def png_size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels; every chunk's checksum is looked at.

    Raises:
        Unreadable: when the file is damaged or cut off.
    """
    place, size = _SIGNATURE, (0, 0)
    while place + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        end = place + 12 + length
        if end > len(data):
            break
        if zlib.crc32(data[place + 4 : end - 4]) != struct.unpack_from(">I", data, end - 4)[0]:
            raise Unreadable("a PNG", f"a damaged one (checksum of the part at byte {place + 1:,})")
        if place == _SIGNATURE:
            size = _header_size(data, kind, length)
        if kind == b"IEND":
            return size
        place = end
    raise Unreadable("a PNG", "one that is cut off")


def _header_size(data: bytes, kind: bytes, length: int) -> tuple[int, int]:
    if kind != b"IHDR" or length != 13:
        raise Unreadable("a PNG", "one without a header")
    width, height = struct.unpack_from(">II", data, _SIGNATURE + 8)
    if not 0 < width < 2**31 or not 0 < height < 2**31:
        raise Unreadable("a PNG", f"one of {width} × {height} pixels")
    return width, height


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels.

    Raises:
        Unreadable: when the file is damaged or cut off.
    """
    place, size = 2, None
    while place + 4 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF or marker in _ALONE:  # padding, and markers without content
            place += 1 if marker == 0xFF else 2
            continue
        length = struct.unpack_from(">H", data, place + 2)[0]
        if marker == _END or length < 2 or place + 2 + length > len(data):
            break
        if marker in _FRAMES and size is None and length >= 8:
            height, width = struct.unpack_from(">HH", data, place + 5)
            size = width, height
        if marker == _SCAN:
            if size is None or not all(size) or data.rfind(_LAST) < place:
                break
            return size
        place += 2 + length
    raise Unreadable("a JPEG", "a damaged one, or one that is cut off")
