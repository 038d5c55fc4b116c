"""Work beside the event loop: for code that may take long or never come back.

A daemon thread a call, not a pool: a function that hangs holds neither its siblings' places nor the end of the process
(the standard pools wait for their threads when the interpreter exits). How many run at once is bounded by who asks.
A cancelled caller leaves at once; the thread's late result is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from jurat.errors import ErrorCategory, EvaluatorFault
from jurat.processend import kept_alive
from jurat.raised import raised

__all__ = ["call_user_code", "in_thread"]

T = TypeVar("T")


async def in_thread(call: Callable[[], T], *, name: str = "jurat-check") -> T:
    """What `call` returns or raises, run in a thread of its own with the caller's context variables.

    Raises:
        EvaluatorFault: when it raised what must not leave an evaluator (SystemExit, StopIteration, …).
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    variables = contextvars.copy_context()

    def work() -> None:
        try:
            settle = partial(_deliver, future, variables.run(call))
        except BaseException as error:
            settle = partial(_fail, future, _presentable(error))
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
            loop.call_soon_threadsafe(settle)

    threading.Thread(target=work, name=name, daemon=True).start()
    return await future


async def call_user_code(function: Callable[..., Any], *arguments: object) -> object:
    """What a person's function gives: awaited when it is async, otherwise run in a thread.

    Raises:
        Exception: whatever it raises. A SystemExit of its own becomes an EvaluatorFault; `os._exit` raises one.
    """
    try:
        with kept_alive():
            if _is_async(function):
                return await function(*arguments)
            found: object = await in_thread(partial(function, *arguments))
            return await found if inspect.isawaitable(found) else found
    except SystemExit as error:
        raise _presentable(error) from error


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _presentable(error: BaseException) -> Exception:
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return EvaluatorFault(ErrorCategory.EVALUATOR_EXCEPTION, f"the evaluator's code {raised(error)}")


def _deliver(future: asyncio.Future[T], found: T) -> None:
    if not future.done():
        future.set_result(found)


def _fail(future: asyncio.Future[T], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
