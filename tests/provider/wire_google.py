"""Google's generateContent, as its servers speak it."""

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

_FINISH_REASONS = {
    FinishReason.STOP: "STOP",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "SAFETY",
    FinishReason.TOOL_CALL: "UNEXPECTED_TOOL_CALL",
    FinishReason.OTHER: "OTHER",
    FinishReason.UNREPORTED: "FINISH_REASON_UNSPECIFIED",
}


def envelope(reply: ScriptedReply, model: str) -> dict[str, Any]:
    """A reply as the vendor would send it."""
    parts: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        parts.append({"text": reply.reasoning, "thought": True})
    if reply.text is not None:
        parts.append({"text": reply.text, "thoughtSignature": "c2ln"})
    candidate: dict[str, Any] = {
        "index": 0,
        "content": {"role": "model", **({"parts": parts} if parts else {})},
        "finishReason": _FINISH_REASONS[reply.finish_reason],
    }
    if reply.logprobs:
        candidate["logprobsResult"] = {
            "chosenCandidates": [
                {"token": one.token, "tokenId": 7, "logProbability": one.top[one.token]} for one in reply.logprobs
            ],
            "topCandidates": [
                {"candidates": [{"token": text, "logProbability": value} for text, value in one.top.items()]}
                for one in reply.logprobs
            ],
        }
    told: dict[str, Any] = {"candidates": [candidate], "modelVersion": reply.model or model, "responseId": "r-1"}
    usage = reply.usage
    if usage is not None:
        counts = {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": (usage.output_tokens or 0) - (usage.reasoning_tokens or 0),
            "thoughtsTokenCount": usage.reasoning_tokens,
            "cachedContentTokenCount": usage.cached_input_tokens,
            "totalTokenCount": (usage.input_tokens or 0) + (usage.output_tokens or 0),
        }
        told["usageMetadata"] = {name: count for name, count in counts.items() if count}
    return told


def _sent(body: Mapping[str, Any]) -> Sent:
    messages, images = [], []
    system = body.get("systemInstruction")
    if system is not None:
        messages.append(("system", "".join(part["text"] for part in system["parts"])))
    roles = [content["role"] for content in body["contents"]]
    assert set(roles) <= {"user", "model"}
    assert all(one != other for one, other in pairwise(roles))
    for content in body["contents"]:
        shown = [part["inlineData"] for part in content["parts"] if "inlineData" in part]
        images += [(part["mimeType"], base64.b64decode(part["data"])) for part in shown]
        text = "".join(part.get("text", "") for part in content["parts"])
        messages.append(("assistant" if content["role"] == "model" else "user", text))
    config = body.get("generationConfig", {})
    schema = config.get("responseJsonSchema", config.get("responseSchema"))
    assert ("responseMimeType" in config) == (schema is not None)
    return Sent(
        messages=messages,
        schema=schema,
        temperature=config.get("temperature"),
        limit=config.get("maxOutputTokens"),
        top_logprobs=config.get("logprobs", 0) if config.get("responseLogprobs") else 0,
        images=images,
    )


def _error(code: int, status: str, message: str, *details: Mapping[str, Any], **headers: str) -> Answer:
    told = {"code": code, "message": message, "status": status, "details": list(details)}
    return answer({"error": told}, code, **headers)


def _quota(quota: str, delay: str) -> tuple[Mapping[str, Any], ...]:
    kinds = "type.googleapis.com/google.rpc."
    return (
        {"@type": kinds + "QuotaFailure", "violations": [{"quotaId": quota, "quotaValue": "250"}]},
        {"@type": kinds + "RetryInfo", "retryDelay": delay},
    )


ERRORS: dict[str, Answer | None] = {
    "bad_key": _error(
        400,
        "INVALID_ARGUMENT",
        "API key not valid. Please pass a valid API key.",
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"},
    ),
    "forbidden": _error(403, "PERMISSION_DENIED", "The caller does not have permission."),
    "no_model": _error(404, "NOT_FOUND", "models/nobody is not found for API version v1beta."),
    "rate_limited": _error(
        429, "RESOURCE_EXHAUSTED", "Quota exceeded.", *_quota("GenerateRequestsPerMinutePerProjectPerModel", "7s")
    ),
    "no_credit": _error(
        429, "RESOURCE_EXHAUSTED", "Quota exceeded.", *_quota("GenerateRequestsPerDayPerProjectPerModel", "22s")
    ),
    "overloaded": _error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "too_large": _error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "filtered": None,  # a blocked prompt is a reply there
    "invalid": _error(400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "seeed".'),
    "unfit_temperature": _error(400, "INVALID_ARGUMENT", "generation_config.temperature must be in the range [0, 2]."),
    "unfit_limit": _error(
        400, "INVALID_ARGUMENT", "The max_output_tokens parameter must be in the range from 1 to 101 (exclusive)."
    ),
    "server_error": _error(500, "INTERNAL", "An internal error has occurred."),
    "gateway_timeout": _error(504, "DEADLINE_EXCEEDED", "The deadline has passed."),
    "error_in_200": answer({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}),
}


def _wire(name: str, **row: Any) -> Wire:
    return Wire(
        name=name,
        row={"kind": "google", "capabilities": {"top_logprobs": 20, "reasoning": False}, **row},
        body=lambda reply, model: json.dumps(envelope(reply, model)).encode(),
        sent=_sent,
        errors=ERRORS,
        broken=(
            *NO_REPLIES,
            *(b'{"candidates": []}', b'{"candidates": [null]}', b'{"promptFeedback": {}}'),
            b'{"candidates": [{"content": {"parts": "x"}, "finishReason": "STOP"}]}',
            b'{"candidates": [{"content": {"parts": [{"text": 4}]}, "finishReason": "STOP"}]}',
            b'{"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "MALFORMED_RESPONSE"}]}',
        ),
        path=f"/v1/models/{row['model']}:generateContent",
        key_header="x-goog-api-key",
        reply_id="responseId",
        reasons=frozenset(_FINISH_REASONS),
        lacks=frozenset({"refusal", "written"}),
    )


GOOGLE_WIRES = (
    _wire("google", model="gemini-3.8-flash"),
    _wire("google (openapi)", model="gemini-2.0-flash"),
)
