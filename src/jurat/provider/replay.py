"""Recorded replies: a provider that asks nobody, and the recorder that makes its file.

A recording is JSONL. The first line tells whose replies they are (name, kind, model, endpoint, capabilities: what
decides the bytes of a request, and so its key); each further line is one reply under the key of its call. A request
that was not recorded is an error, never a guess, and never a call to the real model.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from jurat.errors import AuthoringError, ErrorCategory, Fault, ProviderError
from jurat.provider.dialects import dialect_for
from jurat.provider.encoder import FrameEncoder
from jurat.provider.errors_from_http import Destination
from jurat.provider.protocol import Call, Capabilities, ModelRequest, Provider, ProviderSettings, Raw, Reply

__all__ = ["RecordingProvider", "ReplayProvider"]

_VERSION = 1


class ReplayProvider:
    """Answers from a recording.

    Args:
        path: the recording.
        name: how suites call it; by default the recorded provider's name.

    Raises:
        AuthoringError: when the file is missing, or no recording.
    """

    def __init__(self, path: str | Path, *, name: str | None = None) -> None:
        self._path = Path(path)
        recorded, self._replies = _load(self._path)
        self._settings = replace(recorded, kind="replay", name=name or recorded.name, api_key_env=None)
        dialect = dialect_for(recorded)
        self._encoder, self._read = FrameEncoder(recorded, dialect), dialect.read
        self._to = Destination(where="the recording", model=recorded.model, key_variable=None)

    @property
    def settings(self) -> ProviderSettings:
        """The recorded provider's settings, of the kind `replay`."""
        return self._settings

    def prepare(self, request: ModelRequest) -> Call:
        """The bytes and the key that the recorded provider would have made."""
        return self._encoder.call(request)

    async def send(self, call: Call) -> Raw:
        """The recorded reply.

        Raises:
            ProviderError: `invalid_request` for a request that was not recorded.
        """
        raw = self._replies.get(call.key)
        if raw is None:
            raise ProviderError(
                ErrorCategory.INVALID_REQUEST,
                f"{self._path.name} holds no reply to this request ({call.key[:12]}…): prompt, rubric, evidence or "
                "settings are not those of the recording. Record it again, or restore them",
                attempts=0,
            )
        return raw

    def read(self, raw: Raw) -> Reply:
        """What the recorded bytes say."""
        return self._read(raw.body, self._to)

    def check(self) -> None:
        """A recording that was read needs nothing."""

    async def aclose(self) -> None:
        """Nothing is open."""


class RecordingProvider:
    """Passes everything on to another provider, and writes its replies to a file that `ReplayProvider` reads.

    Args:
        inner: the provider that answers.
        path: the file; a recording of the same provider is continued.
    """

    def __init__(self, inner: Provider, path: str | Path) -> None:
        self._inner, self._path = inner, Path(path)
        if not self._path.exists() or not self._path.stat().st_size:
            _append(self._path, {"jurat_recording": _VERSION, "provider": _told(inner.settings)})

    @property
    def settings(self) -> ProviderSettings:
        """The inner provider's settings."""
        return self._inner.settings

    def prepare(self, request: ModelRequest) -> Call:
        """As the inner provider does."""
        return self._inner.prepare(request)

    async def send(self, call: Call) -> Raw:
        """As the inner provider does; the reply is in the file before it is returned. Failures are not recorded."""
        raw = await self._inner.send(call)
        _append(self._path, {"key": call.key, **_body(raw.body), "latency_ms": raw.latency_ms})
        return raw

    def read(self, raw: Raw) -> Reply:
        """As the inner provider does."""
        return self._inner.read(raw)

    def check(self) -> None:
        """As the inner provider does."""
        self._inner.check()

    async def aclose(self) -> None:
        """Close the inner provider."""
        await self._inner.aclose()


def _told(settings: ProviderSettings) -> dict[str, Any]:
    told = {name: getattr(settings, name) for name in ("name", "kind", "model", "endpoint", "api", "default_strategy")}
    prices = dict(settings.prices) if settings.prices is not None else None
    return {**told, "capabilities": asdict(settings.capabilities), "prices": prices, "extra": dict(settings.extra)}


def _body(body: bytes) -> dict[str, str]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def _append(path: Path, value: Mapping[str, Any]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, json.dumps(value, ensure_ascii=False).encode() + b"\n")
    finally:
        os.close(handle)


def _load(path: Path) -> tuple[ProviderSettings, dict[str, Raw]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise _no_recording(path, None, "a readable recording", error.strerror or type(error).__name__) from None
    settings = _settings(_object(path, 1, lines[0]), path)
    replies: dict[str, Raw] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            key, raw = _reply(_object(path, number, line), path, number)
            replies[key] = raw
    return settings, replies


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _no_recording(path, number, "one JSON object a line", "a line that is none")
    return value


def _settings(header: dict[str, Any], path: Path) -> ProviderSettings:
    told = header.get("provider")
    if header.get("jurat_recording") != _VERSION or not isinstance(told, dict):
        raise _no_recording(path, 1, f"the head of a recording (jurat_recording: {_VERSION})", "something else")
    try:
        able = told["capabilities"]
        refused = tuple(able["schema_keywords_refused"])
        capabilities = Capabilities(**{**able, "schema_keywords_refused": refused})
        return ProviderSettings(**{**told, "capabilities": capabilities})
    except (KeyError, TypeError):
        raise _no_recording(path, 1, "the settings of a provider", "others than this version knows") from None


def _reply(entry: dict[str, Any], path: Path, number: int) -> tuple[str, Raw]:
    key, latency = entry.get("key"), entry.get("latency_ms", 0.0)
    text, packed = entry.get("body"), entry.get("body_base64")
    try:
        body = text.encode() if isinstance(text, str) else base64.b64decode(packed or "", validate=True)
    except (ValueError, TypeError):
        body = b""
    if not isinstance(key, str) or not body or not isinstance(latency, int | float):
        raise _no_recording(path, number, "key, body (or body_base64) and latency_ms", "others")
    return key, Raw(body=body, latency_ms=float(latency))


def _no_recording(path: Path, line: int | None, expected: str, found: str) -> AuthoringError:
    return AuthoringError("recording", [Fault(path="file", expected=expected, found=found, file=str(path), line=line)])
