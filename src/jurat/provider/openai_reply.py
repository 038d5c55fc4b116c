"""The reply side of the chat-completions dialect: bytes become a Reply, whatever a server made of the dialect.

Servers leave out usage, send null where an object belongs, put reasoning into fields of their own; only a body in which
there is no answer at all is an error (`api_error`). What all dialects share stands in `envelopes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jurat.provider.envelopes import (
    NO_USAGE,
    WORDLESS_REFUSAL,
    characters,
    decoded,
    detail,
    finished,
    finite,
    model_name,
    money,
    no_reply,
    text_or_none,
    token_logprobs,
    tokens,
)
from jurat.provider.errors_from_http import Destination, error_in_body, holds_error
from jurat.provider.protocol import FinishReason, Raw, Reply, TokenLogprobs, Usage

__all__ = ["read_chat", "read_reply"]

_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_REASONING_PARTS = ("thinking", "reasoning", "redacted_thinking", "reasoning_content")
_TOOL_PARTS = ("tool_use", "tool_call", "tool_calls", "function_call")
_PERHAPS_ANSWERED = (FinishReason.STOP, FinishReason.OTHER, FinishReason.UNREPORTED)
_TICKS_IN_A_DOLLAR = 10**10  # xAI's unit: cost_in_usd_ticks


def read_reply(raw: Raw, to: Destination) -> Reply:
    """What a raw reply says.

    Raises:
        ProviderError: `api_error` when the body is no reply of this dialect; when it holds an error, that one.
    """
    return read_chat(raw.body, to)


def read_chat(body: bytes, to: Destination) -> Reply:
    """What a body says. Raises as `read_reply` does."""
    envelope = decoded(body, to)
    if holds_error(envelope):
        raise error_in_body(envelope, to)
    choice = _first(envelope.get("choices"), to)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise no_reply(to, "a message in the first choice")
    text = message.get("content")
    refusal: str | None = None
    reasoning = 0
    if not _is_plain(message):
        text, refusal, reasoning = _content(message, to)
    logprobs = choice.get("logprobs")
    return Reply(
        text=text,
        finish_reason=_finish(choice.get("finish_reason"), message, to),
        refusal=refusal,
        usage=_usage_of(envelope),
        model=model_name(envelope.get("model")),
        logprobs=_logprobs(logprobs) if logprobs else (),
        reasoning_characters=reasoning,
        id=text_or_none(envelope.get("id")),
    )


def _is_plain(message: Mapping[str, Any]) -> bool:
    """Whether a message holds nothing but a text, as nearly all do."""
    for name, value in message.items():
        if value and name not in ("role", "content"):
            return False
    return isinstance(message.get("content"), str)


def _first(choices: object, to: Destination) -> dict[str, Any]:
    """The choice with the index 0; the first one, where they have no index."""
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        if choices[0].get("index") in (0, None):
            return choices[0]
        for choice in choices[1:]:
            if isinstance(choice, dict) and choice.get("index", 1) == 0:
                return choice
    raise no_reply(to, "a list of choices with at least a first one")


def _finish(reason: object, message: Mapping[str, Any], to: Destination) -> FinishReason:
    """Why it stopped. Whoever calls a tool has not answered, whatever text stands beside the call."""
    found = finished(reason, "finish_reason", to)
    return FinishReason.TOOL_CALL if found in _PERHAPS_ANSWERED and _calls_a_tool(message) else found


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
        said = refusal if isinstance(refusal, str) else WORDLESS_REFUSAL
        refusals += [said] if said.strip() else []
    reasoning = max(characters(message.get(name)) for name in _REASONING_FIELDS)
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content, refusals[0] if refusals else None, reasoning
    if not isinstance(content, list):
        raise no_reply(to, "content that is text, a list of parts, or null")
    texts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            reasoning += _sort_part(part, texts, refusals, to)
        elif part is not None:
            raise no_reply(to, "parts of content that are texts or objects")
    return "".join(texts) if texts else None, refusals[0] if refusals else None, reasoning


def _sort_part(part: Mapping[str, Any], texts: list[str], refusals: list[str], to: Destination) -> int:
    """Put one content part where it belongs; by its flag, never by its text. Returns characters of reasoning."""
    kind = part.get("type", "text")
    if part.get("thought") is True or kind in _REASONING_PARTS:
        return characters(part.get("text")) or characters(part.get("thinking"))
    said = part.get("refusal")
    if kind == "refusal" or (said and not isinstance(said, str)) or (isinstance(said, str) and said.strip()):
        refusals.append(said if isinstance(said, str) and said.strip() else WORDLESS_REFUSAL)
    text = part.get("text")
    if kind in ("text", "output_text") and text is not None:
        if not isinstance(text, str):
            raise no_reply(to, "text in each part of text")
        texts.append(text)
    return 0


def _usage_of(envelope: Mapping[str, Any]) -> Usage:
    usage = envelope.get("usage")
    if isinstance(usage, dict):
        return _usage(usage)
    groq = envelope.get("x_groq")
    usage = groq.get("usage") if isinstance(groq, dict) else None
    return _usage(usage) if isinstance(usage, dict) else NO_USAGE


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Tokens in one way of counting: what is cached is part of the input, what is reasoning part of the output."""
    given, made = tokens(usage.get("prompt_tokens")), tokens(usage.get("completion_tokens"))
    beside = _beside(given, made, tokens(usage.get("total_tokens")))
    if not beside and len(usage) <= 3 and usage.keys() <= _TOTALS:
        return Usage(input_tokens=given, output_tokens=made)
    reasoning = detail(usage, "completion_tokens_details", "reasoning_tokens")
    cached = detail(usage, "prompt_tokens_details", "cached_tokens")
    for name in _CACHED_ELSEWHERE:
        cached = tokens(usage.get(name)) if cached is None else cached
    if made is not None and beside and (not reasoning or abs(beside - reasoning) <= _SLACK):
        reasoning = reasoning or beside
        made += reasoning
    return Usage(
        input_tokens=given,
        output_tokens=made,
        cached_input_tokens=cached,
        cache_write_tokens=detail(usage, "prompt_tokens_details", "cache_write_tokens"),
        reasoning_tokens=reasoning,
        charged_usd=_charged(usage),
    )


