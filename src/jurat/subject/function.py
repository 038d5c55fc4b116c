"""A person's own function as the subject: `module:function`, synchronous or not.

It gets the task as a plain dict (`input`, `system`, `messages`, `variables`, `documents`, `metadata`, `repeat`) and
gives an answer as `jurat.subject.answers` has them. A synchronous function runs in a daemon thread of its own: one that
hangs holds up neither its trial beyond the time limit, nor the end of the program. When it raises, the record says
which type of exception it was, and where, and nothing of what it said: an exception is never taken for an answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from jurat.errors import ErrorCategory, ProviderError
from jurat.evaluation.subject import SubjectReply, Task
from jurat.evidence import message_to_json
from jurat.jsontext import Json, canonical, thaw
from jurat.processend import kept_alive
from jurat.provider.protocol import Call, File, Image, Raw
from jurat.provider.python import load_function
from jurat.raised import raised
from jurat.subject.answers import answer_bytes, answer_reply
from jurat.subject.sources import source_hash
from jurat.threads import in_thread

__all__ = ["PythonSubject", "task_to_json"]


class PythonSubject:
    """A function that answers.

    Args:
        function: from a task to an answer; may be a coroutine function.
        name: what it is called, `module:function`.
        timeout_s: how long one answer may take; None for no bound of its own. A thread cannot be stopped; its answer is
            no longer waited for.
        folder: of the modules whose code counts beside the function's own file (`jurat.subject.sources`).
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        *,
        name: str,
        timeout_s: float | None = None,
        folder: Path | None = None,
    ) -> None:
        self._function, self._name, self._timeout_s = function, name, timeout_s
        self._source = source_hash(function, name, folder)
        self._prefix = canonical(["python", name, self._source]).encode() + b"\n"

    @classmethod
    def named(cls, name: str, *, timeout_s: float | None = None, base_dir: Path | None = None) -> PythonSubject:
        """The subject of a function that `module:function` names.

        Raises:
            AuthoringError: when there is no such module or function.
        """
        return cls(load_function(name, base_dir), name=name, timeout_s=timeout_s, folder=base_dir)

    @property
    def name(self) -> str:
        """`module:function`."""
        return self._name

    @property
    def identity(self) -> Mapping[str, Json]:
        """The function's name, and the hash of its code where it stands in a file: new code, new answers."""
        return {"kind": "python", "function": self._name, "source": self._source}

    def check(self) -> None:
        """A function that was found can be called."""

    def prepare(self, task: Task) -> Call:
        """The task as bytes, and their key, which names the function and its source too."""
        body = canonical(task_to_json(task)).encode()
        return Call(key=hashlib.sha256(self._prefix + body).hexdigest(), body=body)

    async def send(self, call: Call) -> Raw:
        """Ask the function.

        Raises:
            ProviderError: `evaluator_exception` when it raises, `timeout`, `invalid_result` for what is no answer.
        """
        started = perf_counter()
        answer = await self._answer(json.loads(call.body))
        latency_ms = (perf_counter() - started) * 1000.0
        return Raw(body=answer_bytes(answer, f"the function {self._name}"), latency_ms=latency_ms)

    async def _answer(self, task: dict[str, Any]) -> Any:
        current = asyncio.current_task()
        cancelled_before = current.cancelling() if current is not None else 0
        limit = asyncio.timeout(self._timeout_s)
        try:
            async with limit:
                with kept_alive():
                    if _is_async(self._function):
                        return await self._function(task)
                    answer, error = await in_thread(partial(_called, self._function, task), name="jurat-subject")
                    if error is None:
                        return await answer if inspect.isawaitable(answer) else answer
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except asyncio.CancelledError as cancelled:
            if current is not None and current.cancelling() > cancelled_before:
                raise  # somebody else's wish; without it, the function itself has raised this
            error = cancelled
        except BaseException as raised_here:
            error = raised_here
        if limit.expired():
            what = f"the function {self._name} gave no answer within {self._timeout_s:g} s"
            raise ProviderError(ErrorCategory.TIMEOUT, what)
        what = f"the function {self._name} {raised(error)}"
        raise ProviderError(ErrorCategory.EVALUATOR_EXCEPTION, what)

    def read(self, raw: Raw) -> SubjectReply:
        """What it answered."""
        return answer_reply(raw.body, f"the function {self._name}")

    async def aclose(self) -> None:
        """Nothing is open."""


def task_to_json(task: Task) -> dict[str, Json]:
    """The task as plain data, as a function gets it. `input` is the rendered prompt, else the last message's text."""
    asked = task.rendered_input
    if asked is None:
        asked = task.messages[-1].spoken_text if task.messages else ""
    return {
        "input": asked,
        "system": task.system,
        "messages": [message_to_json(message, "shown") for message in task.messages],
        "variables": thaw(task.variables),
        "documents": [
            {"name": document.name, "media_type": document.media_type, "text": document.text}
            for document in task.documents
        ],
        **({"attached": [_attached_to_json(part) for part in task.attached]} if task.attached else {}),
        "metadata": thaw(task.metadata),
        "repeat": task.repeat,
    }


def _attached_to_json(part: Image | File) -> dict[str, Json]:
    made: dict[str, Json] = {"media_type": part.media_type, "data": b64encode(part.data).decode()}
    return {"name": part.name, **made} if isinstance(part, File) else made


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _called(function: Callable[[dict[str, Any]], Any], task: dict[str, Any]) -> tuple[Any, Any]:
    # Caught inside the thread: some exceptions (StopIteration, SystemExit) cannot cross over to the loop.
    try:
        return function(task), None
    except BaseException as error:
        return None, error
