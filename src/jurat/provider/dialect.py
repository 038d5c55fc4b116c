"""A vendor's dialect: how a request is written, where it goes, and what a reply says. Pure functions in one record.

Everything else (keys, bytes, retries, errors, limits) is the same for all, and stands elsewhere once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from jurat.jsontext import Json
from jurat.provider.errors_from_http import Destination
from jurat.provider.message import MEDIA_TYPES, ChatMessage, Part
from jurat.provider.protocol import Frame, ProviderSettings, Reply

__all__ = ["Dialect", "Turn", "output_limit", "speaks_later", "turns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What one wire format consists of.

    Attributes:
        path: what is added to the base URL.
        head: a request's members up to its messages, whose list is the last one. Where the last message is a text,
            that text is the last value in it.
        fields: the further members: limits, schema, and so on.
        own: members, and members of members (`options.temperature`), that an extra setting cannot replace.
        read: what a body says; raises ProviderError when it is no reply.
        key_header: the header that carries the key; `Authorization` carries it as a bearer token.
        headers: headers that this dialect wants.
        request_id: the header in which the vendor names a request.
        image_types: the media types of pictures that the vendor takes.
    """

    path: Callable[[ProviderSettings], str]
    head: Callable[[Sequence[ChatMessage], Frame, ProviderSettings], Mapping[str, Json]]
    fields: Callable[[Frame, ProviderSettings], dict[str, Any]]
    own: frozenset[str]
    read: Callable[[bytes, Destination], Reply]
    key_header: str = "Authorization"
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    request_id: str = "x-request-id"
    image_types: tuple[str, ...] = MEDIA_TYPES


def output_limit(frame: Frame, settings: ProviderSettings) -> int | None:
    """The limit to send: the frame's own, and room for hidden reasoning where the model counts it against the limit."""
    limit, able = frame.max_output_tokens, settings.capabilities
    return limit + able.reasoning_room if limit is not None and able.reasoning else limit


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages of one role that follow each other."""

    role: str
    parts: tuple[Part, ...]


def turns(messages: Iterable[ChatMessage], *, later_system: bool = False) -> tuple[str | None, tuple[Turn, ...]]:
    """Messages for vendors who take the system message apart and want roles that alternate.

    Args:
        later_system: whether a system message may stand behind a turn of the user's. One that was said elsewhere in the
            conversation comes behind the next such turn; without it, all of them are told at the beginning.

    Returns:
        The system messages of the beginning, joined by a blank line, or None; and the turns: neighbours of one role
        made one, with the results of tools in the user's. These vendors refuse empty texts: in a turn of several
        messages they are left out, and so is an assistant's message that says nothing.
    """
    first: list[str] = []
    later: list[str] = []
    made: list[Turn] = []
    for message in messages:
        role = "user" if message.role == "tool" else message.role
        if role == "system":
            (later if later_system and made else first).append(message.content)
        elif role == "assistant" and message.said == ("",):
            continue
        elif made and made[-1].role == role:
            before = (part for part in made[-1].parts if part != "")
            made[-1] = Turn(role, (*before, *message.said))
        else:
            _tell(later, made)
            made.append(Turn(role, message.said))
    _tell(later, made)
    return "\n\n".join(first) or None, tuple(made)


def _tell(later: list[str], made: list[Turn]) -> None:
    """Have the system say what it has to, if it is behind a turn of the user's."""
    if later and made and made[-1].role == "user":
        made.append(Turn("system", ("\n\n".join(later),)))
        later.clear()


def speaks_later(messages: Iterable[ChatMessage]) -> bool:
    """Whether a system message stands within the conversation, and not before it."""
    roles = [message.role for message in messages]
    return "system" in roles[next((at for at, role in enumerate(roles) if role != "system"), len(roles)) :]
