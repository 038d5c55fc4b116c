"""OpenAI's Responses API: requests and replies.

Nothing is kept at the vendor (`store: false`), since each request is whole. A reply is a list of items: the text of the
final messages is the answer, reasoning and commentary are counted, and whoever calls a tool has not answered. A request
is such a list too: calls of tools and their results are items beside the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jurat.jsontext import Json
from jurat.provider.dialect import Dialect, output_limit
from jurat.provider.envelopes import (
    NO_USAGE,
    WORDLESS_REFUSAL,
    characters,
    decoded,
    detail,
    finished,
    model_name,
    no_reply,
    text_or_none,
    token_logprobs,
    tokens,
)
from jurat.provider.errors_from_http import Destination, error_in_body, holds_error
from jurat.provider.message import ChatMessage, File, Image, ToolCall, ToolResult
from jurat.provider.openai_request import arguments_text, data_url, strict_schema
from jurat.provider.protocol import FinishReason, Frame, ProviderSettings, Reply, TokenLogprobs, Usage

__all__ = ["RESPONSES"]

_OURS_TO_CALL = (
    *("function_call", "custom_tool_call", "computer_call", "mcp_approval_request"),
    *("local_shell_call", "shell_call", "apply_patch_call"),
)
_LOGPROBS = "message.output_text.logprobs"


def _head(messages: Sequence[ChatMessage], _: Frame, settings: ProviderSettings) -> Mapping[str, Json]:
    items: list[Json] = [item for message in messages for item in _items(message)]
    return {"model": settings.model, "store": False, "input": items}


def _items(message: ChatMessage) -> Iterator[Json]:
    """A message as items, in the order of its parts. What the assistant said is text, what a user shows are parts."""
    if not message.parts:
        yield {"role": message.role, "content": message.content}
    elif message.role in ("assistant", "tool"):
        yield from (_item(part) for part in message.parts)
    else:
        yield {"role": message.role, "content": [_shown(part) for part in message.parts]}


def _item(part: object) -> Json:
    match part:
        case ToolCall(id=call, name=name):
            return {"type": "function_call", "call_id": call, "name": name, "arguments": arguments_text(part)}
        case ToolResult(id=call, parts=parts):
            told: Json = "".join(map(str, parts))
            if any(isinstance(one, Image) for one in parts):
                told = [_shown(one) for one in parts]
            return {"type": "function_call_output", "call_id": call, "output": told}
        case _:
            return {"role": "assistant", "content": str(part)}


def _shown(part: object) -> Json:
    match part:
        case Image():
            return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
        case File(name=name):
            return {"type": "input_file", "filename": name, "file_data": data_url(part)}
        case _:
            return {"type": "input_text", "text": str(part)}


def _fields(frame: Frame, settings: ProviderSettings) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if frame.temperature is not None and settings.capabilities.temperature:
        fields["temperature"] = frame.temperature
    if (limit := output_limit(frame, settings)) is not None:
        fields["max_output_tokens"] = max(limit, 16)  # the least that the vendor takes
    if frame.top_logprobs:
        fields["top_logprobs"], fields["include"] = frame.top_logprobs, [_LOGPROBS]
    if frame.schema is not None:
        schema = strict_schema(frame, settings)
        told = {"type": "json_schema", "name": frame.schema.name, "strict": True, "schema": schema}
        fields["text"] = {"format": told}
    return fields


def _read(body: bytes, to: Destination) -> Reply:
    envelope = decoded(body, to)
    if holds_error(envelope):
        raise error_in_body(envelope, to)
    items = envelope.get("output")
    if not isinstance(items, list):
        raise no_reply(to, "a list of output items")
    said = _Said()
    for item in items:
        if isinstance(item, dict):
            said.take(item, to)
    usage = envelope.get("usage")
    return Reply(
        text="".join(said.texts) if said.texts else None,
        finish_reason=FinishReason.TOOL_CALL if said.calls_a_tool else _finish(envelope, to),
        refusal=said.refusal,
        usage=_usage(usage) if isinstance(usage, dict) else NO_USAGE,
        model=model_name(envelope.get("model")),
        logprobs=said.logprobs,
        reasoning_characters=said.reasoning,
        id=text_or_none(envelope.get("id")),
    )


class _Said:
    """What the items of a reply say, gathered one by one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.refusal: str | None = None
        self.logprobs: tuple[TokenLogprobs, ...] = ()
        self.reasoning = 0
        self.calls_a_tool = False

    def take(self, item: Mapping[str, Any], to: Destination) -> None:
        """Sort in one item, by its type."""
        kind = item.get("type")
        if kind == "reasoning":
            self.reasoning += characters(item.get("content")) or characters(item.get("summary"))
        elif kind in _OURS_TO_CALL:
            self.calls_a_tool = True
        elif kind == "message":
            parts = item.get("content")
            if not isinstance(parts, list):
                raise no_reply(to, "a list of parts in each message")
            for part in parts:
                if isinstance(part, dict):
                    self._take_part(part, item.get("phase") == "commentary", to)

    def _take_part(self, part: Mapping[str, Any], commentary: bool, to: Destination) -> None:
        if part.get("type") == "refusal":
            said = part.get("refusal")
            self.refusal = self.refusal or (said if isinstance(said, str) and said.strip() else WORDLESS_REFUSAL)
        elif part.get("type") == "output_text" and part.get("text") is not None:
            text = part["text"]
            if not isinstance(text, str):
                raise no_reply(to, "text in each part of text")
            if commentary:
                self.reasoning += len(text)
            else:
                self.texts.append(text)
                self.logprobs += token_logprobs(part.get("logprobs"))


def _finish(envelope: Mapping[str, Any], to: Destination) -> FinishReason:
    status = envelope.get("status")
    if status == "incomplete":
        details = envelope.get("incomplete_details")
        why = details.get("reason") if isinstance(details, dict) else None
        return finished(why or "incomplete", "incomplete_details.reason", to)
    return finished(status, "status", to)


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=tokens(usage.get("input_tokens")),
        output_tokens=tokens(usage.get("output_tokens")),
        cached_input_tokens=detail(usage, "input_tokens_details", "cached_tokens"),
        cache_write_tokens=detail(usage, "input_tokens_details", "cache_write_tokens"),
        reasoning_tokens=detail(usage, "output_tokens_details", "reasoning_tokens"),
    )


RESPONSES = Dialect(
    path=lambda _: "/responses",
    head=_head,
    fields=_fields,
    own=frozenset(
        [
            *("model", "input", "instructions", "stream", "background", "temperature", "max_output_tokens"),
            *("top_logprobs", "include", "text.format"),
        ]
    ),
    read=_read,
)
