"""Whom a connection trusts: the system's authorities, or those of the user's environment. Verification is always on.

`SSL_CERT_FILE` and `SSL_CERT_DIR` take the place of the system's authorities, as in all programs on OpenSSL.
`REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE`, a file or a folder, are trusted beside them, since proxies that open TLS are
usually set up that way. A bundle takes tens of milliseconds to read, so it is read once, and again when it has changed.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from pathlib import Path
from typing import Literal

from jurat.errors import ErrorCategory, ProviderError

__all__ = ["tls_context"]

_INSTEAD = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_BESIDE = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def tls_context() -> ssl.SSLContext | Literal[True]:
    """What connections are verified by; True where the environment says nothing of it.

    Raises:
        ProviderError: `network_error`, when a variable names what holds no certificates.
    """
    named = {name: value for name in (*_INSTEAD, *_BESIDE) if (value := os.environ.get(name))}
    return _context(tuple((name, value, _state(name, value)) for name, value in named.items())) if named else True


@lru_cache(maxsize=4)
def _context(named: tuple[tuple[str, str, tuple[int, ...]], ...]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for name, value, _ in named:
        if name in _BESIDE:
            _trust(context, name, value)
    return context


def _state(name: str, value: str) -> tuple[int, ...]:
    """What differs when a file is another one."""
    try:
        found = Path(value).stat()
    except (OSError, ValueError):
        fault = _useless(name, "no such file")
    else:
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
    raise fault


def _trust(context: ssl.SSLContext, name: str, value: str) -> None:
    try:
        if Path(value).is_dir():
            context.load_verify_locations(capath=value)
        else:
            context.load_verify_locations(cafile=value)
    except (OSError, ValueError) as error:
        fault = _useless(name, type(error).__name__)
    else:
        return
    raise fault


def _useless(name: str, found: str) -> ProviderError:
    what = f"the environment variable {name} should name a file of certificates in PEM, found {found}. Mend or unset it"
    return ProviderError(ErrorCategory.NETWORK_ERROR, what, attempts=0)
