"""The command line. Each command lives in a module of its own and is imported when it is called."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The program `jurat`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what a terminal cannot show is escaped, never a crash at the last line
            stream.reconfigure(errors="backslashreplace")
    from jurat.cli.app import app

    app(prog_name="jurat")
