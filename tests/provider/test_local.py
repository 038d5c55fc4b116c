"""The embedded model as a provider: its server begins at the first call, once, and again when it has died."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from contract import FRAME, Making, ProviderContract
from loopback import Answer, Server, serving

from jurat.errors import AuthoringError, ErrorCategory, ModelError, ProviderError
from jurat.provider import (
    FinishReason,
    Frame,
    ModelRequest,
    Pricer,
    Provider,
    ProviderSettings,
    ResponseSchema,
    ScriptedReply,
    Usage,
    make_provider,
)
from jurat.provider.capabilities import capabilities_for
from jurat.provider.local import LocalProvider

REQUEST = ModelRequest(frame=FRAME, user="x")


class Lease:
    """A hold on a server, as `local_server` gives it, here on a loopback server of the test's."""

    def __init__(self, server: Server) -> None:
        self.url, self.api_key = server.url, "random-key"
        self.server = SimpleNamespace(ended=False)
        self.closed = False

    def close(self) -> None:
        self.closed = True


class OnLoopback(LocalProvider):
    """A local provider whose servers are given."""

    def __init__(self, *servers: Server) -> None:
        super().__init__(
            ProviderSettings(name="local", kind="local", model="m", capabilities=capabilities_for("local", "m"))
        )
        self.servers, self.leases = list(servers), list[Lease]()

    def _served(self) -> Any:
        if not self.servers:
            raise ModelError("model m is not here. Fetch it: jurat models pull m")
        self.leases.append(Lease(self.servers.pop(0)))
        return self.leases[-1]


class TestLocal(ProviderContract):
    async def test_the_model_that_answered_is_named(self, making: Making) -> None:
        async with making(ScriptedReply(text="x", model="/home/somebody/m.gguf"), [REQUEST]) as provider:
            assert provider.read(await provider.send(provider.prepare(REQUEST))).model == "m"

    @pytest.fixture
    def making(self) -> Making:
        @asynccontextmanager
        async def make(reply: ScriptedReply, _: Sequence[ModelRequest]) -> AsyncIterator[Provider]:
            async with serving(Answer(body=reply.body("m"))) as server:
                provider = OnLoopback(server, server)
                yield provider
                await provider.aclose()

        return make


async def test_many_first_calls_start_one_server_and_carry_its_key() -> None:
    async with serving() as server:
        provider, started = OnLoopback(server), list[str]()
        provider.starting = lambda: started.append("now")
        call = provider.prepare(REQUEST)
        assert provider.leases == []
        await asyncio.gather(*(provider.send(call) for _ in range(10)))
        await provider.aclose()
    assert len(provider.leases) == 1
    assert started == ["now"]
    assert provider.leases[0].closed
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer random-key"}
    assert server.most_in_flight == 1


async def test_a_server_that_died_is_started_again() -> None:
    async with serving() as second:
        async with serving() as first:
            provider = OnLoopback(first, second)
            provider._policy = type(provider._policy)(max_attempts=1)
            await provider.send(provider.prepare(REQUEST))
        provider.leases[0].server.ended = True
        await provider.send(provider.prepare(REQUEST))
        await provider.aclose()
    assert (len(provider.leases), len(first.requests), len(second.requests)) == (2, 1, 1)
    assert provider.leases[0].closed


async def test_a_model_that_is_not_here_says_which_command_fetches_it() -> None:
    provider = OnLoopback()
    with pytest.raises(ProviderError, match="jurat models pull m") as caught:
        await provider.send(provider.prepare(REQUEST))
    assert (caught.value.category, caught.value.attempts) == (ErrorCategory.INVALID_REQUEST, 0)


def test_the_default_model_is_recorded_under_its_own_name() -> None:
    for asked in ("local", "local:default", {"kind": "local"}):
        settings = make_provider(asked).settings
        assert (settings.model, settings.endpoint) == ("qwen2.5-coder-1.5b", "")
    assert make_provider("local").settings.name == "local"


def test_an_embedded_model_reports_probabilities_follows_schemas_and_costs_nothing() -> None:
    provider = make_provider({"kind": "local", "context_tokens": 4096})
    able = provider.settings.capabilities
    assert (able.structured_output, able.top_logprobs, able.context_tokens) == (True, 20, 4096)
    assert Pricer(provider.settings).cost(Usage()) == 0.0


@pytest.mark.parametrize("row", [{"model": "no-such-model"}, {"model_path": "no-such-file.gguf"}])
def test_a_model_that_cannot_be_is_the_authors_fault(row: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(AuthoringError, match=r"no.such"):
        make_provider({"kind": "local", **row}, base_dir=tmp_path)


def test_preparing_starts_nothing() -> None:
    provider = make_provider("local")
    provider.prepare(ModelRequest(frame=Frame(messages=()), user="x"))
    assert repr(provider) == "<local provider 'local': qwen2.5-coder-1.5b>"


@pytest.mark.model_small
async def test_the_smallest_real_model_follows_a_schema_reports_probabilities_and_knows_its_limits(
    smollm2: Path,
) -> None:
    provider = make_provider({"kind": "local", "model_path": str(smollm2), "context_tokens": 2048})
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": 20}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    structured = Frame(messages=(), schema=ResponseSchema(name="answer", schema=schema), max_output_tokens=100)
    one_token = Frame(messages=(), top_logprobs=5, max_output_tokens=1)
    asked = [ModelRequest(frame=frame, user="Is Paris in France?") for frame in (structured, one_token)]
    first, second = [provider.read(await provider.send(provider.prepare(request))) for request in asked]
    with pytest.raises(ProviderError) as caught:
        await provider.send(provider.prepare(ModelRequest(frame=one_token, user="word " * 5000)))
    await provider.aclose()
    assert list(json.loads(first.text or "")) == ["answer"]
    assert (first.usage.output_tokens or 0) > 0
    assert (second.finish_reason, len(second.logprobs), len(second.logprobs[0].top)) == (FinishReason.LENGTH, 1, 5)
    assert caught.value.category is ErrorCategory.CONTEXT_TOO_LARGE
