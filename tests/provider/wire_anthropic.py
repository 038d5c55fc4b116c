"""Anthropic's Messages API, as its servers speak it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from loopback import Answer, answer
from wires import NO_REPLIES, Sent, Wire

from jurat.provider import FinishReason
from jurat.provider.script import ScriptedReply

_STOP_REASONS = {
    FinishReason.STOP: "end_turn",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.REFUSAL: "refusal",
    FinishReason.TOOL_CALL: "tool_use",
    FinishReason.OTHER: "never_seen",
    FinishReason.UNREPORTED: None,
}


def envelope(reply: ScriptedReply, model: str, *, by_tool: bool = False) -> dict[str, Any]:
    """A reply as the vendor would send it; `by_tool`: as the input of the tool that had to be called."""
    blocks: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "s"})
    stop = _STOP_REASONS[reply.finish_reason]
    if by_tool and reply.text is not None:
        blocks.append({"type": "tool_use", "id": "toolu_1", "name": "jurat_answer", "input": json.loads(reply.text)})
        stop = "tool_use" if stop == "end_turn" else stop
    elif reply.text is not None:
        blocks.append({"type": "text", "text": reply.text})
    if reply.finish_reason is FinishReason.TOOL_CALL:
        blocks.append({"type": "tool_use", "id": "toolu_2", "name": "search", "input": {}})
    told: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": reply.model or model,
        "content": blocks,
        "stop_reason": "refusal" if reply.refusal is not None else stop,
        "stop_sequence": None,
    }
    if reply.refusal is not None:
        told["stop_details"] = {"type": "refusal", "category": "cyber", "explanation": reply.refusal}
    usage = reply.usage
    if usage is not None:
        cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
        told["usage"] = {
            "input_tokens": (usage.input_tokens or 0) - cached - written,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
        }
    return told


def _sent(body: Mapping[str, Any]) -> Sent:
    messages, images = [], []
    system = body.get("system")
    if system is not None:
        messages.append(("system", _text(system)))
    roles = [message["role"] for message in body["messages"]]
    assert all(one != other for one, other in pairwise(roles))
    for message in body["messages"]:
        parts = message["content"]
        for part in parts if isinstance(parts, list) else []:
            if part["type"] == "image":
                source = part["source"]
                assert source["type"] == "base64"
                images.append((source["media_type"], base64.b64decode(source["data"])))
        messages.append((message["role"], _text(parts)))
    form = body.get("output_config", {}).get("format")
    tools = body.get("tools")
    if tools:
        choice = {"type": "tool", "name": tools[0]["name"], "disable_parallel_tool_use": True}
        assert body["tool_choice"] == choice
    return Sent(
        messages=messages,
        schema=form["schema"] if form else tools[0]["input_schema"] if tools else None,
        temperature=body.get("temperature"),
        limit=body["max_tokens"],
        images=images,
    )


def _text(parts: str | list[Mapping[str, Any]]) -> str:
    return parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)


def _error(status: int, kind: str, message: str, **headers: str) -> Answer:
    return answer(
        {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}, status, **headers
    )


ERRORS: dict[str, Answer | None] = {
    "bad_key": _error(401, "authentication_error", "invalid x-api-key"),
    "forbidden": _error(403, "permission_error", "Your API key does not have permission."),
    "no_model": _error(404, "not_found_error", "model: claude-nobody"),
    "rate_limited": _error(429, "rate_limit_error", "This request would exceed your rate limit.", retry_after="7"),
    "no_credit": _error(400, "invalid_request_error", "Your credit balance is too low to access the API."),
    "overloaded": _error(529, "overloaded_error", "Overloaded"),
    "too_large": _error(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    "filtered": None,  # a refusal is a reply there
    "invalid": _error(400, "invalid_request_error", "messages: at least one message is required"),
    "unfit_temperature": _error(400, "invalid_request_error", "`temperature` is deprecated for this model."),
    "unfit_limit": _error(
        400, "invalid_request_error", "max_tokens: 500 > 100, which is the maximum allowed number of output tokens"
    ),
    "server_error": _error(500, "api_error", "Internal server error"),
    "gateway_timeout": _error(504, "timeout_error", "The request timed out."),
    "error_in_200": _error(200, "rate_limit_error", "Rate limited."),
}


def _wire(name: str, *, by_tool: bool, **row: Any) -> Wire:
    return Wire(
        name=name,
        row={"kind": "anthropic", **row},
        body=lambda reply, model: json.dumps(envelope(reply, model, by_tool=by_tool)).encode(),
        sent=_sent,
        errors=ERRORS,
        broken=(
            *NO_REPLIES,
            *(b'{"type": "message"}', b'{"content": "x"}', b'{"content": [{"type": "text", "text": 4}]}'),
            b'{"content": [{"type": "text", "text": "x"}], "stop_reason": "pause_turn"}',
            b'{"content": [{"type": "tool_use", "name": "jurat_answer", "input": "x"}], "stop_reason": "tool_use"}',
        ),
        path="/v1/messages",
        key_header="x-api-key",
        request_id="Request-Id",
        reasons=frozenset(_STOP_REASONS),
        lacks=frozenset({"logprobs", "by_tool"} if by_tool else {"logprobs"}),
    )


ANTHROPIC_WIRES = (
    _wire("anthropic", by_tool=False, model="claude-haiku-4-5"),
    _wire("anthropic (tool)", by_tool=True, model="claude-opus-4-1"),
)
