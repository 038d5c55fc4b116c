"""OpenAI's Responses API, where it is like no other: items, phases, statuses, and nothing kept at the vendor."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import ChatMessage, FinishReason, Frame, ModelRequest, Raw, Reply, ResponseSchema
from jurat.provider.registry import make_provider

ROW = {"kind": "openai", "model": "gpt-4.1", "api": "responses"}
FRAME = Frame(
    messages=(ChatMessage(role="system", content="S"),),
    schema=ResponseSchema(
        name="score_v1", schema={"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
    ),
    top_logprobs=3,
)


def sent(frame: Frame, **row: Any) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(make_provider({**ROW, **row}).prepare(ModelRequest(frame=frame, user="hi")).body)
    return told


def read(*items: Any, **more: Any) -> Reply:
    body = json.dumps({"object": "response", "status": "completed", "output": list(items), **more})
    return make_provider(ROW).read(Raw(body=body.encode(), latency_ms=1.0))


def message(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts), **more}


def text(said: str) -> dict[str, Any]:
    return {"type": "output_text", "text": said}


def test_a_request_is_written_in_the_dialect_and_not_kept_at_the_vendor() -> None:
    assert sent(FRAME) == {
        "model": "gpt-4.1",
        "store": False,
        "input": [{"role": "system", "content": "S"}, {"role": "user", "content": "hi"}],
        "temperature": 0.0,
        "max_output_tokens": 500,
        "top_logprobs": 3,
        "include": ["message.output_text.logprobs"],
        "text": {
            "format": {
                "type": "json_schema",
                "name": "score_v1",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {"score": {"type": "number"}},
                    "required": ["score"],
                    "additionalProperties": False,
                },
            }
        },
    }


def test_a_limit_below_the_vendors_least_is_raised_to_it() -> None:
    assert sent(Frame(messages=(), max_output_tokens=1))["max_output_tokens"] == 16


def test_how_much_the_model_reasons_and_says_is_an_extra_setting() -> None:
    told = sent(FRAME, extra={"reasoning": {"effort": "low"}, "text": {"verbosity": "low"}})
    assert told["reasoning"] == {"effort": "low"}
    assert sorted(told["text"]) == ["format", "verbosity"]


def test_both_interfaces_have_keys_of_their_own() -> None:
    request = ModelRequest(frame=FRAME, user="hi")
    keys = {make_provider({**ROW, "api": api}).prepare(request).key for api in ("chat", "responses")}
    assert len(keys) == 2


def test_the_texts_of_all_messages_are_the_answer_and_commentary_is_not() -> None:
    reply = read(
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hmm"}]},
        message(text("Let me see."), phase="commentary"),
        message(text("a"), text("b"), phase="final_answer"),
    )
    assert (reply.text, reply.reasoning_characters) == ("ab", 14)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"status": "completed"}, FinishReason.STOP),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, FinishReason.LENGTH),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, FinishReason.CONTENT_FILTER),
        ({"status": "incomplete", "incomplete_details": None}, FinishReason.LENGTH),
        ({"status": None}, FinishReason.UNREPORTED),
        ({"status": "never seen"}, FinishReason.OTHER),
    ],
)
def test_every_way_to_end_has_our_word(told: dict[str, Any], reason: FinishReason) -> None:
    assert read(message(text("x")), **told).finish_reason is reason


@pytest.mark.parametrize("status", ["failed", "in_progress", "queued", "cancelled"])
def test_a_response_that_did_not_come_to_its_end_is_no_reply(status: str) -> None:
    with pytest.raises(ProviderError) as caught:
        read(message(text("x")), status=status)
    assert caught.value.category is ErrorCategory.API_ERROR


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call", "shell_call", "apply_patch_call"])
def test_a_call_of_a_tool_is_no_answer_and_a_search_of_the_vendors_is_none(kind: str) -> None:
    assert read(message(text("x")), {"type": kind}).finish_reason is FinishReason.TOOL_CALL
    assert read({"type": "web_search_call"}, message(text("x"))).finish_reason is FinishReason.STOP


def test_a_refusal_is_a_part_of_a_message() -> None:
    assert read(message({"type": "refusal", "refusal": "No."})).refusal == "No."
    assert read(message({"type": "refusal", "refusal": ""}, text("x"))).refusal == "(a refusal without words)"


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("server_error", ErrorCategory.API_ERROR),
        ("rate_limit_exceeded", ErrorCategory.RATE_LIMITED),
        ("invalid_prompt", ErrorCategory.REFUSAL),
        ("bio_policy", ErrorCategory.REFUSAL),
    ],
)
def test_a_failed_response_says_why(code: str, category: ErrorCategory) -> None:
    with pytest.raises(ProviderError) as caught:
        read(status="failed", error={"code": code, "message": "m"})
    assert caught.value.category is category
