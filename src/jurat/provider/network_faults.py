"""aiohttp's faults in our words: a category, and a sentence without headers, bodies or secrets."""

from __future__ import annotations

import errno

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.faults import TransientError

__all__ = ["explain"]


def explain(error: Exception, where: str, timeout_s: float) -> ProviderError:
    """What an exception of the HTTP library means. Of the exception itself only its type (or errno's name) is told.

    Args:
        where: host and path that were called.
        timeout_s: the time that a call may take.
    """
    import aiohttp

    from jurat.provider.resolving import Distrusted

    if isinstance(error, TimeoutError):
        return TransientError(ErrorCategory.TIMEOUT, f"no complete answer from {where} within {timeout_s:g} s")
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return ProviderError(
            ErrorCategory.NETWORK_ERROR,
            f"no trusted connection to {where}: the TLS certificate or handshake was refused. "
            "For a certificate authority of your own, name its file in SSL_CERT_FILE",
        )
    if isinstance(error, aiohttp.ClientHttpProxyError):
        kind = TransientError if error.status == 429 or error.status >= 500 else ProviderError
        hint = ". Put user and password into the proxy's address there" if error.status == 407 else ""
        return kind(
            ErrorCategory.NETWORK_ERROR,
            f"the proxy named in the environment refused the way to {where} (status {error.status}){hint}",
            status=error.status,
        )
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return TransientError(
            ErrorCategory.NETWORK_ERROR,
            f"no connection to the proxy named in the environment, on the way to {where} ({_reason(error)})",
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError) and isinstance(error.os_error, Distrusted):
        return ProviderError(
            ErrorCategory.NETWORK_ERROR,
            f"{where} leads to an address inside of a private network, which a suite may not reach unasked. If that is "
            "meant, name its host in allowed_hosts of your own jurat.toml, or in JURAT_ALLOWED_HOSTS",
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return TransientError(ErrorCategory.NETWORK_ERROR, f"the host of {where} was not found. Is base_url right?")
    if isinstance(error, aiohttp.ClientConnectorError):
        return TransientError(ErrorCategory.NETWORK_ERROR, f"no connection to {where} ({_reason(error)})")
    if isinstance(error, aiohttp.ClientPayloadError):
        return TransientError(ErrorCategory.NETWORK_ERROR, f"the answer from {where} broke off before its end")
    if isinstance(error, aiohttp.ClientConnectionError | OSError):
        return TransientError(ErrorCategory.NETWORK_ERROR, f"the connection to {where} broke ({_reason(error)})")
    if isinstance(error, aiohttp.ClientResponseError):
        return ProviderError(ErrorCategory.API_ERROR, f"expected an HTTP answer from {where}, got something else")
    return ProviderError(ErrorCategory.API_ERROR, f"the call to {where} failed ({type(error).__name__})")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number, type(error).__name__) if isinstance(number, int) else type(error).__name__
