"""The window to models: one small protocol, in three steps.

    prepare(request) -> Call     pure: the bytes that would be sent, and the key that names them
    await send(call) -> Raw      the one step that waits, fails and costs
    read(raw) -> Reply           pure: what the bytes say

The middle step gives *raw* bytes, so that they can be committed to the response store before anybody looks at them,
and so that cache, resume and replay go the same way as a fresh reply: through `read`. Real adapters, `scripted` and
`replay` implement this protocol alike and pass the same contract tests.

A `Frame` is everything of a request that is the same from call to call (the trusted messages, the schema, the
settings). An adapter encodes a frame once; only the user's text is encoded per call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from jurat.errors import ErrorCategory
from jurat.jsontext import Json
from jurat.provider.message import ChatMessage, File, Image, ToolCall, ToolResult

__all__ = [
    "Call",
    "Capabilities",
    "ChatMessage",
    "File",
    "FinishReason",
    "Frame",
    "Image",
    "ModelRequest",
    "Provider",
    "ProviderSettings",
    "Raw",
    "Reply",
    "ResponseSchema",
    "TokenLogprobs",
    "ToolCall",
    "ToolResult",
    "Usage",
]


class FinishReason(StrEnum):
    """Why a model stopped, in one vocabulary for every vendor. `unreported` is what a silent server gets."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    TOOL_CALL = "tool_call"
    OTHER = "other"
    UNREPORTED = "unreported"

    @classmethod
    def of(cls, word: str | None) -> FinishReason:
        """A vendor's own word, whatever its spelling, in our vocabulary. None is a server that said nothing."""
        if word is None:
            return cls.UNREPORTED
        known = _FINISH_WORDS.get(word)
        return known if known is not None else _FINISH_WORDS.get(squashed(word), cls.OTHER)


def squashed(word: str) -> str:
    """A word without case and separators: `MAX_TOKENS`, `max-tokens` and `maxTokens` are the same one."""
    return word.strip().lower().replace("_", "").replace("-", "").replace(" ", "")


