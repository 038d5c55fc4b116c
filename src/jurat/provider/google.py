"""Google's generateContent: requests and replies.

The model stands in the path, the key in a header of its own and never in the URL. The system message goes apart, roles
alternate and are called `user` and `model`. Structured output comes by `responseJsonSchema`, or `responseSchema` for
models from before that. Thoughts are counted beside the candidates there, and inside of the output here. A prompt that
was blocked has no candidates: that is a refusal, not a fault.

A picture that a tool gave back stands beside its result, where every model takes it. Models since Gemini 3 want a
signature with each step of calls, which only they can give; a call that was recorded elsewhere says so in its place, in
the vendor's own word for it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from jurat.jsontext import Json, thaw
from jurat.provider.dialect import Dialect, output_limit, turns
from jurat.provider.envelopes import NO_USAGE, decoded, finished, finite, model_name, no_reply, text_or_none, tokens
from jurat.provider.errors_from_http import Destination, error_in_body, holds_error
from jurat.provider.message import ChatMessage, File, Image, Part, ToolCall, ToolResult
from jurat.provider.protocol import FinishReason, Frame, ProviderSettings, Reply, TokenLogprobs, Usage
from jurat.provider.schema_dialect import google_schema, openapi_schema

__all__ = ["GOOGLE"]

_UNSIGNED = "skip_thought_signature_validator"


def _path(settings: ProviderSettings) -> str:
    model = settings.model
    place = model if "/" in model else f"models/{model}"
    return f"/{quote(place, safe='/')}:generateContent"


def _head(messages: Sequence[ChatMessage], _: Frame, settings: ProviderSettings) -> Mapping[str, Json]:
    system, spoken = turns(messages)
    signed = _wants_signatures(settings.model)
    contents: list[Json] = [
        {"role": "model" if turn.role == "assistant" else "user", "parts": _parts(turn.parts, signed)}
        for turn in spoken
    ]
    told: dict[str, Json] = {} if system is None else {"systemInstruction": {"parts": [{"text": system}]}}
    return {**told, "contents": contents}


def _wants_signatures(model: str) -> bool:
    found = re.search(r"gemini-(\d+)", model)
    return found is not None and int(found[1]) >= 3


def _parts(parts: Sequence[Part], signed: bool) -> list[Json]:
    made = [one for part in parts for one in _written(part)]
    first = next((one for one in made if "functionCall" in one), None)
    if first is not None and signed:
        first["thoughtSignature"] = _UNSIGNED
    return list[Json](made)


def _written(part: Part) -> Iterator[dict[str, Json]]:
    match part:
        case str():
            yield {"text": part}
        case Image() | File():
            yield {"inlineData": {"mimeType": part.media_type, "data": b64encode(part.data).decode()}}
        case ToolCall(id=call, name=name, arguments=arguments):
            yield {"functionCall": {"id": call, "name": name, "args": thaw(arguments)}}
        case ToolResult(id=call, name=name, parts=parts, failed=failed):
            text = "".join(one for one in parts if isinstance(one, str))
            said: Json = {"error" if failed else "output": text}
            yield {"functionResponse": {"id": call, "name": name, "response": said}}
            for one in parts:
                if isinstance(one, Image):
                    yield from _written(one)


def _fields(frame: Frame, settings: ProviderSettings) -> dict[str, Any]:
    able = settings.capabilities
    config: dict[str, Any] = {}
    if frame.temperature is not None and able.temperature:
        config["temperature"] = frame.temperature
    if (limit := output_limit(frame, settings)) is not None:
        config["maxOutputTokens"] = limit
    if frame.top_logprobs:
        config["responseLogprobs"], config["logprobs"] = True, frame.top_logprobs
    if frame.schema is not None:
        config["responseMimeType"] = "application/json"
        schema = thaw(frame.schema.schema)
        if able.structured_by == "openapi":
            config["responseSchema"] = openapi_schema(schema)
        else:
            config["responseJsonSchema"] = google_schema(schema)
    return {"generationConfig": config} if config else {}


def _read(body: bytes, to: Destination) -> Reply:
    envelope = decoded(body, to)
    if holds_error(envelope):
        raise error_in_body(envelope, to)
    usage = envelope.get("usageMetadata")
    counted = _usage(usage) if isinstance(usage, dict) else NO_USAGE
    model, name = model_name(envelope.get("modelVersion")), text_or_none(envelope.get("responseId"))
    candidates = envelope.get("candidates")
    if not candidates and _blocked(envelope.get("promptFeedback")):
        return Reply(text=None, finish_reason=FinishReason.CONTENT_FILTER, usage=counted, model=model, id=name)
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
        raise no_reply(to, "a list of candidates with at least a first one")
    first = candidates[0]
    texts, reasoning, calls = _content(first.get("content"), to)
    found = finished(first.get("finishReason"), "finishReason", to)
    if calls and found in (FinishReason.STOP, FinishReason.OTHER, FinishReason.UNREPORTED):
        found = FinishReason.TOOL_CALL
    return Reply(
        text="".join(texts) if texts else None,
        finish_reason=found,
        usage=counted,
        model=model,
        logprobs=_logprobs(first.get("logprobsResult")),
        reasoning_characters=reasoning,
        id=name,
    )


def _blocked(feedback: object) -> bool:
    return isinstance(feedback, dict) and bool(feedback.get("blockReason"))


def _content(content: object, to: Destination) -> tuple[list[str], int, bool]:
    """The visible texts, how many characters of thoughts came beside them, and whether a tool is called."""
    parts = content.get("parts") if isinstance(content, dict) else content
    if parts is None:
        return [], 0, False  # a candidate that was stopped before its first word
    if not isinstance(parts, list):
        raise no_reply(to, "a list of parts in the first candidate")
    texts: list[str] = []
    reasoning, calls = 0, False
    for part in parts:
        if not isinstance(part, dict):
            continue
        calls = calls or bool(part.get("functionCall"))
        text = part.get("text")
        if text is None:
            continue
        if not isinstance(text, str):
            raise no_reply(to, "text in each part of text")
        if part.get("thought") is True:
            reasoning += len(text)
        else:
            texts.append(text)
    return texts, reasoning, calls


def _usage(usage: Mapping[str, Any]) -> Usage:
    """In our way of counting, where thoughts belong to the output. A count of 0 is left out on this wire."""
    given, thoughts = tokens(usage.get("promptTokenCount")), tokens(usage.get("thoughtsTokenCount"))
    tools, made = tokens(usage.get("toolUsePromptTokenCount")) or 0, tokens(usage.get("candidatesTokenCount"))
    total = tokens(usage.get("totalTokenCount"))
    if made is None and given is not None and total == given + tools + (thoughts or 0):
        made = 0
    return Usage(
        input_tokens=None if given is None else given + tools,
        output_tokens=None if made is None else made + (thoughts or 0),
        cached_input_tokens=tokens(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
    )


def _logprobs(result: object) -> tuple[TokenLogprobs, ...]:
    chosen = result.get("chosenCandidates") if isinstance(result, dict) else None
    tops = result.get("topCandidates") if isinstance(result, dict) else None
    if not isinstance(chosen, list):
        return ()
    listed = tops if isinstance(tops, list) and len(tops) == len(chosen) else [None] * len(chosen)
    return tuple(_token(one, top) for one, top in zip(chosen, listed, strict=True) if isinstance(one, dict))


def _token(chosen: Mapping[str, Any], top: object) -> TokenLogprobs:
    others = top.get("candidates") if isinstance(top, dict) else None
    listed = [*others, chosen] if isinstance(others, list) else [chosen]
    pairs = [(part.get("token"), part.get("logProbability")) for part in listed if isinstance(part, dict)]
    token = chosen.get("token")
    return TokenLogprobs(token=token if isinstance(token, str) else "", top=finite(pairs))


GOOGLE = Dialect(
    path=_path,
    head=_head,
    fields=_fields,
    own=frozenset(
        [
            *("model", "contents", "systemInstruction"),
            *(
                f"generationConfig.{name}"
                for name in (
                    *("temperature", "maxOutputTokens", "responseLogprobs", "logprobs", "responseMimeType"),
                    *("responseSchema", "responseJsonSchema", "candidateCount"),
                )
            ),
        ]
    ),
    read=_read,
    key_header="x-goog-api-key",
    image_types=("image/png", "image/jpeg", "image/webp"),
)
