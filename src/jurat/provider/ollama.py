"""Ollama's own chat interface: requests and replies.

The schema goes into `format`, limits into `options`. A prompt that does not fit is refused by the server
(`truncate: false`), because evidence that was cut without a word would be judged as if it were whole. Where the context
length is declared, the server is told to make that much room (`num_ctx`). Pictures stand beside a message's text, not
within it; a call of a tool has no id, and its result names the tool.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jurat.jsontext import Json, thaw
from jurat.provider.dialect import Dialect, output_limit
from jurat.provider.envelopes import characters, decoded, finished, model_name, no_reply, token_logprobs, tokens
from jurat.provider.errors_from_http import Destination, error_in_body, holds_error
from jurat.provider.message import ChatMessage, Image, ToolCall, ToolResult
from jurat.provider.protocol import FinishReason, Frame, ProviderSettings, Reply, Usage
from jurat.provider.schema_dialect import without_keywords

__all__ = ["OLLAMA"]


def _head(messages: Sequence[ChatMessage], _: Frame, settings: ProviderSettings) -> Mapping[str, Json]:
    told: dict[str, Json] = {"model": settings.model, "stream": False, "truncate": False, "shift": False}
    return {**told, "messages": [made for message in messages for made in _messages(message)]}


def _messages(message: ChatMessage) -> Iterator[Json]:
    """A message as the server has it: one, or of a tool's results one each."""
    if message.role == "tool" and message.parts:
        for part in message.parts:
            if isinstance(part, ToolResult):
                yield {"role": "tool", "tool_name": part.name, **_content(part.parts)}
        return
    calls: list[Json] = [
        {"function": {"name": part.name, "arguments": thaw(part.arguments)}}
        for part in message.parts
        if isinstance(part, ToolCall)
    ]
    made: dict[str, Json] = {"role": message.role, **_content(message.said)}
    yield {**made, "tool_calls": calls} if calls else made


def _content(parts: Sequence[object]) -> dict[str, Json]:
    images: list[Json] = [b64encode(part.data).decode() for part in parts if isinstance(part, Image)]
    text = "".join(part for part in parts if isinstance(part, str))
    return {"images": images, "content": text} if images else {"content": text}


def _fields(frame: Frame, settings: ProviderSettings) -> dict[str, Any]:
    able = settings.capabilities
    fields: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if frame.temperature is not None and able.temperature:
        options["temperature"] = frame.temperature
    if (limit := output_limit(frame, settings)) is not None:
        options["num_predict"] = limit
    if able.context_tokens is not None:
        options["num_ctx"] = able.context_tokens
    if options:
        fields["options"] = options
    if frame.top_logprobs:
        fields["logprobs"], fields["top_logprobs"] = True, frame.top_logprobs
    if frame.schema is not None:
        fields["format"] = without_keywords(thaw(frame.schema.schema), able.schema_keywords_refused)
    return fields


def _read(body: bytes, to: Destination) -> Reply:
    envelope = decoded(body, to)
    if holds_error(envelope):
        raise error_in_body(envelope, to)
    message = envelope.get("message")
    if not isinstance(message, dict) or envelope.get("done") is not True:
        raise no_reply(to, "a message that is done")
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise no_reply(to, "content that is text")
    found = finished(envelope.get("done_reason"), "done_reason", to)
    if message.get("tool_calls") and found in (FinishReason.STOP, FinishReason.OTHER, FinishReason.UNREPORTED):
        found = FinishReason.TOOL_CALL
    return Reply(
        text=text,
        finish_reason=found,
        usage=Usage(
            input_tokens=tokens(envelope.get("prompt_eval_count")), output_tokens=tokens(envelope.get("eval_count"))
        ),
        model=model_name(envelope.get("remote_model") or envelope.get("model")),
        logprobs=token_logprobs(envelope.get("logprobs")),
        reasoning_characters=characters(message.get("thinking")),
    )


OLLAMA = Dialect(
    path=lambda _: "/api/chat",
    head=_head,
    fields=_fields,
    own=frozenset(
        [
            *("model", "messages", "stream", "format", "truncate", "shift", "logprobs", "top_logprobs"),
            *("options.temperature", "options.num_predict"),
        ]
    ),
    read=_read,
)