_SAID = {
    FinishReason.STOP: (
        *("stop", "stopped", "stop_sequence", "stop_token", "end_turn", "end_of_turn", "eos", "eos_token", "eos_found"),
        *("complete", "completed", "finished", "done"),
    ),
    FinishReason.LENGTH: (
        *("length", "limit", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_length", "model_length"),
        *("model_context_window_exceeded", "context_length_exceeded", "incomplete"),
    ),
    FinishReason.REFUSAL: ("refusal", "refused"),
    FinishReason.CONTENT_FILTER: (
        *("content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii"),
        *("guardrail_intervened", "sensitive", "moderation", "image_safety", "image_prohibited_content"),
        *("image_recitation", "language", "model_armor", "jailbreak"),
    ),
    FinishReason.TOOL_CALL: (
        *("tool_calls", "tool_use", "function_call", "tool_call"),
        *("malformed_function_call", "unexpected_tool_call", "too_many_tool_calls"),
    ),
    FinishReason.UNREPORTED: ("", "null", "none", "finish_reason_unspecified"),
}
_FINISH_WORDS = {
    spelling: reason for reason, words in _SAID.items() for word in words for spelling in (word, squashed(word))
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSchema:
    """The JSON Schema that the reply has to follow, strictly."""

    name: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """What stays the same from call to call. Compared by identity, so that an adapter can keep its encoding.

    Attributes:
        messages: those before the last one, the system message first.
        schema: the structured output asked for, or None for a free reply.
        temperature: None sends none.
        max_output_tokens: None sends none.
        top_logprobs: how many alternatives to report for each token, 0 for none.
        extra: further settings of this provider kind, sent as they are.
    """

    messages: tuple[ChatMessage, ...]
    schema: ResponseSchema | None = None
    temperature: float | None = 0.0
    max_output_tokens: int | None = 500
    top_logprobs: int = 0
    extra: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model.

    Attributes:
        frame: what comes before it, and the settings.
        user: the user's text, which is the last message.
        repeat: which repeat of the same question it is, from 0.
        last: the last message in the place of `user`, where it is more than a user's text.
    """

    frame: Frame
    user: str = ""
    repeat: int = 0
    last: ChatMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request made ready. `key` (64 hexadecimal digits) names provider kind, endpoint, model, bytes and repeat."""

    key: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """One raw reply.

    Attributes:
        body: the bytes as they came, at most the adapter's own bound.
        latency_ms: from sending the request that was answered to its last byte.
        attempts: how many requests it took, the answered one included.
        failed: why those before the answered one failed, in order.
        request_id: the provider's own name for it, if it gave one.
        cached: whether it comes from the response store.
        reply: what the bytes say, where they were read on arrival already; `read` gives it back. Never stored.
    """

    body: bytes
    latency_ms: float
    attempts: int = 1
    failed: tuple[ErrorCategory, ...] = ()
    request_id: str | None = None
    cached: bool = False
    reply: Reply | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider counted them; None is unknown, which is not 0.

    `cached_input_tokens` and `cache_write_tokens` are parts of `input_tokens`, `reasoning_tokens` a part of
    `output_tokens`, whatever the vendor's own way of adding them up. `charged_usd` is what the provider itself says
    that the request cost, where it says so.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    charged_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprobs:
    """One token of the reply: its text, and the natural logarithms of the likeliest alternatives' probabilities."""

    token: str
    top: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a raw reply says. Nothing in it is validated beyond its types.

    Attributes:
        text: the visible text, or None when there was none. Reasoning is never in it.
        refusal: the provider's refusal text, or None.
        reasoning_characters: how much text came in a reasoning channel, which is never read as an answer.
        model: the model that says it answered, which may differ from the one that was asked.
        id: the provider's own name for the reply, if it gave one, as it was told.
    """

    text: str | None
    finish_reason: FinishReason = FinishReason.UNREPORTED
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    logprobs: tuple[TokenLogprobs, ...] = ()
    reasoning_characters: int = 0
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a model can do, as far as is known. Unknown models get the plain defaults of their kind.

    Attributes:
        structured_output: strict JSON Schema output.
        structured_by: how it is asked for, where a vendor has several ways: `schema` (a JSON Schema for the reply),
            `tool` (a tool that must be called; Anthropic's older models) or `openapi` (Google's older schema).
        temperature: whether a temperature may be sent.
        token_limit_name: how chat completions name the output limit (`max_tokens`, `max_completion_tokens`).
        top_logprobs: the most alternatives that a token may report, 0 when the model reports none.
        context_tokens: how much fits, input and output together; None when unknown.
        reasoning: whether hidden reasoning tokens count against the output limit.
        reasoning_room: what is added to the limit for them then, in tokens, so that the limit bounds the answer.
        schema_keywords_refused: words of JSON Schema that the server refuses; left out of what is sent, while the
            check of the reply stays whole.
        images: whether a request may hold images.
        documents: whether a request may hold PDFs as files.
        later_system: whether a system message may stand within the conversation, where a vendor takes it apart.
    """

    structured_output: bool = True
    structured_by: str = "schema"
    temperature: bool = True
    token_limit_name: str = "max_tokens"
    top_logprobs: int = 0
    context_tokens: int | None = None
    reasoning: bool = False
    reasoning_room: int = 8192
    schema_keywords_refused: tuple[str, ...] = ()
    images: bool = False
    documents: bool = False
    later_system: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """One named, configured model. Says where a key is found, never the key.

    Attributes:
        name: how suites and commands call it.
        kind: the adapter (`local`, `openai_compatible`, `scripted`, …).
        model: the model's name, as the wire wants it.
        endpoint: the base URL, or "" where there is none.
        api: which of a vendor's interfaces is spoken: `responses`, or "" for the kind's usual one.
        api_key_env: the environment variable that holds the key, or None where no key is wanted.
        api_key_keyring: `service/user` of the keyring's entry that holds it instead.
        prices: USD per million tokens by `input`, `output`, `cached_input`, `cache_write`; None: look the model up.
        default_strategy: the judge strategy that was measured to suit this model best.
        wants_examples: whether the model needs worked examples to judge sensibly, so that a judge brings its own.
        extra: further settings of this kind that are sent with every request (`seed`, `reasoning_effort`, …).
        replays: of recorded replies: the kind of the provider that gave them; "" of all others.
    """

    name: str
    kind: str
    model: str
    endpoint: str = ""
    api: str = ""
    api_key_env: str | None = None
    api_key_keyring: str | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    prices: Mapping[str, float] | None = None
    default_strategy: str = "answer"
    wants_examples: bool = False
    extra: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    replays: str = ""

    @property
    def keyed(self) -> bool:
        """Whether a key is sent."""
        return self.api_key_env is not None or self.api_key_keyring is not None

    @property
    def identity(self) -> dict[str, Json]:
        """What of the settings changes the answers: part of the judge identity.

        A replay has that of the provider it was recorded from: it answers requests that are the same to the byte, with
        that provider's own bytes, and none other. That it is a replay, `kind` says.
        """
        told: dict[str, Json] = {"kind": self.replays or self.kind, "endpoint": self.endpoint, "model": self.model}
        if self.api:
            told["api"] = self.api
        return {**told, "extra": dict(self.extra)} if self.extra else told


@runtime_checkable
class Provider(Protocol):
    """A model that can be asked. See the module's text for the three steps.

    `check` finds out, without a connection, whether asking makes sense at all: it raises ProviderError
    (`missing_api_key`) or ModelError, so that a job of a million rows is told once, before the first.
    `send` raises ProviderError and nothing else (but lets cancellation through); retries happen inside it, and
    nowhere else. `read` raises ProviderError (`api_error`) when the bytes are no reply of this kind at all.
    """

    @property
    def settings(self) -> ProviderSettings: ...

    def check(self) -> None: ...

    def prepare(self, request: ModelRequest) -> Call: ...

    async def send(self, call: Call) -> Raw: ...

    def read(self, raw: Raw) -> Reply: ...

    async def aclose(self) -> None: ...
