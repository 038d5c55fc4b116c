"""The reply side of the chat-completions dialect: bytes become a Reply, whatever a server made of the dialect.

Servers leave out usage, send null where an object belongs, put reasoning into fields of their own. Everything that is
optional may be missing, null or of another type, and is then unknown, never zero; only a body in which there is no
answer at all is an error (`api_error`, without a word of the body). Reasoning is counted, never read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.credentials import looks_like_credential
from jurat.provider.errors_from_http import Destination, error_in_body, holds_error
from jurat.provider.protocol import FinishReason, Raw, Reply, TokenLogprobs, Usage, squashed

__all__ = ["read_reply"]

# Words by which a server says that it broke off: what came until then is no answer.
_BROKEN = frozenset(
    [
        *("error", "failed", "failure", "cancelled", "canceled", "cancel", "abort", "aborted", "interrupted"),
        *("timeout", "networkerror", "insufficientsystemresource", "malformedresponse"),
    ]
)
_MOST_TOKENS = 10**12
# What names of models are made of; nothing that a terminal, a page or a table could take for its own.
_MODEL_NAME = re.compile(r"[A-Za-z0-9._:/@+=,~()\[\] \\-]{1,100}")
_WORDLESS_REFUSAL = "(a refusal without words)"
_ONCE = frozenset(("choices", "message", "content", "finish_reason", "refusal", "error", "tool_calls", "index"))
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_REASONING_PARTS = ("thinking", "reasoning", "redacted_thinking", "reasoning_content")
_TOOL_PARTS = ("tool_use", "tool_call", "tool_calls", "function_call")
_NO_USAGE = Usage()


class _SaidTwice(Exception):
    """An object that has a member twice which decides what the reply is."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs if name in _ONCE]
        if len(names) != len(set(names)):
            raise _SaidTwice
    return made


_decoder = json.JSONDecoder(object_pairs_hook=_object)


def read_reply(raw: Raw, to: Destination) -> Reply:
    """What a raw reply says.

    Raises:
        ProviderError: `api_error` when the body is no reply of this dialect; when it holds an error, that one.
    """
    envelope = _decoded(raw.body, to)
    if holds_error(envelope):
        raise error_in_body(envelope, to)
    choice = _first(envelope.get("choices"), to)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise _no_reply(to, "a message in the first choice")
    text, refusal, reasoning = _content(message, to)
    model = envelope.get("model")
    usage = envelope.get("usage")
    logprobs = choice.get("logprobs")
    return Reply(
        text=text,
        finish_reason=_finish(choice.get("finish_reason"), message, to),
        refusal=refusal,
        usage=_usage(usage) if isinstance(usage, dict) else _NO_USAGE,
        model=_model_name(model) if isinstance(model, str) and len(model) <= 100 else None,
        logprobs=_logprobs(logprobs) if isinstance(logprobs, dict) else (),
        reasoning_characters=reasoning,
    )


def _decoded(body: bytes, to: Destination) -> dict[str, Any]:
    try:
        text = body.decode().strip()
        envelope, end = _decoder.raw_decode(text)  # a third less work than loads, which looks for the encoding first
    except _SaidTwice:
        raise _no_reply(to, "each member once") from None
    except (ValueError, RecursionError, MemoryError):
        raise _no_reply(to, "one JSON object") from None
    if end != len(text) or not isinstance(envelope, dict):
        raise _no_reply(to, "one JSON object")
    return envelope


def _first(choices: object, to: Destination) -> dict[str, Any]:
    """The choice with the index 0; the first one, where they have no index."""
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        if choices[0].get("index") in (0, None):
            return choices[0]
        for choice in choices[1:]:
            if isinstance(choice, dict) and choice.get("index", 1) == 0:
                return choice
    raise _no_reply(to, "a list of choices with at least a first one")


@lru_cache(maxsize=64)
def _model_name(name: str) -> str | None:
    return name if _MODEL_NAME.fullmatch(name) and not looks_like_credential(name) else None


def _no_reply(to: Destination, expected: str) -> ProviderError:
    return ProviderError(
        ErrorCategory.API_ERROR,
        f"the body from {to.where} is no chat completion: expected {expected}. Is base_url right?",
        status=200,
    )


def _finish(reason: object, message: Mapping[str, Any], to: Destination) -> FinishReason:
    """Why it stopped. Whoever calls a tool has not answered, whatever text stands beside the call."""
    if isinstance(reason, list | dict):
        raise _no_reply(to, "a finish_reason that is a word")
    found = FinishReason.of(reason) if reason is None or isinstance(reason, str) else FinishReason.OTHER
    if found is FinishReason.OTHER and isinstance(reason, str) and squashed(reason) in _BROKEN:
        raise ProviderError(
            ErrorCategory.API_ERROR, f"{to.where} broke off: its finish_reason is one of a failure", status=200
        )
    if found in (FinishReason.STOP, FinishReason.OTHER, FinishReason.UNREPORTED) and _calls_a_tool(message):
        return FinishReason.TOOL_CALL
    return found


