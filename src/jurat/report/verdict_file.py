"""The verdict file: one JSON object a line, in the order of the input, complete or cut short but never wrong.

Lines are appended and given to the operating system as verdicts are reached, so a process that dies loses none of
them; `sync` makes them safe against the machine's death too. A line that was half written is cut off when the file is
opened again. One process at a time writes to a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from jurat.errors import AuthoringError, Fault, StoreError
from jurat.jsontext import Json, JsonSyntaxError, parse_strict

__all__ = ["VerdictFile"]

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class VerdictFile:
    """A verdict file, opened for appending. Use as a context manager.

    Args:
        path: where it is.
        resume: keep what it holds, and go on after it. Otherwise what it held is gone.

    Raises:
        StoreError: when it cannot be opened, or another process writes to it.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
        self._lock()
        if not resume:
            os.ftruncate(self._descriptor, 0)
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

    def lines(self) -> Iterator[Mapping[str, Json]]:
        """What the file holds, line by line; afterwards it ends with the last whole line.

        Raises:
            AuthoringError: when a whole line is no verdict.
        """
        number = 0
        with os.fdopen(os.dup(self._descriptor), "rb") as stream:
            stream.seek(0)
            for line in stream:
                number += 1
                if not line.endswith(b"\n"):
                    break
                yield self._verdict(line, number)
                self._end += len(line)
        os.ftruncate(self._descriptor, self._end)

    def _verdict(self, line: bytes, number: int) -> Mapping[str, Json]:
        try:
            value = parse_strict(line.decode("utf-8"))
        except (UnicodeDecodeError, JsonSyntaxError):
            value = None
        if isinstance(value, dict) and {"row", "row_sha256", "status", "metadata", "evaluator"} <= value.keys():
            return value
        hint = "Choose another file with --out, or start anew with --overwrite"
        fault = Fault(path="line", file=str(self.path), line=number, expected="a verdict", found="none", hint=hint)
        raise AuthoringError("verdict file", [fault])

    def append(self, verdicts: Iterable[Mapping[str, Json]]) -> None:
        """Write verdicts, one a line.

        Raises:
            StoreError: when the disk is full or gone; what was written before stays whole.
        """
        data = "".join([_encode(verdict) + "\n" for verdict in verdicts]).encode()
        try:
            written = os.pwrite(self._descriptor, data, self._end)
            while written < len(data):
                written += os.pwrite(self._descriptor, data[written:], self._end + written)
        except OSError as error:
            os.ftruncate(self._descriptor, self._end)
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._end += len(data)

    def sync(self) -> None:
        """Come back when everything written is on the disk."""
        os.fsync(self._descriptor)

    def __enter__(self) -> VerdictFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.sync()
        finally:
            os.close(self._descriptor)
