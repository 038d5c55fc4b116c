"""The fake that ships: a provider that says what it was told to say.

It goes the way of a real one (bytes prepared, bytes sent, bytes read in the chat-completions dialect), so that what
works with it works with a server. A reply whose `match` occurs in the user's text comes first; otherwise the next one
in turn, or, with `order: by_request`, the one that a hash of the request picks: then the same request gets the same
reply whatever ran before it, and concurrent runs leave the same record.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jurat.errors import AuthoringError, ErrorCategory, Fault, ProviderError
from jurat.provider.capabilities import capabilities_for
from jurat.provider.encoder import FrameEncoder
from jurat.provider.errors_from_http import Destination
from jurat.provider.openai_reply import read_reply
from jurat.provider.openai_request import CHAT
from jurat.provider.protocol import Call, ModelRequest, ProviderSettings, Raw, Reply
from jurat.provider.script import ScriptedReply, reply_from
from jurat.regularfiles import read_regular

if TYPE_CHECKING:
    from jurat.jsontext import Json

__all__ = ["ScriptedProvider", "load_script", "scripted_replies"]

Says = str | Mapping[str, "Json"] | ScriptedReply
"""One reply: see `jurat.provider.script`."""
Answers = Callable[[list[dict[str, str]]], Says]
"""A function from the messages of a request (`role`, `content`) to a reply."""


class ScriptedProvider:
    """Fixed replies.

    Args:
        replies: replies in turn, or a function that answers each request; those with `match` wait for their text.
        order: `in_turn`, or `by_request` (picked by a hash of the request).
        cycle: whether to begin again after the last reply; otherwise one request too many is an error.
        settings: name, model, capabilities, prices; by default a model that can do everything.
        call_log: a file to which the key of each call is appended, one a line, so that other processes can count.

    Attributes:
        calls: how many calls were sent.

    Raises:
        AuthoringError: for replies of the wrong shape, all faults together.
    """

    def __init__(
        self,
        replies: Says | Sequence[Says] | Answers,
        *,
        order: str = "in_turn",
        cycle: bool = True,
        settings: ProviderSettings | None = None,
        call_log: str | Path | None = None,
    ) -> None:
        self._settings = settings or _default_settings()
        self._answers = replies if callable(replies) else None
        given = () if callable(replies) else scripted_replies(_listed(replies))
        self._matching = tuple(reply for reply in given if reply.match is not None)
        self._turns = tuple(reply for reply in given if reply.match is None)
        self._by_request, self._cycle = order == "by_request", cycle
        self._call_log = Path(call_log) if call_log is not None else None
        self._encoder = FrameEncoder(self._settings, CHAT)
        self._to = Destination(where="the script", model=self._settings.model, key_variable=None)
        self._turn = 0
        self.calls = 0

    @property
    def settings(self) -> ProviderSettings:
        """Name, model, capabilities."""
        return self._settings

    def prepare(self, request: ModelRequest) -> Call:
        """The bytes that a server would get, and their key. Refuses what the declared capabilities rule out."""
        return self._encoder.call(request)

    async def send(self, call: Call) -> Raw:
        """The reply, or the error that the script holds.

        Raises:
            ProviderError: of the category that the script says; `invalid_request` when there is no reply left.
        """
        self.calls += 1
        if self._call_log is not None:
            _append(self._call_log, call.key)
        reply = self._pick(call)
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.error is not None:
            raise ProviderError(reply.error, f"the script of provider {self._settings.name} says: {reply.error.value}")
        return Raw(body=reply.body(self._settings.model), latency_ms=reply.latency_ms)

    def read(self, raw: Raw) -> Reply:
        """What the bytes say, read as a real server's."""
        return read_reply(raw, self._to)

    def check(self) -> None:
        """A script needs nothing."""

    async def aclose(self) -> None:
        """Nothing is open."""

    def _pick(self, call: Call) -> ScriptedReply:
        if self._answers is not None:
            return _one(self._answers(_messages(call)))
        if self._matching:
            user = _text(_messages(call)[-1]["content"])
            for reply in self._matching:
                if (reply.match or "") in user:
                    return reply
        if not self._turns:
            raise self._exhausted("no reply that matches this request")
        if self._by_request:
            return self._turns[int(call.key[:16], 16) % len(self._turns)]
        turn = self._turn
        if turn >= len(self._turns) and not self._cycle:
            raise self._exhausted(f"{len(self._turns)} replies, and this is one request more")
        self._turn += 1
        return self._turns[turn % len(self._turns)]

    def _exhausted(self, found: str) -> ProviderError:
        return ProviderError(
            ErrorCategory.INVALID_REQUEST,
            f"the script of provider {self._settings.name} holds {found}. Add replies, or say cycle: true",
            attempts=0,
        )


def _default_settings() -> ProviderSettings:
    return ProviderSettings(
        name="scripted", kind="scripted", model="scripted", capabilities=capabilities_for("scripted", "scripted")
    )


def _listed(replies: Says | Sequence[Says]) -> Sequence[object]:
    return [replies] if isinstance(replies, str | Mapping | ScriptedReply) else replies


def _text(content: Any) -> str:
    """The text of a message; beside images it is a part of its own."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _messages(call: Call) -> list[dict[str, str]]:
    messages: list[dict[str, str]] = json.loads(call.body)["messages"]
    return messages


def _one(value: Says) -> ScriptedReply:
    reply, faults = reply_from(value)
    if reply is None:
        raise AuthoringError("scripted reply", faults)
    return reply


def _append(path: Path, key: str) -> None:
    # One write of one line on a descriptor in append mode: lines of several processes never mix.
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, key.encode() + b"\n")
    finally:
        os.close(handle)


def scripted_replies(values: Iterable[object], file: str | None = None) -> tuple[ScriptedReply, ...]:
    """Replies from an author's data.

    Raises:
        AuthoringError: with every fault of every reply, or because there is none.
    """
    replies: list[ScriptedReply] = []
    faults: list[Fault] = []
    for index, value in enumerate(values):
        reply, wrong = reply_from(value, f"replies[{index}]")
        faults += wrong
        if reply is not None:
            replies.append(reply)
    if not replies and not faults:
        faults.append(Fault(path="replies", expected="at least one reply", found="none", file=file))
    if faults:
        raise AuthoringError(f"script {file}" if file else "script", faults)
    return tuple(replies)


def load_script(path: Path) -> tuple[ScriptedReply, ...]:
    """Replies from a file: a YAML or JSON list (or an object with `replies`), or JSONL with one reply a line.

    Raises:
        AuthoringError: when the file cannot be read, or its replies have faults.
    """
    try:
        data = read_regular(path)
    except OSError as error:
        what = error.strerror or type(error).__name__
        fault = Fault(path="replies_file", expected="a readable file", found=what, file=str(path))
        raise AuthoringError("script", [fault]) from None
    if path.suffix == ".jsonl":
        return scripted_replies(_lines(data, str(path)), str(path))
    from jurat.yamltext import parse_document

    value = parse_document(data, str(path)).value
    if isinstance(value, dict) and set(value) == {"replies"}:
        value = value["replies"]
    return scripted_replies(value if isinstance(value, list) else [value], str(path))


def _lines(data: bytes, file: str) -> list[object]:
    values: list[object] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            fault = Fault(
                path="", expected="one JSON value a line", found="a line that is none", file=file, line=number
            )
            raise AuthoringError("script", [fault]) from None
    return values
