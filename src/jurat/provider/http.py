"""The transport: one small protocol, and aiohttp behind it.

`post` sends bytes and brings back bytes. It follows no redirect, verifies TLS, bounds the time of a call and the bytes
of a reply (packed and unpacked), and raises ProviderError and nothing else. Proxies come from the environment and are
looked up once per address, never for this machine itself; certificates from the system, `SSL_CERT_FILE` or
`REQUESTS_CA_BUNDLE` (`jurat.provider.trust`). What is logged on the way is masked (`jurat.provider.redaction`).

The path from `post` to the socket is as thin as aiohttp allows: nothing is parsed, looked up or scheduled per call.

Each event loop gets a session of its own, opened at the first call. It closes with its loop (an asynchronous generator
is finished by the loop that started it), so that a provider can live through one `asyncio.run` after another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from io import BytesIO
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.addresses import place
from jurat.provider.deadlines import Deadlines
from jurat.provider.inflate import BadEncoding, TooLarge, inflate

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from aiohttp.abc import AbstractResolver
    from yarl import URL

    from jurat.provider.hosts import HostTrust

__all__ = ["MAX_REPLY_BYTES", "AiohttpTransport", "HttpReply", "Transport"]

MAX_REPLY_BYTES = 8 * 1024 * 1024
_IDLE_S = 30.0
_AT_ONCE = 2**20
"""The most bytes of a request that are written in one go; the loop would stand still over more, and aiohttp warns."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """One HTTP answer. `headers` ignores the case of names, or has them in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    latency_ms: float


