"""The request side that all dialects share: a frame becomes bytes once, the user's text on every call.

A dialect says of what a request consists; here it becomes bytes. What is not set is not sent. What the model cannot do
is refused here, before a call. The key of a call names kind, endpoint, model, every byte of the body, and the repeat.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from jurat.errors import ErrorCategory, RequestError
from jurat.jsontext import Json, NotJson, thaw
from jurat.provider.dialect import Dialect, speaks_later
from jurat.provider.message import ChatMessage, File, Image, parts_within
from jurat.provider.protocol import Call, Frame, ModelRequest, ProviderSettings

__all__ = ["FrameEncoder", "refuse_unsupported"]

_KEPT_FRAMES = 64
_EMPTY = ChatMessage(role="user")


class _Encoded:
    """A frame's bytes around the user's text, and a hasher that has read the first part."""

    __slots__ = ("hasher", "head", "tail")

    def __init__(self, settings: ProviderSettings, body: str, cut: int) -> None:
        self.head, self.tail = body[:cut].encode(), body[cut + 2 :].encode()
        self.hasher = _hasher(settings, self.head)


class FrameEncoder:
    """Turns requests into calls for one provider. Keeps the encoding of the last frames that are texts, by identity."""

    def __init__(self, settings: ProviderSettings, dialect: Dialect) -> None:
        self._settings, self._dialect = settings, dialect
        self._frames: dict[Frame, _Encoded] = {}

    def call(self, request: ModelRequest) -> Call:
        """The bytes that would be sent, and their key. Pure.

        Raises:
            RequestError: for what the model cannot do, a misplaced extra setting, and text that is no Unicode.
        """
        encoded = self._frames.get(request.frame)
        if encoded is None or request.last is not None:
            if request.last is not None or self._in_parts(request.frame):
                return self._call_in_parts(request)
            encoded = self._encode(request.frame)
        try:
            rest = encode_basestring(request.user).encode() + encoded.tail
        except UnicodeEncodeError:
            fault = _no_unicode()
        else:
            hasher = encoded.hasher.copy()
            hasher.update(rest + b"\n%d" % request.repeat)
            return Call(key=hasher.hexdigest(), body=encoded.head + rest)
        raise fault

    def _in_parts(self, frame: Frame) -> bool:
        """Whether a frame holds more than texts before the user's, or something may have to stand behind that."""
        if any(message.parts for message in frame.messages):
            return True
        return self._settings.capabilities.later_system and speaks_later(frame.messages)

    def _call_in_parts(self, request: ModelRequest) -> Call:
        """A request that is more than texts, written anew each time: its pictures are not kept."""
        last = request.last or ChatMessage(role="user", content=request.user)
        messages = (*request.frame.messages, last)
        _refuse_parts(messages, self._settings, self._dialect.image_types)
        body = self._body(messages, request.frame)[0].encode()
        hasher = _hasher(self._settings, body)
        hasher.update(b"\n%d" % request.repeat)
        return Call(key=hasher.hexdigest(), body=body)

    def _encode(self, frame: Frame) -> _Encoded:
        body, cut = self._body((*frame.messages, _EMPTY), frame)
        encoded = _Encoded(self._settings, body, cut)
        if len(self._frames) >= _KEPT_FRAMES:
            del self._frames[next(iter(self._frames))]
        self._frames[frame] = encoded
        return encoded

    def _body(self, messages: tuple[ChatMessage, ...], frame: Frame) -> tuple[str, int]:
        """The whole request, and where in it the text of the last message stands if that is empty; else -1."""
        refuse_unsupported(frame, self._settings)
        try:
            front = _dumped(self._dialect.head(messages, frame, self._settings))[:-1]
            fields = _dumped(self._fields(frame))
            body = front + (f",{fields[1:]}" if fields != "{}" else "}")
            body.encode()
        except (NotJson, UnicodeEncodeError) as error:
            what = str(error) if isinstance(error, NotJson) else "text with a lone surrogate"
            raise RequestError(
                ErrorCategory.REQUEST_INVALID, f"the request cannot be written as JSON: {what}"
            ) from None
        return body, front.rfind('""')

    def _fields(self, frame: Frame) -> dict[str, Json]:
        fields = self._dialect.fields(frame, self._settings)
        for name, value in _merged(self._settings.extra, frame.extra).items():
            inner = [f"{name}.{member}" for member in value] if isinstance(value, Mapping) else []
            if taken := [one for one in (name, *inner) if one in self._dialect.own]:
                raise self._misplaced(taken[0])
            present = fields.get(name)
            if isinstance(present, Mapping) and isinstance(value, Mapping):
                fields[name] = {**present, **value}
            elif name in fields:
                raise self._misplaced(name)
            else:
                fields[name] = value
        return fields

    def _misplaced(self, name: str) -> RequestError:
        return RequestError(
            ErrorCategory.REQUEST_INVALID,
            f"provider {self._settings.name}: {name} is no extra setting. It has a place of its own in the judge, the "
            "prompt or the provider's capabilities",
        )


