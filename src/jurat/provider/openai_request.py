"""Chat completions, the wire format of OpenAI and of everybody who speaks it: the request, and the dialect as a whole.

The limit goes out under the name that the model knows, a temperature only where the model takes one. Vendors whose
strict mode wants every property required and nothing more get the schema in that form. Calls of tools stand beside the
assistant's text, each result is a message of its own, and holds text alone: this interface has no pictures there.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jurat.errors import ErrorCategory, RequestError
from jurat.jsontext import Json, thaw
from jurat.provider.dialect import Dialect, output_limit
from jurat.provider.message import ChatMessage, File, Image, ToolCall, ToolResult
from jurat.provider.openai_reply import read_chat
from jurat.provider.protocol import Frame, ProviderSettings
from jurat.provider.schema_dialect import strict_objects, without_keywords

__all__ = ["CHAT", "arguments_text", "data_url", "strict_schema"]

_STRICT_KINDS = ("openai", "azure_openai", "groq", "xai", "openrouter")


def strict_schema(frame: Frame, settings: ProviderSettings) -> Json:
    """The frame's schema, as the vendor's strict mode takes it."""
    if frame.schema is None:
        raise ValueError("no schema")
    schema = without_keywords(thaw(frame.schema.schema), settings.capabilities.schema_keywords_refused)
    return strict_objects(schema) if settings.kind in _STRICT_KINDS else schema


def data_url(part: Image | File) -> str:
    """A picture or a file as a URL that holds it."""
    return f"data:{part.media_type};base64,{b64encode(part.data).decode()}"


def arguments_text(call: ToolCall) -> str:
    """The arguments of a call as the JSON text that these interfaces want."""
    return json.dumps(thaw(call.arguments), ensure_ascii=False)


def _head(messages: Sequence[ChatMessage], _: Frame, settings: ProviderSettings) -> Mapping[str, Json]:
    return {"model": settings.model, "messages": [made for message in messages for made in _messages(message)]}


def _messages(message: ChatMessage) -> Iterator[Json]:
    """A message as the vendor has it: one, or of a tool's results one each."""
    if not message.parts:
        yield {"role": message.role, "content": message.content}
    elif message.role == "tool":
        yield from (_result(part) for part in message.parts if isinstance(part, ToolResult))
    elif message.role == "assistant":
        text = "".join(part for part in message.parts if isinstance(part, str))
        calls: list[Json] = [_call(part) for part in message.parts if isinstance(part, ToolCall)]
        told: dict[str, Json] = {"role": "assistant", "content": text or None}
        yield {**told, "tool_calls": calls} if calls else {**told, "content": text}
    else:
        yield {"role": message.role, "content": [_shown(part) for part in message.parts]}


def _shown(part: object) -> Json:
    match part:
        case Image():
            return {"type": "image_url", "image_url": {"url": data_url(part)}}
        case File(name=name):
            return {"type": "file", "file": {"filename": name, "file_data": data_url(part)}}
        case _:
            return {"type": "text", "text": str(part)}


def _call(part: ToolCall) -> Json:
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": arguments_text(part)}}


def _result(part: ToolResult) -> Json:
    if any(isinstance(one, Image) for one in part.parts):
        raise RequestError(
            ErrorCategory.REQUEST_INVALID,
            f"the result of the tool {part.name} holds an image, and in chat completions it can hold text alone. Take "
            "api: responses where the provider has it, or let the user show the image",
        )
    return {"role": "tool", "tool_call_id": part.id, "content": "".join(map(str, part.parts))}


def _fields(frame: Frame, settings: ProviderSettings) -> dict[str, Any]:
    able = settings.capabilities
    fields: dict[str, Any] = {}
    if frame.temperature is not None and able.temperature:
        fields["temperature"] = frame.temperature
    if (limit := output_limit(frame, settings)) is not None:
        fields[able.token_limit_name] = limit
    if frame.top_logprobs:
        fields["logprobs"], fields["top_logprobs"] = True, frame.top_logprobs
    if frame.schema is not None:
        wanted = {"name": frame.schema.name, "strict": True, "schema": strict_schema(frame, settings)}
        fields["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return fields


CHAT = Dialect(
    path=lambda _: "/chat/completions",
    head=_head,
    fields=_fields,
    own=frozenset(
        [
            *("model", "messages", "response_format", "stream", "n", "temperature", "logprobs", "top_logprobs"),
            *("max_tokens", "max_completion_tokens"),
        ]
    ),
    read=read_chat,
)
