"""What an HTTP answer that is no reply means: a status and a body become one ProviderError.

A body is read for known codes only (and for the few phrases by which servers without codes tell that a text is too
long). Nothing of it is repeated: a message speaks of what *we* sent, where to, and what to change. Faults that may
pass come out as TransientError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.credentials import SENT, looks_like_credential
from jurat.provider.faults import RefusedParameter, TransientError
from jurat.provider.http import HttpReply

__all__ = ["Destination", "error_from_reply", "error_in_body", "holds_error", "looks_like_json", "request_id"]

_MAX_ERROR_BYTES = 65_536
# The vendors' codes, each from its own documentation of errors.
_TOO_LARGE = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large"}
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
_REFUSED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "invalid_prompt", "safety"}
_REFUSED |= {"bio_policy", "image_content_policy_violation"}
_REFUSED_TEXT = re.compile(r"content violates usage guidelines", re.IGNORECASE)  # xAI, which has no code for it
_NO_CREDIT = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"}
_NO_CREDIT |= {"billing_error"}
_NO_CREDIT_TEXT = re.compile(r"credit balance is too low|reached your specified API usage limits", re.IGNORECASE)
# Google and xAI refuse a key with the status 400.
_BAD_KEY = {"api_key_invalid", "invalid_api_key", "authentication_error", "unauthenticated"}
_BAD_KEY_TEXT = re.compile(r"incorrect api key|invalid api key|api key not valid|api key expired", re.IGNORECASE)
_OVERLOADED = {"overloaded_error", "overloaded", "server_overloaded", "engine_overloaded_error", "capacity_exceeded"}
_UNFIT_OUTPUT = {"json_validate_failed", "tool_use_failed"}  # Groq's words for output that broke its schema
_STATUS_OF = {  # codes of faults that pass, from those who put them into a 200 without a number
    **dict.fromkeys(("rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests"), 429),
    "resource_exhausted": 429,
    "unavailable": 503,
    **dict.fromkeys(("server_error", "internal", "internal_error", "internal_server_error", "upstream_error"), 500),
    **dict.fromkeys(("timeout", "timeout_error", "upstream_timeout", "gateway_timeout", "deadline_exceeded"), 504),
}
_PAGES = ("text/html", "text/plain", "text/xml", "application/xml", "application/xhtml+xml", "text/event-stream")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_USUAL_REQUEST_ID = re.compile(r"req_[0-9A-Za-z]{8,64}|[0-9a-f]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NO_MODEL = {"model_not_found", "model_not_found_error", "not_found_error"}
# The limit has two names in chat completions; whether a server refuses the name or the number, its words tell. A
# server that says nothing of either is taken to refuse the name, which another request mends.
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_MISNAMED = {"unsupported_parameter", "unknown_parameter", "unrecognized_parameter", "extra_forbidden"}
_MISNAMED_TEXT = re.compile(
    r"unsupported parameter|not supported|does not support|unrecognized|unknown|unexpected|not permitted|instead",
    re.IGNORECASE,
)
_NUMBER_TEXT = re.compile(r"\d|\btoo (?:large|high|small|low|long|big)\b|\brange\b|exceed", re.IGNORECASE)
_HINTS = {
    "temperature": "temperature: false",
    "max_tokens": "token_limit_name: max_completion_tokens",
    "max_completion_tokens": "token_limit_name: max_tokens",
    "logprobs": "top_logprobs: 0",
    "top_logprobs": "top_logprobs: 0 (or a smaller number)",
    "response_format": "structured_output: false (or name the schema words it refuses in schema_keywords_refused)",
    "text.format": "structured_output: false (or name the schema words it refuses in schema_keywords_refused)",
    "output_config": "structured_by: tool",
    "tool_choice": "structured_by: schema",
    "response_json_schema": "structured_by: openapi",
    "response_schema": "structured_by: schema",
}
_OURS = tuple(dict.fromkeys((*_HINTS, *_LIMIT_NAMES)))
_HINTED = {name: re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE) for name in _OURS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a request went, for messages.

    Attributes:
        where: host and path.
        model: the model that was asked for.
        key_variable: the environment variable that the key came from, if one was sent.
        keyring: the keyring's entry that it came from instead.
    """

    where: str
    model: str
    key_variable: str | None
    keyring: str | None = None


