"""Chat completions, the wire format of OpenAI and of everybody who speaks it: the request, and the dialect as a whole.

The limit goes out under the name that the model knows, a temperature only where the model takes one. Vendors whose
strict mode wants every property required and nothing more get the schema in that form.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from jurat.jsontext import Json, thaw
from jurat.provider.dialect import Dialect, output_limit
from jurat.provider.openai_reply import read_chat
from jurat.provider.protocol import Frame, Image, ProviderSettings
from jurat.provider.schema_dialect import strict_objects, without_keywords

__all__ = ["CHAT", "data_url", "strict_schema"]

_STRICT_KINDS = ("openai", "azure_openai", "groq", "xai", "openrouter")


def strict_schema(frame: Frame, settings: ProviderSettings) -> Json:
    """The frame's schema, as the vendor's strict mode takes it."""
    if frame.schema is None:
        raise ValueError("no schema")
    schema = without_keywords(thaw(frame.schema.schema), settings.capabilities.schema_keywords_refused)
    return strict_objects(schema) if settings.kind in _STRICT_KINDS else schema


def data_url(image: Image) -> str:
    """An image as a URL that holds it."""
    return f"data:{image.media_type};base64,{b64encode(image.data).decode()}"


def _head(frame: Frame, settings: ProviderSettings) -> Mapping[str, Json]:
    messages: list[Json] = [{"role": message.role, "content": message.content} for message in frame.messages]
    return {"model": settings.model, "messages": messages}


def _user(_: Frame, text: str, images: tuple[Image, ...]) -> Mapping[str, Json]:
    if not images:
        return {"role": "user", "content": text}
    parts: list[Json] = [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in images]
    return {"role": "user", "content": [*parts, {"type": "text", "text": text}]}


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
    user=_user,
    fields=_fields,
    own=frozenset(
        [
            *("model", "messages", "response_format", "stream", "n", "temperature", "logprobs", "top_logprobs"),
            *("max_tokens", "max_completion_tokens"),
        ]
    ),
    read=read_chat,
)
