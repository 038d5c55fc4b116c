"""The transport against a real server on loopback: bounds, breaks, loops, proxies."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import subprocess
import sys
import tracemalloc
import zlib

import pytest
from loopback import REPLY, Answer, Server, answer, serving, serving_elsewhere

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.faults import TransientError
from jurat.provider.http import AiohttpTransport, HttpReply
from jurat.provider.inflate import TooLarge, inflate

HEADERS = {"Content-Type": "application/json"}


async def post(server: Server, **limits: object) -> HttpReply:
    transport = AiohttpTransport(**limits)  # type: ignore[arg-type]  # each test names its own
    try:
        return await transport.post(server.url, HEADERS, b'{"a": 1}')
    finally:
        await transport.aclose()


async def fault(given: Answer, **limits: object) -> ProviderError:
    async with serving(given) as server:
        with pytest.raises(ProviderError) as caught:
            await post(server, **limits)
    return caught.value


async def test_bytes_go_out_and_come_back_with_status_headers_and_latency() -> None:
    async with serving(Answer(status=418, headers={"X-Request-Id": "r1"}, body=b"tea")) as server:
        reply = await post(server)
    assert (reply.status, reply.body, reply.headers.get("x-request-id")) == (418, b"tea", "r1")
    assert reply.latency_ms > 0
    assert server.requests[0].body == b'{"a": 1}'


async def test_connections_are_kept_for_the_next_call() -> None:
    async with serving() as server:
        transport = AiohttpTransport()
        for _ in range(5):
            await transport.post(server.url, HEADERS, b"{}")
        await transport.aclose()
    assert (server.connections, len(server.requests)) == (1, 5)


async def test_a_redirect_is_not_followed() -> None:
    async with serving(Answer(status=307, headers={"Location": "/elsewhere"}, body=b"")) as server:
        reply = await post(server)
    assert (reply.status, len(server.requests)) == (307, 1)


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"1\r\n \r\n")
        await writer.drain()
        await asyncio.sleep(0.005)


async def test_a_stream_that_never_ends_is_cut_by_the_deadline() -> None:
    error = await fault(Answer(raw=endless), timeout_s=0.15)
    assert isinstance(error, TransientError)
    assert error.category is ErrorCategory.TIMEOUT
    assert "within 0.15 s" in str(error)


async def test_a_server_that_says_nothing_is_cut_by_the_deadline() -> None:
    error = await fault(Answer(hold=asyncio.Event()), timeout_s=0.1)
    assert error.category is ErrorCategory.TIMEOUT


async def flood(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    for _ in range(800):
        if writer.is_closing():
            return
        writer.write(piece)
        await writer.drain()


async def test_fifty_megabytes_in_chunks_are_dropped_at_the_bound() -> None:
    error = await fault(Answer(raw=flood))
    assert error.category is ErrorCategory.API_ERROR
    assert not isinstance(error, TransientError)
    assert "larger than 8388608 bytes" in str(error)


async def test_a_length_beyond_the_bound_is_refused_unread() -> None:
    error = await fault(Answer(headers={"Content-Length": "50000000"}, body=b"{"))
    assert "larger than 8388608 bytes" in str(error)


async def test_the_bound_itself_still_passes() -> None:
    async with serving(Answer(body=b"x" * 1000)) as server:
        assert len((await post(server, max_reply_bytes=1000)).body) == 1000
    assert "larger than 999 bytes" in str(await fault(Answer(body=b"x" * 1000), max_reply_bytes=999))


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b'{"a": 1}', mtime=0)),
        ("GZIP", gzip.compress(b'{"a"', mtime=0) + gzip.compress(b": 1}", mtime=0)),
        ("gzip", gzip.compress(b"", mtime=0) * 63 + gzip.compress(b'{"a": 1}', mtime=0)),
        ("deflate", zlib.compress(b'{"a": 1}')),
        ("deflate", zlib.compress(b'{"a": 1}')[2:-4]),
        ("identity", b'{"a": 1}'),
    ],
)
async def test_compressed_replies_are_unpacked(encoding: str, packed: bytes) -> None:
    async with serving(Answer(headers={"Content-Encoding": encoding}, body=packed)) as server:
        assert (await post(server)).body == b'{"a": 1}'


async def test_a_compressed_bomb_is_refused_at_the_bound() -> None:
    bomb = gzip.compress(b"0" * 60_000_000, mtime=0)
    assert len(bomb) < 100_000
    error = await fault(Answer(headers={"Content-Encoding": "gzip"}, body=bomb))
    assert "larger than 8388608 bytes" in str(error)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compressed_bomb_takes_no_more_room_than_the_bound(encoding: str) -> None:
    packer = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    bomb = packer.compress(b"0" * 60_000_000) + packer.flush()
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            inflate(bomb, encoding, 1_000_000)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 5_000_000


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", b"no gzip"),
        ("gzip", gzip.compress(b"x" * 1000, mtime=0)[:-12]),
        ("br", b"x"),
        ("deflate", b"\xff\xff\xff"),
        ("gzip", gzip.compress(b"", mtime=0) * 100_000),
    ],
)
async def test_a_damaged_or_unasked_encoding_is_an_api_error(encoding: str, packed: bytes) -> None:
    error = await fault(Answer(headers={"Content-Encoding": encoding}, body=packed))
    assert error.category is ErrorCategory.API_ERROR
    assert "content encoding" in str(error)


async def half(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()


async def garbage(writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    await writer.drain()


@pytest.mark.parametrize("given", [Answer(reset=True), Answer(raw=half)], ids=["reset", "half an answer"])
async def test_a_connection_that_breaks_is_a_network_fault_that_may_pass(given: Answer) -> None:
    error = await fault(given)
    assert isinstance(error, TransientError)
    assert error.category is ErrorCategory.NETWORK_ERROR


async def test_something_that_speaks_no_http_is_an_api_error() -> None:
    error = await fault(Answer(raw=garbage))
    assert error.category is ErrorCategory.API_ERROR
    assert "SSH" not in str(error)


async def test_nobody_listening_is_a_network_fault_that_names_the_address() -> None:
    async with serving() as server:
        pass
    with pytest.raises(TransientError) as caught:
        await post(server)
    assert caught.value.category is ErrorCategory.NETWORK_ERROR
    assert f"127.0.0.1:{server.port}/v1" in str(caught.value)
    assert "ECONNREFUSED" in str(caught.value)


async def test_a_host_that_does_not_exist_is_named() -> None:
    transport = AiohttpTransport(timeout_s=5)
    with pytest.raises(ProviderError) as caught:
        await transport.post("http://no-such-host.invalid/v1", HEADERS, b"{}")
    await transport.aclose()
    assert caught.value.category is ErrorCategory.NETWORK_ERROR
    assert "no-such-host.invalid" in str(caught.value)


async def test_an_error_carries_no_chain_of_library_exceptions() -> None:
    error = await fault(Answer(reset=True))
    assert error.__cause__ is None
    assert error.__context__ is None


async def test_cancelling_ends_the_call_at_once_and_drops_the_connection() -> None:
    async with serving(Answer(hold=asyncio.Event())) as server:
        transport = AiohttpTransport()
        task = asyncio.create_task(transport.post(server.url, HEADERS, b"{}"))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await transport.aclose()


@pytest.mark.parametrize("closing", [True, False], ids=["closed each time", "left to its loop"])
@pytest.mark.filterwarnings("error")
def test_one_transport_lives_through_several_loops(closing: bool) -> None:
    transport = AiohttpTransport()

    async def once(url: str) -> bytes:
        replies = await asyncio.gather(*(transport.post(url, HEADERS, b"{}") for _ in range(3)))
        if closing:
            await transport.aclose()
        return replies[0].body

    with serving_elsewhere() as server:
        bodies = [json.loads(asyncio.run(once(server.url))) for _ in range(3)]
    gc.collect()
    assert bodies == [REPLY] * 3
    assert transport._others == {}


def test_loopback_is_never_reached_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    transport = AiohttpTransport()
    assert transport._look_up("http://127.0.0.1:8080/v1").proxy is None
    assert str(transport._look_up("http://10.0.0.7/v1").proxy) == "http://127.0.0.1:9"


def test_the_environments_exceptions_from_the_proxy_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    transport = AiohttpTransport()
    assert transport._look_up("https://inside.example/v1").proxy is None
    assert str(transport._look_up("https://api.example/v1").proxy) == "http://proxy.example:3128"


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(answer({"via": "proxy"})) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        transport = AiohttpTransport()
        reply = await transport.post("http://model.example/v1", HEADERS, b"{}")
        await transport.aclose()
    assert json.loads(reply.body) == {"via": "proxy"}
    assert proxy.requests[0].target == "http://model.example/v1"


def test_importing_providers_imports_neither_http_nor_prices() -> None:
    code = (
        "import sys, jurat.provider as p; p.make_provider('openai:gpt-x');"
        "print([m for m in ('aiohttp', 'genai_prices', 'ruamel', 'tenacity') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
