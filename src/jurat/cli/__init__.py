"""The command line. Each command lives in a module of its own and is imported when it is called."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

__all__ = ["main"]

_YOUNG, _MIDDLE = 50_000, 20
"""How many new objects the garbage collector waits for, and how many of its rounds before it looks at older ones too.
Importing makes many that stay, a run holds its whole plan, and a judgement makes hundreds that die without its help;
with the interpreter's own 700 and 10 it would take a tenth of the CPU of a job. Some 5 MB wait at most."""


def main() -> None:
    """The program `jurat`."""
    gc.set_threshold(_YOUNG, _MIDDLE, gc.get_threshold()[2])
    try:
        _run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


def _run() -> None:
    from jurat.cli._stdout import hold_standard_streams, interrupted, mend_standard_streams, say, turned_away
    from jurat.processend import keep_alive_throughout

    hold_standard_streams()
    keep_alive_throughout()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what a terminal cannot show is escaped, never a crash at the last line
            stream.reconfigure(errors="backslashreplace")
    from jurat.cli.app import app

    try:
        app(prog_name="jurat")
    except SystemExit as end:
        if end.code == 130:
            interrupted()
        mend_standard_streams()
        say()  # what is still held back; a fault here is told, and not by the interpreter's own last words
        if turned_away():
            sys.exit(4)
        raise
    except Exception as error:
        _end(error)


def _end(error: Exception) -> NoReturn:
    """The end for what no command saw coming."""
    from jurat.cli._exits import DEBUG, unexpected
    from jurat.cli._stdout import say, tell, turned_away

    if os.environ.get(DEBUG):
        raise error
    say()
    if not turned_away():
        tell(unexpected(error))
    sys.exit(4)
