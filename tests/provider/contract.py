"""What every provider keeps, whatever is behind it. Each test module of an adapter runs these behaviours against it.

A provider under contract is made by a factory from the one reply that it is to give (and, for a recording, from the
requests that it will be asked). `HttpContract` goes on where a vendor's server stands behind it: the same situation has
the same outcome for every kind, whatever the vendor's words for it.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, FakeTime, Server, answer, serving
from talks import expected, heard
from wires import GENERIC, Wire, chat_sent

from jurat.errors import ErrorCategory, ProviderError, RequestError
from jurat.provider import (
    ChatMessage,
    File,
    FinishReason,
    Frame,
    Image,
    ModelRequest,
    Provider,
    Raw,
    RecordingProvider,
    ReplayProvider,
    Reply,
    ResponseSchema,
    TokenLogprobs,
    ToolCall,
    ToolResult,
    Usage,
)
from jurat.provider.http_provider import HttpProvider
from jurat.provider.registry import make_provider
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


SECRET = "sk-fake-0000000000000000000000000000"
PICTURE = Image(media_type="image/png", data=b"\x89PNG\r\n\xff")
OTHER = Image(media_type="image/webp", data=b"RIFF\0\0\0\0WEBP")
REPORT = File(name="report.pdf", media_type="application/pdf", data=b"%PDF-1.7 \xff")
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


def _with_every_number(value: Any, number: float) -> Any:
    """The same, but for its numbers; the index of a choice stays."""
    if isinstance(value, dict):
        return {name: part if name == "index" else _with_every_number(part, number) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_every_number(part, number) for part in value]
    return number if type(value) in (int, float) else value


class HttpContract(ProviderContract):
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

    # What is sent

    async def test_the_schema_temperature_and_limit_arrive_where_the_vendor_looks_for_them(self, wire: Wire) -> None:
        frame = Frame(messages=FRAME.messages, schema=SCHEMA, temperature=0.5, max_output_tokens=300)
        sent = wire.sent(prepared(wire, frame))
        assert list(sent.schema["properties"]) == ["score"]
        assert (sent.temperature, sent.limit) == (0.5, 300)

    async def test_without_a_schema_no_member_speaks_of_one(self, wire: Wire) -> None:
        sent = prepared(wire, Frame(messages=FRAME.messages))
        assert wire.sent(sent).schema is None
        words = ("response_format", "format", "schema", "tools", "tool_choice", "output_config", "responseMimeType")
        assert not [word for word in words if f'"{word}"' in json.dumps(sent)]

    async def test_what_is_not_set_is_not_sent(self, wire: Wire) -> None:
        sent = prepared(wire, Frame(messages=(), temperature=None, max_output_tokens=None))
        told = wire.sent(sent)
        assert (told.temperature, told.top_logprobs) == (None, 0)
        assert told.limit is None or wire.row["kind"] == "anthropic"  # which wants one
        assert not [word for word in ("temperature", "top_p", "topP", "logprobs", "seed") if word in json.dumps(sent)]

    async def test_a_model_that_takes_no_temperature_gets_none(self, wire: Wire) -> None:
        able = {**wire.row.get("capabilities", {}), "temperature": False}
        assert "temperature" not in json.dumps(prepared(wire, FRAME, capabilities=able))

    async def test_a_model_that_reasons_within_the_limit_gets_room_for_it_beside_the_answer(self, wire: Wire) -> None:
        able = {**wire.row.get("capabilities", {}), "reasoning": True}
        frame = Frame(messages=FRAME.messages, max_output_tokens=300)
        assert wire.sent(prepared(wire, frame, capabilities=able)).limit == 300 + 8192
        assert wire.sent(prepared(wire, frame, capabilities={**able, "reasoning_room": 0})).limit == 300

    async def test_token_probabilities_are_asked_for_where_the_model_reports_them(self, wire: Wire) -> None:
        frame = Frame(messages=FRAME.messages, top_logprobs=5)
        if "logprobs" not in wire.lacks:
            assert wire.sent(prepared(wire, frame)).top_logprobs == 5
        else:
            with pytest.raises(RequestError, match="at most 0 token probabilities"):
                prepared(wire, frame)

    async def test_a_model_without_structured_output_is_not_called_at_all(self, wire: Wire) -> None:
        able = {**wire.row.get("capabilities", {}), "structured_output": False}
        async with behind(wire, capabilities=able) as (provider, server, _):
            with pytest.raises(RequestError) as caught:
                provider.prepare(REQUEST)
        assert caught.value.category is ErrorCategory.UNSUPPORTED_STRUCTURED_OUTPUT
        assert server.requests == []

    async def test_images_arrive_in_their_message_where_they_stand(self, wire: Wire) -> None:
        said = (
            ChatMessage(role="system", content="S"),
            shown("Before ", PICTURE, " between ", OTHER, "\n«Ü» \u2028"),
            ChatMessage(role="assistant", content="I see."),
            shown(OTHER, "And this?"),
        )
        assert heard(wire, conversed(wire, *said)) == expected(wire, said)

    async def test_calls_of_tools_and_their_results_arrive_as_such(self, wire: Wire) -> None:
        looks = ToolCall(id="c1", name="weather", arguments={"city": "Zürich", "days": [1, 2.5, None]})
        asks = ToolCall(id="c2", name="clock")
        told = (
            ToolResult(id="c1", name="weather", parts=("rain",)),
            ToolResult(id="c2", name="clock", parts=("no such zone",), failed=True),
        )
        again = ToolCall(id="c3", name="clock", arguments={"zone": "CET"})
        said = (
            ChatMessage(role="system", content="S"),
            ChatMessage(role="user", content="Well?"),
            shown("Let me look.", looks, asks, role="assistant"),
            shown(*told, role="tool"),
            shown(again, role="assistant"),
            shown(ToolResult(id="c3", name="clock", parts=("noon",)), role="tool"),
        )
        assert heard(wire, conversed(wire, *said)) == expected(wire, said)
        going_on = (*said, ChatMessage(role="user", content="So?"))
        assert heard(wire, conversed(wire, *going_on)) == expected(wire, going_on)

    async def test_a_conversation_with_pictures_and_tools_is_answered_as_any_other(self, wire: Wire) -> None:
        said = (
            shown("What is this?", PICTURE),
            shown(ToolCall(id="c1", name="look", arguments={"at": "it"}), role="assistant"),
            shown(ToolResult(id="c1", name="look", parts=("a cat",)), role="tool"),
        )
        text = '{"score": 1}'
        request = ModelRequest(frame=Frame(messages=said[:-1], schema=SCHEMA), last=said[-1])
        async with behind(wire, Answer(body=wire.body(ScriptedReply(text=text), "m"))) as (provider, server, _):
            reply = provider.read(await provider.send(provider.prepare(request)))
        assert reply.text == text
        assert heard(wire, server.requests[0].json) == expected(wire, said)

    async def test_a_large_picture_arrives_whole_whatever_is_made_of_warnings(self, wire: Wire) -> None:
        last = shown(replace(PICTURE, data=bytes(2**20)), "?")
        request = ModelRequest(frame=Frame(messages=()), last=last)
        said = '{"score": 1}'
        async with behind(wire, Answer(body=wire.body(ScriptedReply(text=said), "m"))) as (provider, server, _):
            call = provider.prepare(request)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert provider.read(await provider.send(call)).text == said
        assert server.requests[0].body == call.body

    async def test_an_image_that_a_tool_gave_back_is_in_its_result_or_refused(self, wire: Wire) -> None:
        said = (
            ChatMessage(role="user", content="Look"),
            shown(ToolCall(id="c1", name="camera"), role="assistant"),
            shown(ToolResult(id="c1", name="camera", parts=(PICTURE,)), role="tool"),
        )
        if wire.sent is chat_sent:
            with pytest.raises(RequestError, match="result of the tool camera holds an image") as caught:
                conversed(wire, *said)
            assert caught.value.category is ErrorCategory.REQUEST_INVALID
        else:
            assert heard(wire, conversed(wire, *said))[-1] == expected(wire, said)[-1]

    async def test_a_document_arrives_as_the_file_that_it_is_or_is_refused_before_a_call(self, wire: Wire) -> None:
        nameless = wire.row["kind"] == "google"
        said = (shown("Read ", replace(REPORT, name="") if nameless else REPORT, "and answer."),)
        if takes_files(wire):
            assert heard(wire, conversed(wire, *said)) == expected(wire, said)
        with pytest.raises(RequestError, match="takes no documents") as caught:
            conversed(wire, *said, capabilities={**wire.row.get("capabilities", {}), "documents": False})
        assert caught.value.category is ErrorCategory.REQUEST_INVALID

    @pytest.mark.parametrize("place", ["last", "earlier", "result"])
    async def test_images_are_refused_before_a_call_where_the_model_takes_none(self, wire: Wire, place: str) -> None:
        able = {**wire.row.get("capabilities", {}), "images": False}
        result = ToolResult(id="c", name="n", parts=(PICTURE,))
        last = ChatMessage(role="user", content="x")
        said = {"last": (shown(PICTURE),), "earlier": (shown(PICTURE), last), "result": (shown(result, role="tool"),)}
        with pytest.raises(RequestError, match="takes no images, and the request holds 1") as caught:
            conversed(wire, *said[place], capabilities=able)
        assert caught.value.category is ErrorCategory.REQUEST_INVALID

    async def test_a_picture_of_another_kind_is_refused_before_a_call(self, wire: Wire) -> None:
        with pytest.raises(
            RequestError, match=r"expected images that the vendor takes \(image/png, .*\), found image/tiff"
        ):
            conversed(wire, shown(Image(media_type="image/tiff", data=b"II*")))

    async def test_every_byte_of_a_picture_and_every_word_of_a_call_is_in_the_key(self, wire: Wire) -> None:
        made = make_provider({"base_url": "http://127.0.0.1:1", **wire.row})
        other = replace(PICTURE, data=PICTURE.data[:-1] + b"!")
        call, result = ToolCall(id="c", name="n", arguments={"a": 1}), ToolResult(id="c", name="n", parts=("1",))
        frames = [
            Frame(messages=(shown(one, role="assistant"), shown(told, role="tool")))
            for one in (call, replace(call, arguments={"a": 2}))
            for told in (result, replace(result, parts=("2",)))
        ]
        asked = [
            ModelRequest(frame=FRAME, user="x"),
            *(ModelRequest(frame=FRAME, last=shown(one, "x")) for one in (PICTURE, other)),
            ModelRequest(frame=FRAME, last=shown("x", PICTURE, " y")),
            ModelRequest(frame=FRAME, last=shown(PICTURE, "x"), repeat=1),
            *(ModelRequest(frame=frame, user="x") for frame in frames),
        ]
        keys = [made.prepare(request).key for request in asked]
        assert len(set(keys)) == len(asked)
        assert keys == [made.prepare(request).key for request in asked]

    async def test_a_setting_that_has_a_place_of_its_own_is_no_extra(self, wire: Wire) -> None:
        made = make_provider({"base_url": "http://127.0.0.1:1", **wire.row})
        for name in sorted(made._encoder._dialect.own):  # type: ignore[attr-defined]
            outer, _, inner = name.partition(".")
            extra: dict[str, Any] = {outer: {inner: 1}} if inner else {outer: 1}
            frame = Frame(messages=(), schema=SCHEMA, extra=extra)
            with pytest.raises(RequestError, match="is no extra setting"):
                made.prepare(ModelRequest(frame=frame, user="x"))

    async def test_the_key_travels_in_its_header_and_nowhere_else(self, wire: Wire) -> None:
        async with behind(wire, Answer(body=wire.body(ScriptedReply(text="{}"), "m"))) as (provider, server, _):
            await provider.send(provider.prepare(REQUEST))
        request = server.requests[0]
        carried = [name for name, value in request.headers.items() if SECRET in value]
        assert carried == ["api-key" if wire.row["kind"] == "azure_openai" else wire.key_header]
        assert SECRET not in request.target
        assert SECRET.encode() not in request.body
        assert request.target.partition("?")[0] == wire.path or wire.row["kind"] == "azure_openai"

    # What comes back

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
