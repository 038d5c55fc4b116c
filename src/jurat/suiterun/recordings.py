"""The recordings of one run: what it answers from, and what it leaves for the next.

Every provider has a file of its name in a folder (`judge.jsonl`); a function or a server that is the subject has
`subject.jsonl`. While a run goes on its recordings stand beside, as `judge.jsonl.part`, and take their names when the
run is complete: a run that is broken off leaves the old ones alone, and the one that resumes it goes on with the parts.

    replay      everybody answers from a folder: no key, no connection, no model
    record      everybody's replies are kept in a folder, for a replay
    live        providers of the kind `replay` are those again of which the recordings were made
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jurat.errors import AuthoringError, Fault, StoreError
from jurat.evaluation.subject import Subject
from jurat.jsontext import Json
from jurat.provider import Provider, RecordingProvider, ReplayProvider, make_provider
from jurat.provider.hosts import HostTrust
from jurat.provider.recording import RecordingFile, read_recording
from jurat.provider.replay import head_of
from jurat.subject.recorded import RecordingSubject, ReplaySubject, subject_head

__all__ = ["Recordings", "is_recording", "recording_path"]

_SUBJECT = "subject"
_PART = ".part"


_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-. ")
_LONGEST = 120
_DEVICES = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9])(?![^.])")


def recording_path(folder: Path, name: str) -> Path:
    """Where the recording of a provider of this name stands, on any system: no two names share a file.

    What no file may be called is written as `%3A`. So are capitals, which some disks do not tell from small letters,
    and the beginning of names that Windows keeps for devices. A long name is cut, with its hash behind it.
    """
    told = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in name.encode("utf-8", "surrogatepass"))
    if _DEVICES.match(told):
        told = f"%{ord(told[0]):02X}{told[1:]}"
    if len(told) > _LONGEST:
        told = f"{told[:_LONGEST]}-{hashlib.sha256(told.encode()).hexdigest()[:16]}"
    return folder / f"{told}.jsonl"


def is_recording(path: Path, folders: Iterable[str | None]) -> bool:
    """Whether a file of this name would be a recording, or part of one, in one of these folders."""
    place = Path(os.path.realpath(path))
    if place.suffix not in (".jsonl", _PART):
        return False
    return any(folder is not None and place.parent == Path(os.path.realpath(folder)) for folder in folders)


@dataclass(slots=True)
class _Tape:
    file: RecordingFile
    path: Path


class Recordings:
    """Puts recordings in the place of who answers, or behind them.

    Args:
        record, replay: folders, or None.
        live: whether recorded providers are asked again.
        adds: whether what is recorded comes beside what the folder holds; otherwise it takes its place.
        base: where the functions are that a recorded provider asks.

    Attributes:
        trust: the hosts at which recorded providers may be asked again, as far as a suite may name them; None: any. A
            recording comes from wherever the suite comes from.
    """

    def __init__(
        self,
        *,
        record: str | None = None,
        replay: str | None = None,
        live: bool = False,
        adds: bool = False,
        base: Path | None = None,
    ) -> None:
        self._record = None if record is None else Path(record)
        self._replay = None if replay is None else Path(replay)
        self._live, self._adds, self._base = live, adds, base
        self._tapes: list[_Tape] = []
        self.trust: HostTrust | None = None

    # --- who answers -----------------------------------------------------------------------------------------------

    def provider(self, name: str, make: Callable[[], Provider]) -> Provider:
        """The provider of this name, as this run has it; `make` makes the one that the suite means.

        Raises:
            AuthoringError: when there is no recording to answer from, or none can be made.
        """
        if self._replay is not None:
            return ReplayProvider(recording_path(self._replay, name), name=name)
        provider = make()
        if self._live and isinstance(provider, ReplayProvider):
            provider = self._again(name, provider)
        if self._record is None:
            return provider
        if provider.settings.replays:
            hint = "With --live the provider that was recorded is asked again"
            raise _refused(f"for --record, a provider that can be asked as {name}", "a recording", hint)
        return RecordingProvider(provider, self._tape(name, head_of(provider.settings)))

    def _again(self, name: str, replay: ReplayProvider) -> Provider:
        row = replay.live_row
        if row["kind"] == "scripted":
            hint = "Say who shall be asked: --provider NAME=KIND:MODEL"
            raise _refused(f"for --live, a provider that can be asked as {name}", "the recording of a script", hint)
        return make_provider({**row, "name": name}, base_dir=self._base, trust=self.trust)

    def subject(self, subject: Subject) -> Subject:
        """A subject that is no provider, as this run has it.

        Raises:
            AuthoringError: as `provider`.
        """
        if self._replay is not None:
            return ReplaySubject(subject, recording_path(self._replay, _SUBJECT))
        if self._record is None:
            return subject
        return RecordingSubject(subject, self._tape(_SUBJECT, subject_head(subject)))

    def _tape(self, name: str, head: Mapping[str, Json]) -> RecordingFile:
        assert self._record is not None  # noqa: S101 (who calls has looked)
        path = recording_path(self._record, name)
        if any(tape.path == path for tape in self._tapes):
            raise _refused("for --record, a name of its own for everybody who is recorded", f"{name} twice")
        if not _writable(self._record):
            raise _refused("for --record, a folder that can be written", str(self._record))
        if self._adds and path.exists() and not read_recording(path).is_of(head):
            hint = "Record all cases, without --filter, or into another folder"
            raise _refused(f"for --record, a recording of the same {name} in {path}, to add to", "another", hint)
        file = RecordingFile(path.with_name(path.name + _PART), head)
        self._tapes.append(_Tape(file, path))
        return file

    # --- what is kept ----------------------------------------------------------------------------------------------

    def begin(self, *, resumed: bool) -> None:
        """Make the files, or go on with those that an earlier process began.

        Raises:
            StoreError: when they cannot be written.
        """
        for tape in self._tapes:
            with _told(tape.path):
                if not resumed:
                    tape.file.path.unlink(missing_ok=True)
                # A run that is resumed without a part has given it its name already.
                if (resumed or self._adds) and not tape.file.path.exists() and tape.path.exists():
                    shutil.copyfile(tape.path, tape.file.path)
                tape.file.begin()

    def keep(self) -> None:
        """Give the files their names: the run is complete.

        Raises:
            StoreError: when a reply or a file could not be written. The parts stay.
        """
        for tape in self._tapes:
            tape.file.check()
        for tape in self._tapes:
            with _told(tape.path):
                tape.file.path.replace(tape.path)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"the recording {path} cannot be written: {error.strerror or type(error).__name__}") from None


def _writable(folder: Path) -> bool:
    """Whether a file could be made in a folder, which need not exist."""
    there = next((place for place in (folder, *folder.absolute().parents) if place.exists()), folder)
    return there.is_dir() and os.access(there, os.W_OK)


def _refused(expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("recordings", [Fault(path="", expected=expected, found=found, hint=hint)])
