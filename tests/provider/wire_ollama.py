"""Ollama's own chat interface, as its server speaks it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from loopback import Answer, answer
from wires import NO_REPLIES, Sent, Wire

from jurat.provider import FinishReason
from jurat.provider.script import ScriptedReply

_DONE_REASONS = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.TOOL_CALL: "stop",
    FinishReason.OTHER: "load",
    FinishReason.UNREPORTED: None,
}


def envelope(reply: ScriptedReply, model: str) -> dict[str, Any]:
    """A reply as the server would send it. Numbers that are 0 and texts that are empty are left out."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.reasoning is not None:
        message["thinking"] = reply.reasoning
    if reply.finish_reason is FinishReason.TOOL_CALL:
        message["tool_calls"] = [{"function": {"name": "f", "arguments": {}}}]
    told: dict[str, Any] = {"model": reply.model or model, "message": message, "done": True, "total_duration": 5}
    if (reason := _DONE_REASONS[reply.finish_reason]) is not None:
        told["done_reason"] = reason
    if reply.logprobs:
        told["logprobs"] = [
            {
                "token": one.token,
                "logprob": one.top[one.token],
                "top_logprobs": [{"token": text, "logprob": value} for text, value in one.top.items()],
            }
            for one in reply.logprobs
        ]
    if reply.usage is not None:
        told["prompt_eval_count"], told["eval_count"] = reply.usage.input_tokens, reply.usage.output_tokens
    return told


def _sent(body: Mapping[str, Any]) -> Sent:
    assert (body["stream"], body["truncate"], body["shift"]) == (False, False, False)
    options = body.get("options", {})
    return Sent(
        messages=[(message["role"], message["content"]) for message in body["messages"]],
        schema=body.get("format"),
        temperature=options.get("temperature"),
        limit=options.get("num_predict"),
        top_logprobs=body.get("top_logprobs", 0) if body.get("logprobs") else 0,
        images=[
            ("image/png", base64.b64decode(data)) for message in body["messages"] for data in message.get("images", [])
        ],
    )


def _error(status: int, message: str, **headers: str) -> Answer:
    return answer({"error": message}, status, **headers)


OLLAMA_WIRE = Wire(
    name="ollama",
    row={"kind": "ollama", "model": "qwen3:8b"},
    body=lambda reply, model: json.dumps(envelope(reply, model)).encode(),
    sent=_sent,
    errors={
        "bad_key": _error(401, "unauthorized"),
        "forbidden": _error(403, "forbidden"),
        "no_model": _error(404, 'model "nobody" not found, try pulling it first'),
        "rate_limited": _error(429, "too many requests", retry_after="7"),
        "no_credit": _error(402, "subscription required"),
        "overloaded": _error(503, "server busy, please try again. maximum pending requests exceeded"),
        "too_large": _error(400, "the input length exceeds the context length"),
        "filtered": None,
        "invalid": _error(400, "invalid options: seeed"),
        "unfit_limit": None,  # more than there is room for is simply not used up
        "unfit_temperature": None,  # any model takes one there
        "server_error": _error(500, "llama runner process has terminated"),
        "gateway_timeout": _error(504, "timeout"),
        "error_in_200": None,
    },
    broken=(
        *NO_REPLIES,
        *(b'{"message": {"content": "x"}}', b'{"message": {"content": "x"}, "done": false}', b'{"done": true}'),
        *(
            b'{"message": {"content": 4}, "done": true}',
            b'{"message": {"content": "x"}, "done": true, "error": "gone"}',
        ),
    ),
    path="/v1/api/chat",
    reasons=frozenset(_DONE_REASONS),
    reply_id=None,
    lacks=frozenset({"refusal", "cached", "written", "thought_tokens"}),
)
