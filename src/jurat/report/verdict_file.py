"""The verdict file: one JSON object a line, in the order of the input, complete or cut short but never wrong.

Lines are appended and given to the operating system as verdicts are reached, so a process that dies loses none of
them; `sync` makes them safe against the machine's death too. A line that was half written is cut off when the file is
opened again. One process at a time writes to a file, and what a file held goes only when the writer says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO

import orjson

from jurat.errors import AuthoringError, Fault, StoreError
from jurat.jsontext import Json, JsonSyntaxError, parse_strict
from jurat.report.verdict_line import what_is_wrong

__all__ = ["VerdictFile"]

_LONGEST = 256 * 1024 * 1024
"""The most bytes that are read to find the end of a first line."""

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def _encoded(verdict: Mapping[str, Json]) -> bytes:
    """A verdict's line. A column that is passed through may hold a whole number that only the slower writer knows."""
    try:
        return orjson.dumps(verdict, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return (_encode(verdict) + "\n").encode()


class VerdictFile:
    """A verdict file, opened for appending. Use as a context manager.

    Args:
        path: where it is.

    Opening changes nothing: `lines` keeps what it holds and goes on after it, `clear` starts it anew.

    Raises:
        AuthoringError: when the path names something other than a file.
        StoreError: when it cannot be opened, or another process writes to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.exists() and not path.is_file():
                raise self._refused("a file", "a directory" if path.is_dir() else "a device or a pipe")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except (OSError, ValueError) as error:
            raise StoreError(f"{path}: cannot be written: {_words(error)}") from None
        self._lock()
        self._end = 0

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # no such locks on this system
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise StoreError(f"{self.path}: another process is writing to it; wait for it, or choose another") from None

    def clear(self) -> None:
        """Start anew: what the file held is gone. Call it when everything else is known to be fine.

        Raises:
            AuthoringError: when what it holds are no verdicts, so that nobody's work is lost by a slip.
        """
        with os.fdopen(os.dup(self._descriptor), "rb") as stream:
            stream.seek(0)
            first = stream.readline(_LONGEST)
        if first and not _starts_verdicts(first):
            raise self._refused("verdicts to start anew", "a file that holds something else")
        os.ftruncate(self._descriptor, 0)
        self._end = 0

    def _refused(self, expected: str, found: str) -> AuthoringError:
        hint = "Choose another file with --out"
        fault = Fault(path="--out", file=str(self.path), expected=expected, found=found, hint=hint)
        return AuthoringError("verdict file", [fault])

    def lines(self, score_range: tuple[float, float]) -> Iterator[Mapping[str, Json]]:
        """What the file holds, line by line; afterwards it ends with the last whole line.

        Args:
            score_range: within which every decided score lies.

        Raises:
            AuthoringError: when a whole line is no verdict, or says what no judge of this range can have said.
        """
        number = 0
        with os.fdopen(os.dup(self._descriptor), "rb") as stream:
            stream.seek(0)
            for line in stream:
                number += 1
                if not line.endswith(b"\n"):
                    break
                yield self._verdict(line, number, score_range)
                self._end += len(line)
        os.ftruncate(self._descriptor, self._end)

    def _verdict(self, line: bytes, number: int, score_range: tuple[float, float]) -> Mapping[str, Json]:
        try:
            value = parse_strict(line.decode("utf-8"))
        except (UnicodeDecodeError, JsonSyntaxError):
            value = None
        if isinstance(value, dict) and (wrong := what_is_wrong(value, score_range)) is None:
            return value
        path, expected = wrong if isinstance(value, dict) and wrong else ("line", "a verdict")
        hint = "Choose another file with --out, or start anew with --overwrite"
        found = "none" if path == "line" else "something else"
        fault = Fault(path=path, file=str(self.path), line=number, expected=expected, found=found, hint=hint)
        raise AuthoringError("verdict file", [fault])

    @property
    def end(self) -> int:
        """Where the next line goes; while `lines` is at a line, where that one begins."""
        return self._end

    def taken_from(self, start: int) -> IO[bytes]:
        """Take the lines from a place on out of the file, into a nameless one, which is returned.

        It is on the same disk where the folder may be written to, else where the system has room for such files.

        Raises:
            StoreError: when there is no room for it; the file is as it was then.
        """
        try:
            beside = self.path.parent if os.access(self.path.parent, os.W_OK) else None
            tail: IO[bytes] = tempfile.TemporaryFile(dir=beside)  # noqa: SIM115 (for whoever asked)
            with os.fdopen(os.dup(self._descriptor), "rb") as stream:
                stream.seek(start)
                shutil.copyfileobj(stream, tail)
            tail.flush()
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {_words(error)}") from None
        os.ftruncate(self._descriptor, start)
        self._end = start
        tail.seek(0)
        return tail

    def append(self, verdicts: Iterable[Mapping[str, Json]]) -> None:
        """Write verdicts, one a line.

        Raises:
            StoreError: when the disk is full or gone, or the file is no longer at its path; what was written before
                stays whole.
        """
        self.append_lines(b"".join(map(_encoded, verdicts)))

    def append_lines(self, data: bytes) -> None:
        """Write whole lines that stood in a verdict file. Raises what `append` does."""
        self._refuse_if_gone()
        try:
            written = os.pwrite(self._descriptor, data, self._end)
            while written < len(data):
                written += os.pwrite(self._descriptor, data[written:], self._end + written)
        except OSError as error:
            with contextlib.suppress(OSError):  # the first failure is the one to tell
                os.ftruncate(self._descriptor, self._end)
            raise StoreError(f"{self.path}: cannot be written: {_words(error)}") from None
        self._end += len(data)

    def _refuse_if_gone(self) -> None:
        """A file that was deleted, replaced or cut would take verdicts that nobody finds again."""
        ours = os.fstat(self._descriptor)
        try:
            there = self.path.stat()
        except OSError:
            raise StoreError(f"{self.path}: was deleted while verdicts were written to it") from None
        if not os.path.samestat(ours, there):
            raise StoreError(f"{self.path}: was replaced by another file while verdicts were written to it")
        if ours.st_size < self._end:
            raise StoreError(f"{self.path}: was cut short by another program while verdicts were written to it")

    def sync(self) -> None:
        """Come back when everything written is on the disk.

        Raises:
            StoreError: when it cannot be brought there.
        """
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {_words(error)}") from None

    def __enter__(self) -> VerdictFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.sync()
            if kind is None:
                self._refuse_if_gone()
        finally:
            os.close(self._descriptor)


def _starts_verdicts(first: bytes) -> bool:
    """Whether a file's first line is a verdict, of this version or another, or the beginning of one."""
    if not first.endswith(b"\n"):
        return first.startswith(b'{"row":') or b'{"row":'.startswith(first)
    try:
        value = parse_strict(first.decode("utf-8"))
    except (UnicodeDecodeError, JsonSyntaxError):
        return False
    return isinstance(value, dict) and {"row", "row_sha256", "status"} <= value.keys()


def _words(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "no such name can be"
