"""A real HTTP server on loopback that says what a test wants, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from jurat.provider.retry import Timing

REPLY: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "model-2026-05-01",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer: status, headers, body; or something that breaks off, or a whole procedure."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    body: bytes = field(default_factory=lambda: json.dumps(REPLY).encode())
    reset: bool = False
    raw: Callable[[asyncio.StreamWriter], Awaitable[None]] | None = None
    hold: asyncio.Event | None = None


def answer(value: object, status: int = 200, **headers: str) -> Answer:
    """A JSON answer; header names are given with underscores."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status=status, headers={"Content-Type": "application/json", **named}, body=json.dumps(value).encode())


@dataclass
class Request:
    """What the server was asked."""

    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """Gives its answers in turn, the last one for ever. Counts connections and requests in flight."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers = answers
        self.requests: list[Request] = []
        self.connections = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.port = 0
        self.asked = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        given = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(Request(first.split(" ")[1], headers, body))
        self.asked.set()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if given.hold is not None:
                await given.hold.wait()
            await asyncio.sleep(0)
            return await self._give(given, writer)
        finally:
            self.in_flight -= 1

    async def _give(self, given: Answer, writer: asyncio.StreamWriter) -> bool:
        if given.reset:
            writer.transport.abort()
            return False
        if given.raw is not None:
            await given.raw(writer)
            return False
        headers = {"Content-Length": str(len(given.body)), **given.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {given.status} Status\r\n{lines}\r\n".encode("latin-1") + given.body)
        await writer.drain()
        return True

    def close_connections(self) -> None:
        for writer in list(self._writers):
            writer.close()


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[Server]:
    """A server in the running loop."""
    server = Server(list(answers) or [Answer()])
    listening = await server.start()
    try:
        yield server
    finally:
        listening.close()
        server.close_connections()
        await asyncio.sleep(0)


@contextmanager
def serving_elsewhere(*answers: Answer) -> Iterator[Server]:
    """A server with a loop and a thread of its own, for tests that start and end loops."""
    server = Server(list(answers) or [Answer()])
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def run(stop: asyncio.Event) -> None:
        listening = await server.start()
        ready.set()
        await stop.wait()
        listening.close()
        server.close_connections()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()  # answers that are held for ever
        await asyncio.sleep(0.01)

    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(run(stop)))
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


class FakeTime:
    """Time that passes only by waiting, and chance that is a fixed number. Records every wait."""

    def __init__(self, *, chance: float = 0.0, wall: float = 0.0) -> None:
        self.now, self.start, self.chance = 1000.0, wall, chance
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    @property
    def timing(self) -> Timing:
        return Timing(
            sleep=self.sleep,
            monotonic=lambda: self.now,
            wall=lambda: self.start + self.now - 1000.0,
            random=lambda: self.chance,
        )
