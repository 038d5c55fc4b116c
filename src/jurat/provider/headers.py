"""Headers that an author may name: those that say something to the server, and none of those that steer the way there.

`Host` would lead a request elsewhere behind the same address, lengths and encodings would break its frame. All of them
are set by the transport.
"""

from __future__ import annotations

import re

from jurat.errors import Fault

__all__ = ["header_name_fault"]

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
_THE_TRANSPORTS = frozenset(
    (
        *("host", "content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "te"),
        *("trailer", "upgrade", "expect", "accept-encoding"),
    )
)


def header_name_fault(name: object, path: str) -> Fault | None:
    """Why a header may not be named, if it may not."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        return Fault(path=path, expected="the name of a header, of letters, digits and hyphens", found="another text")
    low = name.lower()
    if low in _THE_TRANSPORTS or low.startswith("proxy-"):
        return Fault(path=path, expected="a header that leaves the way to the server alone", found=name)
    return None
