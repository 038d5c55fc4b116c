"""A person's modules and functions, looked at before they are asked: imported, or what is wrong with them in words.

Whatever a module does while it is imported is a fault of its author's input: an exception of any kind, `sys.exit`, and
`os._exit` too. Told are the type of the exception, and the file and line where it arose; never what it says.
"""

from __future__ import annotations

import importlib
import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from jurat import processend
from jurat.processend import kept_alive

__all__ = ["Unimportable", "import_module", "unfit_signature"]

_MAX_SIGNATURE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Unimportable:
    """Why a module cannot be imported.

    Attributes:
        found: what was found instead.
        hint: what to do.
    """

    found: str
    hint: str


def import_module(name: str) -> ModuleType | Unimportable:
    """The module of this dotted name. Ctrl-C goes through."""
    try:
        with kept_alive():
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        own = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        found = f"no module named {error.name!r}{'' if own else _place(error)}"
        return Unimportable(found=found, hint="Is its directory on the import path (PYTHONPATH)?")
    except BaseException as error:
        found = f"{type(error).__name__} while it was imported{_place(error)}"
        return Unimportable(found=found, hint="Import it in a Python shell to see the whole story.")


def _place(error: BaseException) -> str:
    """Where it arose, in brackets: the innermost place that is no part of importing itself."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({Path(error.filename).name}, line {error.lineno})"
    ours = (processend.__file__, __file__)
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename not in ours]
    frames = [one for one in frames if one.filename != importlib.__file__ and not one.filename.startswith("<frozen")]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def unfit_signature(function: Callable[..., Any], *arguments: object, **named: object) -> str | None:
    """The signature of a function that cannot be called with these; None when it can, or when nobody can know."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None  # some built-in functions have none to look at
    try:
        signature.bind(*arguments, **named)
    except TypeError:
        text = str(signature)
        return text if len(text) <= _MAX_SIGNATURE else f"{text[:_MAX_SIGNATURE]}…"
    return None
