"""From a task to the messages of a request: who said what, with pictures, documents and tools where they stand.

Vendors are strict about tools: every call has its results right behind it, and every result its call. That is looked at
here, once for all of them, and told as the author's fault before anything is asked. Identifiers that another vendor
gave, or none, become such as every vendor takes. A model's thinking is not said again.

The last word is the user's or a tool's. What a model does behind its own last word is not one thing: some vendors go on
with it, some begin anew, some refuse it; so whoever wants one of these has to say it in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jurat.errors import AuthoringError, Fault
from jurat.evaluation.subject import Task
from jurat.evidence import (
    Block,
    ImageBlock,
    Message,
    RefusalBlock,
    Role,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from jurat.provider.message import ChatMessage, Image, Part, ToolCall, ToolResult

__all__ = ["spoken"]

_TAKEN = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""Identifiers that every vendor takes."""


def spoken(task: Task) -> tuple[ChatMessage, ...]:
    """The messages of a task, the system message first.

    Raises:
        AuthoringError: with every fault, each at the message that it is of.
    """
    talk = _Talk()
    for index, message in enumerate(task.messages):
        talk.add(message, f"messages[{index}]")
    talk.close(task)
    if talk.faults:
        raise AuthoringError("conversation for a model", talk.faults)
    system = (ChatMessage(role="system", content=task.system),) if task.system is not None else ()
    return (*system, *talk.attached(task.attached))


