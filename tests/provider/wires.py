"""What the contract needs to know of a vendor's wire format, and the formats that speak chat completions.

Everything here is written from the vendors' documentation, independently of the adapters: how a server words a reply,
how it words each failure, and where in a request it looks for what. The other formats stand in `wire_*.py`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopback import Answer, answer

from jurat.provider import FinishReason
from jurat.provider.script import ScriptedReply

ALL_REASONS = frozenset(FinishReason)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What a server finds in a request."""

    messages: list[tuple[str, str]]
    schema: Any = None
    temperature: float | None = None
    limit: int | None = None
    top_logprobs: int = 0
    images: list[tuple[str, bytes]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Wire:
    """One wire format, as a server of one kind speaks it.

    Attributes:
        row: a provider row of this kind, without the address.
        body: what a server sends for a reply, when a model of this name speaks.
        sent: what a server finds in a request.
        errors: an answer for each failure; `None` where the vendor has no such thing.
        broken: bodies with status 200 in which there is no reply.
        reasons: the reasons to stop that this wire has words for.
        lacks: what it has no words for (`refusal`, `logprobs`, `reasoning`, `cached`, `written`, `thought_tokens`).
        request_id: the header that names a request.
        reply_id: the member of a reply that names it; None where there is none.
    """

    name: str
    row: Mapping[str, Any]
    body: Callable[[ScriptedReply, str], bytes]
    sent: Callable[[Mapping[str, Any]], Sent]
    errors: Mapping[str, Answer | None]
    broken: tuple[bytes, ...]
    path: str = "/v1/chat/completions"
    key_header: str = "authorization"
    request_id: str = "X-Request-Id"
    reply_id: str | None = "id"
    reasons: frozenset[FinishReason] = ALL_REASONS
    lacks: frozenset[str] = frozenset()


SITUATIONS = (
    *("bad_key", "forbidden", "no_model", "rate_limited", "no_credit", "overloaded", "too_large", "filtered"),
    *("invalid", "unfit_temperature", "unfit_limit", "server_error", "gateway_timeout", "error_in_200"),
)
NO_REPLIES = (
    *(b"", b"null", b"[]", b"{}", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b"\xff\xfe"),
    *(b"<html>Sign in</html>", b'{"choices"', b"{} {}", b'data: {"choices": []}\n\ndata: [DONE]\n\n'),
)


def chat_sent(body: Mapping[str, Any]) -> Sent:
    """A request in chat completions."""
    messages, images = [], []
    for message in body["messages"]:
        parts = message["content"]
        for part in parts if isinstance(parts, list) else []:
            if part["type"] == "image_url":
                head, _, data = part["image_url"]["url"].partition(";base64,")
                images.append((head.removeprefix("data:"), base64.b64decode(data)))
        text = parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)
        messages.append((message["role"], text))
    form = body.get("response_format")
    return Sent(
        messages=messages,
        schema=form["json_schema"]["schema"] if form else None,
        temperature=body.get("temperature"),
        limit=body.get("max_tokens", body.get("max_completion_tokens")),
        top_logprobs=body.get("top_logprobs", 0) if body.get("logprobs") else 0,
        images=images,
    )


def openai_error(
    status: int, code: str | None, kind: str, message: str, param: str | None = None, **more: str
) -> Answer:
    """An error in OpenAI's words."""
    return answer({"error": {"message": message, "type": kind, "param": param, "code": code}}, status, **more)


OPENAI_ERRORS: dict[str, Answer | None] = {
    "bad_key": openai_error(401, "invalid_api_key", "invalid_request_error", "Incorrect API key provided."),
    "forbidden": openai_error(403, "unsupported_country", "request_forbidden", "Country not supported."),
    "no_model": openai_error(404, "model_not_found", "invalid_request_error", "The model does not exist."),
    "rate_limited": openai_error(429, "rate_limit_exceeded", "tokens", "Rate limit reached.", retry_after="7"),
    "no_credit": openai_error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
    "overloaded": openai_error(503, None, "server_error", "The engine is currently overloaded."),
    "too_large": openai_error(400, "context_length_exceeded", "invalid_request_error", "Too many tokens.", "messages"),
    "filtered": openai_error(
        400, "content_policy_violation", "invalid_request_error", "Rejected by the safety system."
    ),
    "invalid": openai_error(400, "invalid_value", "invalid_request_error", "Invalid value.", "seed"),
    "unfit_temperature": openai_error(
        400, "unsupported_value", "invalid_request_error", "Only the default value is supported.", "temperature"
    ),
    "unfit_limit": openai_error(
        400, None, "invalid_request_error", "max_tokens is too large: 500. This model takes at most 100.", "max_tokens"
    ),
    "server_error": openai_error(500, None, "server_error", "The server had an error."),
    "gateway_timeout": Answer(status=504, headers={"Content-Type": "text/html"}, body=b"<html>504</html>"),
    "error_in_200": openai_error(200, "rate_limit_exceeded", "tokens", "Rate limit reached."),
}
CHAT_BROKEN = (
    *NO_REPLIES,
    *(b'{"choices": []}', b'{"choices": [null]}', b'{"choices": [{"message": 3}]}'),
    *(b'{"choices": [{"message": {"content": {"a": 1}}}]}', b'{"choices": null} {"choices": null}'),
    b'{"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]}',
)


