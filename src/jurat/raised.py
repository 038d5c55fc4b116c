"""What a person's own code raised, in words: the type, and the file and line in that code where it arose.

Never what the exception says, which may hold what a model answered; and never a folder of the machine, as far as the
file lies in one that Python works in or imports from.
"""

from __future__ import annotations

import sys
import sysconfig
import traceback
from functools import cache
from pathlib import Path

__all__ = ["raised"]


def raised(error: BaseException) -> str:
    """What a person's code raised: `raised KeyError at checks/tone.py:12`.

    The place is the innermost one in a file of the person's own: none of jurat, of Python or of an installed
    distribution. Its name is that below the working directory, else below the folder it was imported from. Without
    such a file (a lambda of a shell, a call with unfit arguments) only the type is told.
    """
    return f"raised {type(error).__name__}{_place(error)}"


def _place(error: BaseException) -> str:
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    try:
        own = next((place for place in reversed(places) if _is_own(place[0])), None)
        return f" at {_told(own[0])}:{own[1]}" if own is not None else ""
    except (OSError, RuntimeError):  # the working directory is gone, or links lead in a circle: the type still counts
        return ""


def _is_own(filename: str) -> bool:
    if filename.startswith("<") or not Path(filename).is_file():
        return False
    path = Path(filename).resolve()
    if {"site-packages", "dist-packages"} & set(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in _foreign())


@cache
def _foreign() -> tuple[Path, ...]:
    """Where the code of nobody who writes a check or a subject lies: jurat's, and the standard library's."""
    standard = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return (Path(__file__).resolve().parent, *(Path(found).resolve() for found in standard))


def _told(filename: str) -> str:
    path = Path(filename).resolve()
    # The longest folder of the import path is the nearest one.
    imported_from = sorted(
        (Path(one).resolve() for one in sys.path if isinstance(one, str)), key=lambda one: len(one.parts), reverse=True
    )
    # Below the root of a disk a name would tell all of the machine's folders.
    roots = (one for one in (Path.cwd(), *imported_from) if one != one.parent)
    root = next((one for one in roots if path.is_relative_to(one)), path.parent)
    told = path.relative_to(root).as_posix()
    return "".join(one if one.isprintable() else "?" for one in told)
