"""The command line. Each command lives in a module of its own and is imported when it is called."""

from __future__ import annotations

import gc
import sys

__all__ = ["main"]

_YOUNG = 10_000
"""How many new objects the garbage collector waits for. Importing makes many that stay, and a judgement makes hundreds
that die without its help; with the interpreter's own 700 it would take a tenth of the CPU of a judging job."""


def main() -> None:
    """The program `jurat`."""
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what a terminal cannot show is escaped, never a crash at the last line
            stream.reconfigure(errors="backslashreplace")
    from jurat.cli.app import app

    app(prog_name="jurat")