class Transport(Protocol):
    """How bytes travel. `post` raises ProviderError and nothing else, but lets cancellation through."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpReply: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Address:
    url: URL
    proxy: URL | None
    secure: bool


class _Held:
    """What belongs to one event loop; connections with TLS and without are held apart."""

    __slots__ = ("closer", "deadlines", "headers", "loop", "secure", "session")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, headers: Mapping[str, str], timeout_s: float, *, secure: bool
    ) -> None:
        self.loop, self.headers, self.secure = loop, headers, secure
        self.deadlines = Deadlines(loop, timeout_s)
        self.session: ClientSession
        self.closer: AsyncGenerator[ClientSession, None]


class AiohttpTransport:
    """aiohttp behind the transport protocol.

    Args:
        timeout_s: the time a call may take, from its first byte to the last of the reply.
        connections: how many calls will be in flight at most, and so how many connections are kept; 0: no bound.
        max_reply_bytes: the largest reply that is taken, as it came and unpacked.
        trust: says which addresses a host may have; None: any.
    """

    def __init__(
        self,
        *,
        timeout_s: float = 60.0,
        connections: int = 0,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        trust: HostTrust | None = None,
    ) -> None:
        self._trust = trust
        self.timeout_s = timeout_s
        self.max_reply_bytes = max_reply_bytes
        self._connections = connections
        self._addresses: dict[str, _Address] = {}
        self._held: _Held | None = None
        self._others: dict[tuple[asyncio.AbstractEventLoop, bool], _Held] = {}

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """Send one request and read its whole answer, whatever its status.

        Raises:
            ProviderError: `timeout`, `network_error` (both may pass), or `api_error` for an answer that is too large
                or no HTTP. The connection is dropped.
        """
        address = self._addresses.get(url) or self._look_up(url)
        held = self._held
        if held is None or held.loop is not asyncio.get_running_loop() or held.secure is not address.secure:
            held = await self._hold(headers, secure=address.secure)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 (whoever waits for the network is some task)
        held.deadlines.begin(task)
        started = perf_counter()
        try:
            response = await held.session.post(
                address.url,
                data=body if len(body) <= _AT_ONCE else BytesIO(body),
                headers=None if headers is held.headers else headers,
                allow_redirects=False,
                proxy=address.proxy,
            )
            length = response.headers.get("Content-Length", "")
            if len(length) < 8 and length.isdecimal() and "Content-Encoding" not in response.headers:
                content = await response.read() if int(length) <= self.max_reply_bytes else await self._read(response)
            else:
                content = await self._read(response)
            return HttpReply(response.status, response.headers, content, (perf_counter() - started) * 1000.0)
        except asyncio.CancelledError:
            if not held.deadlines.late(task):
                raise
            fault = self._explained(TimeoutError(), url)
        except Exception as error:  # whatever it is, it becomes one of our words
            fault = self._explained(error, url)
        finally:
            held.deadlines.end(task)
        raise fault  # out here, so that it carries no chain of frames that hold the headers

    async def _read(self, response: ClientResponse) -> bytes:
        """Read in pieces, counting; a reply that is too large is dropped together with its connection."""
        pieces: list[bytes] = []
        size = 0
        try:
            if (response.content_length or 0) > self.max_reply_bytes:
                raise TooLarge
            async for piece in response.content.iter_any():
                size += len(piece)
                if size > self.max_reply_bytes:
                    raise TooLarge
                pieces.append(piece)
        except BaseException:
            response.close()
            raise
        content = b"".join(pieces)
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        return content if encoding in ("identity", "") else inflate(content, encoding, self.max_reply_bytes)

    def _explained(self, error: Exception, url: str) -> ProviderError:
        if isinstance(error, TooLarge):
            what = f"the reply from {place(url)} is larger than {self.max_reply_bytes} bytes, and was dropped"
            return ProviderError(ErrorCategory.API_ERROR, what)
        if isinstance(error, BadEncoding):
            what = f"the reply from {place(url)} came in a content encoding that was not asked for, or damaged"
            return ProviderError(ErrorCategory.API_ERROR, what)
        from jurat.provider.network_faults import explain

        return explain(error, place(url), self.timeout_s)

    async def _hold(self, headers: Mapping[str, str], *, secure: bool) -> _Held:
        """The running loop's session, opened when there is none yet. Never yields to the loop."""
        loop = asyncio.get_running_loop()
        for gone in [other for other in self._others if other[0].is_closed()]:
            del self._others[gone]
        held = self._others.get((loop, secure))
        if held is None:
            held = self._others[loop, secure] = _Held(loop, headers, self.timeout_s, secure=secure)
            held.closer = self._opened(held)
            held.session = await held.closer.__anext__()
        self._held = held
        return held

    async def _opened(self, held: _Held) -> AsyncGenerator[ClientSession, None]:
        import aiohttp

        from jurat.provider.redaction import guard_logs
        from jurat.provider.trust import tls_context

        guard_logs()
        connector = aiohttp.TCPConnector(
            limit=self._connections,
            keepalive_timeout=_IDLE_S,
            ttl_dns_cache=300,
            ssl=tls_context() if held.secure else True,  # to read the authorities takes tens of milliseconds
            resolver=self._resolver(),
        )
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=held.headers,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),
        )
        try:
            yield session
        finally:
            self._others.pop((held.loop, held.secure), None)
            if self._held is held:
                self._held = None
            held.deadlines.close()
            await session.close()

    def _resolver(self) -> AbstractResolver | None:
        if self._trust is None:
            return None
        from jurat.provider.proxies import proxy_hosts
        from jurat.provider.resolving import TrustedResolver

        return TrustedResolver(self._trust, proxies=proxy_hosts())

    def _look_up(self, url: str) -> _Address:
        from yarl import URL

        from jurat.provider.proxies import proxy_for

        target = URL(url)
        through = proxy_for(target.scheme, target.host or "")
        proxy = URL(through) if through else None
        secure = "https" in (target.scheme, proxy.scheme if proxy else "")
        address = self._addresses[url] = _Address(target, proxy, secure)
        return address

    async def aclose(self) -> None:
        """Close the running loop's session. Sessions of other loops close with their loops. May be called again."""
        loop = asyncio.get_running_loop()
        for secure in (False, True):
            if (held := self._others.get((loop, secure))) is not None:
                await held.closer.aclose()
