"""Pictures in the conversations of other tools, in the several ways in which they hold one.

A picture that is there is taken over with its bytes. Nothing is fetched: one at an address is told, and so is what is
no picture that a suite may hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jurat.documents import picture_type
from jurat.errors import AuthoringError
from jurat.evidence import MAX_IMAGE_BYTES, decoded_base64

__all__ = ["is_picture", "picture"]

_KINDS = ("image", "image_url", "input_image", "blob", "uri", "media")
_ADDRESSED = "a picture at an address; nothing is fetched: keep a copy beside the suite and name it by path; left out"
_UNREADABLE = "a picture that cannot be read (PNG, JPEG, GIF or WebP in base64, at most 10 MiB); left out"


def is_picture(part: Mapping[str, Any]) -> bool:
    """Whether a part of a message holds a picture, or says where one is."""
    kind = part.get("type")
    if next(_texts(part), None) is None:
        return False
    if any(isinstance(part.get(key), Mapping) for key in ("inlineData", "inline_data")):
        return str(_media_type(part)).startswith("image/")
    if kind not in _KINDS:
        return False
    media = _media_type(part) or part.get("modality")
    return kind not in ("blob", "uri", "media") or str(media).startswith("image")


def picture(part: Mapping[str, Any], tell: Callable[[str], None]) -> dict[str, Any] | None:
    """The block of a picture; None when there is none to take, which is told."""
    for text in _texts(part):
        if text.startswith("data:"):
            head, _, text = text.partition(",")  # noqa: PLW2901
            if not head.endswith(";base64"):
                continue
        elif "://" in text[:40]:
            tell(_ADDRESSED)
            return None
        if (made := _block(text)) is not None:
            return made
    tell(_UNREADABLE)
    return None


def _block(text: str) -> dict[str, Any] | None:
    data = decoded_base64(text)
    if not data or len(data) > MAX_IMAGE_BYTES:
        return None
    try:
        media_type = picture_type(data)
    except AuthoringError:
        return None
    return {"type": "image", "media_type": media_type, "data": text}


def _texts(part: Mapping[str, Any]) -> Iterator[str]:
    """What may be the picture: addresses that hold it, and base64."""
    for one in _holders(part):
        for key in ("image_url", "url", "uri", "image", "data", "content", "image.image.url", "image.url"):
            found = one.get(key)
            if isinstance(found, Mapping):
                found = found.get("url")
            if isinstance(found, str) and found:
                yield found


def _holders(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The part itself, and the objects in it that vendors put a picture's data into."""
    yield part
    for key in ("source", "inlineData", "inline_data", "image", "file"):
        if isinstance(inner := part.get(key), Mapping):
            yield inner


def _media_type(part: Mapping[str, Any]) -> Any:
    names = ("mime_type", "media_type", "mimeType", "mediaType")
    return next((one[name] for one in _holders(part) for name in names if one.get(name)), None)
