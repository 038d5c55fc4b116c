"""Pictures, files and tools in a conversation, to the letter, as each vendor's documentation has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.errors import RequestError
from jurat.provider import ChatMessage, File, Frame, Image, ModelRequest, ToolCall, ToolResult, make_provider

PICTURE = Image(media_type="image/png", data=b"\x89PNG")
REPORT = File(name="a.pdf", media_type="application/pdf", data=b"%PDF")
CALL = ToolCall(id="c1", name="find", arguments={"q": "ü"})
RESULT = ToolResult(id="c1", name="find", parts=("3 hits",), failed=True)
URL = "data:image/png;base64,iVBORw=="
PDF_URL = "data:application/pdf;base64,JVBERg=="


def said(role: str, *parts: Any) -> ChatMessage:
    return ChatMessage(role=role, parts=parts)


SHOWN = (said("user", "This ", PICTURE, REPORT, "?"),)
AGENT = (said("user", "Hm?"), said("assistant", "Let me see.", CALL), said("tool", RESULT))


def sent(row: Any, messages: tuple[ChatMessage, ...], *, extra: dict[str, Any] | None = None) -> dict[str, Any]:
    frame = Frame(messages=messages[:-1], temperature=None, max_output_tokens=None, extra=extra or {})
    told: dict[str, Any] = json.loads(make_provider(row).prepare(ModelRequest(frame=frame, last=messages[-1])).body)
    return told


def test_chat_completions_show_parts_and_give_each_result_a_message() -> None:
    assert sent("openai:gpt-4o", SHOWN)["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "This "},
                {"type": "image_url", "image_url": {"url": URL}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF_URL}},
                {"type": "text", "text": "?"},
            ],
        }
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "ü"}'}}
    assert sent("openai:gpt-4o", AGENT)["messages"][1:] == [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3 hits"},
    ]
    silent = (said("user", "Hm?"), said("assistant", CALL), said("tool", RESULT))
    assert sent("openai:gpt-4o", silent)["messages"][1]["content"] is None


def test_the_responses_interface_has_items() -> None:
    row = {"kind": "openai", "model": "gpt-4o", "api": "responses"}
    assert sent(row, SHOWN)["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "This "},
                {"type": "input_image", "image_url": URL, "detail": "auto"},
                {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL},
                {"type": "input_text", "text": "?"},
            ],
        }
    ]
    assert sent(row, AGENT)["input"][1:] == [
        {"role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"q": "ü"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "3 hits"},
    ]


def test_anthropic_has_blocks_and_wants_the_tools_declared() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    document = {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}
    assert sent("anthropic:claude-haiku-4-5", SHOWN)["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "This "},
                {"type": "image", "source": source},
                {"type": "document", "title": "a.pdf", "source": document},
                {"type": "text", "text": "?"},
            ],
        }
    ]
    told = sent("anthropic:claude-haiku-4-5", (*AGENT, ChatMessage(role="user", content="So?")))
    assert told["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "ü"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "3 hits", "is_error": True},
                {"type": "text", "text": "So?"},
            ],
        },
    ]
    assert told["tools"] == [{"name": "find", "input_schema": {"type": "object"}}]
    assert told["tool_choice"] == {"type": "none"}


def test_tools_that_the_author_offers_are_offered_as_they_are() -> None:
    tools = [{"name": "find", "description": "Finds.", "input_schema": {"type": "object"}}]
    told = sent("anthropic:claude-haiku-4-5", AGENT, extra={"tools": tools})
    assert (told["tools"], "tool_choice" in told) == (tools, False)


def test_without_calls_no_tool_is_declared() -> None:
    assert "tools" not in sent("anthropic:claude-haiku-4-5", SHOWN)


def test_google_has_parts_and_the_results_of_tools_are_the_users() -> None:
    assert sent("google:gemini-2.5-flash", SHOWN)["contents"] == [
        {
            "role": "user",
            "parts": [
                {"text": "This "},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
                {"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}},
                {"text": "?"},
            ],
        }
    ]
    call = {"id": "c1", "name": "find", "args": {"q": "ü"}}
    assert sent("google:gemini-2.5-flash", AGENT)["contents"][1:] == [
        {"role": "model", "parts": [{"text": "Let me see."}, {"functionCall": call}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "find", "response": {"error": "3 hits"}}}],
        },
    ]


@pytest.mark.parametrize(
    ("model", "signed"),
    [("gemini-2.5-pro", []), ("gemini-3-pro-preview", [0]), ("models/gemini-3.8-flash", [0]), ("gemini-10", [0])],
)
def test_the_first_call_of_each_step_says_that_it_has_no_signature_where_one_is_wanted(
    model: str, signed: list[int]
) -> None:
    calls = said("assistant", CALL, ToolCall(id="c2", name="find"))
    parts = sent(f"google:{model}", (said("user", "Hm?"), calls, said("tool", RESULT)))["contents"][1]["parts"]
    assert [number for number, part in enumerate(parts) if "thoughtSignature" in part] == signed


def test_ollama_has_pictures_beside_the_text_and_results_by_the_tools_name() -> None:
    shown = (said("user", "This ", PICTURE, "?"),)
    assert sent("ollama:qwen3-vl", shown)["messages"] == [
        {"role": "user", "images": ["iVBORw=="], "content": "This ?"},
    ]
    call = {"function": {"name": "find", "arguments": {"q": "ü"}}}
    assert sent("ollama:qwen3-vl", AGENT)["messages"][1:] == [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
        {"role": "tool", "tool_name": "find", "content": "3 hits"},
    ]


def test_a_request_with_pictures_is_refused_whole_where_one_is_of_no_kind_that_is_taken() -> None:
    with pytest.raises(
        RequestError, match=r"expected documents that the vendor takes \(application/pdf\), found application/msword"
    ):
        sent("openai:gpt-4o", (said("user", File(name="a.doc", media_type="application/msword", data=b"")),))


def test_pictures_are_not_kept_beyond_their_request() -> None:
    provider = make_provider("openai:gpt-4o")
    frame = Frame(messages=(said("user", PICTURE), ChatMessage(role="assistant", content="A cat.")))
    provider.prepare(ModelRequest(frame=frame, user="Sure?"))
    assert len(provider._encoder._frames) == 0  # type: ignore[attr-defined]


def test_a_moving_picture_is_refused_where_the_vendor_takes_none() -> None:
    moving = (said("user", Image(media_type="image/gif", data=b"GIF89a")),)
    with pytest.raises(RequestError, match=r"\(image/png, image/jpeg, image/webp\), found image/gif"):
        sent("google:gemini-3.8-flash", moving)
    assert "data:image/gif" in json.dumps(sent("openai:gpt-4o", moving))


@pytest.mark.parametrize("model", ["anthropic:claude-haiku-4-5", "google:gemini-3.8-flash"])
def test_vendors_who_refuse_empty_texts_are_sent_none(model: str) -> None:
    said_nothing = [ChatMessage(role=role) for role in ("user", "assistant", "user")]
    frame = Frame(messages=(ChatMessage(role="user", content="Hm?"), *said_nothing), temperature=None)
    body = json.loads(make_provider(model).prepare(ModelRequest(frame=frame, user="Well?")).body)
    (turn,) = body.get("messages") or body["contents"]
    assert [part["text"] for part in turn.get("content") or turn["parts"]] == ["Hm?", "Well?"]
