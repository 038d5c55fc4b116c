"""What an HTTP answer that is no reply means: a status and a body become one ProviderError.

A body is read for known codes only (and for the few phrases by which servers without codes tell that a text is too
long). Nothing of it is repeated: a message speaks of what *we* sent, where to, and what to change. Faults that may
pass come out as TransientError.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.credentials import SENT, looks_like_credential
from jurat.provider.error_words import (
    BAD_KEY,
    HINTS,
    LIMIT_NAMES,
    NO_CREDIT,
    NO_MODEL,
    OVERLOADED,
    REFUSED,
    TOO_LARGE,
    UNFIT_OUTPUT,
    Told,
    error_of,
    told_by,
    told_in,
)
from jurat.provider.faults import Exhausted, RefusedParameter, TransientError, UnknownModel
from jurat.provider.http import HttpReply

__all__ = ["Destination", "error_from_reply", "error_in_body", "holds_error", "looks_like_json", "request_id"]

_PAGES = ("text/html", "text/plain", "text/xml", "application/xml", "application/xhtml+xml", "text/event-stream")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_USUAL_REQUEST_ID = re.compile(
    r"(?:req_|msg_|chatcmpl-)[0-9A-Za-z]{8,64}|gen-\d{8,12}-[0-9A-Za-z]{8,40}|(?:resp_)?[0-9a-f]{8,64}"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)


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


def holds_error(envelope: Mapping[str, Any]) -> bool:
    """Whether a decoded body holds an error, at its top or in its first choice, with or without an answer beside."""
    return bool(error_of(envelope)) or envelope.get("object") == "error"


def error_from_reply(reply: HttpReply, to: Destination) -> ProviderError:
    """The error that an answer stands for: one with another status than 200, or no JSON object, or an error in it."""
    if reply.status == 200 and not looks_like_json(reply):
        kind = reply.headers.get("content-type", "no content type").partition(";")[0].strip().lower()
        shown = kind if kind in _PAGES or kind == "no content type" else "another type"
        what = "a body that is no JSON object" if kind == "application/json" else shown
        sentence = f"expected application/json, got {what} from {to.where}. Is base_url right?"
        return ProviderError(ErrorCategory.API_ERROR, sentence, status=200)
    told, status = told_in(reply.body, reply.status)
    return _error(status, told, to)


def looks_like_json(reply: HttpReply) -> bool:
    """Whether a body may be a JSON object: by its two ends, not by what the server calls it."""
    kept = reply.body.strip()
    return kept[:1] == b"{" and kept[-1:] == b"}"


def error_in_body(envelope: Mapping[str, Any], to: Destination) -> ProviderError:
    """The error that a decoded body with status 200 holds."""
    told, status = told_by(envelope, 200)
    return _error(status, told, to)


def request_id(headers: Mapping[str, str], name: str = "x-request-id", in_body: str | None = None) -> str | None:
    """The provider's own name for a request, when it gave a sane one: in the header, else in the reply itself."""
    found = headers.get(name) or in_body
    if found in SENT:
        return None  # a server that repeats the key
    if not found or _USUAL_REQUEST_ID.fullmatch(found):
        return found or None
    return found if _REQUEST_ID.fullmatch(found) and not looks_like_credential(found) else None


def _error(status: int, told: Told, to: Destination) -> ProviderError:
    error = _sorted(status, told, to)
    error.status, error.retry_after_s = status, told.retry_after_s
    return error


def _sorted(status: int, told: Told, to: Destination) -> ProviderError:
    codes = told.codes
    refused = bool(codes & REFUSED) or (status in (400, 403) and told.moderated)
    if refused:
        return ProviderError(ErrorCategory.REFUSAL, f"the content filter of {to.where} refused the request")
    if status == 402 or (status != 401 and codes & NO_CREDIT) or (status in (200, 400, 403, 429) and told.no_credit):
        what = f"the credit or quota at {to.where} is used up. Not tried again: waiting does not mend it"
        return Exhausted(ErrorCategory.RATE_LIMITED, what)
    if status in (401, 403) or (status in (200, 400) and (codes & BAD_KEY or told.bad_key)):
        return ProviderError(ErrorCategory.AUTH_ERROR, _auth_sentence(status, to))
    if codes & OVERLOADED or status in (503, 529):
        return TransientError(ErrorCategory.OVERLOADED, f"{to.where} is overloaded{_status(status)}")
    if status == 429 and not told.above_a_minutes:
        return TransientError(ErrorCategory.RATE_LIMITED, f"{to.where} limits the rate of requests (429)")
    if status in (413, 429) or (status in (200, 400, 422, 500) and (codes & TOO_LARGE or told.too_large)):
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


def _lasting_error(status: int, told: Told, to: Destination) -> ProviderError:
    if 300 <= status < 400:
        what = f"{to.where} redirects ({status}), and redirects are not followed. Set base_url to the final address"
        return ProviderError(ErrorCategory.API_ERROR, what)
    if told.unserved:
        what = f"nobody behind {to.where} takes for model {to.model} all that the request asks for{_status(status)}"
        hint = "Take another model, or declare what it lacks in capabilities: structured_output, temperature"
        return ProviderError(ErrorCategory.INVALID_REQUEST, f"{what}. {hint}")
    if status == 404 or told.codes & NO_MODEL or (status == 400 and told.no_model):
        what = f"{to.where} knows no model {to.model}, or no such path{_status(status)}. Check model and base_url"
        return UnknownModel(ErrorCategory.INVALID_REQUEST, what)
    if told.codes & UNFIT_OUTPUT:
        what = f"model {to.model} at {to.where} did not keep to the schema, and its reply was withheld there ({status})"
        return ProviderError(ErrorCategory.API_ERROR, what)
    if 400 <= status < 500 and told.param in LIMIT_NAMES and not (told.misnamed and told.param in HINTS):
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
        f"capabilities: {{{HINTS[param]}}}"
    )


def _status(status: int) -> str:
    return f" ({status})" if status != 200 else ""
