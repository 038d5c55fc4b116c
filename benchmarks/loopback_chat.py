"""A chat-completions server on loopback that costs next to nothing: what the other programs here measure against.

    python benchmarks/loopback_chat.py [--latency-ms 200] [--record FILE] [--faults]

It prints its port and serves until it is ended. Every request gets a valid `score/v1` answer with two quotes, which
stand to the letter in every row of `material.rows`; the score is picked by a checksum of the request, so that the same
request gets the same answer in every run. `GET /` says how many requests came and how many were in flight at most.

One process, one asyncio protocol, HTTP/1.1 with keep-alive read by hand (some 15 µs a request), so that the client
under test is the bottleneck and not the server. `--record` appends each request's body to a file, one a line. With
`--faults` 5 % of the answers are a 429, 1 % a broken connection and 1 % no valid verdict, by the dice of a fixed seed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import IO
from zlib import crc32

from material import QUOTES

SCORES = 101
USAGE = {"prompt_tokens": 640, "completion_tokens": 96, "total_tokens": 736}
REASON = "The answer names the capacity and the interval that the passage gives, and adds nothing that is not in it."


@dataclass
class Counts:
    """What happened so far."""

    requests: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    rate_limited: int = 0
    resets: int = 0
    malformed: int = 0


class Chat(asyncio.Protocol):
    """One connection: requests one after the other, each answered after the latency."""

    def __init__(self, counts: Counts, latency_s: float, record: IO[bytes] | None, dice: Random | None) -> None:
        self._counts, self._latency_s, self._record, self._dice = counts, latency_s, record, dice
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        while (taken := _whole_request(self._buffer)) is not None:
            start, end = taken
            body, is_post = self._buffer[start:end], self._buffer.startswith(b"POST")
            self._buffer = self._buffer[end:]
            if is_post:
                self._ask(body)
            else:
                self._send(_http(json.dumps(vars(self._counts)).encode()))

    def _ask(self, body: bytes) -> None:
        counts = self._counts
        counts.requests += 1
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        if self._record is not None:
            self._record.write(body + b"\n")
        answer = ANSWERS[crc32(body) % SCORES] if self._dice is None else self._thrown(body, self._dice.random())
        if self._latency_s:
            asyncio.get_running_loop().call_later(self._latency_s, self._answer, answer)
        else:
            self._answer(answer)

    def _thrown(self, body: bytes, dice: float) -> bytes:
        """The answer that the dice say; nothing for a connection that breaks."""
        counts = self._counts
        if dice < 0.05:
            counts.rate_limited += 1
            return LIMITED
        if dice < 0.06:
            counts.resets += 1
            return b""
        if dice < 0.07:
            counts.malformed += 1
            return MALFORMED
        return ANSWERS[crc32(body) % SCORES]

    def _answer(self, answer: bytes) -> None:
        self._counts.in_flight -= 1
        if answer:
            self._send(answer)
        elif self._transport is not None:
            self._transport.abort()

    def _send(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _whole_request(data: bytes) -> tuple[int, int] | None:
    """Where the first request's body starts and ends; None while it is not all there."""
    head = data.find(b"\r\n\r\n")
    if head < 0:
        return None
    place = data.lower().find(b"content-length:", 0, head)
    length = int(data[place + 15 : data.find(b"\r\n", place)]) if place >= 0 else 0
    end = head + 4 + length
    return (head + 4, end) if len(data) >= end else None


def _http(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}X-Request-Id: req-loopback\r\n\r\n".encode() + body


def _completion(score: int) -> bytes:
    return _said(json.dumps({"evidence": QUOTES, "reason": REASON, "score": score}))


def _said(text: str) -> bytes:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": "loopback-1"}
    return json.dumps({**reply, "choices": [choice], "usage": USAGE}).encode()


ANSWERS = [_http(_completion(score)) for score in range(SCORES)]
LIMITED = _http(b'{"error": {"message": "slow down", "type": "rate_limit_error"}}', "429 Too Many Requests")
MALFORMED = _http(_said("I would give it a 90."))


async def serve(latency_ms: float, record: Path | None, faults: bool) -> None:
    """Serve until the process is ended."""
    counts = Counts()
    stream = record.open("ab", buffering=0) if record is not None else None
    dice = Random(20260701) if faults else None  # noqa: S311  faults are no secret
    server = await asyncio.get_running_loop().create_server(
        lambda: Chat(counts, latency_ms / 1000.0, stream, dice), "127.0.0.1", 0, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server in a process of its own."""

    url: str

    def counts(self) -> Counts:
        """What it has been asked so far."""
        with urllib.request.urlopen(self.url.removesuffix("/v1"), timeout=30) as reply:
            return Counts(**json.load(reply))


@contextmanager
def running(latency_ms: float = 0.0, record: Path | None = None, *, faults: bool = False) -> Iterator[Running]:
    """Start a server, and end it afterwards."""
    command = [sys.executable, str(Path(__file__)), "--latency-ms", str(latency_ms)]
    if record is not None:
        command += ["--record", str(record)]
    if faults:
        command.append("--faults")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Running(url=f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Serve by the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency-ms", type=float, default=0.0, help="from a request to its answer (0)")
    parser.add_argument("--record", type=Path, help="append request bodies to this file")
    parser.add_argument("--faults", action="store_true", help="some answers are faults")
    given = parser.parse_args()
    try:
        asyncio.run(serve(given.latency_ms, given.record, given.faults))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
