"""Getting one file over HTTP so that a bad line costs little: resumed, bounded, retried, and checked.

Bytes go to `<file>.partial` as they come, in constant memory; whoever comes back later asks for the rest by `Range`.
The file takes its own name only when its SHA-256 is the expected one. More bytes than were announced are refused.
"""

from __future__ import annotations

import http.client
import random
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from jurat.provider.model_files import CHUNK_BYTES, hash_file
from jurat.provider.model_http import DownloadError, Session, TryAgain, as_passing, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Downloader", "RemoteFile", "file_size"]

_T = TypeVar("_T")

_LONGEST_PAUSE_S = 60.0
_PAGE_BYTES = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file elsewhere. `sha256` and `bytes` are None where the index does not tell them."""

    url: str
    sha256: str | None = None
    bytes: int | None = None

    @property
    def file_name(self) -> str:
        """The last segment of the address, decoded. It is a stranger's word, and no path to write to."""
        return urllib.parse.unquote(self.url.partition("?")[0].partition("#")[0].rsplit("/", 1)[-1])


def _quiet(_: str) -> None:
    """Tell nobody."""


@dataclass(slots=True, kw_only=True)
class Downloader:
    """Fetches pages and files. One object serves one pull.

    Attributes:
        attempts: how many times in a row one file may fail without a byte of progress.
        pause: waits between attempts; tests pass their own.
        tell: is told why and how long it waits.
    """

    session: Session = field(default_factory=Session)
    attempts: int = 6
    pause: Callable[[float], None] = time.sleep
    tell: Callable[[str], None] = _quiet

    def page(self, url: str, accept: str) -> tuple[bytes, str, str]:
        """A small document: its bytes, its content type, and the address it finally came from.

        Raises:
            DownloadError: it could not be had, or is larger than 32 MiB.
        """

        def read() -> tuple[bytes, str, str]:
            with self.session.open(url, {"Accept": accept}) as response:
                return response.read(_PAGE_BYTES + 1), response.headers.get_content_type(), response.url

        body, kind, final = self._persist(url, read, lambda: 0)
        if len(body) > _PAGE_BYTES:
            raise DownloadError(f"{shown(url)} sent more than 32 MiB where a page was expected", "Check the address")
        return body, kind, final

    def probe(self, url: str) -> None:
        """Ask for a file without taking it. Raises DownloadError when it is not to be had."""
        self._persist(url, lambda: self.session.open(url, {"Range": "bytes=0-0"}).close(), lambda: 0)

    def file(self, remote: RemoteFile, target: Path, *, most: int, on_bytes: Callable[[int], None]) -> None:
        """Fetch a file to `target`, going on from `<target>.partial` if there is one.

        `most` bounds its bytes; `on_bytes` is told how many are there.

        Raises:
            DownloadError: it could not be had. What was received stays for the next time, unless it was wrong.
            OSError: it could not be written.
        """
        partial = target.with_name(f"{target.name}.partial")
        resumed = file_size(partial) > 0
        self._persist(remote.url, lambda: self._receive(remote, partial, most, on_bytes), lambda: file_size(partial))
        if remote.sha256 is not None and (found := hash_file(partial)) != remote.sha256:
            partial.unlink()
            if not resumed:
                raise DownloadError(
                    f"{shown(remote.url)} has SHA-256 {found}, expected {remote.sha256}",
                    "The index or a proxy on the way serves another file. Try again, or another index",
                )
            self.file(remote, target, most=most, on_bytes=on_bytes)  # what an earlier pull left was wrong: once anew
            return
        partial.replace(target)

    def _receive(self, remote: RemoteFile, partial: Path, most: int, on_bytes: Callable[[int], None]) -> None:
        """Append what is still missing; raises TryAgain when the line ends too early."""
        have = file_size(partial)
        if remote.bytes is not None and have == remote.bytes:
            return
        with self._open_from(remote.url, partial, have) as response:
            start = have if response.status == 206 else 0
            whole = _whole_size(response, start, remote, most)
            received = _copy(response, partial, start, most if whole is None else whole, on_bytes)
        if whole is not None and received < whole:
            raise TryAgain(f"the connection ended after {received:,} of {whole:,} bytes")

    def _open_from(self, url: str, partial: Path, have: int) -> http.client.HTTPResponse:
        """Ask for what is behind the first `have` bytes; a server may send everything instead (status 200)."""
        if have == 0:
            return self.session.open(url, {})
        try:
            response = self.session.open(url, {"Range": f"bytes={have}-"})
        except DownloadError as error:
            if error.status != 416:
                raise
            partial.unlink()
            raise TryAgain("the server has another file now", status=416) from None
        if response.status == 206 and _range_start(response) != have:
            response.close()
            partial.unlink()
            raise TryAgain("the server sent another range than was asked for")
        return response

    def _persist(self, url: str, step: Callable[[], _T], progress: Callable[[], int]) -> _T:
        """Do `step` until it succeeds or fails `attempts` times in a row without progress."""
        failures = 0
        while True:
            before = progress()
            try:
                return step()
            except (TryAgain, OSError, http.client.HTTPException, UnicodeError) as error:
                fault = as_passing(error, url)
            failures = 1 if progress() > before else failures + 1
            if failures >= self.attempts:
                hint = "Check the network, and run the same command again: it goes on from here"
                raise DownloadError(f"{shown(url)}: {fault.trouble}", hint, status=fault.status)
            backoff = 0.25 * 2.0**failures * random.uniform(0.75, 1.0)  # noqa: S311 (jitter)
            wait_s = min(_LONGEST_PAUSE_S, backoff if fault.pause_s is None else fault.pause_s)
            self.tell(f"{fault.trouble}; trying again in {wait_s:.0f} s")
            self.pause(wait_s)


def file_size(path: Path) -> int:
    """Bytes of a file, 0 when there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _copy(
    response: http.client.HTTPResponse, partial: Path, start: int, most: int, on_bytes: Callable[[int], None]
) -> int:
    """Write the body behind the first `start` bytes of `partial`. Returns its size then, at most `most`."""
    with partial.open("r+b" if start else "wb", buffering=0) as sink:  # unbuffered: a killed pull keeps what came
        sink.truncate(start)
        sink.seek(start)
        size = start
        while size < most and (chunk := response.read1(min(CHUNK_BYTES, most - size))):
            size += sink.write(chunk)
            on_bytes(size)
    return size


def _whole_size(response: http.client.HTTPResponse, start: int, remote: RemoteFile, most: int) -> int | None:
    """The whole file's size, by the index or else by the response, or None. Refuses a file that is not the one."""
    length = response.headers.get("Content-Length", "")
    announced = start + int(length) if length.isdecimal() else None
    expected = remote.bytes if remote.bytes is not None else announced
    if (expected is not None and expected > most) or (announced is not None and announced != expected):
        raise DownloadError(
            f"{shown(remote.url)} announces {announced or expected:,} bytes, expected {remote.bytes or most:,}",
            "It is another file than the pinned one. Take another source",
        )
    return expected


def _range_start(response: http.client.HTTPResponse) -> int | None:
    """Where the sent range begins, by `Content-Range: bytes START-END/SIZE`."""
    unit, _, rest = response.headers.get("Content-Range", "").partition(" ")
    start = rest.partition("-")[0]
    return int(start) if unit == "bytes" and start.isdecimal() else None
