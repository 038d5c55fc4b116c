"""Pictures of a conversation: what is recorded of them, and what a judge is shown in their place.

A judge reads text. Of a picture it sees a line with its type, size and hash, and the evidence lists which messages hold
some, so that nobody takes a verdict for that of somebody who saw it. The bytes are for the model that answers; they go
into no record and no context.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from jurat.jsontext import Json

__all__ = ["IMAGE_KEYS", "MAX_IMAGE_BYTES", "ImageBlock", "Pictures", "decoded_base64"]

MAX_IMAGE_BYTES = 10 * 1024 * 1024
"""The most bytes of one picture."""

Pictures = Literal["recorded", "kept", "shown"]
"""How a message is written: without the bytes of pictures; with those that stand in no file; with all of them."""

IMAGE_KEYS = ("type", "path", "data", "media_type", "sha256", "size_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBlock:
    """A picture in a message, known by its hash.

    Attributes:
        media_type: `image/png` and the like; None as long as nobody has looked.
        path: the file, relative to the suite's folder, with `/`; None for one that was given by its bytes.
        sha256: of its bytes, 64 hexadecimal digits; None as long as it was not read.
        size_bytes: how many bytes; None likewise.
        data: the bytes, where they are at hand. Two blocks with one hash are equal, with their bytes or without.
    """

    media_type: str | None = None
    path: str | None = None
    sha256: str | None = None
    size_bytes: int | None = None
    data: bytes | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.data is not None:
            object.__setattr__(self, "sha256", hashlib.sha256(self.data).hexdigest())
            object.__setattr__(self, "size_bytes", len(self.data))

    @property
    def placeholder(self) -> str:
        """The line that is shown in its place."""
        told = [self.media_type or "image"]
        if self.size_bytes is not None:
            told.append(f"{self.size_bytes:,} bytes")
        if self.sha256 is not None:
            told.append(f"sha256 {self.sha256[:16]}")
        return f"[{', '.join(told)}; the picture itself is not shown]"

    def to_json(self, pictures: Pictures = "recorded") -> dict[str, Json]:
        """As plain JSON; its bytes in base64 where `pictures` wants them and they are at hand."""
        wanted = pictures == "shown" or (pictures == "kept" and self.path is None)
        made: Mapping[str, Json] = {
            "type": "image",
            "path": self.path,
            "data": base64.b64encode(self.data).decode() if wanted and self.data is not None else None,
            "media_type": self.media_type,
            "sha256": self.sha256,
            "size_bytes": self.size_bytes,
        }
        return {name: value for name, value in made.items() if value is not None}


def decoded_base64(text: str) -> bytes | None:
    """The bytes that a text spells; None when it is no base64. White space in it does not matter."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
