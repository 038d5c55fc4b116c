"""Files that a command writes: each is one of its own, and a report is there whole or not at all.

Written over another file that the job needs, it would destroy it; half written, it would be taken for the whole.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from jurat.cli._stdout import own_descriptor
from jurat.errors import AuthoringError, Fault, StoreError

__all__ = ["refuse_shared_output", "refuse_unfit_files", "refuse_unwritable", "whole_file"]

_STREAM_NAMES = tuple(
    (f"/dev/{name}", f"/dev/fd/{number}", f"/proc/self/fd/{number}")
    for number, name in enumerate(("stdin", "stdout", "stderr"))
)
_STORE_SIDES = ("", "-wal", "-shm", "-journal")
_SOURCES = (".py", ".pyw", ".pyi", ".pyx", ".so", ".pyd")
"""How files are called that Python imports, whether it has done so already or will later."""


def refuse_shared_output(
    out: Path | None,
    others: Mapping[str, str | Path | None],
    *,
    option: str = "--out",
    command: str = "jurat judge",
) -> None:
    """Compare files, not names: a link or a `..` leads to the same one.

    Raises:
        AuthoringError: when `out` is one of the others, which are given by the words for them, a module of a program,
            or a standard stream.
    """
    if out is None:
        return

    def refused(words: str) -> AuthoringError:
        fault = Fault(path=option, file=str(out), expected="a file of its own", found=words)
        return AuthoringError(command, [fault])

    for words, other in others.items():
        if other is not None and any(_same(out, f"{other}{side}") for side in _STORE_SIDES):
            raise refused(words)
    if _is_module(out):
        raise refused("a Python module that is there already")
    for number, words in ((0, "the input"), (1, "standard output"), (2, "standard error")):
        if _is_stream(out, number):
            raise refused(words)


def refuse_unfit_files(
    files: Sequence[tuple[str, Path]], others: Mapping[str, str | Path | None], command: str
) -> None:
    """Have every file be one of its own, that can be written.

    Args:
        files: each with the option that names it.
        others: files that are needed, by the words for them.

    Raises:
        AuthoringError: at the first that is not.
    """
    taken = dict(others)
    for option, path in files:
        refuse_shared_output(path, taken, option=option, command=command)
        refuse_unwritable(path, command, option)
        taken[f"the file of another report, {path}"] = path


def _same(one: Path, other: str) -> bool:
    try:
        if one.exists() and Path(other).exists():
            return one.is_file() and one.samefile(other)
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def _is_module(out: Path) -> bool:
    """Whether a file is there that Python imports: by its name, or because it was imported.

    A person's module may import others when it is at work, so that nobody knows before which ones a run reads.
    """
    try:
        if not out.is_file():
            return False
        if os.path.realpath(out).lower().endswith(_SOURCES):
            return True
        found = out.stat()
    except (OSError, ValueError):
        return False
    files = {getattr(module, "__dict__", {}).get("__file__") for module in tuple(sys.modules.values())}
    return any(isinstance(file, str) and _is_of(file, found) for file in files)


def _is_of(file: str, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(file), found)  # noqa: PTH116  a thousand of them
    except (OSError, ValueError):
        return False


def _is_stream(out: Path, number: int) -> bool:
    """Whether a standard stream is redirected to, or from, this very file."""
    if str(out) in _STREAM_NAMES[number]:  # by now this name may lead elsewhere: see `keep_for_ourselves`
        return True
    try:
        return out.is_file() and os.path.samestat(out.stat(), os.fstat(own_descriptor(number)))
    except (OSError, ValueError):
        return False


# --- a file that is there whole or not at all ----------------------------------------------------------------------


def refuse_unwritable(path: Path, command: str, option: str = "--output") -> None:
    """Find out, before anything is spent, whether a file can be written there; its folder is made.

    Raises:
        AuthoringError: when it cannot.
    """
    found = _in_the_way(path)
    if found is not None:
        fault = Fault(path=option, file=str(path), expected="a file that can be written", found=found)
        raise AuthoringError(command, [fault])


def _in_the_way(path: Path) -> str | None:
    try:
        if "\0" in str(path):
            return "a name that no file can have"
        if path.is_dir():
            return "a directory"
        if path.exists() and not path.is_file():
            return "a device or a pipe"
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        return "a file where its folder should be"
    except OSError as error:
        return error.strerror or type(error).__name__
    return None if os.access(path.parent, os.W_OK) else "a folder in which nothing may be written"


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name when all is written and safe; until then what stood there stands.

    Raises:
        StoreError: when it cannot be written.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
    try:
        try:
            with beside.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(target)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}") from None
