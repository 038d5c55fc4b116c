"""What every provider keeps, whatever is behind it. Each test module of an adapter runs these behaviours against it.

A provider under contract is made by a factory from the one reply that it is to give (and, for a recording, from the
requests that it will be asked). `http_contract.py` goes on where a vendor's server stands behind it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import pytest
from wires import GENERIC, Wire

from jurat.errors import ErrorCategory, ProviderError, RequestError
from jurat.provider import (
    ChatMessage,
    FinishReason,
    Frame,
    ModelRequest,
    Provider,
    Raw,
    Reply,
    ResponseSchema,
    TokenLogprobs,
    Usage,
)
from jurat.provider.script import ScriptedReply

Making = Callable[..., AbstractAsyncContextManager[Provider]]

SCHEMA = ResponseSchema(name="verdict", schema={"type": "object", "properties": {"score": {"type": "number"}}})
FRAME = Frame(messages=(ChatMessage(role="system", content="Judge.\n«Ü»"),), schema=SCHEMA)
REQUEST = ModelRequest(frame=FRAME, user='Is "Paris" right?\n\u2028 <x> 🙂')


async def asked(making: Making, reply: ScriptedReply, request: ModelRequest = REQUEST) -> Reply:
    async with making(reply, [request]) as provider:
        return provider.read(await provider.send(provider.prepare(request)))


class ProviderContract:
    """Subclass it with a fixture `making`, and with `wire` where it speaks another format than chat completions."""

    @pytest.fixture
    def wire(self) -> Wire:
        return GENERIC

    async def test_it_is_a_provider(self, making: Making) -> None:
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            assert isinstance(provider, Provider)

    @pytest.mark.parametrize("text", ["Paris", "", "  \n", 'Ünï "x" 🙂\u2028', '{"score": 1}'])
    async def test_the_text_arrives_as_it_was_said(self, making: Making, wire: Wire, text: str) -> None:
        if "by_tool" in wire.lacks:
            text = json.dumps({"said": text})
        assert (await asked(making, ScriptedReply(text=text))).text == text

    async def test_a_reply_without_text_has_none(self, making: Making) -> None:
        assert (await asked(making, ScriptedReply(text=None))).text is None

    @pytest.mark.parametrize("reason", list(FinishReason))
    async def test_every_reason_to_stop_arrives(self, making: Making, wire: Wire, reason: FinishReason) -> None:
        said = ScriptedReply(text="{}", finish_reason=reason if reason in wire.reasons else FinishReason.STOP)
        assert (await asked(making, said)).finish_reason is said.finish_reason

    async def test_a_refusal_arrives_beside_the_text(self, making: Making, wire: Wire) -> None:
        refusal = None if "refusal" in wire.lacks else "I cannot."
        reply = await asked(making, ScriptedReply(text=None, refusal=refusal))
        assert (reply.text, reply.refusal) == (None, refusal)

    async def test_reasoning_is_counted_and_never_read(self, making: Making) -> None:
        reply = await asked(making, ScriptedReply(text="{}", reasoning='{"score": 4}'))
        assert (reply.text, reply.reasoning_characters) == ("{}", 12)

    async def test_usage_arrives_with_its_parts(self, making: Making, wire: Wire) -> None:
        usage = Usage(
            input_tokens=100,
            output_tokens=20,
            cached_input_tokens=None if "cached" in wire.lacks else 40,
            cache_write_tokens=None if "written" in wire.lacks else 10,
            reasoning_tokens=None if "thought_tokens" in wire.lacks else 5,
        )
        assert (await asked(making, ScriptedReply(text="{}", usage=usage))).usage == usage

    async def test_usage_that_was_not_reported_is_unknown(self, making: Making) -> None:
        assert (await asked(making, ScriptedReply(text="{}"))).usage == Usage()

    async def test_token_probabilities_arrive(self, making: Making, wire: Wire) -> None:
        tokens = (TokenLogprobs(token="yes", top={"yes": -0.25, "no": -1.5}),) if "logprobs" not in wire.lacks else ()
        assert (await asked(making, ScriptedReply(text="{}", logprobs=tokens))).logprobs == tokens

    async def test_the_model_that_answered_is_named(self, making: Making) -> None:
        assert (await asked(making, ScriptedReply(text="{}", model="other-2026"))).model == "other-2026"

    async def test_preparing_is_pure_and_the_key_names_the_request(self, making: Making) -> None:
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            first, again = provider.prepare(REQUEST), provider.prepare(REQUEST)
            others = [
                ModelRequest(frame=FRAME, user="other"),
                ModelRequest(frame=FRAME, user=REQUEST.user, repeat=1),
                ModelRequest(frame=Frame(messages=FRAME.messages), user=REQUEST.user),
                ModelRequest(frame=Frame(messages=FRAME.messages, temperature=0.5), user=REQUEST.user),
            ]
            keys = {first.key, *(provider.prepare(other).key for other in others)}
        assert first == again
        assert len(keys) == 5
        assert len(first.key) == 64
        assert set(first.key) <= set("0123456789abcdef")

    async def test_an_equal_frame_gives_the_same_key(self, making: Making) -> None:
        twin = Frame(messages=FRAME.messages, schema=FRAME.schema)
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            assert provider.prepare(ModelRequest(frame=twin, user=REQUEST.user)) == provider.prepare(REQUEST)

    async def test_the_user_text_is_sent_last_and_whole(self, making: Making, wire: Wire) -> None:
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            sent = wire.sent(json.loads(provider.prepare(REQUEST).body))
        assert sent.messages == [("system", "Judge.\n«Ü»"), ("user", REQUEST.user)]

    async def test_earlier_turns_are_sent_in_their_order_and_roles(self, making: Making, wire: Wire) -> None:
        said = [("system", "S"), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
        frame = Frame(messages=tuple(ChatMessage(role=role, content=text) for role, text in said), schema=SCHEMA)
        request = ModelRequest(frame=frame, user="e")
        async with making(ScriptedReply(text="{}"), [request]) as provider:
            sent = wire.sent(json.loads(provider.prepare(request).body))
        assert sent.messages == [*said, ("user", "e")]

    @pytest.mark.parametrize("place", ["user", "frame"])
    async def test_text_that_is_no_unicode_is_refused_before_a_call(self, making: Making, place: str) -> None:
        bad = ChatMessage(role="system", content="\ud800")
        frame = Frame(messages=(bad,)) if place == "frame" else FRAME
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            with pytest.raises(RequestError) as caught:
                provider.prepare(ModelRequest(frame=frame, user="\ud800" if place == "user" else "x"))
        assert caught.value.category is ErrorCategory.REQUEST_INVALID

    async def test_bytes_that_are_no_reply_are_an_api_error_that_repeats_none_of_them(
        self, making: Making, wire: Wire
    ) -> None:
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            for body in wire.broken:
                with pytest.raises(ProviderError) as caught:
                    provider.read(Raw(body=body, latency_ms=1.0))
                assert caught.value.category is ErrorCategory.API_ERROR, body[:80]
                assert "Sign in" not in str(caught.value)

    async def test_a_raw_reply_can_be_read_again_later(self, making: Making) -> None:
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            raw = await provider.send(provider.prepare(REQUEST))
            assert provider.read(raw) == provider.read(Raw(body=raw.body, latency_ms=0.0, cached=True))

    async def test_many_calls_at_once_all_get_their_reply(self, making: Making) -> None:
        requests: Sequence[ModelRequest] = [ModelRequest(frame=FRAME, user=f"item {n}") for n in range(20)]
        async with making(ScriptedReply(text="{}"), requests) as provider:
            raws = await asyncio.gather(*(provider.send(provider.prepare(request)) for request in requests))
            assert [provider.read(raw).text for raw in raws] == ["{}"] * 20

    async def test_it_can_be_asked_again_after_it_was_closed(self, making: Making) -> None:
        async with making(ScriptedReply(text="{}"), [REQUEST]) as provider:
            await provider.send(provider.prepare(REQUEST))
            await provider.aclose()
            await provider.aclose()
            assert provider.read(await provider.send(provider.prepare(REQUEST))).text == "{}"
