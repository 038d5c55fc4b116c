"""Reading a vendor's envelope: what all dialects share.

An envelope is one JSON object that says each deciding member once. Whatever is optional in it may be missing, null or
of another type, and is then unknown, never zero. An envelope without an answer is an `api_error` in which no word of
the body is repeated. Reasoning is counted, never read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.credentials import looks_like_credential
from jurat.provider.errors_from_http import Destination
from jurat.provider.protocol import FinishReason, TokenLogprobs, Usage, squashed

__all__ = [
    "NO_USAGE",
    "WORDLESS_REFUSAL",
    "characters",
    "decoded",
    "detail",
    "finished",
    "finite",
    "model_name",
    "money",
    "no_reply",
    "text_or_none",
    "token_logprobs",
    "tokens",
]

# Words by which a server says that it broke off, or is not done: what came until then is no answer.
_BROKEN = frozenset(
    [
        *("error", "failed", "failure", "cancelled", "canceled", "cancel", "abort", "aborted", "interrupted"),
        *("timeout", "networkerror", "insufficientsystemresource", "malformedresponse", "missingthoughtsignature"),
        *("pauseturn", "inprogress", "queued"),
    ]
)
_MOST_TOKENS = 10**12
# What names of models are made of; nothing that a terminal, a page or a table could take for its own.
_MODEL_NAME = re.compile(r"[A-Za-z0-9._:/@+=,~()\[\] \\-]{1,100}")
_ONCE = frozenset(
    [
        *("choices", "message", "content", "finish_reason", "refusal", "error", "tool_calls", "index"),
        *("output", "status", "incomplete_details", "stop_reason", "candidates", "finishReason", "parts", "text"),
        *("promptFeedback", "thought", "done", "done_reason", "input"),
    ]
)
WORDLESS_REFUSAL = "(a refusal without words)"
NO_USAGE = Usage()


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


def decoded(body: bytes, to: Destination) -> dict[str, Any]:
    """The one object that a body holds.

    Raises:
        ProviderError: `api_error`, when it holds anything else, or says a deciding member twice.
    """
    try:
        text = body.decode().strip()
        envelope, end = _decoder.raw_decode(text)  # a third less work than loads, which looks for the encoding first
    except _SaidTwice:
        raise no_reply(to, "each member once") from None
    except (ValueError, RecursionError, MemoryError):
        raise no_reply(to, "one JSON object") from None
    if end != len(text) or not isinstance(envelope, dict):
        raise no_reply(to, "one JSON object")
    return envelope


def no_reply(to: Destination, expected: str) -> ProviderError:
    """The error for a body with status 200 that is no reply."""
    return ProviderError(
        ErrorCategory.API_ERROR,
        f"the body from {to.where} is no reply of a model: expected {expected}. Is base_url right?",
        status=200,
    )


def finished(reason: object, member: str, to: Destination) -> FinishReason:
    """Why the model stopped, by the vendor's own word.

    A word that nobody knows (`other`) is no fault: the answer's own check decides, and it takes whole objects only.
    Words of failure, and of turns that are not done, are.

    Raises:
        ProviderError: `api_error` for those, and for what is no word.
    """
    if isinstance(reason, list | dict):
        raise no_reply(to, f"a {member} that is a word")
    if reason is not None and not isinstance(reason, str):
        return FinishReason.OTHER
    found = FinishReason.of(reason)
    if found is FinishReason.OTHER and reason is not None and squashed(reason) in _BROKEN:
        raise ProviderError(
            ErrorCategory.API_ERROR, f"{to.where} broke off: its {member} is one of a failure", status=200
        )
    return found


@lru_cache(maxsize=64)
def _sane(name: str) -> str | None:
    return name if _MODEL_NAME.fullmatch(name) and not looks_like_credential(name) else None


def text_or_none(value: object) -> str | None:
    """A text as it is; None for all else, and for an empty one."""
    return value if isinstance(value, str) and value else None


def model_name(name: object) -> str | None:
    """The name of the model that says it answered, when it is a sane one."""
    return _sane(name) if isinstance(name, str) and len(name) <= 100 else None


def characters(value: object) -> int:
    """How much text there is in a reasoning field: a text, or a list of parts with a text each. Parts hold no parts."""
    if isinstance(value, str):
        return len(value)
    texts = [part.get("text") for part in value if isinstance(part, dict)] if isinstance(value, list) else []
    return sum(len(text) for text in texts if isinstance(text, str))


def tokens(value: object) -> int | None:
    """A count of tokens; None for what cannot be one."""
    if type(value) is int:
        return value if 0 <= value <= _MOST_TOKENS else None
    if isinstance(value, float) and abs(value) <= _MOST_TOKENS and value.is_integer():
        return tokens(int(value))
    return None


def detail(usage: Mapping[str, Any], name: str, count: str) -> int | None:
    """A count inside an object of details."""
    details = usage.get(name)
    return tokens(details.get(count)) if isinstance(details, dict) else None


def money(value: object) -> float | None:
    """An amount, when it is a finite number from 0."""
    amount = _number(value)
    return amount if amount is not None and amount >= 0 else None


def _number(value: object) -> float | None:
    """A finite number; None for all else, and for whole numbers beyond what a float holds."""
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # one of the two
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def finite(pairs: Iterable[tuple[Any, Any]]) -> dict[str, float]:
    """The largest value of each token's text; what is no finite number is left out."""
    top: dict[str, float] = {}
    for token, value in pairs:
        if isinstance(token, str) and (number := _number(value)) is not None:
            top[token] = max(number, top.get(token, -math.inf))
    return top


def token_logprobs(entries: object) -> tuple[TokenLogprobs, ...]:
    """Token probabilities in the form that OpenAI, llama.cpp, vLLM and Ollama share."""
    if not isinstance(entries, list):
        return ()
    return tuple(_token(entry) for entry in entries if isinstance(entry, dict))


def _token(entry: Mapping[str, Any]) -> TokenLogprobs:
    alternatives = entry.get("top_logprobs")
    listed = [*alternatives, entry] if isinstance(alternatives, list) else [entry]
    pairs = [(part.get("token"), part.get("logprob")) for part in listed if isinstance(part, dict)]
    token = entry.get("token")
    return TokenLogprobs(token=token if isinstance(token, str) else "", top=finite(pairs))
