"""How a key is recognised where it does not belong: by the name of what holds it, or by its own looks.

A refusal says where the key stands and never repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = [
    "credential_path",
    "is_credential_name",
    "is_variable_name",
    "looks_like_credential",
    "masked",
    "shown_variable",
]

_NAMES = re.compile(
    r"(?:^|[-_.])(?:(?:api|access|private|subscription|signing|encryption|account|master|license|functions?|deploy|ssh|"
    r"admin)[-_]?key|token|secret|passwd|pwd|passphrase|authorization|auth|bearer|credentials?|cookie|signature|sig|jwt|"
    r"connection[-_]?string)$"
    r"|(?:password|(?:api|auth|access|session|refresh|client)(?:token|secret|key)|secret[-_]?key)$|^key$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_Form = tuple[tuple[str, ...], str]
# Each form of a key, and words of which one stands in every key of that form (in small letters where case is ignored).
_FORMS: tuple[_Form, ...] = (
    (("bearer",), r"(?ai:\bbearer)\s+[A-Za-z0-9._~+/-]{12,}"),
    (("basic",), r"(?ai:\bbasic)\s+[A-Za-z0-9+/]{10,}={1,2}(?![A-Za-z0-9=])"),
    (("sk-",), r"\bsk-[A-Za-z0-9_-]{8,}"),
    (("k_live_", "k_test_"), r"\b[spr]k_(?:live|test)_[A-Za-z0-9]{8,}"),
    (
        ("gsk_", "hf_", "gho_", "ghp_", "ghs_", "ghu_", "xai-", "pplx-"),
        r"\b(?:gsk_|hf_|gh[opsu]_|xai-|pplx-)[A-Za-z0-9]{20,}",
    ),
    (
        ("nvapi-", "glpat-", "xoxa-", "xoxb-", "xoxp-", "xoxs-", "github_pat_", "dop_v1_", "ya29.", "AQ."),
        r"\b(?:nvapi-|glpat-|xox[abps]-|github_pat_|dop_v1_|ya29\.|AQ\.)[A-Za-z0-9_-]{16,}",
    ),
    (("npm_", "r8_", "fw_", "csk-", "pcsk_"), r"\b(?:npm_|r8_|fw_|csk-|pcsk_[A-Za-z0-9]{4,8}_)[A-Za-z0-9]{16,}"),
    (("SG.",), r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    (("AIza", "AKIA", "ASIA"), r"\bAIza[A-Za-z0-9_-]{30,}|\bA[KS]IA[A-Z0-9]{16}\b"),
    # A token of three parts. Looked ahead for where a run of its characters begins, and there alone: linear time.
    (
        ("eyJ",),
        r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]++\.[A-Za-z0-9_-]{5,}+\.)[A-Za-z0-9_-]*?\beyJ[A-Za-z0-9_-]{5}",
    ),
    (("-----BEGIN ",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    (("://",), r"://[^/\s:@]*:[^/\s@]+@"),
)
_VALUES = re.compile("|".join(form for _, form in _FORMS))
_IN_ANY_CASE = ("bearer", "basic")
_TELLTALES = tuple(word for words, _ in _FORMS for word in words if word not in _IN_ANY_CASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MIXED = re.compile(r"[0-9].*[A-Za-z].*[0-9]|[A-Za-z].*[0-9].*[A-Za-z]")


def is_credential_name(name: str) -> bool:
    """Whether a setting's name announces a secret: `api_key`, `token`, `Authorization`, `clientSecret`, …"""
    return _NAMES.search(_CAMEL.sub("_", name)) is not None


def looks_like_credential(value: str) -> bool:
    """Whether a value looks like a key: `sk-…`, `Bearer …`, a JWT, a private key, credentials in a URL."""
    return _may_hold_key(value) and _VALUES.search(value) is not None


def _may_hold_key(text: str) -> bool:
    """Whether a text holds any of the words that keys are made of: a twentieth of the work of looking for keys."""
    return any(map(text.__contains__, _TELLTALES)) or any(map(text.lower().__contains__, _IN_ANY_CASE))


def masked(text: str, known: Iterable[str] = ()) -> str:
    """The text with `***` for every key: those that are known, to the letter, and whatever looks like one.

    A longer word that only begins with a known key goes whole, so that no part of another key is left standing.
    """
    for key in sorted(known, key=len, reverse=True):
        if key in text:
            text = re.sub(re.escape(key) + r"[A-Za-z0-9_-]*", "***", text)
    return _VALUES.sub(_mask, text) if _may_hold_key(text) else text


def _mask(found: re.Match[str]) -> str:
    return "://***@" if found[0].startswith("://") else "***"


def is_variable_name(text: str) -> bool:
    """Whether a text can name an environment variable (and is no key that was put there by mistake).

    A long word without `_` in which letters and digits are mixed is a key, not a name.
    """
    if _VARIABLE.fullmatch(text) is None or looks_like_credential(text):
        return False
    return not any(len(word) >= 20 and _MIXED.search(word) for word in text.split("_"))


def shown_variable(name: str | None) -> str | None:
    """A variable's name, for messages; what is none, and may be a key, is not repeated."""
    if name is None or is_variable_name(name):
        return name
    return "that api_key_env should name (what stands there does not look like a variable's name)"


def credential_path(value: object, path: str = "", *, allowed: frozenset[str] = frozenset()) -> str | None:
    """Where in nested settings a credential stands, or None. `allowed`: names that only look like one."""
    if isinstance(value, str):
        return path if looks_like_credential(value) else None
    if isinstance(value, Mapping):
        for name, part in value.items():
            inner = f"{path}.{name}" if path else str(name)
            if str(name) not in allowed and is_credential_name(str(name)):
                return inner
            if (found := credential_path(part, inner)) is not None:
                return found
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            if (found := credential_path(part, f"{path}[{index}]")) is not None:
                return found
    return None
