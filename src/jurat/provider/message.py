"""What a request says: messages in the words that all dialects share, before any vendor's spelling.

Most messages are a text. One that is more holds its parts in the order in which they stand: texts, pictures, documents
as files, calls of tools and what these gave back. A dialect writes them as its vendor wants them, or refuses what the
vendor has no words for; nothing is left out without a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jurat.jsontext import Json

__all__ = ["MEDIA_TYPES", "ChatMessage", "File", "Image", "Part", "ToolCall", "ToolResult", "parts_within"]

MEDIA_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""The pictures that vendors take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture.

    Attributes:
        media_type: `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
        data: the bytes of the file.
    """

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A document as the file that it is; PDF is what vendors take.

    Attributes:
        name: what it is called, with its ending.
        media_type: `application/pdf`.
        data: the bytes of the file.
    """

    name: str
    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the assistant asked for. `id` is what its result refers to."""

    id: str
    name: str
    arguments: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave back; `name` is the tool's, which some vendors want beside the id."""

    id: str
    name: str
    parts: tuple[str | Image, ...] = ()
    failed: bool = False


Part = str | Image | File | ToolCall | ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a request.

    Attributes:
        role: `system`, `user`, `assistant`, or `tool` for results of tools.
        content: its text.
        parts: everything that it says, where that is more than a text; `content` is empty then.
    """

    role: str
    content: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def said(self) -> tuple[Part, ...]:
        """Its parts, whichever way they were given."""
        return self.parts or (self.content,)


def parts_within(message: ChatMessage) -> tuple[Part, ...]:
    """The parts of a message, and those within the results of tools."""
    inner = (part for one in message.parts if isinstance(one, ToolResult) for part in one.parts)
    return (*message.parts, *inner)
