"""Keys: where one is found, and how one is recognised where it does not belong.

A key lives in an environment variable; settings name the variable. The key itself is looked up when a call is sent,
put into one header, and kept out of every repr, error, log line and record. Settings that look like a key, by their
name or by their value, are refused, and the refusal does not repeat them.
"""

from __future__ import annotations

import os
import re

from jurat.errors import ErrorCategory, ProviderError

__all__ = [
    "KeySource",
    "credential_path",
    "is_credential_name",
    "is_variable_name",
    "looks_like_credential",
    "shown_variable",
]

_NAMES = re.compile(
    r"(?:^|[-_.])(?:(?:api|access|private|subscription|signing|encryption)[-_]?key|token|secret|password|passwd|pwd|"
    r"authorization|auth|bearer|credentials?|cookie|signature|sig)$|^key$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VALUES = re.compile(
    r"(?i:\bbearer)\s+[A-Za-z0-9._~+/-]{12,}"
    r"|\bsk-[A-Za-z0-9_-]{8,}"
    r"|\b[spr]k_(?:live|test)_[A-Za-z0-9]{8,}"
    r"|\b(?:gsk_|hf_|gh[opsu]_|xai-|pplx-)[A-Za-z0-9]{20,}"
    r"|\b(?:nvapi-|glpat-|xox[abps]-)[A-Za-z0-9_-]{16,}"
    r"|\bAIza[A-Za-z0-9_-]{30,}|\bA[KS]IA[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|://[^/\s:@]*:[^/\s@]+@"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MIXED = re.compile(r"[0-9].*[A-Za-z].*[0-9]|[A-Za-z].*[0-9].*[A-Za-z]")
_PRINTABLE = re.compile(r"[\x21-\x7e]+")


def is_credential_name(name: str) -> bool:
    """Whether a setting's name announces a secret: `api_key`, `token`, `Authorization`, `clientSecret`, …"""
    return _NAMES.search(_CAMEL.sub("_", name)) is not None


def looks_like_credential(value: str) -> bool:
    """Whether a value looks like a key: `sk-…`, `Bearer …`, a JWT, a private key, credentials in a URL."""
    return _VALUES.search(value) is not None


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
    if isinstance(value, dict):
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


class KeySource:
    """The headers that carry a key, made once for each value that the variable takes.

    Args:
        variable: the environment variable that holds the key; None where no key is wanted.
        static: the headers that are sent with every request.
        header: the header that carries the key: `Authorization` (as a bearer token) or one that takes it bare.
    """

    __slots__ = ("_header", "_headers", "_key", "_static", "variable")

    def __init__(self, variable: str | None, static: dict[str, str], header: str = "Authorization") -> None:
        self.variable = variable
        self._static, self._header = static, header
        self._key: str | None = None
        self._headers = static

    def __repr__(self) -> str:
        return f"KeySource({shown_variable(self.variable)!r})"

    def headers(self) -> dict[str, str]:
        """The headers of the next request: the same object for as long as the key stays the same.

        Raises:
            ProviderError: `missing_api_key`, when the variable is not set, or holds what no header can carry.
        """
        if self.variable is None:
            return self._static
        key = os.environ.get(self.variable)
        if key is None or key != self._key:
            self._headers = self._with(key)
            self._key = key
        return self._headers

    def _with(self, key: str | None) -> dict[str, str]:
        bare, shown = (key or "").strip(), shown_variable(self.variable)
        if not bare:
            raise ProviderError(
                ErrorCategory.MISSING_API_KEY,
                f"no API key: expected one in the environment variable {shown}, found it "
                f"{'unset' if key is None else 'empty'}. Set it, or name another variable with api_key_env",
                attempts=0,
            )
        if _PRINTABLE.fullmatch(bare) is None:
            raise ProviderError(
                ErrorCategory.MISSING_API_KEY,
                f"no usable API key: the environment variable {shown} holds spaces or characters that no "
                "header can carry. Set it to the bare key",
                attempts=0,
            )
        value = f"Bearer {bare}" if self._header.lower() == "authorization" else bare
        return {**self._static, self._header: value}
