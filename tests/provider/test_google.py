"""Google's dialect, where it is like no other: blocked prompts, thoughts beside candidates, two forms of schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import ChatMessage, FinishReason, Frame, ModelRequest, Raw, Reply, ResponseSchema, Usage
from jurat.provider.registry import make_provider

SCHEMA = ResponseSchema(
    name="score_v1",
    schema={
        "type": "object",
        "properties": {"reason": {"type": ["string", "null"], "maxLength": 9}, "score": {"type": "number"}},
        "required": ["reason", "score"],
        "additionalProperties": False,
    },
)


def sent(model: str, *said: tuple[str, str], **more: Any) -> dict[str, Any]:
    frame = Frame(messages=tuple(ChatMessage(role=role, content=text) for role, text in said), **more)
    told: dict[str, Any] = json.loads(
        make_provider(f"google:{model}").prepare(ModelRequest(frame=frame, user="hello")).body
    )
    return told


def read(*parts: Any, reason: str = "STOP", **more: Any) -> Reply:
    candidate = {"content": {"parts": list(parts)}, "finishReason": reason}
    body = json.dumps({"candidates": [candidate], **more})
    return make_provider("google:m").read(Raw(body=body.encode(), latency_ms=1.0))


def test_a_request_is_written_in_the_dialect() -> None:
    assert sent("gemini-3.8-flash", ("system", "S"), ("user", "a"), ("assistant", "b"), schema=SCHEMA) == {
        "systemInstruction": {"parts": [{"text": "S"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "a"}]},
            {"role": "model", "parts": [{"text": "b"}]},
            {"role": "user", "parts": [{"text": "hello"}]},
        ],
        "generationConfig": {
            "temperature": 0.0,
            "maxOutputTokens": 8692,  # 500 for the answer, the rest for thoughts
            "responseMimeType": "application/json",
            "responseJsonSchema": {
                "type": "object",
                "properties": {"reason": {"type": ["string", "null"]}, "score": {"type": "number"}},
                "required": ["reason", "score"],
                "additionalProperties": False,
                "propertyOrdering": ["reason", "score"],
            },
        },
    }


def test_an_older_model_gets_the_older_form_of_schema() -> None:
    assert sent("gemini-2.0-flash", schema=SCHEMA)["generationConfig"]["responseSchema"] == {
        "type": "OBJECT",
        "properties": {"reason": {"type": "STRING", "maxLength": 9, "nullable": True}, "score": {"type": "NUMBER"}},
        "required": ["reason", "score"],
        "propertyOrdering": ["reason", "score"],
    }


def test_nothing_but_the_contents_is_sent_where_nothing_else_is_set() -> None:
    told = sent("m", temperature=None, max_output_tokens=None)
    assert told == {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


def test_further_settings_of_generation_stand_beside_ours() -> None:
    told = sent("m", extra={"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}, "safetySettings": []})
    assert sorted(told["generationConfig"]) == ["maxOutputTokens", "temperature", "thinkingConfig"]
    assert told["safetySettings"] == []


@pytest.mark.parametrize("why", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "JAILBREAK"])
def test_a_blocked_prompt_is_filtered_and_what_it_cost_is_known(why: str) -> None:
    told = {"promptFeedback": {"blockReason": why}, "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}}
    reply = make_provider("google:m").read(Raw(body=json.dumps(told).encode(), latency_ms=1.0))
    assert (reply.text, reply.finish_reason) == (None, FinishReason.CONTENT_FILTER)
    assert reply.usage == Usage(input_tokens=7, output_tokens=0)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.LENGTH),
        *((word, FinishReason.CONTENT_FILTER) for word in ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "SPII")),
        *((word, FinishReason.CONTENT_FILTER) for word in ("PROHIBITED_CONTENT", "IMAGE_SAFETY")),
        *((word, FinishReason.TOOL_CALL) for word in ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")),
        ("TOO_MANY_TOOL_CALLS", FinishReason.TOOL_CALL),
        ("OTHER", FinishReason.OTHER),
        ("FINISH_REASON_UNSPECIFIED", FinishReason.UNREPORTED),
    ],
)
def test_every_reason_to_stop_has_our_word(word: str, reason: FinishReason) -> None:
    assert read({"text": "x"}, reason=word).finish_reason is reason


def test_a_reply_that_its_server_calls_malformed_is_none() -> None:
    with pytest.raises(ProviderError) as caught:
        read({"text": "x"}, reason="MALFORMED_RESPONSE")
    assert caught.value.category is ErrorCategory.API_ERROR


def test_a_candidate_that_was_stopped_before_its_first_word_has_no_text() -> None:
    body = b'{"candidates": [{"finishReason": "SAFETY"}]}'
    reply = make_provider("google:m").read(Raw(body=body, latency_ms=1.0))
    assert (reply.text, reply.finish_reason) == (None, FinishReason.CONTENT_FILTER)


def test_a_thought_is_left_out_by_its_flag_and_a_call_is_no_answer() -> None:
    reply = read({"text": "hmm", "thought": True}, {"text": "a"}, {"text": "b"})
    assert (reply.text, reply.reasoning_characters) == ("ab", 3)
    assert read({"text": "x"}, {"functionCall": {"name": "f"}}).finish_reason is FinishReason.TOOL_CALL


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (
            {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 100, "totalTokenCount": 115},
            Usage(input_tokens=10, output_tokens=105, reasoning_tokens=100),
        ),
        (
            {"promptTokenCount": 10, "toolUsePromptTokenCount": 4, "candidatesTokenCount": 5},
            Usage(input_tokens=14, output_tokens=5),
        ),
        (
            {"promptTokenCount": 10, "thoughtsTokenCount": 100, "totalTokenCount": 110},
            Usage(input_tokens=10, output_tokens=100, reasoning_tokens=100),
        ),
        ({"promptTokenCount": 10, "totalTokenCount": 15}, Usage(input_tokens=10)),
        (
            {"promptTokenCount": 10, "cachedContentTokenCount": 8, "candidatesTokenCount": 1},
            Usage(input_tokens=10, output_tokens=1, cached_input_tokens=8),
        ),
    ],
)
def test_usage_is_counted_in_our_way(counts: dict[str, int], usage: Usage) -> None:
    assert read({"text": "x"}, usageMetadata=counts).usage == usage


def test_the_model_that_answered_is_the_version() -> None:
    assert read({"text": "x"}, modelVersion="gemini-3.8-flash-001").model == "gemini-3.8-flash-001"
