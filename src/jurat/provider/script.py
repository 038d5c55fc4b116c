"""What a fake says: replies as data, and the bytes that a real server would have sent.

A reply is a text, or an object with any of: `text` or `json` (an object, written as JSON text), `finish_reason`,
`refusal`, `reasoning`, `usage`, `logprobs`, `model`, `latency_ms` (reported), `delay_s` (really waited for), or
`error` (a category to fail with). With `match`, it is given to requests whose user text contains that text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from jurat.errors import ErrorCategory, Fault
from jurat.jsontext import Json, NotJson, thaw, type_name
from jurat.provider.protocol import FinishReason, TokenLogprobs, Usage
from jurat.vocabulary import nearest

__all__ = ["ScriptedReply", "envelope", "reply_from"]

_WIRE_FINISH = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.REFUSAL: "refusal",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.TOOL_CALL: "tool_calls",
    FinishReason.OTHER: "other",
    FinishReason.UNREPORTED: None,
}
_USAGE_NAMES = tuple(part.name for part in fields(Usage))
# Categories that a provider may fail with; the others are found by other parts.
_ERRORS = tuple(
    category.value
    for category in (
        *(ErrorCategory.MISSING_API_KEY, ErrorCategory.AUTH_ERROR, ErrorCategory.RATE_LIMITED),
        *(ErrorCategory.OVERLOADED, ErrorCategory.TIMEOUT, ErrorCategory.NETWORK_ERROR, ErrorCategory.API_ERROR),
        *(ErrorCategory.INVALID_REQUEST, ErrorCategory.CONTEXT_TOO_LARGE, ErrorCategory.REFUSAL),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One thing that a fake says. See the module's text.

    Attributes:
        text: the visible text; None for a reply without any.
        error: the category to fail with instead of answering.
        match: for which user texts this is meant; None: for its turn.
        delay_s: how long to wait for real, in seconds.
        latency_ms: the latency to report.
    """

    text: str | None = None
    finish_reason: FinishReason = FinishReason.STOP
    refusal: str | None = None
    reasoning: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprobs, ...] = ()
    model: str | None = None
    latency_ms: float = 0.0
    delay_s: float = 0.0
    error: ErrorCategory | None = None
    match: str | None = None
    _kept: dict[str, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def body(self, model: str) -> bytes:
        """The bytes of this reply, as chat completions; `model` speaks when the reply names no other."""
        made = self._kept.get(model)
        if made is None:
            made = self._kept[model] = envelope(self, model)
        return made


def envelope(reply: ScriptedReply, model: str) -> bytes:
    """A reply as chat completions would send it."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": _WIRE_FINISH[reply.finish_reason]}
    if reply.logprobs:
        choice["logprobs"] = {"content": [_wire_token(token) for token in reply.logprobs]}
    told: dict[str, Any] = {"object": "chat.completion", "model": reply.model or model, "choices": [choice]}
    if reply.usage is not None:
        told["usage"] = _wire_usage(reply.usage)
    return json.dumps(told).encode()


def _wire_token(token: TokenLogprobs) -> dict[str, Json]:
    top = [{"token": text, "logprob": value} for text, value in token.top.items()]
    own = {"logprob": token.top[token.token]} if token.token in token.top else {}
    return {"token": token.token, **own, "top_logprobs": top}


def _wire_usage(usage: Usage) -> dict[str, Json]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_input_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def reply_from(value: object, path: str = "") -> tuple[ScriptedReply | None, list[Fault]]:
    """A reply from an author's data, or everything that is wrong with them."""
    if isinstance(value, ScriptedReply):
        return value, []
    if isinstance(value, str):
        return ScriptedReply(text=value), []
    if not isinstance(value, Mapping):
        return None, [Fault(path=path, expected="a text or an object", found=type_name(value))]
    reader = _Reader(path)
    given = {str(name): reader.read(str(name), part) for name, part in value.items()}
    if "text" in given and "json" in given:
        reader.fault("json", "either text or json", "both")
    if reader.faults:
        return None, reader.faults
    if "json" in given:
        given["text"] = given.pop("json")
    if "refusal" in given or "error" in given:
        given.setdefault("text", None)
    return ScriptedReply(**given), []


class _Reader:
    """Reads one reply's members, gathering faults."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: list[Fault] = []

    def fault(self, name: str, expected: str, found: str, hint: str | None = None) -> None:
        path = f"{self.path}.{name}" if self.path else name
        self.faults.append(Fault(path=path, expected=expected, found=found, hint=hint))

    def read(self, name: str, value: Any) -> Any:
        if name in ("text", "refusal", "reasoning", "model", "match"):
            return self._text(name, value)
        if name in ("latency_ms", "delay_s"):
            return self._duration(name, value)
        if name in ("finish_reason", "error"):
            return self._word(name, value)
        if name == "json":
            return self._json(value)
        if name == "usage":
            return self._usage(value)
        if name == "logprobs":
            return self._logprobs(value)
        close = nearest(name, _NAMES)
        self.fault(name, "a known member", "an unknown one", f"Did you mean {close}?" if close else None)
        return None

    def _text(self, name: str, value: object) -> str | None:
        if value is not None and not isinstance(value, str):
            self.fault(name, "a text", type_name(value))
            return None
        return value

    def _duration(self, name: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            self.fault(name, "a number from 0", type_name(value))
            return 0.0
        return float(value)

    def _word(self, name: str, value: object) -> FinishReason | ErrorCategory | None:
        words = [reason.value for reason in FinishReason] if name == "finish_reason" else list(_ERRORS)
        if value not in words:
            self.fault(
                name, "one of " + ", ".join(words), "another word" if isinstance(value, str) else type_name(value)
            )
            return None
        return FinishReason(str(value)) if name == "finish_reason" else ErrorCategory(str(value))

    def _json(self, value: object) -> str:
        try:
            return json.dumps(thaw(value), ensure_ascii=False)
        except NotJson as error:
            self.fault("json", "a JSON value", error.found)
            return ""

    def _usage(self, value: object) -> Usage | None:
        if value is None or isinstance(value, Usage):
            return value
        fine = isinstance(value, Mapping) and all(
            name in _USAGE_NAMES and (count is None or (type(count) is int and count >= 0))
            for name, count in value.items()
        )
        if not fine:
            self.fault("usage", "whole numbers under " + ", ".join(_USAGE_NAMES), type_name(value))
            return None
        return Usage(**value)  # type: ignore[arg-type]  # checked above

    def _logprobs(self, value: object) -> tuple[TokenLogprobs, ...]:
        tokens: list[TokenLogprobs] = []
        for part in value if isinstance(value, list | tuple) else [None]:
            if isinstance(part, TokenLogprobs):
                tokens.append(part)
            elif isinstance(part, Mapping) and isinstance(part.get("top"), Mapping):
                tokens.append(TokenLogprobs(token=str(part.get("token", "")), top=MappingProxyType(dict(part["top"]))))
            else:
                self.fault("logprobs", "a list of objects with token and top", type_name(value))
                return ()
        return tuple(tokens)


_NAMES = [part.name for part in fields(ScriptedReply) if part.init] + ["json"]
