"""Adapters in front of a real server that is not ours: llama.cpp, which speaks three of the dialects itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import ChatMessage, FinishReason, Frame, ModelRequest, ResponseSchema, make_provider
from jurat.provider.local_server import shared_server

pytestmark = pytest.mark.model_small

SCHEMA = ResponseSchema(
    name="answer",
    schema={
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": 20}},
        "required": ["answer"],
        "additionalProperties": False,
    },
)
SYSTEM = (ChatMessage(role="system", content="Be brief."),)
ROWS: dict[str, dict[str, Any]] = {
    "chat": {"kind": "llama_cpp"},
    "responses": {"kind": "openai", "api": "responses"},
    "messages": {"kind": "anthropic", "capabilities": {"reasoning": False}},
}


@pytest.fixture
def server(smollm2: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with shared_server(smollm2, context_tokens=2048, slots=1, threads=None) as lease:
        monkeypatch.setenv("REAL_SERVER_KEY", lease.api_key)
        yield f"{lease.url}/v1"


def made(server: str, name: str) -> Any:
    return make_provider(
        {"model": "smollm2", "base_url": server, "api_key_env": "REAL_SERVER_KEY", "max_attempts": 1, **ROWS[name]}
    )


@pytest.mark.parametrize("name", ROWS)
async def test_a_real_server_understands_us_and_is_understood(server: str, name: str) -> None:
    provider = made(server, name)
    frame = Frame(messages=SYSTEM, max_output_tokens=16)
    short = provider.read(await provider.send(provider.prepare(ModelRequest(frame=frame, user="Is Paris in France?"))))
    with pytest.raises(ProviderError) as caught:
        await provider.send(provider.prepare(ModelRequest(frame=frame, user="word " * 5000)))
    await provider.aclose()
    assert short.text
    assert short.finish_reason in (FinishReason.STOP, FinishReason.LENGTH)
    assert (short.usage.input_tokens or 0) > (short.usage.cached_input_tokens or 0) > -1
    assert 0 < (short.usage.output_tokens or 0) <= 16
    assert caught.value.category is ErrorCategory.CONTEXT_TOO_LARGE


async def test_a_real_server_keeps_to_the_schema(server: str) -> None:
    provider = made(server, "chat")
    frame = Frame(messages=SYSTEM, schema=SCHEMA, max_output_tokens=100)
    reply = provider.read(await provider.send(provider.prepare(ModelRequest(frame=frame, user="Is Paris in France?"))))
    await provider.aclose()
    assert list(json.loads(reply.text or "")) == ["answer"]


async def test_a_real_server_that_gets_a_wrong_key_is_an_auth_error(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_SERVER_KEY", "k-wrong")
    provider = made(server, "chat")
    with pytest.raises(ProviderError) as caught:
        await provider.send(provider.prepare(ModelRequest(frame=Frame(messages=SYSTEM), user="x")))
    await provider.aclose()
    assert caught.value.category is ErrorCategory.AUTH_ERROR
