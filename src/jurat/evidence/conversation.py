"""A conversation: messages made of blocks, and what of them can be seen.

Only visible text may be quoted. Visible are text, refusals and the results of tools; a model's thinking and the
arguments of its tool calls are not. The blocks of one message join without a separator, so that what the judge is
shown, what a quote may cite and what was said are one and the same text. A line stands in the place of each picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from jurat.errors import Fault
from jurat.evidence.picture import IMAGE_KEYS, MAX_IMAGE_BYTES, ImageBlock, Pictures, decoded_base64
from jurat.jsontext import Json, NotJson, freeze, type_name
from jurat.vocabulary import nearest

__all__ = [
    "Block",
    "Message",
    "RefusalBlock",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolResultBlock",
    "message_from_json",
    "message_to_json",
]

MAX_BLOCK_DEPTH = 16
"""How deep tool results may hold blocks within blocks."""


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Plain text. Visible."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalBlock:
    """The words with which the model declined. Visible."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingBlock:
    """A model's reasoning, which its reader does not see. Not visible."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallBlock:
    """A tool asked for: its name, and JSON arguments. Not visible."""

    id: str
    name: str
    arguments: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultBlock:
    """What a tool gave back; `failed` when it reports an error. Its blocks are visible as blocks are."""

    tool_call_id: str
    content: tuple[Block, ...] = ()
    failed: bool = False


Block = TextBlock | RefusalBlock | ThinkingBlock | ToolCallBlock | ToolResultBlock | ImageBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. `content` is a string, or blocks."""

    role: Role
    content: str | tuple[Block, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The content as blocks, whichever way it was written."""
        return (TextBlock(text=self.content),) if isinstance(self.content, str) else self.content

    @property
    def visible_text(self) -> str:
        """What a reader sees of it, which is what a quote may cite."""
        return self.content if isinstance(self.content, str) else _visible(self.content)

    @property
    def spoken_text(self) -> str:
        """The same, without the lines that stand for pictures."""
        return self.content if isinstance(self.content, str) else _visible(self.content, pictures=False)

    def pictures(self) -> Iterator[tuple[str, ImageBlock]]:
        """Its pictures, those in the results of tools too, each with its path in the message."""
        if not isinstance(self.content, str):
            yield from _pictures(self.content, "content")


def _visible(blocks: Sequence[Block], *, pictures: bool = True) -> str:
    parts: list[str] = []
    for block in blocks:
        if isinstance(block, TextBlock | RefusalBlock):
            parts.append(block.text)
        elif isinstance(block, ToolResultBlock):
            parts.append(_visible(block.content, pictures=pictures))
        elif isinstance(block, ImageBlock) and pictures:
            parts.append(block.placeholder)
    return "".join(parts)


def _pictures(blocks: Sequence[Block], path: str) -> Iterator[tuple[str, ImageBlock]]:
    for index, block in enumerate(blocks):
        if isinstance(block, ImageBlock):
            yield f"{path}[{index}]", block
        elif isinstance(block, ToolResultBlock):
            yield from _pictures(block.content, f"{path}[{index}].content")


# --- as JSON -------------------------------------------------------------------------------------------------------

_TEXTS: Mapping[str, type[TextBlock] | type[RefusalBlock] | type[ThinkingBlock]] = {
    "text": TextBlock,
    "refusal": RefusalBlock,
    "thinking": ThinkingBlock,
}
_BLOCK_KEYS: Mapping[str, tuple[str, ...]] = {
    "text": ("type", "text"),
    "refusal": ("type", "text"),
    "thinking": ("type", "text"),
    "tool_call": ("type", "id", "name", "arguments"),
    "tool_result": ("type", "tool_call_id", "content", "failed"),
    "image": IMAGE_KEYS,
}


def message_to_json(message: Message, pictures: Pictures = "recorded") -> dict[str, Json]:
    """The message as plain JSON; `message_from_json` reads it back unchanged.

    Args:
        pictures: which of them come with their bytes.
    """
    role = str(message.role)
    if isinstance(message.content, str):
        return {"role": role, "content": message.content}
    return {"role": role, "content": [_block_to_json(block, pictures) for block in message.content]}


def _block_to_json(block: Block, pictures: Pictures) -> dict[str, Json]:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case RefusalBlock(text=text):
            return {"type": "refusal", "text": text}
        case ThinkingBlock(text=text):
            return {"type": "thinking", "text": text}
        case ToolCallBlock(id=call, name=name, arguments=arguments):
            return {"type": "tool_call", "id": call, "name": name, "arguments": arguments}
        case ToolResultBlock(tool_call_id=call, content=content, failed=failed):
            inner = [_block_to_json(part, pictures) for part in content]
            return {"type": "tool_result", "tool_call_id": call, "content": inner, "failed": failed}
        case ImageBlock():
            return block.to_json(pictures)


def message_from_json(value: object, path: str, faults: list[Fault]) -> Message | None:
    """Read one message; add what is wrong with it to `faults` and give None when anything is."""
    before = len(faults)
    if not isinstance(value, Mapping):
        faults.append(Fault(path=path, expected="a message {role, content}", found=type_name(value)))
        return None
    refuse_unknown(value, ("role", "content"), path, faults)
    role = value.get("role")
    if role not in tuple(Role):
        expected = "one of " + ", ".join(Role)
        faults.append(Fault(path=f"{path}.role", expected=expected, found=_found_word(role)))
    content = _content_from_json(value.get("content"), f"{path}.content", faults, 0)
    if len(faults) > before or content is None:
        return None
    return Message(role=Role(str(role)), content=content)


def _content_from_json(value: object, path: str, faults: list[Fault], depth: int) -> str | tuple[Block, ...] | None:
    if isinstance(value, str):
        return text_or_fault(value, path, faults)
    if not isinstance(value, Sequence) or isinstance(value, bytes | bytearray):
        faults.append(Fault(path=path, expected="text or an array of blocks", found=type_name(value)))
        return None
    if depth > MAX_BLOCK_DEPTH:
        faults.append(Fault(path=path, expected=f"at most {MAX_BLOCK_DEPTH} levels of blocks", found="more"))
        return None
    blocks = [_block_from_json(part, f"{path}[{i}]", faults, depth) for i, part in enumerate(value)]
    return tuple(block for block in blocks if block is not None)


def _block_from_json(value: object, path: str, faults: list[Fault], depth: int) -> Block | None:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(kind, str) or kind not in _BLOCK_KEYS:
        expected = "a block whose type is one of " + ", ".join(_BLOCK_KEYS)
        # Only the type's own word is repeated: a block that is a bare string is text of the conversation.
        faults.append(
            Fault(path=path, expected=expected, found=type_name(value) if kind is None else _found_word(kind))
        )
        return None
    refuse_unknown(value, _BLOCK_KEYS[kind], path, faults)
    if kind in _TEXTS:
        text = text_or_fault(value.get("text"), f"{path}.text", faults)
        return None if text is None else _TEXTS[kind](text=text)
    if kind == "image":
        return _image(value, path, faults)
    if kind == "tool_call":
        return _tool_call(value, path, faults)
    return _tool_result(value, path, faults, depth)


def _tool_call(value: Mapping[str, object], path: str, faults: list[Fault]) -> Block | None:
    call = text_or_fault(value.get("id", ""), f"{path}.id", faults)
    name = text_or_fault(value.get("name"), f"{path}.name", faults)
    arguments = mapping_or_fault(value.get("arguments", {}), f"{path}.arguments", faults)
    if call is None or name is None or arguments is None:
        return None
    return ToolCallBlock(id=call, name=name, arguments=arguments)


def _tool_result(value: Mapping[str, object], path: str, faults: list[Fault], depth: int) -> Block | None:
    call = text_or_fault(value.get("tool_call_id", ""), f"{path}.tool_call_id", faults)
    content = _content_from_json(value.get("content", ""), f"{path}.content", faults, depth + 1)
    failed = value.get("failed", False)
    if not isinstance(failed, bool):
        faults.append(Fault(path=f"{path}.failed", expected="true or false", found=type_name(failed)))
        return None
    if call is None or content is None:
        return None
    blocks = (TextBlock(text=content),) if isinstance(content, str) else content
    return ToolResultBlock(tool_call_id=call, content=blocks, failed=failed)


_PICTURE = "a picture by its path, by its data in base64, or by the sha256 of a recorded one"
_HEXADECIMAL = frozenset("0123456789abcdef")


def _image(value: Mapping[str, object], path: str, faults: list[Fault]) -> ImageBlock | None:
    before = len(faults)
    texts = [name for name in ("path", "data", "media_type", "sha256") if name in value]
    read = {name: text_or_fault(value[name], f"{path}.{name}", faults) for name in texts}
    size = value.get("size_bytes")
    if "size_bytes" in value and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        faults.append(Fault(path=f"{path}.size_bytes", expected="a whole number from 0", found=type_name(size)))
    if not texts or texts == ["media_type"] or ("path" in value and "data" in value):
        words = "both path and data" if "path" in value else "none of them"
        faults.append(Fault(path=path, expected=_PICTURE, found=words))
    if (hash_ := read.get("sha256")) is not None and (len(hash_) != 64 or not _HEXADECIMAL.issuperset(hash_)):
        faults.append(Fault(path=f"{path}.sha256", expected="64 hexadecimal digits", found="other text"))
    if len(faults) > before:
        return None
    data = read.pop("data", None)
    made = ImageBlock(**read, size_bytes=size, data=_bytes(data, path, faults))  # type: ignore[arg-type]
    if hash_ is not None and made.sha256 != hash_:
        faults.append(Fault(path=f"{path}.sha256", expected="the hash of its data", found="another one"))
    return made if len(faults) == before else None


def _bytes(data: str | None, path: str, faults: list[Fault]) -> bytes | None:
    found = None if data is None else decoded_base64(data)
    if data is not None and not found:
        hint = "A file is named by path" if len(data) < 300 else None
        faults.append(Fault(path=f"{path}.data", expected="a picture in base64", found="other text", hint=hint))
    elif found is not None and len(found) > MAX_IMAGE_BYTES:
        expected = f"a picture of at most {MAX_IMAGE_BYTES // 2**20} MiB"
        faults.append(Fault(path=f"{path}.data", expected=expected, found=f"{len(found):,} bytes"))
    return found


# --- shared with the context's reader ------------------------------------------------------------------------------


def refuse_unknown(value: Mapping[str, object], known: tuple[str, ...], path: str, faults: list[Fault]) -> None:
    """Add a fault for each key that is not known, naming the nearest one that is."""
    for key in value:
        if key not in known:
            near = nearest(str(key), known)
            hint = f"Did you mean {near}?" if near else None
            inner = f"{path}.{key}" if path else str(key)
            faults.append(Fault(path=inner, expected="one of " + ", ".join(known), found="this key", hint=hint))


def text_or_fault(value: object, path: str, faults: list[Fault]) -> str | None:
    """The value if it is text in valid Unicode; otherwise a fault and None."""
    if not isinstance(value, str):
        faults.append(Fault(path=path, expected="text", found=type_name(value)))
        return None
    if value.isascii():  # most text is, and then it holds no surrogate
        return value
    text: str | None = json_or_fault(value, path, faults)
    return text


def mapping_or_fault(value: object, path: str, faults: list[Fault]) -> Mapping[str, Json] | None:
    """The value, frozen, if it is a JSON object; otherwise a fault and None."""
    if not isinstance(value, Mapping):
        faults.append(Fault(path=path, expected="an object", found=type_name(value)))
        return None
    mapping: Mapping[str, Json] | None = json_or_fault(value, path, faults)
    return mapping


def json_or_fault(value: object, path: str, faults: list[Fault]) -> Json:
    """The value, frozen, if it has a JSON form; otherwise a fault and None."""
    try:
        return freeze(value, path)
    except NotJson as error:
        faults.append(Fault(path=error.path or path, expected="a JSON value", found=error.found))
        return None


def _found_word(value: object) -> str:
    return f"{value[:40]!r}" if isinstance(value, str) else type_name(value)
