"""One careful HTTP request: who may be asked, what is sent to whom, and what a failure means.

Proxies and certificate authorities are those of the environment (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE,
REQUESTS_CA_BUNDLE, PIP_CERT). It refuses other schemes than http and https and a step from https down to http; it
sends credentials to the host that they belong to and to no other, and shows addresses without them. Every failure is
either a `DownloadError`, which will not pass by itself, or a `TryAgain`, which may.
"""

from __future__ import annotations

import base64
import email.utils
import errno
import http.client
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jurat._version import __version__

if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPMessage
    from typing import IO

__all__ = ["DownloadError", "Session", "TryAgain", "as_passing", "credentials_of", "shown"]

_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_UNREACHABLE = frozenset({errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ETIMEDOUT})
_HINTS = {
    401: "It wants credentials: put them into the index address",
    403: "Access is refused: check the credentials or take another index",
    404: "It is not there: take another index or source",
}


class DownloadError(Exception):
    """A download that did not succeed: `trouble` says what and where, `hint` what to do.

    `status` is the HTTP status, where a server answered with one.
    """

    def __init__(self, trouble: str, hint: str, *, status: int | None = None) -> None:
        self.trouble = trouble
        self.hint = hint
        self.status = status
        super().__init__(f"{trouble}. {hint}")


class TryAgain(Exception):
    """A fault that may pass. `pause_s` is what the server asked for, if it did."""

    def __init__(self, trouble: str, *, pause_s: float | None = None, status: int | None = None) -> None:
        self.trouble = trouble
        self.pause_s = pause_s
        self.status = status
        super().__init__(trouble)


def shown(url: str) -> str:
    """An address as it may be shown: without user, password, query and fragment."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return "(an address that cannot be read)"
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def credentials_of(url: str) -> dict[str, str]:
    """`user:password` of an address, by its host (`host:port`), decoded; empty when it has none."""
    pair, found, host = urllib.parse.urlsplit(url).netloc.rpartition("@")
    if not found:
        return {}
    user, _, password = pair.partition(":")
    return {host: f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}"}


@dataclass(slots=True, kw_only=True)
class Session:
    """Makes requests. `credentials` is `user:password` by host; `timeout_s` bounds how long a connection is silent."""

    timeout_s: float = 30.0
    credentials: dict[str, str] = field(default_factory=dict)
    _opener: urllib.request.OpenerDirector | None = None

    def open(self, url: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        """The response to a GET, its status 2xx, its body unread; the caller closes it.

        Raises:
            DownloadError: the address cannot be asked, or the server's answer is final.
            TryAgain: the server's answer may be another one later.
            OSError, HTTPException: the network failed; see `as_passing`.
        """
        plain, netloc = _address(url)
        request = urllib.request.Request(  # noqa: S310 (the scheme was checked)
            plain, headers={"User-Agent": f"jurat/{__version__}", **headers}
        )
        if (pair := self.credentials.get(netloc)) is not None:
            request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
        if self._opener is None:
            https = urllib.request.HTTPSHandler(context=_certificates())
            self._opener = urllib.request.build_opener(https, _CarefulRedirects())
        try:
            response: http.client.HTTPResponse = self._opener.open(request, timeout=self.timeout_s)
        except urllib.error.HTTPError as error:
            with error:
                raise _as_status(error, url) from None
        return response


def as_passing(error: Exception, url: str) -> TryAgain:
    """A fault of the network as one that may pass. A fault of the disk is raised again, as it is.

    Raises:
        DownloadError: it will not pass (an untrusted certificate, an impossible address).
    """
    if isinstance(error, TryAgain):
        return error
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        raise DownloadError(
            f"{shown(url)}: the server's certificate is not trusted ({cause.verify_message})",
            "If your network has its own certificate authority, name it in SSL_CERT_FILE",
        ) from error
    if isinstance(cause, (http.client.InvalidURL, UnicodeError)):
        raise DownloadError(f"{shown(url)!r} is no valid address", "Correct it") from error
    if isinstance(cause, TimeoutError):
        return TryAgain("the server did not answer in time")
    network = (urllib.error.URLError, ConnectionError, ssl.SSLError, http.client.HTTPException)
    if not isinstance(error, network) and getattr(error, "errno", None) not in _UNREACHABLE:
        raise error
    words = getattr(cause, "strerror", None) or type(cause).__name__
    return TryAgain(f"the connection failed ({words})")


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from https to http, and keeps credentials on the host they were given for."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if req.type == "https" and not newurl.startswith("https:"):
            raise DownloadError(
                f"{shown(req.full_url)} redirects from https to {shown(newurl)}", "Take another index or source"
            )
        follow = super().redirect_request(req, fp, code, msg, headers, newurl)
        key = req.unredirected_hdrs.get("Authorization")
        if follow is not None and key is not None and follow.host == req.host:
            follow.add_unredirected_header("Authorization", key)
        return follow


def _address(url: str) -> tuple[str, str]:
    """An address without user, password and fragment, and its host and port."""
    try:
        parts = urllib.parse.urlsplit(url)
        possible = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        possible = False
    if not possible:
        raise DownloadError(f"{shown(url)!r} is no http or https address", "Give one that is")
    netloc = parts.netloc.rpartition("@")[2]
    return urllib.parse.urlunsplit((parts.scheme, netloc, parts.path, parts.query, "")), netloc


def _certificates() -> ssl.SSLContext:
    """The system's authorities (ssl itself heeds SSL_CERT_FILE and SSL_CERT_DIR), and those that pip is told of."""
    context = ssl.create_default_context()
    for variable in ("REQUESTS_CA_BUNDLE", "PIP_CERT"):
        if not (place := os.environ.get(variable)):
            continue
        try:
            if Path(place).is_dir():
                context.load_verify_locations(capath=place)
            else:
                context.load_verify_locations(cafile=place)
        except (OSError, ssl.SSLError) as error:
            raise DownloadError(
                f"{variable} names {place}, which cannot be read as certificates", "Correct or unset it"
            ) from error
    return context


def _as_status(error: urllib.error.HTTPError, url: str) -> DownloadError | TryAgain:
    """A status outside 2xx, as the fault it is. The server's own text is not repeated."""
    if error.code in _RETRIED:
        return TryAgain(f"the server answered {error.code}", pause_s=_retry_after(error.headers), status=error.code)
    hint = _HINTS.get(error.code, "Check the address")
    return DownloadError(f"{shown(url)}: the server answered {error.code}", hint, status=error.code)


def _retry_after(headers: Message) -> float | None:
    """`Retry-After` as seconds from now (it may be a number or a date), or None."""
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, moment.timestamp() - time.time())