def passed_on(status: int, raw: str) -> Answer:
    """An error of the vendor behind OpenRouter, in OpenRouter's envelope."""
    metadata = {"raw": raw, "provider_name": "Somebody"}
    return answer({"error": {"code": status, "message": "Provider returned error", "metadata": metadata}}, status)


def chat(name: str, kind: str, *, errors: Mapping[str, Answer | None] | None = None, **row: Any) -> Wire:
    """A kind that speaks chat completions."""
    return Wire(
        name=name,
        row={"kind": kind, "model": "m", **row},
        body=ScriptedReply.body,
        sent=chat_sent,
        errors={**OPENAI_ERRORS, **(errors or {})},
        broken=CHAT_BROKEN,
    )


ABLE = {"structured_output": True, "top_logprobs": 20, "images": True}
GENERIC = chat("openai_compatible", "openai_compatible", capabilities=ABLE)
CHAT_WIRES = (
    GENERIC,
    chat("openai", "openai", model="gpt-4o"),
    chat(
        "groq",
        "groq",
        capabilities=ABLE,
        errors={
            "no_credit": None,  # a plan's limits are rate limits there
            "overloaded": openai_error(498, "capacity_exceeded", "invalid_request_error", "Flex tier is at capacity."),
            "unfit_limit": openai_error(
                400, None, "invalid_request_error", "`max_completion_tokens` must be less than or equal to `100`."
            ),
            "filtered": None,
        },
    ),
    chat(
        "xai",
        "xai",
        capabilities=ABLE,
        errors={
            "bad_key": answer(
                {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: ab***yz."}, 400
            ),
            "no_model": answer(
                {"code": "Some requested entity was not found", "error": "The model m is unknown."}, 404
            ),
            "no_credit": answer(
                {
                    "code": "Some resource has been exhausted",
                    "error": "Your team t has either used all available credits or reached its monthly spending limit.",
                },
                429,
            ),
            "too_large": answer(
                {"code": "invalid", "error": "This model's maximum prompt length is 131072 but the request has more."},
                400,
            ),
            "filtered": answer({"code": "denied", "error": "Content violates usage guidelines. Team: t"}, 403),
        },
    ),
    chat(
        "openrouter",
        "openrouter",
        capabilities=ABLE,
        errors={
            "no_credit": answer({"error": {"code": 402, "message": "Insufficient credits"}}, 402),
            "overloaded": answer({"error": {"code": 503, "message": "No provider is available"}}, 503),
            "too_large": passed_on(400, '{"type":"error","error":{"message":"prompt is too long: 9 tokens > 8"}}'),
            "unfit_temperature": passed_on(400, "`temperature` is deprecated for this model."),
            "filtered": answer({"error": {"code": 403, "message": "m", "metadata": {"reasons": ["violence"]}}}, 403),
            "error_in_200": answer({"id": "gen-1", "error": {"code": 429, "message": "Rate limited upstream"}}),
        },
    ),
    chat(
        "azure_openai",
        "azure_openai",
        capabilities=ABLE,
        api_version="2024-10-21",
        errors={
            "no_model": openai_error(404, "DeploymentNotFound", "", "The API deployment does not exist."),
            "filtered": answer(
                {
                    "error": {
                        "code": "content_filter",
                        "message": "The response was filtered.",
                        "status": 400,
                        "innererror": {"code": "ResponsibleAIPolicyViolation"},
                    }
                },
                400,
            ),
        },
    ),
    chat(
        "vllm",
        "vllm",
        errors={
            "no_credit": None,
            "filtered": None,
            "too_large": answer(
                {
                    "object": "error",
                    "message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
                    "type": "BadRequestError",
                    "code": 400,
                },
                400,
            ),
        },
    ),
    chat(
        "llama_cpp",
        "llama_cpp",
        errors={
            "no_credit": None,
            "filtered": None,
            "overloaded": answer(
                {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, 503
            ),
            "too_large": answer(
                {"error": {"code": 400, "message": "m", "type": "exceed_context_size_error", "n_ctx": 4096}}, 400
            ),
        },
    ),
    chat(
        "lm_studio",
        "lm_studio",
        capabilities=ABLE,
        errors={
            "no_credit": None,
            "filtered": None,
            "too_large": answer(
                {
                    "error": "The number of tokens to keep from the initial prompt is greater than the context length. "
                    "Try to load the model with a larger context length, or provide a shorter input"
                },
                400,
            ),
        },
    ),
)
