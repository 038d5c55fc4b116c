"""OpenAI's Responses API, as its servers speak it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from loopback import answer
from wires import NO_REPLIES, OPENAI_ERRORS, Sent, Wire, openai_error

from jurat.provider import FinishReason
from jurat.provider.script import ScriptedReply

_HOW_IT_ENDED: dict[FinishReason, dict[str, Any]] = {
    FinishReason.STOP: {"status": "completed", "incomplete_details": None},
    FinishReason.LENGTH: {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    FinishReason.CONTENT_FILTER: {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    FinishReason.TOOL_CALL: {"status": "completed"},
    FinishReason.OTHER: {"status": "incomplete", "incomplete_details": {"reason": "never seen"}},
    FinishReason.UNREPORTED: {},
}


def envelope(reply: ScriptedReply, model: str) -> dict[str, Any]:
    """A reply as the vendor would send it."""
    parts: list[dict[str, Any]] = []
    if reply.text is not None:
        shown = [
            {
                "token": one.token,
                "logprob": one.top[one.token],
                "bytes": list(one.token.encode()),
                "top_logprobs": [{"token": text, "logprob": value} for text, value in one.top.items()],
            }
            for one in reply.logprobs
        ]
        parts.append({"type": "output_text", "text": reply.text, "annotations": [], "logprobs": shown})
    if reply.refusal is not None:
        parts.append({"type": "refusal", "refusal": reply.refusal})
    items: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        items.append(
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": reply.reasoning}]}
        )
    if parts:
        items.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts})
    if reply.finish_reason is FinishReason.TOOL_CALL:
        items.append({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"})
    told: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "error": None,
        "model": reply.model or model,
        "output": items,
    }
    usage = reply.usage
    if usage is not None:
        told["usage"] = {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_input_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": 0,
        }
    return {**told, **_HOW_IT_ENDED[reply.finish_reason]}


def _sent(body: Mapping[str, Any]) -> Sent:
    assert body["store"] is False
    messages, images = [], []
    for message in body["input"]:
        parts = message["content"]
        for part in parts if isinstance(parts, list) else []:
            if part["type"] == "input_image":
                head, _, data = part["image_url"].partition(";base64,")
                images.append((head.removeprefix("data:"), base64.b64decode(data)))
        text = parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)
        messages.append((message["role"], text))
    form = body.get("text", {}).get("format")
    wants = "message.output_text.logprobs" in body.get("include", [])
    return Sent(
        messages=messages,
        schema=form["schema"] if form else None,
        temperature=body.get("temperature"),
        limit=body.get("max_output_tokens"),
        top_logprobs=body.get("top_logprobs", 0) if wants else 0,
        images=images,
    )


RESPONSES_WIRE = Wire(
    name="openai (responses)",
    row={"kind": "openai", "model": "gpt-4o", "api": "responses"},
    body=lambda reply, model: json.dumps(envelope(reply, model)).encode(),
    sent=_sent,
    errors={
        **OPENAI_ERRORS,
        "unfit_limit": openai_error(
            400, "integer_above_max_value", "invalid_request_error", "Expected a value <= 100.", "max_output_tokens"
        ),
        "error_in_200": answer(
            {
                "id": "resp_1",
                "object": "response",
                "status": "failed",
                "error": {"code": "rate_limit_exceeded", "message": "m"},
                "output": [],
            }
        ),
    },
    broken=(
        *NO_REPLIES,
        *(b'{"output": null}', b'{"output": {}}', b'{"object": "response", "status": "in_progress", "output": []}'),
        b'{"output": [{"type": "message", "content": "x"}]}',
        b'{"output": [{"type": "message", "content": [{"type": "output_text", "text": 4}]}]}',
        b'{"status": "cancelled", "output": []}',
    ),
    path="/v1/responses",
    reasons=frozenset(_HOW_IT_ENDED),
)
