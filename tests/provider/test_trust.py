"""Certificates and proxies by the environment, with a real TLS server and a real proxy on loopback."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from loopback import Answer, Server

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.http import AiohttpTransport
from jurat.provider.trust import tls_context

_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTPS_PROXY", "HTTP_PROXY")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_VARIABLES, "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that vouches for itself, with its key in the same file, for this machine and `models.example`."""
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "certificate.pem"
    names = "subjectAltName=DNS:models.example,DNS:localhost,IP:127.0.0.1"
    words = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    words += ["-subj", "/CN=models.example", "-addext", names, "-keyout", str(key), "-out", str(made)]
    subprocess.run(["openssl", "req", *words], check=True, capture_output=True)
    (folder / "both.pem").write_text(made.read_text() + key.read_text())
    return made


@asynccontextmanager
async def tls_server(certificate: Path) -> AsyncIterator[Server]:
    server = Server([])
    server.answers = [Answer()]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.with_name("both.pem"))
    listening = await asyncio.start_server(server._serve, "127.0.0.1", 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        server.close_connections()
        await asyncio.sleep(0)


class Proxy:
    """A proxy that leads every CONNECT to one port of this machine, and remembers what it was asked for."""

    def __init__(self, to: int) -> None:
        self.to, self.port = to, 0
        self.asked: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head.split("\r\n")[0])
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.to)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pipe(reader, there_writer), _pipe(there_reader, writer))


async def _pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except ConnectionError:
        pass
    finally:
        sink.close()


async def post(url: str) -> int:
    transport = AiohttpTransport(timeout_s=20)
    try:
        return (await transport.post(url, {}, b"{}")).status
    finally:
        await transport.aclose()


async def test_an_authority_that_nobody_named_is_not_trusted(certificate: Path) -> None:
    async with tls_server(certificate) as server:
        with pytest.raises(ProviderError) as refused:
            await post(f"https://127.0.0.1:{server.port}/v1")
    assert refused.value.category is ErrorCategory.NETWORK_ERROR
    assert "SSL_CERT_FILE" in str(refused.value)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
async def test_an_authority_of_ones_own_is_trusted_by_the_environment(
    certificate: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(certificate))
    async with tls_server(certificate) as server:
        assert await post(f"https://127.0.0.1:{server.port}/v1") == 200


async def test_a_name_that_is_not_the_certificates_is_refused_even_so(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with through_proxy(certificate, monkeypatch):
        with pytest.raises(ProviderError, match="no trusted connection"):
            await post("https://other.example/v1")


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
async def test_a_variable_that_names_nothing_is_told(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "none.pem"))
    with pytest.raises(ProviderError, match=f"the environment variable {variable} should name a file"):
        await post("https://127.0.0.1:9/v1")


def test_verification_is_on_whatever_the_environment_says(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tls_context() is True
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    context = tls_context()
    assert isinstance(context, ssl.SSLContext)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_bundle_is_read_once_and_again_when_it_has_changed(
    certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(certificate.read_bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    first, second = tls_context(), tls_context()
    bundle.write_bytes(certificate.read_bytes() * 2)
    third = tls_context()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    assert first is second
    assert len({id(context) for context in (first, third, tls_context())}) == 3
    bundle.unlink()
    with pytest.raises(ProviderError, match="found no such file"):
        tls_context()


@asynccontextmanager
async def through_proxy(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxy]:
    """A proxy of the environment, on the way to a server that calls itself `models.example`."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with tls_server(certificate) as server:
        proxy = Proxy(server.port)
        listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        proxy.port = listening.sockets[0].getsockname()[1]
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        try:
            yield proxy
        finally:
            listening.close()


async def test_https_goes_through_the_environments_proxy_and_tls_reaches_the_server(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with through_proxy(certificate, monkeypatch) as proxy:
        assert await post("https://models.example/v1") == 200
    assert proxy.asked == ["CONNECT models.example:443 HTTP/1.1"]


async def test_no_proxy_keeps_hosts_from_the_proxy(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with through_proxy(certificate, monkeypatch) as proxy:
        monkeypatch.setenv("NO_PROXY", "models.example")
        with pytest.raises(ProviderError, match=r"was not found|no connection"):
            await post("https://models.example/v1")
    assert proxy.asked == []
