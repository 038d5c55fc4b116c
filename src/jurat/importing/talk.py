"""Conversations of other tools as ours: who speaks, in blocks, and which answer is the one to judge.

Understood are the chat shapes in use: a text or a list of parts; calls of tools beside the content, inside of it, or as
messages of their own; their results likewise; pictures, where they are there. A part that a suite cannot hold, such as
sound, is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jurat.importing.pictures import is_picture, picture
from jurat.jsontext import Json, JsonSyntaxError, canonical, parse_strict

__all__ = [
    "Talk",
    "answer_of",
    "as_text",
    "message",
    "messages_of",
    "parsed",
    "split",
]

_ROLES = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
_TEXTS = ("text", "input_text", "output_text")
_THINKING = ("reasoning", "thinking")
_CALLS = ("tool_call", "tool_use", "function_call", "function")
_RESULTS = ("tool_call_response", "tool_result", "function_call_output")

Tell = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class Talk:
    """A conversation divided: what came before, the answer, and the calls that were made with it."""

    before: list[dict[str, Any]]
    output: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)


def as_text(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else canonical(value)


def parsed(value: Json) -> Json:
    """A value that may have been written as JSON text inside of JSON: objects and arrays are read, all else stays."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_strict(value)
        except JsonSyntaxError:
            return value
    return value


def answer_of(value: Json) -> Json:
    """What a model said, of a whole reply of a vendor's API (`choices`, or items under `output`); any other value."""
    read = parsed(value)
    if isinstance(read, Mapping):
        choices, items = read.get("choices"), read.get("output")
        if isinstance(choices, list) and choices:
            first = choices[0]
            said: Json = first.get("message", first.get("text")) if isinstance(first, Mapping) else first
            return value if said is None else said
        if read.get("object") == "response" and isinstance(items, list) and items:
            return items
    return value


def messages_of(value: Json, tell: Tell) -> list[dict[str, Any]] | None:
    """The messages in a value: a list of them, an object that holds such a list, or one message; otherwise None."""
    value = parsed(value)
    if isinstance(value, Mapping):
        inner = next((value[key] for key in ("messages", "input_messages") if isinstance(value.get(key), list)), None)
        if inner is not None:
            return messages_of(inner, tell)
        value = [value]
    if not isinstance(value, list) or not value or not all(_is_message(one) for one in value):
        return None
    return [made for one in value if (made := message(one, tell)) is not None]


def _is_message(value: Json) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("role", value.get("type")), str)
        and any(key in value for key in ("content", "parts", "tool_calls", "function_call", "output", "arguments"))
    )


def message(value: Mapping[str, Any], tell: Tell) -> dict[str, Any] | None:
    """One message; None when it says nothing that a suite can hold."""
    role = _ROLES.get(str(value.get("role", "")).lower())
    kind = value.get("type")
    if role is None and kind in _CALLS:
        role, value = "assistant", {"parts": [value]}
    elif role is None and kind in _RESULTS:
        role, value = "tool", {"parts": [value]}
    if role is None:
        tell("a message whose speaker is not known; left out")
        return None
    blocks = _blocks(value.get("content", value.get("parts")), tell)
    if role in ("assistant", "system") and any(block["type"] == "image" for block in blocks):
        tell(f"a picture in a message of the role {role}; left out")
        blocks = [block for block in blocks if block["type"] != "image"]
    if isinstance(value.get("refusal"), str):
        blocks.append({"type": "refusal", "text": value["refusal"]})
    if role == "tool" and not any(block["type"] == "tool_result" for block in blocks):
        blocks = [_result(value, blocks)]
    calls = value.get("tool_calls")
    if isinstance(value.get("function_call"), Mapping):
        calls = [*(calls if isinstance(calls, list) else []), value["function_call"]]
    blocks += [_call(one, tell) for one in calls or () if isinstance(one, Mapping)] if isinstance(calls, list) else []
    if not blocks:
        return None
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return {"role": role, "content": blocks[0]["text"]}
    return {"role": role, "content": blocks}


def _blocks(content: Json, tell: Tell) -> list[dict[str, Any]]:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, Sequence):
        return [{"type": "text", "text": canonical(content)}]
    return [made for part in content if (made := _block(part, tell)) is not None]


def _block(part: Json, tell: Tell) -> dict[str, Any] | None:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, Mapping):
        return {"type": "text", "text": canonical(part)}
    kind = part.get("type")
    if is_picture(part):
        return picture(part, tell)
    if kind in _CALLS:
        return _call(part, tell)
    if kind in _RESULTS:
        inner = next(
            (part[key] for key in ("content", "response", "result", "output") if part.get(key) is not None), ""
        )
        return _result(part, _result_blocks(inner, tell))
    if kind == "refusal":
        return {"type": "refusal", "text": as_text(part.get("refusal", part.get("text", "")))}
    if kind in _THINKING:
        said = next((part[key] for key in ("text", "thinking", "reasoning", "content", "summary") if part.get(key)), "")
        return {"type": "thinking", "text": as_text(said)}
    if kind in _TEXTS or kind is None:
        text = part.get("text", part.get("content"))
        if isinstance(text, str):
            return {"type": "text", "text": text} if text else None
    tell(f"content that is no text{_of_kind(kind)}; left out")
    return None


def _of_kind(kind: object) -> str:
    return f" ({kind})" if isinstance(kind, str) and kind.isidentifier() and len(kind) < 40 else ""


def _result_blocks(value: Json, tell: Tell) -> list[dict[str, Any]]:
    if isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(one, Mapping) and "type" in one for one in value)
    ):
        return _blocks(value, tell)
    return [{"type": "text", "text": canonical(value)}]


def _result(value: Mapping[str, Any], blocks: list[dict[str, Any]]) -> dict[str, Any]:
    named = next(
        (value[key] for key in ("tool_call_id", "tool_use_id", "call_id", "id") if isinstance(value.get(key), str)), ""
    )
    failed = bool(value.get("is_error")) or isinstance(value.get("error"), Mapping)
    plain = blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks
    return {"type": "tool_result", "tool_call_id": named, "content": plain, **({"failed": True} if failed else {})}


def _call(value: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    function = value.get("function")
    inner: Mapping[str, Any] = function if isinstance(function, Mapping) else value
    name = inner.get("name") if isinstance(inner.get("name"), str) else function
    named = next((value[key] for key in ("id", "call_id") if isinstance(value.get(key), str)), "")
    arguments: Json = next(
        (inner[key] for key in ("arguments", "input", "input_parameters") if inner.get(key) is not None), {}
    )
    return {"type": "tool_call", "id": named, "name": as_text(name or ""), "arguments": _arguments(arguments, tell)}


def _arguments(value: Json, tell: Tell) -> dict[str, Any]:
    value = parsed(value)
    if isinstance(value, Mapping):
        return dict(value)
    if value not in ("", None):
        tell("arguments of a tool call that are no JSON object; left out")
    return {}


def split(messages: list[dict[str, Any]]) -> Talk:
    """The last message is the answer, when it is the assistant's; its tool calls are told beside it."""
    if not messages or messages[-1]["role"] != "assistant":
        return Talk(before=messages)
    content = messages[-1]["content"]
    if isinstance(content, str):
        return Talk(before=messages[:-1], output=content)
    texts = [block["text"] for block in content if block["type"] in ("text", "refusal")]
    calls = [{"name": one["name"], "arguments": one["arguments"]} for one in content if one["type"] == "tool_call"]
    return Talk(before=messages[:-1], output="".join(texts), calls=calls)