_TOTALS = frozenset(("prompt_tokens", "completion_tokens", "total_tokens"))
_CACHED_ELSEWHERE = ("prompt_cache_hit_tokens", "cached_tokens")  # DeepSeek's and Moonshot's names
_SLACK = 2  # by so many tokens gateways' totals are off


def _beside(given: int | None, made: int | None, total: int | None) -> int:
    """How many tokens a vendor counts beside the completion, in the total alone: those of reasoning; 0 for none.

    xAI tells them in its details too. Gemini behind OpenAI's dialect does not, and the completion is then the visible
    part of what has to be paid.
    """
    if given is None or made is None or total is None:
        return 0
    surplus = total - given - made
    return surplus if surplus > _SLACK else 0


def _charged(usage: Mapping[str, Any]) -> float | None:
    """What OpenRouter (`cost`, in dollars) or xAI (`cost_in_usd_ticks`) says that the request cost.

    With a key of one's own at the upstream vendor (`is_byok`), OpenRouter's `cost` is its fee alone.
    """
    ticks = money(usage.get("cost_in_usd_ticks"))
    if ticks is not None:
        return ticks / _TICKS_IN_A_DOLLAR
    cost = money(usage.get("cost"))
    if cost is None or not usage.get("is_byok"):
        return cost
    details = usage.get("cost_details")
    upstream = money(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
    return None if upstream is None else cost + upstream


def _logprobs(logprobs: object) -> tuple[TokenLogprobs, ...]:
    """Token probabilities as OpenAI, llama.cpp and vLLM give them, or in the older form of parallel lists."""
    if not isinstance(logprobs, dict):
        return ()
    content = logprobs.get("content")
    if isinstance(content, list):
        return token_logprobs(content)
    names, tops = logprobs.get("tokens"), logprobs.get("top_logprobs")
    if isinstance(names, list) and isinstance(tops, list):
        return tuple(
            TokenLogprobs(token=token, top=finite(top.items()))
            for token, top in zip(names, tops, strict=False)
            if isinstance(token, str) and isinstance(top, dict)
        )
    return ()