@dataclass(frozen=True, slots=True)
class _Told:
    """What of an error body counts: its codes in lower case, and the field of ours that it names."""

    codes: frozenset[str] = frozenset()
    param: str | None = None
    misnamed: bool = False
    too_large: bool = False
    above_a_minutes: bool = False
    unserved: bool = False
    moderated: bool = False
    no_credit: bool = False
    bad_key: bool = False
    retry_after_s: float | None = None


def holds_error(envelope: Mapping[str, Any]) -> bool:
    """Whether a decoded body holds an error, at its top or in its first choice, with or without an answer beside."""
    return bool(_error_of(envelope)) or envelope.get("object") == "error"


def _error_of(envelope: Mapping[str, Any]) -> object:
    error = envelope.get("error")
    if error or (error is not None and not envelope.get("choices")):
        return error or True
    choices = envelope.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("error") if isinstance(first, dict) else None


def error_from_reply(reply: HttpReply, to: Destination) -> ProviderError:
    """The error that an answer stands for: one with another status than 200, or no JSON object, or an error in it."""
    if reply.status == 200 and not looks_like_json(reply):
        kind = reply.headers.get("content-type", "no content type").partition(";")[0].strip().lower()
        shown = kind if kind in _PAGES or kind == "no content type" else "another type"
        what = "a body that is no JSON object" if kind == "application/json" else shown
        sentence = f"expected application/json, got {what} from {to.where}. Is base_url right?"
        return ProviderError(ErrorCategory.API_ERROR, sentence, status=200)
    told, status = _read(reply.body, reply.status)
    return _error(status, told, to)


def looks_like_json(reply: HttpReply) -> bool:
    """Whether a body may be a JSON object: by its two ends, not by what the server calls it."""
    kept = reply.body.strip()
    return kept[:1] == b"{" and kept[-1:] == b"}"


def error_in_body(envelope: Mapping[str, Any], to: Destination) -> ProviderError:
    """The error that a decoded body with status 200 holds."""
    told, status = _told(envelope, 200)
    return _error(status, told, to)


def request_id(headers: Mapping[str, str], name: str = "x-request-id", in_body: str | None = None) -> str | None:
    """The provider's own name for a request, when it gave a sane one: in the header, else in the reply itself."""
    found = headers.get(name) or in_body
    if found in SENT:
        return None  # a server that repeats the key
    if not found or _USUAL_REQUEST_ID.fullmatch(found):
        return found or None
    return found if _REQUEST_ID.fullmatch(found) and not looks_like_credential(found) else None


def _read(body: bytes, status: int) -> tuple[_Told, int]:
    if len(body) > _MAX_ERROR_BYTES:
        return _Told(), status
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError):
        return _Told(), status
    if isinstance(envelope, list) and envelope:
        envelope = envelope[0]  # Google's way for requests that it took for streams
    return _told(envelope, status) if isinstance(envelope, dict) else (_Told(), status)


