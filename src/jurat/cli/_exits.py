"""Exit codes, and the one place where an exception becomes one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from jurat.cli._text import visible
from jurat.errors import AuthoringError, JuratError, ModelError, ProviderError, RequestError

__all__ = ["ExitCode", "exits"]


class ExitCode(IntEnum):
    """What the program's end says. Documented and stable."""

    PASSED = 0
    FAILED = 1
    WRONG_INPUT = 2
    UNDECIDED = 3
    FAULT = 4
    INTERRUPTED = 130


@contextmanager
def exits() -> Iterator[None]:
    """Inside: what goes wrong is told in a sentence on stderr, and the program ends with its code."""
    try:
        yield
    except (AuthoringError, RequestError, ModelError, ProviderError) as error:
        # A model or a key that is missing was found before the first call; later, errors are in the record.
        raise _told(error, ExitCode.WRONG_INPUT) from None
    except JuratError as error:
        raise _told(error, ExitCode.FAULT) from None
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read our output has gone. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(ExitCode.PASSED) from None


def _told(error: JuratError, code: ExitCode) -> typer.Exit:
    sys.stderr.write(visible(str(error)).rstrip() + "\n")
    return typer.Exit(code)
