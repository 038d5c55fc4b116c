"""Standard output that may go away: its reader may close it, its disk may be full.

Verdicts are worth more than their display, so a job goes on when nobody reads along any more. Whoever closed a pipe
wanted no more; a disk that is full is told once, on standard error.

What people read is written in the encoding of their terminal, with escapes for what it cannot show. What programs read
is UTF-8 whatever the terminal's encoding, and its line ends are its own: an escape would be no JSON any more.
"""

from __future__ import annotations

import contextlib
import os
import sys

__all__ = [
    "coloured",
    "hold_standard_streams",
    "interrupted",
    "line",
    "say",
    "say_data",
    "say_json",
    "tell",
    "turned_away",
]

_failures: list[str] = []
_interruptions: list[str] = []


def coloured() -> bool:
    """Whether what is printed may have colours: on a terminal that knows them, and unless NO_COLOR is set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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
    _write(text)


def line(text: object) -> None:
    """As `say`, and a line break."""
    say(f"{text}\n")


def say_data(text: str | bytes) -> None:
    """As `say`, for what programs read: UTF-8 (bytes are that already), byte for byte."""
    _write(text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text)


def say_json(value: object) -> None:
    """A value as a JSON document."""
    import json

    say_data(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _write(content: str | bytes) -> None:
    try:
        if isinstance(content, str):
            sys.stdout.write(content)
        elif (raw := getattr(sys.stdout, "buffer", None)) is not None:
            sys.stdout.flush()
            raw.write(content)
        else:  # a stand-in that takes text alone
            sys.stdout.write(content.decode("utf-8"))
        sys.stdout.flush()
    except BrokenPipeError:
        _turn_away()
    except OSError as error:
        _turn_away()
        _failures.append(error.strerror or "it cannot be written")
        sys.stderr.write(f"standard output: {_failures[-1]}; nothing more is printed there\n")


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
