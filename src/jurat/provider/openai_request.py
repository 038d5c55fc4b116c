"""The request side of the chat-completions dialect: a frame becomes bytes once, the user's text on every call.

What is not set is not sent: no temperature unless the frame has one and the model takes one, no schema unless one is
asked for, no limit under a name that the model does not know. What the model cannot do is refused here, before a call.
The key of a call names kind, endpoint, model, every byte of the body, and the repeat.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from jurat.errors import ErrorCategory, RequestError
from jurat.jsontext import Json, NotJson, thaw
from jurat.provider.protocol import Call, Capabilities, Frame, ModelRequest, ProviderSettings
from jurat.provider.schema_dialect import without_keywords

__all__ = ["FrameEncoder", "refuse_unsupported"]

_KEPT_FRAMES = 64
_OWN_FIELDS = frozenset(
    {"model", "messages", "response_format", "stream", "n", "temperature", "logprobs", "top_logprobs"}
)
_OWN_FIELDS |= {"max_tokens", "max_completion_tokens"}


class _Encoded:
    """A frame's bytes around the user's text, and a hasher that has already read the first part."""

    __slots__ = ("hasher", "head", "tail")

    def __init__(self, settings: ProviderSettings, head: bytes, tail: bytes) -> None:
        self.head, self.tail = head, tail
        where = json.dumps([settings.kind, settings.endpoint, settings.model], ensure_ascii=False)
        self.hasher = hashlib.sha256(where.encode() + b"\n" + head)


class FrameEncoder:
    """Turns requests into calls for one provider. Keeps the encoding of the last frames, by identity."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._frames: dict[Frame, _Encoded] = {}

    def call(self, request: ModelRequest) -> Call:
        """The bytes that would be sent, and their key. Pure.

        Raises:
            RequestError: for what the model cannot do, a misplaced extra setting, and text that is no Unicode.
        """
        encoded = self._frames.get(request.frame) or self._encode(request.frame)
        try:
            rest = encode_basestring(request.user).encode() + encoded.tail
        except UnicodeEncodeError:
            raise RequestError(
                ErrorCategory.REQUEST_INVALID,
                "the text for the model holds a lone surrogate, which is no Unicode character",
            ) from None
        hasher = encoded.hasher.copy()
        hasher.update(rest)
        hasher.update(b"\n%d" % request.repeat)
        return Call(key=hasher.hexdigest(), body=encoded.head + rest)

    def _encode(self, frame: Frame) -> _Encoded:
        refuse_unsupported(frame, self._settings)
        messages = [{"role": message.role, "content": message.content} for message in frame.messages]
        head = {"model": self._settings.model, "messages": [*messages, {"role": "user", "content": ""}]}
        try:
            front = _dumped(head)[: -len('""}]}')]
            fields = _dumped(_fields(frame, self._settings))
            tail = "}]" + (f",{fields[1:]}" if fields != "{}" else "}")
            encoded = _Encoded(self._settings, front.encode(), tail.encode())
        except (NotJson, UnicodeEncodeError) as error:
            what = str(error) if isinstance(error, NotJson) else "text with a lone surrogate"
            raise RequestError(
                ErrorCategory.REQUEST_INVALID, f"the request cannot be written as JSON: {what}"
            ) from None
        if len(self._frames) >= _KEPT_FRAMES:
            del self._frames[next(iter(self._frames))]
        self._frames[frame] = encoded
        return encoded


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


def _fields(frame: Frame, settings: ProviderSettings) -> dict[str, Json]:
    able = settings.capabilities
    fields: dict[str, Json] = {}
    if frame.temperature is not None and able.temperature:
        fields["temperature"] = frame.temperature
    if frame.max_output_tokens is not None:
        fields[able.token_limit_name] = frame.max_output_tokens
    if frame.top_logprobs:
        fields["logprobs"], fields["top_logprobs"] = True, frame.top_logprobs
    if frame.schema is not None:
        fields["response_format"] = _response_format(frame, able)
    extra = {**settings.extra, **frame.extra}
    if taken := sorted(_OWN_FIELDS & extra.keys()):
        raise RequestError(
            ErrorCategory.REQUEST_INVALID,
            f"provider {settings.name}: {taken[0]} is no extra setting. It has a place of its own in the judge, the "
            "prompt or the provider's capabilities",
        )
    return {**fields, **extra}


def _response_format(frame: Frame, able: Capabilities) -> Mapping[str, Any]:
    if frame.schema is None:
        raise ValueError("no schema")
    schema = without_keywords(thaw(frame.schema.schema), able.schema_keywords_refused)
    return {"type": "json_schema", "json_schema": {"name": frame.schema.name, "strict": True, "schema": schema}}


def _dumped(value: Mapping[str, Any]) -> str:
    # Not sorted: models write in the order of the schema, and a judge has to reason before it scores.
    return json.dumps(thaw(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
