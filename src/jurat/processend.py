"""The end of the process is nobody's but the program's: a person's code that calls for it gets an exception instead.

`os._exit(0)` in an evaluator would end a run without a word and with the code of a run that passed. So while a person's
code is loaded or called (`kept_alive`), `os._exit`, `os.abort` and what replaces the process (`os.exec…`) raise
`ProcessExit`, which is an error like any other that this code may raise. Everybody else in the process keeps the
functions as they are, and so does every child that was forked. A program that owns its process keeps it alive in all of
its threads and at any time, by `keep_alive_throughout`.

What goes past Python (a crash in native code, `_exit` by way of ctypes) or is a signal cannot be caught here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from typing import Any, NoReturn

__all__ = ["ProcessExit", "end_process", "keep_alive_throughout", "kept_alive"]

end_process: Callable[[int], NoReturn] = os._exit
"""`os._exit` itself, for the program's own end at once."""

_ENDS = ("_exit", "abort", "execv", "execve")  # the other forms of exec are made of these two
_MODULES = ("os", "posix", "nt")

_within: ContextVar[int] = ContextVar("jurat_kept_alive", default=0)
"""The process, by its id, that is kept alive by this context. A forked child has another."""
_owners: set[int] = set()
"""Processes, by their ids, that are kept alive whoever calls."""
_posted: set[str] = set()


class ProcessExit(RuntimeError):
    """A person's code called for the end of the process."""


@contextlib.contextmanager
def kept_alive() -> Iterator[None]:
    """Inside, and in what inherits its context variables: this process cannot be ended by calls of `os`."""
    _post()
    token = _within.set(os.getpid())
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # a coroutine that is thrown away ends in another context
            _within.reset(token)


def keep_alive_throughout() -> None:
    """From now on, for the whole process and all its threads. For who owns the process, and ends it by itself."""
    _post()
    _owners.add(os.getpid())


def _post() -> None:
    """Put the guards up, once in a process."""
    if _posted:
        return
    for name in _ENDS:
        _posted.add(name)
        if hasattr(os, name):
            guarded = _guarded(getattr(os, name), name)
            for module in _MODULES:
                if module in sys.modules:
                    setattr(sys.modules[module], name, guarded)


def _guarded(end: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(end)
    def guard(*arguments: Any, **named: Any) -> Any:
        if os.getpid() in (_within.get(), *_owners):
            raise ProcessExit(f"os.{name} was called")
        return end(*arguments, **named)

    return guard
