"""Every provider keeps the contract: each kind over HTTP, scripted, replayed, and as a function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from contract import Making, ProviderContract
from http_contract import HttpContract
from wire_anthropic import ANTHROPIC_WIRES
from wire_google import GOOGLE_WIRES
from wire_ollama import OLLAMA_WIRE
from wire_responses import RESPONSES_WIRE
from wires import CHAT_WIRES, SITUATIONS, Wire

from jurat.provider import (
    ModelRequest,
    Provider,
    ProviderSettings,
    PythonProvider,
    RecordingProvider,
    ReplayProvider,
    ScriptedProvider,
    ScriptedReply,
)
from jurat.provider.capabilities import capabilities_for
from jurat.provider.rows import PRESETS

WIRES = (*CHAT_WIRES, RESPONSES_WIRE, *ANTHROPIC_WIRES, *GOOGLE_WIRES, OLLAMA_WIRE)


def test_every_kind_that_speaks_http_stands_under_the_contract() -> None:
    assert {wire.row["kind"] for wire in WIRES} == set(PRESETS)
    assert [wire.name for wire in WIRES if set(wire.errors) != set(SITUATIONS)] == []


class TestOverHttp(HttpContract):
    @pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
    def wire(self, request: pytest.FixtureRequest) -> Wire:
        wire: Wire = request.param
        return wire


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
