"""Who said what in a span: the several ways in which attributes and events tell a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jurat.importing.talk import Talk, answer_of, as_text, message, messages_of, parsed, split
from jurat.jsontext import Json

__all__ = ["Attributes", "attributes_of", "conversation", "value_of"]

Attributes = dict[str, Json]
Events = list[tuple[str, Attributes]]
Messages = list[dict[str, Any]]
Tell = Callable[[str], None]

_DEEPEST = 80


def attributes_of(values: Any) -> Attributes:
    """The attributes of a span or an event, in OTLP's typed spelling, as plain values."""
    made: Attributes = {}
    for one in values if isinstance(values, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("key"), str):
            made[one["key"]] = _value(one.get("value"), 0)
    return made


def value_of(value: Any) -> Json:
    """A value in OTLP's typed spelling as a plain one."""
    return _value(value, 0)


def _value(value: Any, depth: int) -> Json:
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None if isinstance(value, Mapping | list) else value
    for key, part in value.items():
        match key:
            case "intValue" if isinstance(part, str):
                return int(part) if re.fullmatch(r"-?\d{1,20}", part, re.ASCII) else part
            case "arrayValue":
                inner = part.get("values") if isinstance(part, Mapping) else None
                return [_value(one, depth + 1) for one in inner] if isinstance(inner, list) else []
            case "kvlistValue":
                inner = part.get("values") if isinstance(part, Mapping) else None
                pairs = [one for one in inner if isinstance(one, Mapping)] if isinstance(inner, list) else []
                return {str(one.get("key")): _value(one.get("value"), depth + 1) for one in pairs}
            case _:
                return part if not isinstance(part, Mapping | list) else None
    return None


def conversation(attributes: Attributes, events: Events, tell: Tell) -> Talk:
    """What came before, and the answer; an answer that is None was not recorded."""
    for name, inner in events:
        if name in ("gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion"):
            attributes = {**inner, **attributes}
    before = [*_system(attributes, tell), *_side(attributes, _BEFORE, tell)]
    after = _side(attributes, _AFTER, tell)
    if not before and not after:
        before, after = _from_events(events, tell)
    if not before:
        before = _plain(attributes.get("input.value"), "user", tell)
    if not after:
        after = _plain(attributes.get("output.value"), "assistant", tell)
    if not after:
        return Talk(before=before)
    if len(after) > 1 and all(one["role"] == "assistant" for one in after):
        tell("several answers to one call; the first is taken")
        after = after[:1]
    return split([*before, *after])


_BEFORE = ("gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages")
_AFTER = ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages")


def _system(attributes: Attributes, tell: Tell) -> list[dict[str, Any]]:
    value = parsed(attributes.get("gen_ai.system_instructions"))
    made = message({"role": "system", "content": value}, tell) if value is not None else None
    return [made] if made else []


def _side(attributes: Attributes, names: tuple[str, ...], tell: Tell) -> list[dict[str, Any]]:
    for name in names:
        if name in attributes:
            found = messages_of(attributes[name], tell)
            if found:
                return found
        numbered = _numbered(attributes, f"{name}.")
        if numbered:
            read = (message(_flat_message(one), tell) for one in numbered)
            return [made for made in read if made is not None]
    return []


def _plain(value: Json, role: str, tell: Tell) -> list[dict[str, Any]]:
    if value in (None, ""):
        return []
    said = answer_of(value) if role == "assistant" else value
    return messages_of(said, tell) or [{"role": role, "content": as_text(said)}]


# --- attributes with numbers in their names ------------------------------------------------------------------------


def _numbered(attributes: Attributes, prefix: str) -> list[dict[str, Json]]:
    """The members of a list that was written as attributes: `prefix0.role`, `prefix0.content`, `prefix1.role`, …"""
    made: dict[int, dict[str, Json]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, rest = key[len(prefix) :].partition(".")
            if number.isascii() and number.isdigit() and len(number) < 7:
                made.setdefault(int(number), {})[rest] = value
    return [made[number] for number in sorted(made)]


def _flat_message(one: dict[str, Json]) -> dict[str, Any]:
    """A message whose members stand in names; those of OpenInference begin with `message.`"""
    flat = {key.removeprefix("message."): part for key, part in one.items()}
    made: dict[str, Any] = {"role": flat.get("role"), "content": flat.get("content")}
    parts = [_flat_part(part) for part in _numbered(flat, "contents.")]
    if parts:
        made["content"] = parts
    elif isinstance(parsed(made["content"]), list):
        made["content"] = parsed(made["content"])
    calls = [_flat_call(part) for part in _numbered(flat, "tool_calls.")]
    if calls:
        made["tool_calls"] = calls
    if isinstance(flat.get("tool_call_id"), str):
        made["tool_call_id"] = flat["tool_call_id"]
    return made


def _flat_part(part: dict[str, Json]) -> dict[str, Json]:
    return {key.removeprefix("message_content."): value for key, value in part.items()}


def _flat_call(part: dict[str, Json]) -> dict[str, Json]:
    flat = {key.removeprefix("tool_call.").removeprefix("function."): value for key, value in part.items()}
    return {"type": "tool_call", **flat}


# --- messages as events --------------------------------------------------------------------------------------------

_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")


def _from_events(events: Events, tell: Tell) -> tuple[Messages, Messages]:
    before: Messages = []
    after: Messages = []
    for name, attributes in events:
        spoken = _EVENT.fullmatch(name)
        if spoken is None and name != "gen_ai.choice":
            continue
        said = {key: parsed(part) for key, part in attributes.items()}
        inner = said.get("message")
        whole: dict[str, Any] = {**said, **(inner if isinstance(inner, Mapping) else {})}
        if isinstance(inner, str):
            whole["content"] = inner
        if isinstance(whole.get("id"), str):
            whole.setdefault("tool_call_id", whole["id"])
        whole["role"] = spoken[1] if spoken else "assistant"
        made = message(whole, tell)
        if made is not None:
            (before if spoken else after).append(made)
    return before, after
