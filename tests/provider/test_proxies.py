"""The proxies of the environment."""

from __future__ import annotations

import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from loopback import answer, serving

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.faults import TransientError
from jurat.provider.hosts import HostTrust
from jurat.provider.http import AiohttpTransport
from jurat.provider.proxies import proxy_for, proxy_hosts
from jurat.provider.resolving import Distrusted, TrustedResolver

URL = "http://model.example/v1"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names no proxies yet."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("named", ["proxy.example:3128", "http://proxy.example:3128"])
def test_a_proxy_may_be_named_without_its_scheme(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", named)
    assert proxy_for("https", "api.example") == "http://proxy.example:3128"
    assert proxy_hosts() == {"proxy.example"}


@pytest.mark.parametrize("host", ["localhost", "localhost.", "127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_reached_straight_in_whatever_spelling(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    assert proxy_for("https", host) is None


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("socks5://u:pw-fake@proxy.example:1080", "one of the kind socks5"),
        ("http://", "something else"),
        ("http://u:pw-fake@proxy.example:port", "something else"),
        ("a proxy", "something else"),
    ],
)
def test_what_is_no_proxy_is_told_without_its_value(named: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", named)
    with pytest.raises(ProviderError) as caught:
        proxy_for("https", "api.example")
    assert str(caught.value) == (
        f"the environment variable HTTPS_PROXY should name a proxy as http://host:port, found {found}. Mend or unset it"
    )
    assert (caught.value.category, caught.value.attempts) == (ErrorCategory.NETWORK_ERROR, 0)


async def test_a_proxy_that_is_not_there_is_told_apart_from_the_vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    transport = AiohttpTransport()
    with pytest.raises(
        TransientError, match="no connection to the proxy named in the environment, on the way to model"
    ):
        await transport.post(URL, {}, b"{}")
    await transport.aclose()


@pytest.mark.parametrize(("status", "passing"), [(407, False), (403, False), (502, True), (503, True)])
async def test_a_proxy_that_is_overloaded_may_be_asked_again(
    status: int, passing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(answer({}, status)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        transport = AiohttpTransport()
        with pytest.raises(ProviderError, match=f"the proxy named in the environment .*status {status}") as caught:
            await transport.post("https://model.example/v1", {}, b"{}")
        await transport.aclose()
    assert isinstance(caught.value, TransientError) is passing
    assert ("user and password" in str(caught.value)) is (status == 407)


class Inside(AbstractResolver):
    """Finds every host in a private network."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host="10.0.0.7", port=port, family=socket.AF_INET, proto=0, flags=0)]

    async def close(self) -> None: ...


async def test_the_users_own_proxy_may_be_inside_of_a_private_network() -> None:
    resolver = TrustedResolver(HostTrust.of(()), Inside(), proxies=frozenset({"proxy.corp.example"}))
    assert [found["host"] for found in await resolver.resolve("proxy.corp.example")] == ["10.0.0.7"]
    with pytest.raises(Distrusted):
        await resolver.resolve("api.openai.com")
