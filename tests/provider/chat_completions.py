"""What the tests of the chat-completions dialect share: settings of a provider, what it would send, what it reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from loopback import Answer, FakeTime, Server, serving

from jurat.errors import ProviderError
from jurat.provider import ChatMessage, Frame, HttpProvider, ModelRequest, ProviderSettings, Raw, Reply
from jurat.provider.errors_from_http import Destination
from jurat.provider.openai_reply import read_reply

SECRET = "sk-fake-0000000000000000000000000000"
PLAIN = Frame(messages=(ChatMessage(role="system", content="Be brief."),))


def settings(server: Server | None = None, **more: Any) -> ProviderSettings:
    """Settings of a provider at a server, or at a port where nobody listens."""
    url = server.url if server else "http://127.0.0.1:1/v1"
    given = {"name": "judge", "kind": "openai_compatible", "model": "judge-model", "endpoint": url, **more}
    return ProviderSettings(**given)


def body_of(frame: Frame, user: str = "hello", **more: Any) -> dict[str, Any]:
    """What would be sent."""
    sent: dict[str, Any] = json.loads(HttpProvider(settings(**more)).prepare(ModelRequest(frame=frame, user=user)).body)
    return sent


def read(envelope: object) -> Reply:
    """What an envelope says."""
    raw = Raw(body=json.dumps(envelope).encode(), latency_ms=1.0)
    return read_reply(raw, Destination(where="host/v1", model="m", key_variable=None))


def message(**parts: Any) -> Reply:
    """What a message of these parts says."""
    return read({"choices": [{"message": parts, "finish_reason": "stop"}]})


async def failure(given: Answer, **more: Any) -> ProviderError:
    """The error that comes of a server's answer."""
    async with serving(given) as server:
        provider = HttpProvider(settings(server, **more), timing=FakeTime().timing)
        with pytest.raises(ProviderError) as caught:
            await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    return caught.value
