"""Standard output that may go away: its reader may close it, its disk may be full.

Verdicts are worth more than their display, so a job goes on when nobody reads along any more. Whoever closed a pipe
wanted no more; a disk that is full is told once, on standard error.
"""

from __future__ import annotations

import contextlib
import os
import sys

__all__ = ["hold_standard_streams", "interrupted", "line", "say", "tell", "turned_away"]

_failures: list[str] = []
_interruptions: list[str] = []


def hold_standard_streams() -> None:
    """Give closed standard streams somewhere to go, lest the next file that is opened takes their number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def say(text: str = "") -> None:
    """Write text to standard output now. Once that has failed, this does nothing; it never raises for it."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _turn_away()
    except OSError as error:
        _turn_away()
        _failures.append(error.strerror or "it cannot be written")
        sys.stderr.write(f"standard output: {_failures[-1]}; nothing more is printed there\n")


def line(text: object) -> None:
    """As `say`, and a line break."""
    say(f"{text}\n")


def tell(text: str) -> None:
    """Write a line to standard error. Where nobody reads it, it is lost: it never raises."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def interrupted(words: str = "interrupted") -> None:
    """Tell on standard error that the program was interrupted: once, by whoever knows most about it."""
    if not _interruptions:
        _interruptions.append(words)
        tell(words)


def turned_away() -> bool:
    """Whether standard output failed for another reason than that its reader had enough."""
    return bool(_failures)


def _turn_away() -> None:
    """What is still held back goes nowhere; otherwise the interpreter would complain once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
