"""Standard output that may go away: its reader may close it, its disk may be full.

Verdicts are worth more than their display, so a job goes on when nobody reads along any more. Whoever closed a pipe
wanted no more; a disk that is full is told once, on standard error.

What people read is written in the encoding of their terminal, with escapes for what it cannot show. What programs read
is UTF-8 whatever the terminal's encoding, and its line ends are its own: an escape would be no JSON any more.

Other people's code runs in this process too, and prints. From `keep_for_ourselves` on, standard output is the program's
own, by way of a descriptor that nobody else knows; whatever else is printed, in whatever way, goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

__all__ = [
    "coloured",
    "columns",
    "hold_standard_streams",
    "interrupted",
    "keep_for_ourselves",
    "line",
    "mend_standard_streams",
    "own_descriptor",
    "own_errors",
    "own_output",
    "say",
    "say_data",
    "say_json",
    "tell",
    "turned_away",
]

_failures: list[str] = []
_interruptions: list[str] = []
_held: list[bool] = []
_own: dict[int, TextIO] = {}


def own_output() -> TextIO:
    """The stream that is the program's standard output, whatever others have done to `sys.stdout`."""
    return _own.get(1, sys.stdout)


def own_errors() -> TextIO:
    """The same for standard error."""
    return _own.get(2, sys.stderr)


def own_descriptor(number: int) -> int:
    """The descriptor of the standard stream that has this number."""
    return _own[number].fileno() if number in _own else number


def coloured() -> bool:
    """Whether what is printed may have colours: on a terminal that knows them, and unless NO_COLOR is set."""
    return own_output().isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns(usual: int) -> int:
    """How wide standard output is, by COLUMNS or its terminal; `usual` where there is neither."""
    with contextlib.suppress(ValueError):
        if (given := int(os.environ.get("COLUMNS", "0"))) > 0:
            return given
    try:
        return os.get_terminal_size(own_output().fileno()).columns or usual
    except (AttributeError, OSError, ValueError):
        return usual


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
    _held.append(True)


def keep_for_ourselves() -> None:
    """From now on, let what others print in this process go to standard error: by `print`, by `os.write`, as a child.

    Does nothing unless the program holds its standard streams: in somebody else's process they are not ours to move.
    """
    if not _held or _own:
        return
    say()  # what is held back is ours
    _own.update({1: _copy(sys.stdout, 1), 2: _copy(sys.stderr, 2)})
    os.dup2(2, 1)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)


def _copy(stream: TextIO, number: int) -> TextIO:
    descriptor = os.dup(number)  # no child inherits it
    return os.fdopen(descriptor, "w", encoding=stream.encoding, errors="backslashreplace")


def mend_standard_streams() -> None:
    """Where others have closed a standard stream, put our standard error there, before a file takes its number."""
    for number in (1, 2):
        if _own:
            try:
                os.fstat(number)
            except OSError:
                with contextlib.suppress(OSError):
                    os.dup2(own_descriptor(2), number)


def say(text: str = "") -> None:
    """Write text to standard output now. Once that has failed, this does nothing; it never raises for it."""
    _write(text)


def line(text: object) -> None:
    """As `say`, and a line break."""
    say(f"{text}\n")


def say_data(text: str | bytes) -> None:
    """As `say`, for what programs read: UTF-8 (bytes are that already), byte for byte.

    On a terminal no program reads it: what could steer the terminal is written as an escape there.
    """
    data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
    if own_output().isatty():
        from jurat.report.plaintext import harmless

        data = harmless(data.decode("utf-8", "backslashreplace")).encode()
    _write(data)


def say_json(value: object) -> None:
    """A value as a JSON document."""
    import json

    say_data(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _write(content: str | bytes) -> None:
    out = own_output()
    try:
        if isinstance(content, str):
            out.write(content)
        elif (raw := getattr(out, "buffer", None)) is not None:
            out.flush()
            raw.write(content)
        else:  # a stand-in that takes text alone
            out.write(content.decode("utf-8"))
        out.flush()
    except BrokenPipeError:
        _turn_away()
    except OSError as error:
        _turn_away()
        _failures.append(error.strerror or "it cannot be written")
        tell(f"standard output: {_failures[-1]}; nothing more is printed there")


def tell(text: str) -> None:
    """Write a line to standard error. Where nobody reads it, it is lost: it never raises."""
    with contextlib.suppress(OSError, ValueError):
        own_errors().write(f"{text}\n")
        own_errors().flush()


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
    os.dup2(nowhere, own_descriptor(1))
    os.close(nowhere)
