"""Keys: where one is found. How one is recognised where it does not belong is said in `jurat.credentials`.

A key lives in an environment variable or in the system's keyring; settings name the place. The key itself is looked up
when a call is sent, put into one header, and kept out of every repr, error, log line and record. Settings that look
like a key, by their name or by their value, are refused, and the refusal does not repeat them.
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
    "SENT",
    "KeySource",
    "credential_path",
    "from_keyring",
    "is_credential_name",
    "is_keyring_entry",
    "is_variable_name",
    "keyring_has",
    "looks_like_credential",
    "shown_variable",
]

SENT: set[str] = set()
"""The keys that this process has sent: masked in logs, and taken from nobody as something else."""
_TELLING = 6  # what is shorter would mask words
_SECRET = 12
_DIGIT = re.compile(r"[0-9]")
_ENTRY = re.compile(r"[^/\s][^\x00-\x1f]{0,200}/[^/\x00-\x1f]{1,200}")
_PRINTABLE = re.compile(r"[\x21-\x7e]+")


class KeySource:
    """The headers that carry a key, made once for each value that the variable takes.

    Args:
        variable: the environment variable that holds the key; None where no key is wanted.
        static: the headers that are sent with every request.
        header: the header that carries the key: `Authorization` (as a bearer token) or one that takes it bare.
        keyring: `service/user` of the keyring's entry that holds the key, instead of a variable. It is read once.
    """

    __slots__ = ("_header", "_headers", "_key", "_secret", "_static", "keyring", "variable")

    def __init__(
        self,
        variable: str | None,
        static: dict[str, str],
        header: str = "Authorization",
        *,
        keyring: str | None = None,
    ) -> None:
        self.variable, self.keyring = variable, keyring
        self._static, self._header = static, header
        self._key: str | None = None
        self._secret = b""
        self._headers = static

    def __repr__(self) -> str:
        return f"KeySource({self.keyring or shown_variable(self.variable)!r})"

    def headers(self) -> dict[str, str]:
        """The headers of the next request: the same object for as long as the key stays the same.

        Raises:
            ProviderError: `missing_api_key`, when the variable is not set, or holds what no header can carry.
        """
        if self.keyring is not None:
            if self._key is None:
                self._key = self._usable(from_keyring(self.keyring), f"the keyring entry {self.keyring}")
                self._headers = self._bearing(self._key)
            return self._headers
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
        return self._bearing(self._usable(bare, f"the environment variable {shown}"))

    def _usable(self, bare: str, where: str) -> str:
        if _PRINTABLE.fullmatch(bare) is None:
            raise ProviderError(
                ErrorCategory.MISSING_API_KEY,
                f"no usable API key: {where} holds spaces or characters that no "
                "header can carry. Set it to the bare key",
                attempts=0,
            )
        return bare

    def _bearing(self, bare: str) -> dict[str, str]:
        if len(bare) >= _TELLING:
            SENT.add(bare)
        self._secret = bare.encode() if len(bare) >= _SECRET and _DIGIT.search(bare) else b""
        value = f"Bearer {bare}" if self._header.lower() == "authorization" else bare
        return {**self._static, self._header: value}

    def repeated_in(self, body: bytes) -> bool:
        """Whether a reply holds the key. Words that stand in for one (`EMPTY`, `no-key-required`) are none."""
        return bool(self._secret) and self._secret in body


def is_keyring_entry(text: str) -> bool:
    """Whether a text is `service/user` of a keyring's entry."""
    return _ENTRY.fullmatch(text) is not None


def keyring_has(entry: str) -> bool:
    """Whether a keyring's entry can be read and holds something. Nothing of it is told."""
    try:
        return bool(from_keyring(entry))
    except ProviderError:
        return False


def from_keyring(entry: str) -> str:
    """The key of a keyring's entry `service/user`. The library is imported here, by whoever wants it.

    Raises:
        ProviderError: `missing_api_key`, when there is no library, no keyring, or no such entry.
    """
    service, _, user = entry.rpartition("/")
    try:
        import keyring
    except ImportError:
        hint = "Install it (pip install keyring), or name an environment variable in api_key_env"
        raise _no_key(f"api_key_keyring needs the package keyring, which is not installed. {hint}") from None
    try:
        key = keyring.get_password(service, user)
    except Exception as error:  # each system's keyring has exceptions of its own
        found = type(error).__name__
        raise _no_key(f"no API key: the keyring could not be asked for {entry} ({found}). Is it unlocked?") from None
    if not (key or "").strip():
        hint = f"Put it there: keyring set {service} {user}"
        raise _no_key(f"no API key: expected one in the keyring under {entry}, found none. {hint}")
    return str(key).strip()


def _no_key(message: str) -> ProviderError:
    return ProviderError(ErrorCategory.MISSING_API_KEY, message, attempts=0)
