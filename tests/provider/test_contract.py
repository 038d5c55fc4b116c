"""Every provider keeps the contract: over HTTP, scripted, replayed, and as a function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from contract import Making, ProviderContract
from loopback import Answer, serving

from jurat.provider import (
    ModelRequest,
    Provider,
    ProviderSettings,
    PythonProvider,
    RecordingProvider,
    ReplayProvider,
    ScriptedProvider,
    ScriptedReply,
    make_provider,
)
from jurat.provider.capabilities import capabilities_for


class TestOverHttp(ProviderContract):
    @pytest.fixture
    def making(self) -> Making:
        @asynccontextmanager
        async def make(reply: ScriptedReply, _: Sequence[ModelRequest]) -> AsyncIterator[Provider]:
            async with serving(Answer(body=reply.body("m"))) as server:
                provider = make_provider({"kind": "openai_compatible", "model": "m", "base_url": server.url})
                yield provider
                await provider.aclose()

        return make


class TestScripted(ProviderContract):
    @pytest.fixture
    def making(self) -> Making:
        @asynccontextmanager
        async def make(reply: ScriptedReply, _: Sequence[ModelRequest]) -> AsyncIterator[Provider]:
            yield ScriptedProvider(reply)

        return make


class TestReplayed(ProviderContract):
    @pytest.fixture
    def making(self, tmp_path: Path) -> Making:
        @asynccontextmanager
        async def make(reply: ScriptedReply, requests: Sequence[ModelRequest]) -> AsyncIterator[Provider]:
            path = tmp_path / "recording.jsonl"
            recorder = RecordingProvider(ScriptedProvider(reply), path)
            for request in requests:
                await recorder.send(recorder.prepare(request))
            yield ReplayProvider(path)

        return make


class TestFunction(ProviderContract):
    @pytest.fixture(params=["def", "async def"])
    def making(self, request: pytest.FixtureRequest) -> Making:
        settings = ProviderSettings(
            name="mine", kind="python", model="m:f", capabilities=capabilities_for("python", "m:f", {"top_logprobs": 5})
        )

        @asynccontextmanager
        async def make(reply: ScriptedReply, _: Sequence[ModelRequest]) -> AsyncIterator[Provider]:
            async def asynchronous(messages: list[dict[str, str]]) -> ScriptedReply:
                return reply

            def synchronous(messages: list[dict[str, str]]) -> ScriptedReply:
                return reply

            yield PythonProvider(asynchronous if request.param == "async def" else synchronous, settings=settings)

        return make