def _told(envelope: Mapping[str, Any], status: int) -> tuple[_Told, int]:
    """The codes of an error body, and the status it means: some gateways send theirs inside a 200."""
    error = _error_of(envelope)
    inner: Mapping[str, Any] = error if isinstance(error, dict) else envelope
    codes = _codes(inner)
    if status == 200:
        status = _told_status(inner, codes)
    text = error if isinstance(error, str) else _message(inner)
    metadata = inner.get("metadata")
    moderated = isinstance(metadata, dict) and isinstance(metadata.get("reasons"), list)
    daily, delay = _google_details(inner.get("details"))
    behind = _behind(metadata)
    codes |= _codes(behind) & (_TOO_LARGE | _REFUSED | _MISNAMED)
    told_behind = _message(behind)
    return _Told(
        codes=frozenset(codes),
        param=_own_field(inner.get("param"), text) or _own_field(behind.get("param"), told_behind),
        misnamed=_misnamed(codes, f"{text} {told_behind}"),
        too_large=_TOO_LARGE_TEXT.search(f"{text} {told_behind}") is not None,
        above_a_minutes=_ABOVE_A_MINUTES_TEXT.search(text) is not None,
        unserved=_UNSERVED_TEXT.search(text) is not None,
        moderated=moderated or _REFUSED_TEXT.search(text) is not None,
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


def _error(status: int, told: _Told, to: Destination) -> ProviderError:
    error = _sorted(status, told, to)
    error.status, error.retry_after_s = status, told.retry_after_s
    return error


def _sorted(status: int, told: _Told, to: Destination) -> ProviderError:
    codes = told.codes
    refused = bool(codes & _REFUSED) or (status in (400, 403) and told.moderated)
    if not refused and (status in (401, 403) or (status in (200, 400) and (codes & _BAD_KEY or told.bad_key))):
        return ProviderError(ErrorCategory.AUTH_ERROR, _auth_sentence(status, to))
    if refused:
        return ProviderError(ErrorCategory.REFUSAL, f"the content filter of {to.where} refused the request")
    if codes & _NO_CREDIT or status == 402 or (status in (200, 400, 429) and told.no_credit):
        what = f"the credit or quota at {to.where} is used up. Not tried again: waiting does not mend it"
        return ProviderError(ErrorCategory.RATE_LIMITED, what)
    if codes & _OVERLOADED or status in (503, 529):
        return TransientError(ErrorCategory.OVERLOADED, f"{to.where} is overloaded{_status(status)}")
    if status == 429 and not told.above_a_minutes:
        return TransientError(ErrorCategory.RATE_LIMITED, f"{to.where} limits the rate of requests (429)")
    if status in (413, 429) or (status in (200, 400, 422, 500) and (codes & _TOO_LARGE or told.too_large)):
        return ProviderError(
            ErrorCategory.CONTEXT_TOO_LARGE,
            f"the request is larger than what model {to.model} takes at {to.where}. Show it less evidence, or take a "
            "model with a larger context",
        )
    if status in (408, 504):
        return TransientError(ErrorCategory.TIMEOUT, f"{to.where} ran out of time ({status})")
    if status == 409 or status >= 500:
        return TransientError(ErrorCategory.API_ERROR, f"{to.where} failed ({status})")
    return _lasting_error(status, told, to)


def _lasting_error(status: int, told: _Told, to: Destination) -> ProviderError:
    if 300 <= status < 400:
        what = f"{to.where} redirects ({status}), and redirects are not followed. Set base_url to the final address"
        return ProviderError(ErrorCategory.API_ERROR, what)
    if told.unserved:
        what = f"nobody behind {to.where} takes for model {to.model} all that the request asks for{_status(status)}"
        hint = "Take another model, or declare what it lacks in capabilities: structured_output, temperature"
        return ProviderError(ErrorCategory.INVALID_REQUEST, f"{what}. {hint}")
    if status == 404 or told.codes & _NO_MODEL:
        what = f"{to.where} knows no model {to.model}, or no such path{_status(status)}. Check model and base_url"
        return ProviderError(ErrorCategory.INVALID_REQUEST, what)
    if told.codes & _UNFIT_OUTPUT:
        what = f"model {to.model} at {to.where} did not keep to the schema, and its reply was withheld there ({status})"
        return ProviderError(ErrorCategory.API_ERROR, what)
    if 400 <= status < 500 and told.param in _LIMIT_NAMES and not (told.misnamed and told.param in _HINTS):
        what = f"{to.where} refused the limit of output tokens for model {to.model} ({status})"
        hint = "Set another max_output_tokens; where a model reasons, the capability reasoning_room is added to it"
        return ProviderError(ErrorCategory.INVALID_REQUEST, f"{what}. {hint}")
    if 400 <= status < 500 and told.param is not None:
        what = _refused_sentence(status, told.param, to)
        return RefusedParameter(ErrorCategory.INVALID_REQUEST, what, param=told.param)
    if 400 <= status < 500:
        what = f"{to.where} refused the request as invalid ({status}), for model {to.model}"
        return ProviderError(ErrorCategory.INVALID_REQUEST, what)
    found = "an error instead of a reply" if status == 200 else f"status {status}"
    return ProviderError(ErrorCategory.API_ERROR, f"expected a reply from {to.where}, got {found}")


def _auth_sentence(status: int, to: Destination) -> str:
    if to.key_variable is None and to.keyring is None:
        return f"{to.where} wants a key, and none was sent ({status}). Name its environment variable in api_key_env"
    source = f"the keyring entry {to.keyring}" if to.keyring else f"the environment variable {to.key_variable}"
    return (
        f"{to.where} refused the key ({status}). It came from {source}; "
        f"check that it is valid and may use model {to.model}"
    )


def _refused_sentence(status: int, param: str, to: Destination) -> str:
    return (
        f"{to.where} refused {param} for model {to.model} ({status}). Declare it for this provider: "
        f"capabilities: {{{_HINTS[param]}}}"
    )


def _status(status: int) -> str:
    return f" ({status})" if status != 200 else ""
