"""Names to addresses, for whoever may not name every host: what is not to be reached is not found.

The look-up and the connection use the same answer, so that a name cannot mean one machine while it is looked at and
another when it is connected to.
"""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from jurat.provider.hosts import HostTrust

__all__ = ["Distrusted", "TrustedResolver"]


class Distrusted(OSError):
    """A name leads to an address that it may not."""


class TrustedResolver(AbstractResolver):
    """aiohttp's own resolver, and a look at what it found.

    Args:
        proxies: hosts of the user's own proxies, which may be anywhere and are asked to reach the others.
    """

    def __init__(
        self, trust: HostTrust, inner: AbstractResolver | None = None, *, proxies: frozenset[str] = frozenset()
    ) -> None:
        self._trust, self._inner, self._proxies = trust, inner or DefaultResolver(), proxies

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host.

        Raises:
            Distrusted: when one of them is not to be reached under this name.
        """
        found = await self._inner.resolve(host, port, family)
        if host.lower() in self._proxies:
            return found
        if not all(self._trust.reaches(host, one["host"]) for one in found):
            raise Distrusted
        return found

    async def close(self) -> None:
        """Let go of the inner one."""
        await self._inner.close()
