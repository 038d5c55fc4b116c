"""The words of an error body, and nothing else of it: known codes, known phrases, and the field of ours that it names.

Every vendor has codes of its own; servers without codes are known by a few phrases. What was read is a `Told`, in which
no word of the body is left but codes, which nobody shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "BAD_KEY",
    "HINTS",
    "LIMIT_NAMES",
    "NO_CREDIT",
    "NO_MODEL",
    "OVERLOADED",
    "REFUSED",
    "TOO_LARGE",
    "UNFIT_OUTPUT",
    "Told",
    "error_of",
    "told_by",
    "told_in",
]

_MAX_ERROR_BYTES = 65_536
# The vendors' codes, each from its own documentation of errors.
TOO_LARGE = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large"}
_TOO_LARGE_TEXT = re.compile(
    r"maximum (?:context|prompt) length|context length exceeded|exceeds? the (?:available |model's )?context"
    r"|context window|prompt is too long|input is too long|exceed context limit|prompt exceeds max length"
    r"|greater than the context length"
    r"|longer than the (?:model's )?(?:context|maximum model length)"
    r"|token count .{0,40}exceeds the maximum",
    re.IGNORECASE,
)
_ABOVE_A_MINUTES_TEXT = re.compile(r"\Arequest too large\b", re.IGNORECASE)  # OpenAI; no waiting makes it fit
_UNSERVED_TEXT = re.compile(r"no endpoints found that (?:can handle|support)", re.IGNORECASE)  # OpenRouter
REFUSED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "invalid_prompt", "safety"}
REFUSED |= {"bio_policy", "image_content_policy_violation"}
_REFUSED_TEXT = re.compile(r"content violates usage guidelines", re.IGNORECASE)  # xAI, which has no code for it
NO_CREDIT = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"}
NO_CREDIT |= {"billing_error", "exceeded_current_quota_error"}
_NO_CREDIT_TEXT = re.compile(
    r"credit balance is too low|reached your specified API usage limits"  # Anthropic
    r"|used all available credits|run out of credits|have any credits"  # xAI, with 429 or 403
    r"|key limit exceeded|credits are depleted",  # OpenRouter with 403, Google
    re.IGNORECASE,
)
# Google and xAI refuse a key with the status 400.
BAD_KEY = {"api_key_invalid", "invalid_api_key", "authentication_error", "unauthenticated"}
_BAD_KEY_TEXT = re.compile(
    r"incorrect api key|invalid api key|api key not valid|api key expired|user location is not supported",
    re.IGNORECASE,
)
OVERLOADED = {"overloaded_error", "overloaded", "server_overloaded", "engine_overloaded_error", "capacity_exceeded"}
UNFIT_OUTPUT = {"json_validate_failed", "tool_use_failed"}  # Groq's words for output that broke its schema
_STATUS_OF = {  # codes of faults that pass, from those who put them into a 200 without a number
    **dict.fromkeys(("rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests"), 429),
    "resource_exhausted": 429,
    "unavailable": 503,
    **dict.fromkeys(("server_error", "internal", "internal_error", "internal_server_error", "upstream_error"), 500),
    **dict.fromkeys(("timeout", "timeout_error", "upstream_timeout", "gateway_timeout", "deadline_exceeded"), 504),
}
NO_MODEL = {"model_not_found", "model_not_found_error", "not_found_error", "model_decommissioned"}
_NO_MODEL_TEXT = re.compile(r"is not a valid model id\b", re.IGNORECASE)  # OpenRouter, with 400
# The limit has two names in chat completions; whether a server refuses the name or the number, its words tell. A
# server that says nothing of either is taken to refuse the name, which another request mends.
LIMIT_NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_MISNAMED = {"unsupported_parameter", "unknown_parameter", "unrecognized_parameter", "extra_forbidden"}
_MISNAMED_TEXT = re.compile(
    r"unsupported parameter|not supported|does not support|unrecognized|unknown|unexpected|not permitted|instead",
    re.IGNORECASE,
)
_NUMBER_TEXT = re.compile(r"\d|\btoo (?:large|high|small|low|long|big)\b|\brange\b|exceed", re.IGNORECASE)
HINTS = {
    "temperature": "temperature: false",
    "max_tokens": "token_limit_name: max_completion_tokens",
    "max_completion_tokens": "token_limit_name: max_tokens",
    "logprobs": "top_logprobs: 0",
    "top_logprobs": "top_logprobs: 0 (or a smaller number)",
    "response_format": "structured_output: false (or name the schema words it refuses in schema_keywords_refused)",
    "text.format": "structured_output: false (or name the schema words it refuses in schema_keywords_refused)",
    "output_config": "structured_by: tool",
    "tool_choice": "structured_by: schema",
    **dict.fromkeys(("response_json_schema", "responseJsonSchema"), "structured_by: openapi"),
    **dict.fromkeys(("response_schema", "responseSchema"), "structured_by: schema"),
}
_OURS = tuple(dict.fromkeys((*HINTS, *LIMIT_NAMES)))
_HINTED = {name: re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE) for name in _OURS}


@dataclass(frozen=True, slots=True)
class Told:
    """What of an error body counts. Where nothing is known it is as if nothing had been said.

    Attributes:
        codes: in lower case.
        param: the field of ours that is named; `misnamed`: whether its name is refused, and not its value.
        too_large: a text that is too long for the model; `above_a_minutes`: for what an account may send in a minute.
        unserved: nobody behind a gateway takes all that is asked for.
        moderated, no_model, no_credit, bad_key: known by phrases, where there are no codes.
        retry_after_s: the delay that is asked for.
    """

    codes: frozenset[str] = frozenset()
    param: str | None = None
    misnamed: bool = False
    too_large: bool = False
    above_a_minutes: bool = False
    unserved: bool = False
    moderated: bool = False
    no_model: bool = False
    no_credit: bool = False
    bad_key: bool = False
    retry_after_s: float | None = None


def error_of(envelope: Mapping[str, Any]) -> object:
    """The error of a decoded body: at its top, or in its first choice. What is falsy is none."""
    error = envelope.get("error")
    if error or (error is not None and not envelope.get("choices")):
        return error or True
    choices = envelope.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("error") if isinstance(first, dict) else None


def told_in(body: bytes, status: int) -> tuple[Told, int]:
    """What a body says, and the status it means. A very long one, and one that is no JSON, says nothing."""
    if len(body) > _MAX_ERROR_BYTES:
        return Told(), status
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError):
        return Told(), status
    if isinstance(envelope, list) and envelope:
        envelope = envelope[0]  # Google's way for requests that it took for streams
    return told_by(envelope, status) if isinstance(envelope, dict) else (Told(), status)


def told_by(envelope: Mapping[str, Any], status: int) -> tuple[Told, int]:
    """The codes of an error body, and the status it means: some gateways send theirs inside a 200."""
    error = error_of(envelope)
    inner: Mapping[str, Any] = error if isinstance(error, dict) else envelope
    codes = _codes(inner)
    if status == 200:
        status = _told_status(inner, codes)
    text = error if isinstance(error, str) else _message(inner)
    metadata = inner.get("metadata")
    moderated = isinstance(metadata, dict) and isinstance(metadata.get("reasons"), list)
    daily, delay = _google_details(inner.get("details"))
    behind = _behind(metadata)
    codes |= _codes(behind) & (TOO_LARGE | REFUSED | _MISNAMED)
    told_behind = _message(behind)
    return Told(
        codes=frozenset(codes),
        param=_own_field(inner.get("param"), text) or _own_field(behind.get("param"), told_behind),
        misnamed=_misnamed(codes, f"{text} {told_behind}"),
        too_large=_TOO_LARGE_TEXT.search(f"{text} {told_behind}") is not None,
        above_a_minutes=_ABOVE_A_MINUTES_TEXT.search(text) is not None,
        unserved=_UNSERVED_TEXT.search(text) is not None,
        moderated=moderated or _REFUSED_TEXT.search(text) is not None,
        no_model=_NO_MODEL_TEXT.search(text) is not None,
        no_credit=daily or _NO_CREDIT_TEXT.search(text) is not None,
        bad_key=_BAD_KEY_TEXT.search(text) is not None,
        retry_after_s=delay,
    ), status


def _message(inner: Mapping[str, Any]) -> str:
    text = inner.get("message")
    return text[:4000] if isinstance(text, str) else ""


def _behind(metadata: object) -> Mapping[str, Any]:
    """The error of the vendor behind a gateway, which OpenRouter passes on as text (`metadata.raw`).

    Only what it says of the request counts: its keys, credit and limits are those of the gateway, not of ours.
    """
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if not isinstance(raw, str):
        return {}
    try:
        envelope = json.loads(raw)
    except (ValueError, RecursionError):
        return {"message": raw}
    envelope = envelope[0] if isinstance(envelope, list) and envelope else envelope
    if not isinstance(envelope, dict):
        return {}
    error = envelope.get("error")
    return error if isinstance(error, dict) else {"message": error} if isinstance(error, str) else envelope


def _codes(inner: Mapping[str, Any]) -> set[str]:
    deeper, details = inner.get("innererror"), inner.get("details")
    told = [inner.get(name) for name in ("code", "type", "status")]
    told += [deeper.get(name) for name in ("code", "type")] if isinstance(deeper, dict) else []
    told += [part.get("reason") for part in details if isinstance(part, dict)] if isinstance(details, list) else []
    return {value.lower() for value in told if isinstance(value, str)}


def _google_details(details: object) -> tuple[bool, float | None]:
    """Whether a quota of the whole day is used up, and the delay that is asked for (`"retryDelay": "22s"`)."""
    daily, delay = False, None
    for part in details if isinstance(details, list) else []:
        if not isinstance(part, dict):
            continue
        violations = part.get("violations")
        for one in violations if isinstance(violations, list) else []:
            daily = daily or (isinstance(one, dict) and "PerDay" in str(one.get("quotaId", "")))
        asked = part.get("retryDelay")
        if isinstance(asked, str) and re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?s", asked):
            delay = float(asked[:-1])
    return daily, delay


def _told_status(inner: Mapping[str, Any], codes: set[str]) -> int:
    for name in ("code", "status", "status_code"):
        number = inner.get(name)
        if isinstance(number, str) and len(number) == 3 and number.isascii() and number.isdecimal():
            number = int(number)
        if isinstance(number, int | float) and 400 <= number <= 599:
            return int(number)
    return next((_STATUS_OF[code] for code in sorted(codes) if code in _STATUS_OF), 200)


def _own_field(param: object, text: str) -> str | None:
    if isinstance(param, str):
        return next((name for name in _OURS if param == name or param.startswith(name + ".")), None)
    return next((name for name, pattern in _HINTED.items() if pattern.search(text)), None)


def _misnamed(codes: set[str], text: str) -> bool:
    if codes & _MISNAMED or _MISNAMED_TEXT.search(text):
        return True
    return not (any("value" in code for code in codes) or _NUMBER_TEXT.search(text))
