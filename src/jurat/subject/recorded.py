"""Recorded answers of functions and servers: the same file as of providers (`jurat.provider.recording`), another head.

The task is prepared by the subject itself, which is not asked: a replay calls no function and no server. A task that
was not recorded is an error. A model that answers is recorded as the provider that it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jurat.evaluation.subject import Subject, SubjectReply, Task
from jurat.jsontext import Json, thaw
from jurat.provider.protocol import Call, Raw
from jurat.provider.recording import RecordingFile, no_recording, read_recording

__all__ = ["RecordingSubject", "ReplaySubject", "subject_head"]


def subject_head(subject: Subject) -> dict[str, Json]:
    """What the head of a recording tells of a subject: what of it changes its answers."""
    return {"subject": thaw(dict(subject.identity))}


class RecordingSubject:
    """Passes everything on to another subject, and writes its answers to a file. Failures are not recorded."""

    def __init__(self, inner: Subject, file: RecordingFile) -> None:
        self._inner, self._file = inner, file

    @property
    def name(self) -> str:
        """The inner subject's."""
        return self._inner.name

    @property
    def identity(self) -> Mapping[str, Json]:
        """The inner subject's."""
        return self._inner.identity

    def check(self) -> None:
        """As the inner subject does."""
        self._inner.check()

    def prepare(self, task: Task) -> Call:
        """As the inner subject does."""
        return self._inner.prepare(task)

    async def send(self, call: Call) -> Raw:
        """As the inner subject does; the answer is in the file before it is returned."""
        raw = await self._inner.send(call)
        self._file.add(call.key, raw)
        return raw

    def read(self, raw: Raw) -> SubjectReply:
        """As the inner subject does."""
        return self._inner.read(raw)

    async def aclose(self) -> None:
        """Close the inner subject."""
        await self._inner.aclose()


class ReplaySubject:
    """Answers from a recording in the place of another subject, whose identity it has.

    Args:
        inner: prepares and reads, and is never asked.
        path: the recording.

    Raises:
        AuthoringError: when the file is missing, or holds the answers of another subject.
    """

    def __init__(self, inner: Subject, path: Path) -> None:
        self._inner, self._recording = inner, read_recording(path)
        if not self._recording.is_of(subject_head(inner)):
            hint = "A function's source, or a server's address or mapping, is part of it. Record anew with --record"
            raise no_recording(path, 1, f"a recording of the subject {inner.name} as it is now", "another one", hint)

    @property
    def name(self) -> str:
        """The inner subject's."""
        return self._inner.name

    @property
    def identity(self) -> Mapping[str, Json]:
        """The inner subject's: the answers are its own."""
        return self._inner.identity

    def check(self) -> None:
        """A recording that was read needs nothing."""

    def prepare(self, task: Task) -> Call:
        """As the inner subject does."""
        return self._inner.prepare(task)

    async def send(self, call: Call) -> Raw:
        """The recorded answer.

        Raises:
            ProviderError: `invalid_request` for a task that was not recorded.
        """
        return self._recording.reply(call.key)

    def read(self, raw: Raw) -> SubjectReply:
        """As the inner subject does."""
        return self._inner.read(raw)

    async def aclose(self) -> None:
        """Close the inner subject, which opened nothing."""
        await self._inner.aclose()
