"""Keys: where one is found. How one is recognised where it does not belong is said in `jurat.credentials`.

A key lives in an environment variable; settings name the variable. The key itself is looked up when a call is sent,
put into one header, and kept out of every repr, error, log line and record. Settings that look like a key, by their
name or by their value, are refused, and the refusal does not repeat them.
"""

from __future__ import annotations

import os
import re

from jurat.credentials import (
    credential_path,
    is_credential_name,
    is_variable_name,
    looks_like_credential,
    shown_variable,
)
from jurat.errors import ErrorCategory, ProviderError

__all__ = [
    "KeySource",
    "credential_path",
    "is_credential_name",
    "is_variable_name",
    "looks_like_credential",
    "shown_variable",
]

_PRINTABLE = re.compile(r"[\x21-\x7e]+")


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
