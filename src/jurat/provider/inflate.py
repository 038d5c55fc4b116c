"""Unpacking a compressed reply, never past a bound.

A few kilobytes of gzip can stand for gigabytes; so the bound is on what comes out. Only what was asked for (gzip and
deflate) is unpacked.
"""

from __future__ import annotations

import zlib

__all__ = ["BadEncoding", "TooLarge", "inflate"]

_EITHER_HEADER = 47  # zlib's word for: gzip or zlib, whichever the data begin with
_MOST_MEMBERS = 64
"""Of how many members a gzip file may consist. Each is copied past once more, and an empty one takes twenty bytes."""


class TooLarge(Exception):
    """The data are larger than the bound."""


class BadEncoding(Exception):
    """The data are not what the content encoding says, or end too early."""


def inflate(data: bytes, encoding: str, bound: int) -> bytes:
    """The unpacked data, at most `bound` bytes of them.

    Raises:
        TooLarge: when more would come out.
        BadEncoding: for another encoding than gzip and deflate, for damaged data, and for thousands of members.
    """
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise BadEncoding
    try:
        return _unpacked(data, _EITHER_HEADER, bound)
    except zlib.error:
        if encoding != "deflate":
            raise BadEncoding from None
    try:
        return _unpacked(data, -zlib.MAX_WBITS, bound)  # some servers leave the zlib header out
    except zlib.error:
        raise BadEncoding from None


def _unpacked(data: bytes, window: int, bound: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while data:
        if len(parts) == _MOST_MEMBERS:
            raise BadEncoding
        unpacker = zlib.decompressobj(window)
        part = unpacker.decompress(data, bound - size + 1)
        size += len(part)
        if size > bound or unpacker.unconsumed_tail:
            raise TooLarge
        if not unpacker.eof:
            raise BadEncoding
        parts.append(part)
        data = unpacker.unused_data
    return b"".join(parts)
