"""The proxies of the environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as other programs read them.

A proxy is the user's own word, wherever it is: no suite can name one. This machine is never reached through a proxy.
What cannot be used is told with the variable's purpose and never with its value, which may hold a password.
"""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.addresses import is_loopback

__all__ = ["proxy_for", "proxy_hosts"]


def proxy_for(scheme: str, host: str) -> str | None:
    """The address of the proxy through which a host is reached, None for the straight way.

    Raises:
        ProviderError: `network_error`, when what the environment names is no proxy that can be used.
    """
    if is_loopback(host) or proxy_bypass(host):
        return None
    named = getproxies().get(scheme)
    if not named:
        return None
    full = _full(named)
    kind = full.partition("://")[0].lower()
    if kind not in ("http", "https") or not _host(full):
        found = f"one of the kind {kind}" if kind.isalnum() and kind not in ("http", "https") else "something else"
        what = f"the environment variable {scheme.upper()}_PROXY should name a proxy as http://host:port, found {found}"
        raise ProviderError(ErrorCategory.NETWORK_ERROR, f"{what}. Mend or unset it", attempts=0)
    return full


def proxy_hosts() -> frozenset[str]:
    """The hosts of the environment's proxies."""
    return frozenset(filter(None, (_host(_full(named)) for named in getproxies().values())))


def _full(named: str) -> str:
    """With its scheme, which curl and others let one leave out."""
    return named if "://" in named else f"http://{named}"


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return ""
    host = parts.hostname or ""
    return "" if any(letter.isspace() for letter in host) else host
