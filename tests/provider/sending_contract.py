"""What every kind that speaks HTTP sends: the same request means the same, whatever the vendor's words for it."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import pytest
from contract import FRAME, REQUEST, SCHEMA
from loopback import Answer
from talks import expected, heard
from wired import OTHER, PICTURE, REPORT, SECRET, behind, conversed, prepared, shown, takes_files
from wires import Wire, chat_sent

from jurat.errors import ErrorCategory, RequestError
from jurat.provider import ChatMessage, Frame, Image, ModelRequest, ToolCall, ToolResult
from jurat.provider.registry import make_provider
from jurat.provider.script import ScriptedReply


class SendingContract:
    """The half of `HttpContract` that looks at requests."""

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

    async def test_whom_a_request_goes_to_is_part_of_its_key(self, wire: Wire) -> None:
        def key(**row: Any) -> str:
            made = make_provider({"base_url": "http://127.0.0.1:1", **wire.row, **row})
            return made.prepare(ModelRequest(frame=Frame(messages=()), user="x")).key

        keys = [key(), key(model=f"{wire.row['model']}-2"), key(base_url="http://127.0.0.1:2")]
        assert (len(set(keys)), key()) == (3, keys[0])

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
