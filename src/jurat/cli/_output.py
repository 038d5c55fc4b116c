"""The verdict file must be a file of its own: written over another one that a job needs, it would destroy it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from jurat.errors import AuthoringError, Fault

__all__ = ["refuse_shared_output"]

_STORE_SIDES = ("", "-wal", "-shm", "-journal")


def refuse_shared_output(out: Path | None, others: Mapping[str, str | Path | None]) -> None:
    """Compare files, not names: a link or a `..` leads to the same one.

    Raises:
        AuthoringError: when `out` is one of the others, which are given by the words for them, or a standard stream.
    """
    if out is None:
        return
    for words, other in others.items():
        if other is not None and any(_same(out, f"{other}{side}") for side in _STORE_SIDES):
            raise _refused(out, words)
    for number, words in ((0, "the input"), (1, "standard output"), (2, "standard error")):
        if _is_stream(out, number):
            raise _refused(out, words)


def _refused(out: Path, words: str) -> AuthoringError:
    fault = Fault(path="--out", file=str(out), expected="a file of its own", found=words)
    return AuthoringError("jurat judge", [fault])


def _same(one: Path, other: str) -> bool:
    try:
        if one.exists() and Path(other).exists():
            return one.is_file() and one.samefile(other)
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def _is_stream(out: Path, number: int) -> bool:
    """Whether a standard stream is redirected to, or from, this very file."""
    try:
        return out.is_file() and os.path.samestat(out.stat(), os.fstat(number))
    except (OSError, ValueError):
        return False
