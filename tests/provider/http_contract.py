"""What every kind that speaks HTTP keeps: the same situation has the same outcome, whatever the vendor calls it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from contract import REQUEST, Making, ProviderContract
from loopback import Answer, answer
from sending_contract import SendingContract
from wired import SECRET, behind
from wires import Wire

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import (
    FinishReason,
    ModelRequest,
    Provider,
    Raw,
    RecordingProvider,
    ReplayProvider,
    TokenLogprobs,
    Usage,
)
from jurat.provider.script import ScriptedReply

CATEGORIES = {
    "bad_key": ErrorCategory.AUTH_ERROR,
    "forbidden": ErrorCategory.AUTH_ERROR,
    "no_model": ErrorCategory.INVALID_REQUEST,
    "rate_limited": ErrorCategory.RATE_LIMITED,
    "no_credit": ErrorCategory.RATE_LIMITED,
    "overloaded": ErrorCategory.OVERLOADED,
    "too_large": ErrorCategory.CONTEXT_TOO_LARGE,
    "filtered": ErrorCategory.REFUSAL,
    "invalid": ErrorCategory.INVALID_REQUEST,
    "unfit_temperature": ErrorCategory.INVALID_REQUEST,
    "unfit_limit": ErrorCategory.INVALID_REQUEST,
    "server_error": ErrorCategory.API_ERROR,
    "gateway_timeout": ErrorCategory.TIMEOUT,
    "error_in_200": ErrorCategory.RATE_LIMITED,
}
PASSING = ("rate_limited", "overloaded", "server_error", "gateway_timeout", "error_in_200")


def _with_every_number(value: Any, number: float) -> Any:
    """The same, but for its numbers; the index of a choice stays."""
    if isinstance(value, dict):
        return {name: part if name == "index" else _with_every_number(part, number) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_every_number(part, number) for part in value]
    return number if type(value) in (int, float) else value


class HttpContract(SendingContract, ProviderContract):
    """Subclass it with a parametrised fixture `wire`."""

    @pytest.fixture(autouse=True)
    def key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JUDGE_KEY", SECRET)

    @pytest.fixture
    def making(self, wire: Wire) -> Making:
        @asynccontextmanager
        async def make(reply: ScriptedReply, _: Sequence[ModelRequest]) -> AsyncIterator[Provider]:
            async with behind(wire, Answer(body=wire.body(reply, "m"))) as (provider, _server, _clock):
                yield provider

        return make

    async def test_the_request_id_is_kept(self, wire: Wire) -> None:
        said = Answer(body=wire.body(ScriptedReply(text="{}"), "m"), headers={wire.request_id: "req_011CSHoEeqs5"})
        async with behind(wire, said) as (provider, _server, _):
            assert (await provider.send(provider.prepare(REQUEST))).request_id == "req_011CSHoEeqs5"

    async def test_a_reply_without_that_header_is_known_by_the_name_that_it_bears_itself(self, wire: Wire) -> None:
        told = json.loads(wire.body(ScriptedReply(text="{}"), "m"))
        for name, kept in (("reply-7", "reply-7"), ("two words", None), (SECRET.replace("0", "1"), None), (7, None)):
            body = json.dumps({**told, wire.reply_id or "id": name}).encode()
            async with behind(wire, Answer(body=body)) as (provider, _server, _):
                raw = await provider.send(provider.prepare(REQUEST))
            assert raw.request_id == (kept if wire.reply_id else None)

    async def test_numbers_beyond_all_measure_are_unknown_and_the_reply_stays(self, wire: Wire) -> None:
        tokens = (TokenLogprobs(token="yes", top={"yes": -0.25, "no": -1.5}),) if "logprobs" not in wire.lacks else ()
        usage = Usage(input_tokens=100, output_tokens=20, cached_input_tokens=40, reasoning_tokens=5)
        told = json.loads(wire.body(ScriptedReply(text="{}", usage=usage, logprobs=tokens), "m"))
        for number in (10**400, -(10**400), float("inf"), float("nan")):
            body = json.dumps(_with_every_number(told, number)).encode()
            async with behind(wire, Answer(body=body)) as (provider, _server, _):
                reply = provider.read(await provider.send(provider.prepare(REQUEST)))
            assert (reply.text, reply.usage) == ("{}", Usage())
            assert [dict(token.top) for token in reply.logprobs] == [{} for _ in tokens]

    async def test_a_name_of_a_model_that_could_do_harm_is_unknown(self, wire: Wire) -> None:
        body = wire.body(ScriptedReply(text="{}", model="a\x1b[31m"), "m")
        async with behind(wire, Answer(body=body)) as (provider, _server, _):
            assert provider.read(await provider.send(provider.prepare(REQUEST))).model is None

    async def test_a_reply_that_was_cut_off_before_its_first_word_is_cut_off(self, wire: Wire) -> None:
        body = wire.body(ScriptedReply(text=None, finish_reason=FinishReason.LENGTH, reasoning="hm"), "m")
        async with behind(wire, Answer(body=body)) as (provider, _server, _):
            reply = provider.read(await provider.send(provider.prepare(REQUEST)))
        assert (reply.text, reply.finish_reason, reply.reasoning_characters) == (None, FinishReason.LENGTH, 2)

    @pytest.mark.parametrize("situation", CATEGORIES)
    async def test_the_same_situation_has_the_same_category(self, wire: Wire, situation: str) -> None:
        said = wire.errors[situation] or answer({"error": {"message": "m"}}, 418)
        wanted = CATEGORIES[situation] if wire.errors[situation] else ErrorCategory.INVALID_REQUEST
        async with behind(wire, said, max_attempts=1) as (provider, server, _):
            with pytest.raises(ProviderError) as caught:
                await provider.send(provider.prepare(REQUEST))
        error = caught.value
        assert (error.category, error.attempts, len(server.requests)) == (wanted, 1, 1), str(error)
        assert SECRET not in str(error)
        if situation == "unfit_temperature" and wire.errors[situation]:
            assert "refused temperature" in str(error)
            assert "capabilities: {temperature: false}" in str(error)
        if situation == "unfit_limit" and wire.errors[situation]:
            assert "refused the limit of output tokens" in str(error)
            assert "token_limit_name" not in str(error)

    @pytest.mark.parametrize("situation", CATEGORIES)
    async def test_what_may_pass_is_tried_again_and_nothing_else(self, wire: Wire, situation: str) -> None:
        said, good = wire.errors[situation], Answer(body=wire.body(ScriptedReply(text="{}"), "m"))
        if said is None:
            said = answer({"error": {"message": "m"}}, 418)
        async with behind(wire, said, good) as (provider, server, _):
            if situation in PASSING and wire.errors[situation]:
                raw = await provider.send(provider.prepare(REQUEST))
                assert (raw.attempts, provider.read(raw).text) == (2, "{}")
            else:
                with pytest.raises(ProviderError):
                    await provider.send(provider.prepare(REQUEST))
                assert len(server.requests) == 1

    async def test_the_delay_that_the_vendor_asks_for_is_kept(self, wire: Wire) -> None:
        said = wire.errors["rate_limited"]
        assert said is not None
        async with behind(wire, said, Answer(body=wire.body(ScriptedReply(text="{}"), "m"))) as (
            provider,
            _server,
            clock,
        ):
            await provider.send(provider.prepare(REQUEST))
        assert 7.0 <= clock.waits[0] <= 8.4

    async def test_a_body_without_a_reply_never_counts_as_one(self, wire: Wire) -> None:
        for body in wire.broken:
            async with behind(wire, Answer(body=body)) as (provider, server, _):
                with pytest.raises(ProviderError) as caught:
                    await provider.send(provider.prepare(REQUEST))
            assert (caught.value.category, len(server.requests)) == (ErrorCategory.API_ERROR, 1), body[:80]
            assert "Sign in" not in str(caught.value)

    async def test_a_reply_out_of_a_recording_says_the_same(self, wire: Wire) -> None:
        usage = Usage(input_tokens=7, output_tokens=3)
        body = wire.body(ScriptedReply(text="{}", usage=usage, model="m-2026"), "m")
        async with behind(wire, Answer(body=body)) as (provider, _server, _):
            raw = await provider.send(provider.prepare(REQUEST))
            assert raw.reply is not None
            assert provider.read(raw) == provider.read(Raw(body=raw.body, latency_ms=0.0))

    async def test_a_recording_answers_in_the_same_dialect(self, wire: Wire, tmp_path: Path) -> None:
        body = wire.body(ScriptedReply(text="{}", model="m-2026"), "m")
        async with behind(wire, Answer(body=body)) as (provider, _server, _):
            recorder = RecordingProvider(provider, tmp_path / "r.jsonl")
            said = recorder.read(await recorder.send(recorder.prepare(REQUEST)))
        again = ReplayProvider(tmp_path / "r.jsonl")
        assert again.read(await again.send(again.prepare(REQUEST))) == said
