"""Anthropic's Messages API: requests and replies.

The system message goes apart, and roles alternate: results of tools are the user's. What the system says later stands
where it is said for models that know it, and at the beginning for others. Structured output comes by a schema of the
reply (`output_config.format`), or, for models from before that, by one tool that must be called, whose input is
then the answer, taken to the letter. The trusted part of a judge's request is marked for the prompt cache, because it
comes back with every call. Tokens of the cache are counted beside the input there, and inside of it here.

A conversation with calls of tools has to declare these tools. Where the author offers none, they are declared by their
names alone, and may not be called.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from jurat.jsontext import Json, thaw
from jurat.provider.dialect import Dialect, output_limit, turns
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
    tokens,
)
from jurat.provider.errors_from_http import Destination, error_in_body, holds_error
from jurat.provider.message import ChatMessage, File, Image, Part, ToolCall, ToolResult
from jurat.provider.protocol import FinishReason, Frame, ProviderSettings, Reply, Usage
from jurat.provider.schema_dialect import anthropic_schema
from jurat.provider.verbatim import member_text

__all__ = ["ANTHROPIC"]

_ANSWER_TOOL = "jurat_answer"
_MUST_CALL: dict[str, Json] = {"type": "tool", "name": _ANSWER_TOOL, "disable_parallel_tool_use": True}
_DEFAULT_TOKENS = 4096
"""The limit where none is set: the vendor wants one, and every model takes this one."""
_CACHED: dict[str, Json] = {"cache_control": {"type": "ephemeral"}}


def _head(messages: Sequence[ChatMessage], frame: Frame, settings: ProviderSettings) -> Mapping[str, Json]:
    system, spoken = turns(messages, later_system=settings.capabilities.later_system)
    # Only a judge's frame is sure to come back; writing to the cache what is asked once would cost a quarter more.
    mark = frame.schema is not None
    before_last = len(spoken) - 2
    told: dict[str, Json] = {"model": settings.model}
    if system is not None:
        told["system"] = _blocks((system,), mark and before_last < 0)
    made: list[Json] = [
        {"role": turn.role, "content": _blocks(turn.parts, mark and number == before_last)}
        for number, turn in enumerate(spoken)
    ]
    return {**told, "messages": made}


def _blocks(parts: Sequence[Part], marked: bool = False) -> Json:
    if len(parts) == 1 and isinstance(parts[0], str) and not marked:
        return parts[0]
    blocks = [_block(part) for part in parts]
    if marked:
        blocks[-1] = {**blocks[-1], **_CACHED}
    return list[Json](blocks)


def _block(part: Part) -> dict[str, Json]:
    match part:
        case str():
            return {"type": "text", "text": part}
        case Image():
            return {"type": "image", "source": _source(part)}
        case File(name=name):
            return {"type": "document", "title": name, "source": _source(part)}
        case ToolCall(id=call, name=name, arguments=arguments):
            return {"type": "tool_use", "id": call, "name": name, "input": thaw(arguments)}
        case ToolResult(id=call, parts=parts, failed=failed):
            told: dict[str, Json] = {"type": "tool_result", "tool_use_id": call, "content": _blocks(parts)}
            return {**told, "is_error": True} if failed else told


def _source(part: Image | File) -> Json:
    return {"type": "base64", "media_type": part.media_type, "data": b64encode(part.data).decode()}


def _declared(frame: Frame, settings: ProviderSettings) -> dict[str, Any]:
    """The tools that the conversation speaks of, where the author offers none: there, and not to be called."""
    parts = (part for message in frame.messages for part in message.parts)
    names = dict.fromkeys(part.name for part in parts if isinstance(part, ToolCall))
    if not names or "tools" in frame.extra or "tools" in settings.extra:
        return {}
    tools: list[Json] = [{"name": name, "input_schema": {"type": "object"}} for name in names]
    return {"tools": tools, "tool_choice": {"type": "none"}}


def _fields(frame: Frame, settings: ProviderSettings) -> dict[str, Any]:
    able = settings.capabilities
    unset = _DEFAULT_TOKENS + (able.reasoning_room if able.reasoning else 0)
    limit = output_limit(frame, settings)
    fields: dict[str, Any] = {"max_tokens": unset if limit is None else limit}
    if frame.temperature is not None and able.temperature:
        fields["temperature"] = min(frame.temperature, 1.0)  # the vendor's scale ends there
    declared = _declared(frame, settings)
    if frame.schema is None:
        return {**fields, **declared}
    schema = anthropic_schema(thaw(frame.schema.schema))
    if able.structured_by == "tool":
        tool = {"name": _ANSWER_TOOL, "description": "Give the answer.", "input_schema": schema}
        return {**fields, "tools": [tool, *declared.get("tools", ())], "tool_choice": _MUST_CALL}
    return {**fields, **declared, "output_config": {"format": {"type": "json_schema", "schema": schema}}}


def _read(body: bytes, to: Destination) -> Reply:
    envelope = decoded(body, to)
    if holds_error(envelope) or envelope.get("type") == "error":
        raise error_in_body(envelope, to)
    blocks = envelope.get("content")
    if not isinstance(blocks, list):
        raise no_reply(to, "a list of content blocks")
    texts: list[str] = []
    answers: list[str] = []
    reasoning, calls = 0, False
    for index, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            texts.append(_text(block, to))
        elif kind == "thinking":
            reasoning += characters(block.get("thinking"))
        elif kind == "tool_use" and block.get("name") == _ANSWER_TOOL:
            answers.append(_answer(body, block, index, to, first=not answers))
        elif kind == "tool_use":
            calls = True
    said = answers or texts  # words beside the call of the answer's tool are no part of the answer
    usage = envelope.get("usage")
    return Reply(
        text="".join(said) if said else None,
        finish_reason=_finish(envelope.get("stop_reason"), bool(answers), calls, to),
        refusal=_refusal(envelope.get("stop_details")),
        usage=_usage(usage) if isinstance(usage, dict) else NO_USAGE,
        model=model_name(envelope.get("model")),
        reasoning_characters=reasoning,
        id=text_or_none(envelope.get("id")),
    )


def _text(block: Mapping[str, Any], to: Destination) -> str:
    text = block.get("text")
    if not isinstance(text, str):
        raise no_reply(to, "text in each block of text")
    return text


def _answer(body: bytes, block: Mapping[str, Any], index: int, to: Destination, *, first: bool) -> str:
    """The input of the answer's tool as it was written: with doubled members and odd numbers, if it has any.

    Of further answers, which make the whole none, it does not matter how they were written; looking for each would
    take a time that grows with their number's square.
    """
    if not isinstance(block.get("input"), dict):
        raise no_reply(to, "an object as the input of the answer")
    try:
        written = member_text(body.decode().strip(), ("content", index, "input")) if first else None
        return written or json.dumps(block["input"])
    except RecursionError:  # nested as deeply as the decoder just managed
        fault = no_reply(to, "an object as the input of the answer")
    raise fault


def _finish(reason: object, answered: bool, calls: bool, to: Destination) -> FinishReason:
    found = finished(reason, "stop_reason", to)
    if answered and not calls and found is FinishReason.TOOL_CALL:
        return FinishReason.STOP  # the tool is our own: calling it is the answer
    if calls and found in (FinishReason.STOP, FinishReason.OTHER, FinishReason.UNREPORTED):
        return FinishReason.TOOL_CALL
    return found


def _refusal(details: object) -> str | None:
    if not isinstance(details, dict) or details.get("type") != "refusal":
        return None
    said = details.get("explanation")
    return said if isinstance(said, str) and said.strip() else WORDLESS_REFUSAL


def _usage(usage: Mapping[str, Any]) -> Usage:
    """In our way of counting, where the cache's parts belong to the input; the vendor counts them beside it."""
    plain = tokens(usage.get("input_tokens"))
    cached, written = (tokens(usage.get(f"cache_{what}_input_tokens")) for what in ("read", "creation"))
    return Usage(
        input_tokens=None if plain is None else plain + (cached or 0) + (written or 0),
        output_tokens=tokens(usage.get("output_tokens")),
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=detail(usage, "output_tokens_details", "thinking_tokens"),
    )


ANTHROPIC = Dialect(
    path=lambda _: "/messages",
    head=_head,
    fields=_fields,
    own=frozenset(
        [
            *("model", "messages", "system", "stream", "max_tokens", "temperature"),
            *("output_config.format", "output_format"),
        ]
    ),
    read=_read,
    key_header="x-api-key",
    headers={"anthropic-version": "2023-06-01"},
    request_id="request-id",
)
