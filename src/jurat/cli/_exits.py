"""Exit codes, and the one place where an exception becomes one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer
from typer.exceptions import TyperException

from jurat.cli._stdout import interrupted, keep_for_ourselves, tell
from jurat.cli._text import visible
from jurat.errors import AuthoringError, JuratError, ModelError, ProviderError, RequestError

__all__ = ["DEBUG", "ExitCode", "exits", "unexpected"]

DEBUG = "JURAT_DEBUG"
"""The environment variable that lets the trace of an unexpected fault through."""


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
    """Inside: what goes wrong is told in a sentence on stderr, and the program ends with its code.

    Other people's code may run inside. Standard output and the end of the process are not its to have.
    """
    keep_for_ourselves()
    try:
        yield
    except (AuthoringError, RequestError, ModelError, ProviderError) as error:
        # A model or a key that is missing was found before the first call; later, errors are in the record.
        raise _told(error, ExitCode.WRONG_INPUT) from None
    except JuratError as error:
        raise _told(error, ExitCode.FAULT) from None
    except KeyboardInterrupt as stop:
        interrupted(str(stop) or "interrupted")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except (typer.Exit, typer.Abort, TyperException):
        raise
    except SystemExit:  # nobody here raises it: somebody's code did, beside the calls that are watched
        tell("jurat: code of a suite, an evaluator or a provider called for the end of the program")
        raise typer.Exit(ExitCode.FAULT) from None
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        tell(unexpected(error))
        raise typer.Exit(ExitCode.FAULT) from None


def unexpected(error: Exception) -> str:
    """A fault of the program in one sentence. Its own text is kept back: nobody knows what it repeats."""
    return f"jurat: internal fault ({type(error).__name__}); set {DEBUG}=1 to see where it arose"


def _told(error: JuratError, code: ExitCode) -> typer.Exit:
    tell(visible(str(error)).rstrip())
    return typer.Exit(code)
