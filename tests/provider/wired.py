"""A provider of any kind in front of its vendor's server, what it would send there, and things to send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from loopback import Answer, FakeTime, Server, serving
from wires import Wire

from jurat.provider import ChatMessage, File, Frame, Image, ModelRequest
from jurat.provider.http_provider import HttpProvider
from jurat.provider.registry import make_provider

SECRET = "sk-fake-0000000000000000000000000000"
PICTURE = Image(media_type="image/png", data=b"\x89PNG\r\n\xff")
OTHER = Image(media_type="image/webp", data=b"RIFF\0\0\0\0WEBP")
REPORT = File(name="report.pdf", media_type="application/pdf", data=b"%PDF-1.7 \xff")


@asynccontextmanager
async def behind(wire: Wire, *answers: Answer, **row: Any) -> AsyncIterator[tuple[HttpProvider, Server, FakeTime]]:
    """A provider of a kind, made as an author makes it, in front of a server of its vendor. Its time passes at will."""
    clock = FakeTime()
    async with serving(*answers) as server:
        base = server.url if wire.row["kind"] != "azure_openai" else f"http://127.0.0.1:{server.port}"
        made = make_provider({"base_url": base, "api_key_env": "JUDGE_KEY", **wire.row, **row})
        assert isinstance(made, HttpProvider)
        made._sender._timing = made._sender._pause._timing = clock.timing
        yield made, server, clock
        await made.aclose()


def prepared(wire: Wire, frame: Frame, user: str = "x", *, last: ChatMessage | None = None, **row: Any) -> Any:
    """What a provider of a kind would send."""
    made = make_provider({"base_url": "http://127.0.0.1:1", **wire.row, **row})
    return json.loads(made.prepare(ModelRequest(frame=frame, user=user, last=last)).body)


def shown(*parts: Any, role: str = "user") -> ChatMessage:
    return ChatMessage(role=role, parts=parts)


def conversed(wire: Wire, *messages: ChatMessage, **row: Any) -> Any:
    """What would be sent of a conversation, whose last message may be more than a text."""
    frame = Frame(messages=messages[:-1], temperature=None, max_output_tokens=None)
    return prepared(wire, frame, last=messages[-1], **row)


def takes_files(wire: Wire) -> bool:
    settings = make_provider({"base_url": "http://127.0.0.1:1", **wire.row}).settings
    return settings.capabilities.documents
