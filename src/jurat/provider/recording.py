"""The file of a recording: whose replies they are, and each reply under the key of its call.

A recording is JSONL. The first line, its head, tells who answered; each further line is one reply. It is written line
by line as replies arrive, and read as a whole. Where a key stands twice, the later reply counts.

A line that cannot be written costs nobody the reply: it is remembered, and whoever made the file asks in the end.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurat.errors import AuthoringError, ErrorCategory, Fault, ProviderError, StoreError
from jurat.jsontext import Json
from jurat.provider.protocol import Raw
from jurat.regularfiles import read_regular

__all__ = ["Recording", "RecordingFile", "no_recording", "read_recording"]

_LONGEST_MS = 1e12
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recording that was read.

    Attributes:
        path: the file.
        head: what its first line tells, beside the version.
        replies: by the key of the call.
    """

    path: Path
    head: Mapping[str, Any]
    replies: Mapping[str, Raw]

    def is_of(self, head: Mapping[str, Json]) -> bool:
        """Whether it has this very head."""
        return bool(self.head == json.loads(json.dumps(head)))

    def reply(self, key: str) -> Raw:
        """The reply to a call.

        Raises:
            ProviderError: `invalid_request` for a call that was not recorded.
        """
        raw = self.replies.get(key)
        if raw is None:
            raise ProviderError(
                ErrorCategory.INVALID_REQUEST,
                f"{self.path.name} holds no reply to this request ({key[:12]}…): prompt, rubric, evidence or settings "
                "are not those of the recording. Restore them, or record anew: jurat run SUITE --live --record FOLDER",
                attempts=0,
            )
        return raw


class RecordingFile:
    """A recording that is being written.

    Args:
        path: the file.
        head: what its first line tells.
    """

    def __init__(self, path: Path, head: Mapping[str, Json]) -> None:
        self.path, self.head = path, head
        self._fault: OSError | None = None

    def begin(self) -> None:
        """Make the file, or go on with the one that is there: a line that was cut off in writing is taken away.

        Raises:
            OSError: when it cannot be written.
        """
        if self.path.exists() and (whole := _whole_lines(self.path)):
            os.truncate(self.path, whole)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(_line({"jurat_recording": _VERSION, **self.head}))

    def add(self, key: str, raw: Raw) -> None:
        """Write one reply. Raises nothing: `check` does."""
        if self._fault is None:
            try:
                _append(self.path, _line({"key": key, **_body(raw.body), "latency_ms": raw.latency_ms}))
            except OSError as error:
                self._fault = error

    def check(self) -> None:
        """See that every reply so far is in the file.

        Raises:
            StoreError: when one could not be written.
        """
        if self._fault is not None:
            found = self._fault.strerror or type(self._fault).__name__
            raise StoreError(f"the recording {self.path} could not be written: {found}")


def _whole_lines(path: Path) -> int:
    """The length of a file up to its last line end."""
    return read_regular(path).rfind(b"\n") + 1


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _body(body: bytes) -> dict[str, str]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def _append(path: Path, line: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        while line:
            line = line[os.write(handle, line) :]
    finally:
        os.close(handle)


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Raises:
        AuthoringError: when the file is missing, or no recording, with the line.
    """
    try:
        lines = read_regular(path).split(b"\n")
    except OSError as error:
        hint = "jurat run SUITE --record FOLDER makes one; with --provider NAME=KIND:MODEL where none is there yet"
        raise no_recording(path, None, "a readable recording", error.strerror or type(error).__name__, hint) from None
    head = _object(path, 1, lines[0])
    if head.pop("jurat_recording", None) != _VERSION:
        raise no_recording(path, 1, f"the head of a recording (jurat_recording: {_VERSION})", "something else")
    numbered = [(number, line) for number, line in enumerate(lines[1:], 2) if line.strip()]
    replies = dict(_reply(_object(path, number, line), path, number) for number, line in numbered)
    return Recording(path=path, head=head, replies=replies)


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise no_recording(path, number, "one JSON object a line", "a line that is none")
    return value


def _reply(entry: dict[str, Any], path: Path, number: int) -> tuple[str, Raw]:
    key, latency = entry.get("key"), entry.get("latency_ms", 0.0)
    text, packed = entry.get("body"), entry.get("body_base64")
    try:
        body = text.encode() if isinstance(text, str) else base64.b64decode(packed or "", validate=True)
    except (ValueError, TypeError):
        body = b""
    if not isinstance(key, str) or not body or type(latency) not in (int, float) or not 0 <= latency < _LONGEST_MS:
        raise no_recording(path, number, "key, body (or body_base64) and latency_ms", "others")
    return key, Raw(body=body, latency_ms=float(latency))


def no_recording(path: Path, line: int | None, expected: str, found: str, hint: str | None = None) -> AuthoringError:
    """What is wrong with the file of a recording, with its place."""
    fault = Fault(path="file", expected=expected, found=found, hint=hint, file=str(path), line=line)
    return AuthoringError("recording", [fault])
