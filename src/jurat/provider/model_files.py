"""The models directory: which models are here, whether their bytes are the pinned ones, and who may change them.

A model counts as installed only after its whole SHA-256 was compared. Hashing a gigabyte at every start would cost
seconds, so a small receipt beside the file notes size, modification time and hash of what was checked; a file that no
longer looks like its receipt is hashed again. Changes to a model's files happen under one lock a model, which the
operating system takes back from a killed process.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from jurat.errors import ModelError
from jurat.provider.model_table import ModelCorrupt, ModelEntry, ModelMissing, model_table, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO

__all__ = [
    "ModelBusy",
    "ModelFiles",
    "ModelState",
    "hash_file",
    "installed",
    "model_path",
    "model_state",
    "models_directory",
    "remove",
]

CHUNK_BYTES = 1 << 20


class ModelBusy(ModelError):
    """Another process is changing this model's files right now."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"model {name}: another process is fetching it. Wait for that one, or stop it, and try again")


class ModelState(StrEnum):
    """What the models directory holds of one model."""

    ABSENT = "absent"
    PARTIAL = "partial"
    DAMAGED = "damaged"
    INSTALLED = "installed"


def models_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Where models live: `$JURAT_MODELS_DIR`, else `jurat/models` in the user's cache directory of this platform."""
    env = os.environ if environ is None else environ
    if chosen := env.get("JURAT_MODELS_DIR"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        cache = Path(env.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cache = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "jurat" / "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """The paths of one model. `work` holds what a pull has not finished; it goes when the model is installed."""

    entry: ModelEntry
    directory: Path

    @classmethod
    def of(cls, entry: ModelEntry, directory: Path | None = None) -> ModelFiles:
        return cls(entry=entry, directory=directory or models_directory())

    @property
    def model(self) -> Path:
        return self.directory / self.entry.file_name

    @property
    def receipt(self) -> Path:
        return self.directory / f"{self.entry.file_name}.json"

    @property
    def bad(self) -> Path:
        return self.directory / f"{self.entry.file_name}.bad"

    @property
    def work(self) -> Path:
        return self.directory / ".pull" / self.entry.name

    @contextmanager
    def locked(self, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Hold the model's lock.

        With `waiting` it waits for another holder and calls `waiting` twice a second meanwhile; without, it raises
        ModelBusy.
        """
        path = self.directory / ".pull" / f"{self.entry.name}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as handle:
            while not _try_lock(handle):
                if waiting is None:
                    raise ModelBusy(self.entry.name)
                waiting()
                time.sleep(0.5)
            yield  # closing the file gives the lock back

    def verify(self, on_bytes: Callable[[int], None] | None = None) -> Path:
        """The model's file, known to be the pinned one: by its receipt, or else by hashing it now.

        Raises:
            ModelMissing: there is no file.
            ModelCorrupt: the file is another one.
        """
        try:
            stat = self.model.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise ModelMissing(self.entry.name, self.model) from None
        if self._receipt_matches(stat):
            return self.model
        found = _difference(self.model, stat.st_size, self.entry, on_bytes)
        if found is not None:
            raise ModelCorrupt(self.entry.name, self.model, expected=_pinned(self.entry), found=found)
        self.write_receipt()
        return self.model

    def write_receipt(self) -> None:
        """Note that the file as it is now was found to be the pinned one.

        A shared directory that is read-only goes without, and its models are hashed at each start.
        """
        stat = self.model.stat()
        receipt = {"sha256": self.entry.sha256, "bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
        fresh = self.receipt.with_name(f"{self.receipt.name}.{os.getpid()}")
        try:
            fresh.write_text(json.dumps(receipt), encoding="utf-8")
            fresh.replace(self.receipt)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise

    def _receipt_matches(self, stat: os.stat_result) -> bool:
        try:
            receipt = json.loads(self.receipt.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return bool(
            receipt == {"sha256": self.entry.sha256, "bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
            and stat.st_size == self.entry.bytes
        )


def model_path(name: str, directory: Path | None = None) -> Path:
    """The verified file of a model, by name or alias.

    Raises:
        ModelUnknown: no such name.
        ModelMissing: it is not here; the message says which command fetches it.
        ModelCorrupt: what is here is not the pinned file.
    """
    return ModelFiles.of(resolve(name), directory).verify()


def model_state(entry: ModelEntry, directory: Path | None = None) -> ModelState:
    """What is here of one model. Hashes the file if it has no receipt yet."""
    files = ModelFiles.of(entry, directory)
    try:
        files.verify()
    except ModelMissing:
        return ModelState.PARTIAL if any(files.work.glob("*")) else ModelState.ABSENT
    except ModelCorrupt:
        return ModelState.DAMAGED
    return ModelState.INSTALLED


def installed(directory: Path | None = None) -> tuple[ModelEntry, ...]:
    """The models that are here and verified, in the table's order."""
    return tuple(entry for entry in model_table() if model_state(entry, directory) is ModelState.INSTALLED)


def remove(name: str, directory: Path | None = None) -> int:
    """Delete a model, its receipt, and whatever an unfinished or failed pull left. Returns the bytes freed.

    Raises:
        ModelUnknown: no such name.
        ModelMissing: there was nothing to delete.
        ModelBusy: another process is fetching it.
    """
    files = ModelFiles.of(resolve(name), directory)
    if not files.directory.is_dir():
        raise ModelMissing(files.entry.name, files.model)
    with files.locked():
        doomed = [path for path in (files.model, files.receipt, files.bad) if path.exists()]
        leftovers = [path for path in files.work.glob("*") if path.is_file()]
        if not doomed and not leftovers:
            raise ModelMissing(files.entry.name, files.model)
        freed = sum(path.stat().st_size for path in doomed + leftovers)
        for path in doomed + leftovers:
            path.unlink()
        if files.work.is_dir():
            files.work.rmdir()
    return freed


def hash_file(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """SHA-256 of a file, in constant memory; `on_bytes` is told how many bytes are done."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as source:
        while chunk := source.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            if on_bytes is not None:
                on_bytes(done)
    return digest.hexdigest()


def _difference(path: Path, size: int, entry: ModelEntry, on_bytes: Callable[[int], None] | None) -> str | None:
    """What the file has instead of the pinned size or hash, or None when it is the pinned file."""
    if size != entry.bytes:
        return f"{size:,} bytes"
    digest = hash_file(path, on_bytes)
    return None if digest == entry.sha256 else f"SHA-256 {digest}"


def _pinned(entry: ModelEntry) -> str:
    return f"{entry.bytes:,} bytes with SHA-256 {entry.sha256}"


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: BinaryIO) -> bool:
        handle.seek(0)
        try:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: BinaryIO) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
