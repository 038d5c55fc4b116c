"""Pictures that models are shown: PNG, JPEG, GIF and WebP. Which one it is, the content says; no pixel is decoded."""

from __future__ import annotations

import struct

from jurat.documents.faults import Unreadable
from jurat.documents.images import jpeg_size, png_size
from jurat.errors import AuthoringError, Fault

__all__ = ["picture_type"]

_ENDINGS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
_ALIASES = {"image/jpg": "image/jpeg"}
_LABELS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}
_KINDS = "a picture: PNG, JPEG, GIF or WebP"


def picture_type(data: bytes, name: str = "", *, media_type: str | None = None) -> str:
    """The media type of a picture, by its content.

    Args:
        name: its file's name, whose ending must agree if it has one that is known.
        media_type: what its author says it is, which must agree.

    Raises:
        AuthoringError: with one fault: it is no picture that models take, damaged, or not what it is said to be.
    """
    try:
        found = _sniffed(data)
        for claim, who in ((_of_ending(name), "the ending"), (media_type, "the media type")):
            if claim is not None and _ALIASES.get(claim.lower(), claim.lower()) != found:
                said = _LABELS.get(claim.lower(), f"{claim[:80]!r}")
                raise Unreadable(f"{said}, as {who} says", _LABELS[found])
        _refuse_damaged(found, data)
    except Unreadable as error:
        fault = Fault(path="picture", expected=error.expected, found=error.found, hint=error.hint)
        raise AuthoringError("picture", [fault]) from None
    return found


def _of_ending(name: str) -> str | None:
    return _ENDINGS.get("." + name.rpartition(".")[2].lower()) if "." in name else None


def _sniffed(data: bytes) -> str:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data.lstrip()[:5].lower() in (b"<?xml", b"<svg ") or data[4:12] in (b"ftypavif", b"ftypheic"):
        raise Unreadable(_KINDS, "another kind of picture", "Convert it to PNG")
    raise Unreadable(_KINDS, "something else" if data else "an empty file")


def _refuse_damaged(kind: str, data: bytes) -> None:
    if kind == "image/png":
        png_size(data)
    elif kind == "image/jpeg":
        jpeg_size(data)
    elif kind == "image/gif":
        _check_gif(data)
    else:
        _check_webp(data)


def _check_gif(data: bytes) -> None:
    if len(data) < 14 or not all(struct.unpack_from("<HH", data, 6)) or b"\x3b" not in data[13:]:
        raise Unreadable("a GIF", "one that is damaged or cut off")


def _check_webp(data: bytes) -> None:
    whole = len(data) >= 20 and struct.unpack_from("<I", data, 4)[0] + 8 <= len(data)
    if not whole or data[12:16] not in (b"VP8 ", b"VP8L", b"VP8X"):
        raise Unreadable("a WebP", "one that is damaged or cut off")
