"""Conversations as each vendor's servers read them: who says what, in which order, in one vocabulary.

Written from the vendors' documentation, independently of the adapters, as the wires are. What a format has no words for
(the id of a call, the name of a result's tool, that a tool failed) is left out of what is expected of it, and nothing
else.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wires import Wire

from jurat.provider import ChatMessage, File, Image, ToolCall, ToolResult

Line = tuple[str, Any]
"""A role, and one part."""


def heard(wire: Wire, body: Mapping[str, Any]) -> list[Line]:
    """What a server of this kind finds in a request, part by part."""
    return list(_READERS.get(_format(wire), _chat)(body))


def expected(wire: Wire, messages: Sequence[ChatMessage]) -> list[Line]:
    """The same conversation, without what this format has no words for."""
    lines = [(message.role, part) for message in messages for part in message.said]
    if _format(wire) == "ollama":
        lines = list(_beside(messages))
    return [(role, _bare(part, _LACKS[_format(wire)])) for role, part in lines]


def _format(wire: Wire) -> str:
    kind = str(wire.row["kind"])
    return "responses" if wire.row.get("api") else kind if kind in _READERS else "chat"


_LACKS = {
    "chat": ("name", "failed"),
    "responses": ("name", "failed"),
    "anthropic": ("name",),
    "google": (),
    "ollama": ("id", "failed"),
}


def _bare(part: Any, lacks: Sequence[str]) -> Any:
    if isinstance(part, ToolResult):
        without: dict[str, Any] = {name: False if name == "failed" else "" for name in lacks}
        return replace(part, **without)
    return replace(part, id="") if isinstance(part, ToolCall) and "id" in lacks else part


def _beside(messages: Sequence[ChatMessage]) -> Iterator[Line]:
    """Where pictures stand beside the text of their message: first."""
    for message in messages:
        texts = [part for part in message.said if isinstance(part, str)]
        yield from ((message.role, part) for part in message.said if isinstance(part, Image))
        if texts:
            yield message.role, "".join(texts)
        yield from ((message.role, part) for part in message.said if isinstance(part, ToolCall | ToolResult))


def _chat(body: Mapping[str, Any]) -> Iterator[Line]:
    for message in body["messages"]:
        role, content = message["role"], message["content"]
        if role == "tool":
            assert set(message) == {"role", "tool_call_id", "content"}
            yield role, ToolResult(id=message["tool_call_id"], name="", parts=(content,))
            continue
        assert isinstance(content, str) or (content is None and message["tool_calls"]) or role == "user"
        for part in [content] if isinstance(content, str) else content or []:
            yield role, part if isinstance(part, str) else _part(part, "image_url", "text", "file")
        for call in message.get("tool_calls", []):
            assert call["type"] == "function"
            assert isinstance(call["function"]["arguments"], str)
            arguments = json.loads(call["function"]["arguments"])
            yield role, ToolCall(id=call["id"], name=call["function"]["name"], arguments=arguments)


def _part(part: Mapping[str, Any], image: str, text: str, file: str) -> Any:
    if part["type"] == text:
        return part["text"]
    if part["type"] == image:
        url = part["image_url"]
        return _of_url(url if isinstance(url, str) else url["url"])
    assert part["type"] == file
    inner = part.get("file", part)
    seen = _of_url(inner["file_data"])
    return File(name=inner["filename"], media_type=seen.media_type, data=seen.data)


def _of_url(url: str) -> Image:
    head, _, data = url.partition(";base64,")
    return Image(media_type=head.removeprefix("data:"), data=base64.b64decode(data, validate=True))


def _responses(body: Mapping[str, Any]) -> Iterator[Line]:
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            arguments = json.loads(item["arguments"])
            yield "assistant", ToolCall(id=item["call_id"], name=item["name"], arguments=arguments)
        elif kind == "function_call_output":
            told = item["output"]
            parts = [told] if isinstance(told, str) else [_part(one, "input_image", "input_text", "") for one in told]
            yield "tool", ToolResult(id=item["call_id"], name="", parts=tuple(parts))
        else:
            content = item["content"]
            assert isinstance(content, str) or item["role"] == "user"
            for part in [content] if isinstance(content, str) else content:
                seen = part if isinstance(part, str) else _part(part, "input_image", "input_text", "input_file")
                yield item["role"], seen


def _anthropic(body: Mapping[str, Any]) -> Iterator[Line]:
    if "system" in body:
        yield "system", body["system"]
    _called_tools_are_declared(body)
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        kinds = [block["type"] for block in blocks]
        # Results come first in the user's turn, or the server refuses it.
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result")
        for block in blocks:
            role = "tool" if block["type"] == "tool_result" else message["role"]
            yield role, _anthropic_part(block)


def _called_tools_are_declared(body: Mapping[str, Any]) -> None:
    blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
    called = {block["name"] for block in blocks if block["type"] == "tool_use"}
    assert called <= {tool["name"] for tool in body.get("tools", [])}


def _anthropic_part(block: Mapping[str, Any]) -> Any:
    match block["type"]:
        case "text":
            return block["text"]
        case "image":
            return Image(media_type=block["source"]["media_type"], data=base64.b64decode(block["source"]["data"]))
        case "document":
            source = block["source"]
            assert source["type"] == "base64"
            data = base64.b64decode(source["data"])
            return File(name=block["title"], media_type=source["media_type"], data=data)
        case "tool_use":
            return ToolCall(id=block["id"], name=block["name"], arguments=block["input"])
        case "tool_result":
            told = block["content"]
            parts = (told,) if isinstance(told, str) else tuple(_anthropic_part(one) for one in told)
            failed = block.get("is_error", False)
            return ToolResult(id=block["tool_use_id"], name="", parts=parts, failed=failed)
    raise AssertionError(block["type"])


def _google(body: Mapping[str, Any]) -> Iterator[Line]:
    if "systemInstruction" in body:
        yield "system", "".join(part["text"] for part in body["systemInstruction"]["parts"])
    for content in body["contents"]:
        role = "assistant" if content["role"] == "model" else "user"
        lines: list[Line] = []
        for part in content["parts"]:
            if "functionResponse" in part:
                lines.append(("tool", _google_result(part["functionResponse"])))
            elif "inlineData" in part:
                _add_data(lines, role, part["inlineData"])
            elif "functionCall" in part:
                call = part["functionCall"]
                lines.append((role, ToolCall(id=call["id"], name=call["name"], arguments=call["args"])))
            else:
                lines.append((role, part["text"]))
        yield from lines


def _google_result(told: Mapping[str, Any]) -> ToolResult:
    response = told["response"]
    ((key, text),) = response.items()
    parts = (text,) if text else ()
    return ToolResult(id=told["id"], name=told["name"], parts=parts, failed={"error": True, "output": False}[key])


def _add_data(lines: list[Line], role: str, inline: Mapping[str, Any]) -> None:
    """A picture or a file; a picture right behind a tool's result is part of it."""
    data = base64.b64decode(inline["data"])
    if inline["mimeType"] == "application/pdf":
        lines.append((role, File(name="", media_type="application/pdf", data=data)))
        return
    image = Image(media_type=inline["mimeType"], data=data)
    if lines and isinstance(result := lines[-1][1], ToolResult):
        lines[-1] = ("tool", replace(result, parts=(*result.parts, image)))
    else:
        lines.append((role, image))


def _ollama(body: Mapping[str, Any]) -> Iterator[Line]:
    for message in body["messages"]:
        role = message["role"]
        images = [
            Image(media_type=_sniffed(data), data=data) for data in map(base64.b64decode, message.get("images", []))
        ]
        if role == "tool":
            parts = (*images, *([message["content"]] if message["content"] else []))
            yield role, ToolResult(id="", name=message["tool_name"], parts=parts)
            continue
        yield from ((role, image) for image in images)
        if message["content"]:
            yield role, message["content"]
        for call in message.get("tool_calls", []):
            yield role, ToolCall(id="", name=call["function"]["name"], arguments=call["function"]["arguments"])


def _sniffed(data: bytes) -> str:
    return "image/png" if data.startswith(b"\x89PNG") else "image/webp"


_READERS = {"anthropic": _anthropic, "google": _google, "ollama": _ollama, "responses": _responses}