class _Talk:
    """A conversation as far as it was read, and the calls that still want their results.

    Once calls and results do not go together any more, no further result is held against its call.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._made: list[ChatMessage] = []
        self._open: dict[str, ToolCall] = {}
        self._astray = False
        self._ids: set[str] = set()

    def add(self, message: Message, path: str) -> None:
        """The next message."""
        before = len(self.faults)
        results, parts = self._divided(message, path)
        if results:
            self._made.append(ChatMessage(role="tool", parts=tuple(results)))
        if message.role is Role.TOOL and not results and len(self.faults) == before and not self._astray:
            self.faults.append(Fault(path=path, expected="the result of a tool", found="nothing"))
        if message.role is not Role.TOOL and (parts or not results) and len(self.faults) == before:
            self._say(message.role.value, parts, path)

    def _say(self, role: str, parts: list[Part], path: str) -> None:
        calls = [part for part in parts if isinstance(part, ToolCall)]
        if any(call not in calls for call in self._open.values()):
            if not calls or self._made[-1].role != "assistant":
                self._unanswered(path)
            else:  # calls side by side, which some write as messages of their own
                parts = [*self._made.pop().said, *parts]
        joined = tuple(_joined(parts))
        if all(isinstance(part, str) for part in joined):
            self._made.append(ChatMessage(role=role, content="".join(map(str, joined))))
        else:
            self._made.append(ChatMessage(role=role, parts=joined))

    def _unanswered(self, path: str, found: str = "more of the conversation before all of them") -> None:
        names = ", ".join(dict.fromkeys(call.name for call in self._open.values()))
        expected = f"the results of the tools that were called ({names[:200]})"
        self.faults.append(Fault(path=path, expected=expected, found=found))
        self._open, self._astray = {}, True

    def close(self, task: Task) -> None:
        """See that somebody is waiting for an answer."""
        last = task.messages[-1] if task.messages else None
        if self._open and not self.faults:
            self._unanswered("messages", "the end of the conversation")
        elif last is None or last.role not in (Role.USER, Role.TOOL):
            found = f"one of the role {last.role}" if last is not None else "no message at all"
            hint = "Give the suite a prompt, or end the case's messages with the user's"
            expected = "a user's message or a tool's result as the last"
            self.faults.append(Fault(path="messages", expected=expected, found=found, hint=hint))
        if task.attached and not any(message.role == "user" for message in self._made):
            expected = "a user's message, which shows the attached documents"
            self.faults.append(Fault(path="documents", expected=expected, found="none"))

    def attached(self, parts: Sequence[Part]) -> list[ChatMessage]:
        """The messages; the user's last one begins with what is attached to the case."""
        if parts:
            at = max(index for index, message in enumerate(self._made) if message.role == "user")
            shown = tuple(part for part in self._made[at].said if part != "")
            self._made[at] = ChatMessage(role="user", parts=(*parts, *shown))
        return self._made

    # --- one message -----------------------------------------------------------------------------------------------

    def _divided(self, message: Message, path: str) -> tuple[list[ToolResult], list[Part]]:
        """The results of tools in a message, and everything else that it says."""
        if message.role is Role.TOOL and isinstance(message.content, str):
            whole = ToolResultBlock(tool_call_id="", content=(TextBlock(text=message.content),))
            result = self._result(whole, path)
            return ([result] if result else []), []
        results: list[ToolResult] = []
        parts: list[Part] = []
        for index, block in enumerate(message.blocks):
            at = f"{path}.content[{index}]"
            if isinstance(block, ToolResultBlock):
                if self._in_place(message.role, parts, at) and (made := self._result(block, at)) is not None:
                    results.append(made)
            else:
                parts += self._parts(block, message.role, at)
        return results, parts

    def _in_place(self, role: Role, parts: list[Part], path: str) -> bool:
        """Whether a tool's result may stand where it does."""
        if role not in (Role.TOOL, Role.USER):
            expected, found = "a tool's result in a message of the role tool", f"one of the role {role}"
        elif parts:
            expected, found = "the results of tools before everything else in a message", "one behind other content"
        else:
            return True
        self._astray = True
        self.faults.append(Fault(path=path, expected=expected, found=found))
        return False

    def _parts(self, block: Block, role: Role, path: str) -> Iterator[Part]:
        match block:
            case TextBlock(text=text) | RefusalBlock(text=text) if role is not Role.TOOL:
                yield text
            case ImageBlock() if role is Role.USER:
                yield from self._picture(block, path)
            case ToolCallBlock() if role is Role.ASSISTANT:
                yield self._call(block)
            case TextBlock() | RefusalBlock() | ImageBlock() | ToolCallBlock():
                what = {ImageBlock: "a picture", ToolCallBlock: "a tool call"}.get(type(block), "other content")
                expected = "results of tools alone" if role is Role.TOOL else _PLACES.get(type(block), "text")
                self.faults.append(Fault(path=path, expected=expected, found=f"{what} in one of the role {role}"))

    def _picture(self, block: ImageBlock, path: str) -> Iterator[Image]:
        if block.data is not None and block.media_type is not None:
            yield Image(media_type=block.media_type, data=block.data)
            return
        found, hint = "only what was recorded of it", "Name its file by path, or give its data"
        self.faults.append(Fault(path=path, expected="a picture to show", found=found, hint=hint))

    def _call(self, block: ToolCallBlock) -> ToolCall:
        fine = _TAKEN.fullmatch(block.id) is not None and block.id not in self._ids
        made = ToolCall(id=block.id if fine else self._new_id(), name=block.name, arguments=block.arguments)
        self._ids.add(made.id)
        # By the identifier that the author wrote; calls without one, or with one that is there, each by its own.
        self._open[block.id if block.id and block.id not in self._open else made.id] = made
        return made

    def _new_id(self) -> str:
        number = len(self._ids) + 1
        while f"call_{number}" in self._ids:
            number += 1
        return f"call_{number}"

    def _result(self, block: ToolResultBlock, path: str) -> ToolResult | None:
        """A result with the call that it answers: by its identifier, or without one the first call that is left."""
        key = block.tool_call_id or next(iter(self._open), "")
        call = self._open.pop(key, None)
        if call is None and self._astray:
            return None  # it only follows from what has been told
        if call is None:
            self._astray = True
            found = "one of another call, or of none" if block.tool_call_id or not self._open else "none"
            expected = "the result of a call right before it that has no other"
            self.faults.append(Fault(path=path, expected=expected, found=found))
            return None
        parts = tuple(part for part in _joined(list(self._inner(block.content, path))) if isinstance(part, str | Image))
        return ToolResult(id=call.id, name=call.name, parts=parts, failed=block.failed)

    def _inner(self, blocks: Sequence[Block], path: str) -> Iterator[Part]:
        for index, block in enumerate(blocks):
            at = f"{path}.content[{index}]"
            match block:
                case TextBlock(text=text) | RefusalBlock(text=text):
                    yield text
                case ImageBlock():
                    yield from self._picture(block, at)
                case ToolResultBlock(content=content):
                    yield from self._inner(content, at)
                case ToolCallBlock():
                    self.faults.append(Fault(path=at, expected="what a tool gave back", found="a tool call"))


_PLACES: dict[type, str] = {
    ImageBlock: "a picture in a message of the role user, or in a tool's result",
    ToolCallBlock: "a tool call in a message of the role assistant",
}


def _joined(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, neighbouring texts joined and empty ones left out."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield text
        text = ""
        yield part
    if text:
        yield text
