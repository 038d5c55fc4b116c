"""Ollama's own chat interface: requests and replies.

The schema goes into `format`, limits into `options`. A prompt that does not fit is refused by the server
(`truncate: false`), because evidence that was cut without a word would be judged as if it were whole. Where the context
length is declared, the server is told to make that much room (`num_ctx`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from jurat.jsontext import Json, thaw
from jurat.provider.dialect import Dialect, output_limit
from jurat.provider.envelopes import characters, decoded, finished, model_name, no_reply, token_logprobs, tokens
from jurat.provider.errors_from_http import Destination, error_in_body, holds_error
from jurat.provider.protocol import FinishReason, Frame, Image, ProviderSettings, Reply, Usage
from jurat.provider.schema_dialect import without_keywords

__all__ = ["OLLAMA"]


def _head(frame: Frame, settings: ProviderSettings) -> Mapping[str, Json]:
    messages: list[Json] = [{"role": message.role, "content": message.content} for message in frame.messages]
    told: dict[str, Json] = {"model": settings.model, "stream": False, "truncate": False, "shift": False}
    return {**told, "messages": messages}


def _user(_: Frame, text: str, images: tuple[Image, ...]) -> Mapping[str, Json]:
    shown: dict[str, Json] = {"images": [b64encode(image.data).decode() for image in images]} if images else {}
    return {"role": "user", **shown, "content": text}


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
    user=_user,
    fields=_fields,
    own=frozenset(
        [
            *("model", "messages", "stream", "format", "truncate", "shift", "logprobs", "top_logprobs"),
            *("options.temperature", "options.num_predict"),
        ]
    ),
    read=_read,
)
