"""Whose hosts a suite may name. A suite may come from anybody, and what it names is sent keys and evidence.

Without a word from the user those are the vendors' own hosts and this machine; `allowed_hosts` of the user's own
settings adds others (`gpu.example`, `*.corp.example`, `10.0.0.7`). Hosts are compared in one spelling: lower case,
without a dot at the end, addresses in their usual form. Numbers that only some programs read as an address (`127.1`,
`0x7f000001`, `2130706433`) and letters beyond ASCII are refused whoever says them.

What a name resolves to is looked at when the connection is made. A name of this machine has to lead to it, a vendor's
name to an address of the open network, and no name to where clouds keep their machines' credentials; whoever means a
private address says so by naming the host. Behind a proxy the proxy resolves, and is trusted to.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

__all__ = ["OPEN", "HostTrust", "host_fault", "is_this_machine", "plain_host"]

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_VENDORS = (
    *("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "api.groq.com", "openrouter.ai"),
    *("api.x.ai", "*.openai.azure.com", "*.services.ai.azure.com"),
)
_NUMERIC = re.compile(r"(?:0[xX][0-9a-fA-F]*|[0-9]+)")
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_METADATA = tuple(ipaddress.ip_address(text) for text in ("169.254.169.254", "100.100.100.200", "fd00:ec2::254"))
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def plain_host(host: str) -> str:
    """A host in its one spelling."""
    bare = host.strip().lower().removesuffix(".").strip("[]")
    address = _address(bare)
    return bare if address is None else str(address)


def _address(host: str) -> _Address | None:
    """The address that a host is; an IPv4 address also where it is written as one of IPv6."""
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found


def _led_to(address: _Address) -> _Address:
    """Where a gateway takes what is sent to an address: the IPv4 address that one of IPv6 holds, if it does."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address.sixtofour or address
    return address


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine: `localhost`, or a loopback address in whatever spelling.

    A loopback address behind a gateway (6to4, NAT64) is some other machine's.
    """
    bare = plain_host(host)
    address = _address(bare)
    return bare == "localhost" or bare.endswith(".localhost") if address is None else address.is_loopback


def host_fault(host: str) -> tuple[str, str] | None:
    """What is wrong with the spelling of a host (expected, found), if anything is."""
    bare = host.removesuffix(".")
    if not host.isascii():
        return "a host in ASCII letters (xn--… for others)", "other letters"
    if _address(bare.strip("[]")) is not None:
        return None
    if _NUMERIC.fullmatch(bare.rpartition(".")[2]):
        return "a name, or an address in its usual form (127.0.0.1)", "a number in another form"
    if bare and _NAME.fullmatch(bare) is None:
        return "a name of letters, digits, hyphens and dots", "other characters"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTrust:
    """The hosts that may be named. `allowed`: those of the user's own settings, beside vendors and this machine."""

    allowed: frozenset[str] = frozenset()
    everything: bool = False

    @classmethod
    def of(cls, allowed: Iterable[str]) -> HostTrust:
        """From what the user wrote."""
        return cls(allowed=frozenset(plain_host(host) for host in allowed if host.strip()))

    def permits(self, url: str) -> bool:
        """Whether a URL's host may be named."""
        host = urlsplit(url).hostname or ""
        return self.everything or is_this_machine(host) or _among(plain_host(host), (*_VENDORS, *self.allowed))

    def reaches(self, host: str, address: str) -> bool:
        """Whether a host that may be named may be this address."""
        if self.everything:
            return True
        found, name = _address(address), plain_host(host)
        if found is None:
            return False
        end = _led_to(found)
        if not self.allowed.isdisjoint((str(found), str(end))):
            return True
        if is_this_machine(name):
            return found.is_loopback
        if end in _METADATA or end.is_link_local or end.is_unspecified or end.is_multicast:
            return False
        return end.is_global or _among(name, self.allowed)


OPEN = HostTrust(everything=True)
"""For what the user says himself: any host."""


def _among(host: str, patterns: Iterable[str]) -> bool:
    return any(host.endswith(one[1:]) if one.startswith("*.") else host == one for one in patterns)