def _merged(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    """Both together; the second wins, inside of objects member by member."""
    merged = dict(first)
    for name, value in second.items():
        known = merged.get(name)
        merged[name] = {**known, **value} if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return merged


def _hasher(settings: ProviderSettings, start: bytes) -> Any:
    where = json.dumps([settings.kind, settings.endpoint, settings.model], ensure_ascii=False)
    return hashlib.sha256(where.encode() + b"\n" + start)


def refuse_unsupported(frame: Frame, settings: ProviderSettings) -> None:
    """Refuse what the declared capabilities rule out.

    Raises:
        RequestError: `unsupported_structured_output`, or `request_invalid` for token probabilities.
    """
    able = settings.capabilities
    if frame.schema is not None and not able.structured_output:
        raise RequestError(
            ErrorCategory.UNSUPPORTED_STRUCTURED_OUTPUT,
            f"provider {settings.name}: model {settings.model} offers no strict structured output, and the request "
            "needs it. Take another model, or the contract reasoned/v1; if the model does offer it, declare "
            "capabilities: {structured_output: true}",
        )
    if frame.top_logprobs > able.top_logprobs:
        raise RequestError(
            ErrorCategory.REQUEST_INVALID,
            f"provider {settings.name}: expected at most {able.top_logprobs} token probabilities for model "
            f"{settings.model}, the request wants {frame.top_logprobs}. Take another strategy or model; if the model "
            f"does report them, declare capabilities: {{top_logprobs: {frame.top_logprobs}}}",
        )


def _refuse_parts(messages: tuple[ChatMessage, ...], settings: ProviderSettings, image_types: tuple[str, ...]) -> None:
    """Refuse pictures and files that the model does not take, before a call."""
    able, parts = settings.capabilities, [part for message in messages for part in parts_within(message)]
    images = [part for part in parts if isinstance(part, Image)]
    files = [part for part in parts if isinstance(part, File)]
    for what, found, takes in (("images", images, able.images), ("documents", files, able.documents)):
        if found and not takes:
            raise RequestError(
                ErrorCategory.REQUEST_INVALID,
                f"provider {settings.name}: model {settings.model} takes no {what}, and the request holds "
                f"{len(found)}. Take another model; if this one does take them, declare capabilities: {{{what}: true}}",
            )
    for what, found, kinds in (("images", images, image_types), ("documents", files, ("application/pdf",))):
        if strange := [part.media_type for part in found if part.media_type not in kinds]:
            raise RequestError(
                ErrorCategory.REQUEST_INVALID,
                f"provider {settings.name}: expected {what} that the vendor takes ({', '.join(kinds)}), found "
                f"{strange[0][:80]}",
            )


def _no_unicode() -> RequestError:
    return RequestError(
        ErrorCategory.REQUEST_INVALID, "the text for the model holds a lone surrogate, which is no Unicode character"
    )


def _dumped(value: Mapping[str, Any]) -> str:
    # Not sorted: models write in the order of the schema, and a judge has to reason before it scores.
    return json.dumps(thaw(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
