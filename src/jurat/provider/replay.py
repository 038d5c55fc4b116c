"""Recorded replies: a provider that asks nobody, and the recorder that makes its file.

The head of the recording (`jurat.provider.recording`) tells the settings of the provider whose replies they are: name,
kind, model, endpoint, capabilities, whatever decides the bytes of a request and so its key. A request that was not
recorded is an error, never a guess, and never a call to the real model.

A replay gives a verdict only where its request is, to the byte, the one that was recorded. So it has the identity of
the recorded provider, and the judge that asks it has that of the recorded judge. Its kind is `replay`, and it costs
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from jurat.jsontext import Json, thaw
from jurat.provider.capabilities import capabilities_for
from jurat.provider.dialects import dialect_for
from jurat.provider.encoder import FrameEncoder
from jurat.provider.errors_from_http import Destination
from jurat.provider.local_wire import LocalEncoder, read_local
from jurat.provider.protocol import Call, Capabilities, ModelRequest, Provider, ProviderSettings, Raw, Reply
from jurat.provider.recording import RecordingFile, no_recording, read_recording

__all__ = ["RecordingProvider", "ReplayProvider", "head_of"]

_TOLD = ("name", "kind", "model", "endpoint", "api", "api_key_env", "default_strategy", "wants_examples")


class ReplayProvider:
    """Answers from a recording.

    Args:
        path: the recording.
        name: how suites call it; by default the recorded provider's name.

    Raises:
        AuthoringError: when the file is missing, or no recording.
    """

    def __init__(self, path: str | Path, *, name: str | None = None) -> None:
        self._recording = read_recording(Path(path))
        self._recorded = recorded = _settings(self._recording.head, self._recording.path)
        self._settings = replace(
            recorded,
            kind="replay",
            name=name or recorded.name,
            api_key_env=None,
            api_key_keyring=None,
            replays=recorded.kind,
        )
        local = recorded.kind == "local"
        dialect = dialect_for(recorded)
        self._encoder = LocalEncoder(recorded) if local else FrameEncoder(recorded, dialect)
        self._read = read_local if local else dialect.read
        self._to = Destination(where="the recording", model=recorded.model, key_variable=None)

    @property
    def settings(self) -> ProviderSettings:
        """The recorded provider's settings, of the kind `replay`."""
        return self._settings

    @property
    def path(self) -> Path:
        """The recording."""
        return self._recording.path

    @property
    def live_row(self) -> dict[str, Json]:
        """The provider that was recorded, as a row for `make_provider`. Its key is looked for where it was then."""
        recorded = self._recorded
        usual = asdict(capabilities_for(recorded.kind, recorded.model))
        able = {name: value for name, value in asdict(recorded.capabilities).items() if value != usual[name]}
        given: dict[str, Any] = {
            "base_url": recorded.endpoint or None,
            "api": recorded.api or None,
            "api_key_env": None if recorded.api_key_keyring else recorded.api_key_env,
            "api_key_keyring": recorded.api_key_keyring,
            "prices": None if recorded.prices is None else dict(recorded.prices),
            "extra": thaw(recorded.extra) or None,
            "capabilities": able or None,
        }
        if recorded.kind == "python":
            given["function"] = recorded.model
        told = {name: value for name, value in given.items() if value is not None}
        return {"name": self._settings.name, "kind": recorded.kind, "model": recorded.model, **told}

    def prepare(self, request: ModelRequest) -> Call:
        """The bytes and the key that the recorded provider would have made."""
        return self._encoder.call(request)

    async def send(self, call: Call) -> Raw:
        """The recorded reply.

        Raises:
            ProviderError: `invalid_request` for a request that was not recorded.
        """
        return self._recording.reply(call.key)

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
        file: where to; a recording of the same provider is continued. A RecordingFile belongs to whoever made it.
    """

    def __init__(self, inner: Provider, file: str | Path | RecordingFile) -> None:
        self._inner, self._owns = inner, not isinstance(file, RecordingFile)
        self._file = file if isinstance(file, RecordingFile) else RecordingFile(Path(file), head_of(inner.settings))
        if self._owns:
            self._file.begin()

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
        self._file.add(call.key, raw)
        return raw

    def read(self, raw: Raw) -> Reply:
        """As the inner provider does."""
        return self._inner.read(raw)

    def check(self) -> None:
        """As the inner provider does."""
        self._inner.check()

    async def aclose(self) -> None:
        """Close the inner provider.

        Raises:
            StoreError: when a reply could not be written to a file of its own.
        """
        await self._inner.aclose()
        if self._owns:
            self._file.check()


def head_of(settings: ProviderSettings) -> dict[str, Json]:
    """What the head of a recording tells of a provider. Of a replay, it tells who was recorded."""
    told: dict[str, Any] = {name: getattr(settings, name) for name in _TOLD}
    told["kind"] = settings.replays or settings.kind
    told["capabilities"] = asdict(settings.capabilities)
    told["prices"] = None if settings.prices is None else dict(settings.prices)
    if settings.api_key_keyring:
        told["api_key_keyring"] = settings.api_key_keyring
    return {"provider": {**told, "extra": thaw(settings.extra)}}


def _settings(head: Mapping[str, Any], path: Path) -> ProviderSettings:
    told = head.get("provider")
    if not isinstance(told, dict):
        raise no_recording(path, 1, "the head of a provider's recording", "another head")
    known = {one.name for one in fields(ProviderSettings)} - {"replays"}
    try:
        able = told["capabilities"]
        refused = tuple(able["schema_keywords_refused"])
        capabilities = Capabilities(**{**able, "schema_keywords_refused": refused})
        if not set(told) <= known:
            raise TypeError
        return ProviderSettings(**{**told, "capabilities": capabilities})
    except (KeyError, TypeError):
        raise no_recording(path, 1, "the settings of a provider", "others than this version knows") from None