def _calls_a_tool(message: Mapping[str, Any]) -> bool:
    if message.get("tool_calls") or message.get("function_call"):
        return True
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in _TOOL_PARTS for part in content
    )


def _content(message: Mapping[str, Any], to: Destination) -> tuple[str | None, str | None, int]:
    """Visible text, refusal, and how many characters of reasoning came beside them."""
    refusal = message.get("refusal")
    refusals: list[str] = []
    if refusal:
        said = refusal if isinstance(refusal, str) else _WORDLESS_REFUSAL
        refusals += [said] if said.strip() else []
    reasoning = max(_characters(message.get(name)) for name in _REASONING_FIELDS)
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content, refusals[0] if refusals else None, reasoning
    if not isinstance(content, list):
        raise _no_reply(to, "content that is text, a list of parts, or null")
    texts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            reasoning += _sort_part(part, texts, refusals, to)
        elif part is not None:
            raise _no_reply(to, "parts of content that are texts or objects")
    return "".join(texts) if texts else None, refusals[0] if refusals else None, reasoning


def _sort_part(part: Mapping[str, Any], texts: list[str], refusals: list[str], to: Destination) -> int:
    """Put one content part where it belongs; by its flag, never by its text. Returns characters of reasoning."""
    kind = part.get("type", "text")
    if part.get("thought") is True or kind in _REASONING_PARTS:
        return _characters(part.get("text")) or _characters(part.get("thinking"))
    said = part.get("refusal")
    if kind == "refusal" or (said and not isinstance(said, str)) or (isinstance(said, str) and said.strip()):
        refusals.append(said if isinstance(said, str) and said.strip() else _WORDLESS_REFUSAL)
    text = part.get("text")
    if kind in ("text", "output_text") and text is not None:
        if not isinstance(text, str):
            raise _no_reply(to, "text in each part of text")
        texts.append(text)
    return 0


def _characters(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(_characters(part.get("text")) for part in value if isinstance(part, dict))
    return 0


def _count(value: object) -> int | None:
    if isinstance(value, float) and abs(value) <= _MOST_TOKENS and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def _detail(usage: Mapping[str, Any], name: str, count: str) -> int | None:
    details = usage.get(name)
    return _count(details.get(count)) if isinstance(details, dict) else None


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Tokens in one way of counting: what is cached is part of the input, what is reasoning part of the output."""
    given, made = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
    if cached is None:
        cached = _count(usage.get("prompt_cache_hit_tokens"))  # DeepSeek's name
    total = _count(usage.get("total_tokens"))
    if given is not None and made is not None and reasoning and total == given + made + reasoning:
        made += reasoning  # a vendor that counts reasoning beside the completion; the total gives it away
    return Usage(
        input_tokens=given,
        output_tokens=made,
        cached_input_tokens=cached,
        cache_write_tokens=_detail(usage, "prompt_tokens_details", "cache_write_tokens"),
        reasoning_tokens=reasoning,
    )


def _logprobs(logprobs: Mapping[str, Any]) -> tuple[TokenLogprobs, ...]:
    """Token probabilities as OpenAI, llama.cpp and vLLM give them, or in the older form of parallel lists."""
    content = logprobs.get("content")
    if isinstance(content, list):
        return tuple(_token(entry) for entry in content if isinstance(entry, dict))
    tokens, tops = logprobs.get("tokens"), logprobs.get("top_logprobs")
    if isinstance(tokens, list) and isinstance(tops, list):
        return tuple(
            TokenLogprobs(token=token, top=_finite(top.items()))
            for token, top in zip(tokens, tops, strict=False)
            if isinstance(token, str) and isinstance(top, dict)
        )
    return ()


def _token(entry: Mapping[str, Any]) -> TokenLogprobs:
    alternatives = entry.get("top_logprobs")
    listed = [*alternatives, entry] if isinstance(alternatives, list) else [entry]
    pairs = [(part.get("token"), part.get("logprob")) for part in listed if isinstance(part, dict)]
    token = entry.get("token")
    return TokenLogprobs(token=token if isinstance(token, str) else "", top=_finite(pairs))


def _finite(pairs: Any) -> dict[str, float]:
    """The largest value of each token's text; what is no finite number is left out."""
    top: dict[str, float] = {}
    for token, value in pairs:
        if isinstance(token, str) and type(value) in (int, float) and math.isfinite(value):
            top[token] = max(float(value), top.get(token, -math.inf))
    return top
