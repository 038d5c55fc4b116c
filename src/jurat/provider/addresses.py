"""Base URLs: checked once, shown without secrets.

A base URL is http or https, names a host, and carries no credential: neither user info nor a query value that looks
like a key. Plain http is for this machine alone, unless the author allows it. Whatever is shown of a URL, in a message
or a record, goes through `mask_url`.
"""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from jurat.provider.credentials import is_credential_name, looks_like_credential
from jurat.provider.hosts import HostTrust, host_fault, is_this_machine, plain_host

__all__ = ["BadAddress", "checked_base_url", "distrusted", "holds_key", "is_loopback", "join_path", "mask_url", "place"]

_MASK = "***"


class BadAddress(ValueError):
    """A base URL that cannot be used. `expected` and `found` make the sentence; neither repeats a secret."""

    def __init__(self, expected: str, found: str, hint: str | None = None) -> None:
        self.expected, self.found, self.hint = expected, found, hint
        super().__init__(f"expected {expected}, found {found}" + (f". {hint}" if hint else ""))


def checked_base_url(text: str, *, allow_plain_http: bool = False) -> str:
    """A base URL without a trailing slash, or the reason why it cannot be one.

    Raises:
        BadAddress: for another scheme, a missing host, a credential in the URL, or plain http to another machine.
    """
    parts = _split(text)
    if parts.scheme not in ("http", "https"):
        raise BadAddress("a URL that begins with http:// or https://", mask_url(text))
    if parts.username is not None or parts.password is not None:
        raise BadAddress("a URL without user name and password", mask_url(text), "Name the key's variable: api_key_env")
    if _query_holds_key(parts):
        raise BadAddress("a URL without a key in it", mask_url(text), "Name the key's variable: api_key_env")
    if (odd := host_fault(parts.hostname or "")) is not None:
        raise BadAddress(f"a host that is {odd[0]}", odd[1])
    if parts.scheme == "http" and not allow_plain_http and not is_loopback(parts.hostname or ""):
        raise BadAddress(
            "https, because http sends key and evidence in the clear",
            mask_url(text),
            "Inside a trusted network, say allow_plain_http: true",
        )
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), parts.query, ""))


def distrusted(url: str, trust: HostTrust) -> BadAddress | None:
    """Why a checked URL may not be named by whoever names it, if it may not."""
    if trust.permits(url):
        return None
    host = plain_host(urlsplit(url).hostname or "")
    hint = (
        f'If you trust it with keys and evidence, say allowed_hosts = ["{host}"] in your own jurat.toml, '
        f"or JURAT_ALLOWED_HOSTS={host}"
    )
    return BadAddress("a vendor's host, this machine, or a host that your own settings allow", host, hint)


def holds_key(url: str) -> bool:
    """Whether a URL carries a password, or a key in its query. What cannot be read as one is taken to."""
    try:
        parts = urlsplit(url)
        return parts.password is not None or _query_holds_key(parts)
    except ValueError:
        return True


def _query_holds_key(parts: SplitResult) -> bool:
    return any(_names_key(name) or looks_like_credential(value) for name, value in parse_qsl(parts.query))


def _split(text: str) -> SplitResult:
    if any(ord(letter) <= 32 or ord(letter) == 127 for letter in text):
        raise BadAddress("a URL without spaces and control characters", "one that has some")
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BadAddress("a URL", "text that is none") from None
    if parts.scheme in ("http", "https") and not host:
        raise BadAddress("a URL that names a host", mask_url(text))
    return parts


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `localhost` or a loopback address, in whatever spelling."""
    return is_this_machine(host)


def join_path(base_url: str, path: str) -> str:
    """The base URL with a path added; a query of the base (`?api-version=…`) stays behind the path."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, ""))


def mask_url(url: str) -> str:
    """A URL as it may be shown: user info and every value that may be a key are masked, whatever the setting's name."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return _MASK
    _, at, host = parts.netloc.rpartition("@")
    shown = f"{_MASK}@{host}" if at else host
    query = "&".join(_masked_pair(pair) for pair in parts.query.split("&")) if parts.query else ""
    return urlunsplit((parts.scheme, shown, parts.path, query, _MASK if parts.fragment else ""))


def _masked_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if not equals:
        return _MASK if looks_like_credential(pair) else pair
    return f"{name}={_MASK}" if _names_key(name) or looks_like_credential(value) else pair


def _names_key(name: str) -> bool:
    """Whether a part of a query is a key by its name; `code` is one in the addresses of cloud functions."""
    return name.lower() == "code" or is_credential_name(name)


def place(url: str) -> str:
    """Host and path of a URL, for messages: no query, no credentials."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] + parts.path
