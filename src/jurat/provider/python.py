"""The user's own function as a provider: `module:function`, synchronous or not.

It gets the messages of a request, a list of `{"role": …, "content": …}`, and returns the text of the reply, or an
object as in `jurat.provider.script` (`text` or `json`, `usage`, `finish_reason`, …). A synchronous function runs in a
daemon thread of its own: one that hangs holds up neither its call nor the end of the program. When it raises, the
record says which type of exception it was, and nothing of what it said.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from jurat.errors import AuthoringError, ErrorCategory, Fault, ProviderError
from jurat.processend import kept_alive
from jurat.provider.encoder import FrameEncoder
from jurat.provider.errors_from_http import Destination
from jurat.provider.gate import Gate
from jurat.provider.openai_reply import read_reply
from jurat.provider.openai_request import CHAT
from jurat.provider.protocol import Call, ModelRequest, ProviderSettings, Raw, Reply
from jurat.provider.script import envelope, reply_from
from jurat.provider.waiting import opened_account, without_place
from jurat.raised import raised
from jurat.threads import in_thread
from jurat.usermodules import Unimportable, import_module, unfit_signature

__all__ = ["PythonProvider", "load_function"]


class PythonProvider:
    """A function that answers.

    Args:
        function: from messages to a reply; may be a coroutine function.
        settings: name, `module:function` as the model, capabilities.
        timeout_s: how long one call may take. A thread cannot be stopped; its answer is no longer waited for.
        concurrency: how many calls may run at once; None for no bound.
    """

    def __init__(
        self,
        function: Callable[[list[dict[str, str]]], Any],
        *,
        settings: ProviderSettings,
        timeout_s: float = 60.0,
        concurrency: int | None = None,
    ) -> None:
        self._function, self._settings, self._timeout_s = function, settings, timeout_s
        self._gate = Gate(concurrency)
        self._encoder = FrameEncoder(settings, CHAT)
        self._to = Destination(where=f"the function {settings.model}", model=settings.model, key_variable=None)

    @property
    def settings(self) -> ProviderSettings:
        """Name, function, capabilities."""
        return self._settings

    def prepare(self, request: ModelRequest) -> Call:
        """The request as bytes, and their key."""
        return self._encoder.call(request)

    async def send(self, call: Call) -> Raw:
        """Ask the function.

        Raises:
            ProviderError: `api_error` when it raises or returns what is no reply; `timeout`.
        """
        messages = json.loads(call.body)["messages"]
        account, gate = opened_account(), self._gate
        if gate.enter_now() is None:
            await without_place(gate.enter(), turn=True, undo=gate.leave)
        try:
            if account is not None:
                account.sent()
            started = perf_counter()
            body = self._body(await self._answer(messages))
            return Raw(body=body, latency_ms=(perf_counter() - started) * 1000.0)
        finally:
            gate.leave()

    async def _answer(self, messages: list[dict[str, str]]) -> Any:
        task = asyncio.current_task()
        cancelled_before = task.cancelling() if task is not None else 0
        limit = asyncio.timeout(self._timeout_s)
        try:
            async with limit:
                with kept_alive():
                    if inspect.iscoroutinefunction(self._function):
                        return await self._function(messages)
                    answer, error = await in_thread(partial(_called, self._function, messages), name="jurat-model")
                    if error is None:
                        return await answer if inspect.isawaitable(answer) else answer
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except asyncio.CancelledError as cancelled:
            if task is not None and task.cancelling() > cancelled_before:
                raise  # somebody else's wish; without it, the function itself has raised this
            error = cancelled
        except BaseException as raised_here:
            error = raised_here
        category = ErrorCategory.TIMEOUT if limit.expired() else ErrorCategory.API_ERROR
        fault = f"did not answer within {self._timeout_s:g} s" if limit.expired() else raised(error)
        raise ProviderError(category, f"the function {self._settings.model} {fault}")

    def _body(self, answer: object) -> bytes:
        reply, faults = reply_from(answer, "reply")
        if reply is not None and reply.error is not None:
            raise ProviderError(reply.error, f"the function {self._settings.model} says: {reply.error.value}")
        if reply is None:
            what = "; ".join(f"expected {fault.expected}" for fault in faults)  # not what was found: it is an answer
            raise ProviderError(
                ErrorCategory.API_ERROR, f"the function {self._settings.model} returned no reply: {what}"
            )
        return envelope(reply, self._settings.model)

    def read(self, raw: Raw) -> Reply:
        """What the bytes say."""
        return read_reply(raw, self._to)

    def check(self) -> None:
        """A function that was found can be called."""

    async def aclose(self) -> None:
        """Nothing is open."""


def _called(function: Callable[[list[dict[str, str]]], Any], messages: list[dict[str, str]]) -> tuple[Any, Any]:
    # Caught inside the thread: some exceptions (StopIteration, SystemExit) cannot cross over to the loop.
    try:
        return function(messages), None
    except BaseException as error:
        return None, error


def load_function(name: str, base_dir: Path | None = None) -> Callable[[list[dict[str, str]]], Any]:
    """The function of one argument that `module:function` names. Modules in `base_dir` (the author's folder) are found.

    Raises:
        AuthoringError: when there is no such module or function, or it does not take one argument; the module's own
            exception is named by its type, file and line.
    """
    module_name, colon, function_name = name.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module_name.split("."), *function_name.split(".")]):
        raise _no_function("module:function", "another form")
    if base_dir is not None and str(base_dir) not in sys.path:
        sys.path.insert(0, str(base_dir))
    module = import_module(module_name)
    if isinstance(module, Unimportable):
        raise _no_function(f"a module {module_name} that can be imported", module.found, module.hint)
    found: Any = module
    for part in function_name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise _no_function(f"a function {function_name} in {module_name}", "none" if found is None else "a value")
    if (unfit := unfit_signature(found, None)) is not None:
        raise _no_function(f"{name} to take one argument", f"a function of {unfit}")
    return found  # type: ignore[no-any-return]  # a callable of the user's


def _no_function(expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("python provider", [Fault(path="function", expected=expected, found=found, hint=hint)])
