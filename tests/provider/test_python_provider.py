"""The user's own function as a provider."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import AuthoringError, ErrorCategory, ProviderError
from jurat.provider import ChatMessage, Frame, ModelRequest, ProviderSettings, PythonProvider, Reply, make_provider

FRAME = Frame(messages=(ChatMessage(role="system", content="s"),))
SETTINGS = ProviderSettings(name="mine", kind="python", model="my_app:answer")


async def ask(function: Callable[..., Any], **more: Any) -> Reply:
    provider = PythonProvider(function, settings=SETTINGS, **more)
    return provider.read(await provider.send(provider.prepare(ModelRequest(frame=FRAME, user="u"))))


async def failure(function: Callable[..., Any], **more: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(function, **more)
    return caught.value


async def test_it_gets_the_messages_in_order() -> None:
    seen: list[object] = []
    await ask(lambda messages: seen.append(messages) or "x")  # type: ignore[func-returns-value]
    assert seen == [[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]]


async def test_a_synchronous_function_runs_in_another_thread() -> None:
    reply = await ask(lambda _: {"json": {"main": threading.current_thread() is threading.main_thread()}})
    assert reply.text == '{"main": false}'


async def test_a_function_that_returns_an_awaitable_is_awaited() -> None:
    async def later() -> str:
        return "x"

    assert (await ask(lambda _: later())).text == "x"


class Private(Exception):
    pass


@pytest.mark.parametrize("kind", [Private, StopIteration, SystemExit, TimeoutError, asyncio.CancelledError])
async def test_what_a_function_raises_is_told_by_its_type_alone(kind: type[BaseException]) -> None:
    def raising(_: object) -> str:
        raise kind("the secret text")

    async def raising_later(_: object) -> str:
        raise kind("the secret text")

    for function in (raising, raising_later):
        error = await failure(function)
        assert error.category is ErrorCategory.API_ERROR
        assert "secret" not in str(error)
        assert error.__context__ is None
    assert f"my_app:answer raised {kind.__name__}" in str(await failure(raising))


@pytest.mark.parametrize("value", [None, 5, b"x", ["x"], {"txt": "the secret text"}])
async def test_what_is_no_reply_is_an_api_error(value: object) -> None:
    error = await failure(lambda _: value)
    assert error.category is ErrorCategory.API_ERROR
    assert "secret" not in str(error)


async def test_a_function_may_say_that_it_failed() -> None:
    assert (await failure(lambda _: {"error": "rate_limited"})).category is ErrorCategory.RATE_LIMITED


async def test_a_function_that_takes_too_long_is_a_timeout() -> None:
    async def slow(_: object) -> str:
        await asyncio.Event().wait()
        return "x"

    error = await failure(slow, timeout_s=0.01)
    assert error.category is ErrorCategory.TIMEOUT
    assert "within 0.01 s" in str(error)


async def test_a_call_that_is_cancelled_is_cancelled() -> None:
    entered = asyncio.Event()

    async def waiting(_: object) -> str:
        entered.set()
        await asyncio.Event().wait()
        return "x"

    task = asyncio.create_task(ask(waiting))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_function_that_hangs_does_not_hold_up_the_end_of_the_program() -> None:
    program = """
import asyncio, threading
from jurat.provider import ChatMessage, Frame, ModelRequest, ProviderSettings, PythonProvider

def hangs(messages):
    threading.Event().wait()

async def main():
    settings = ProviderSettings(name="mine", kind="python", model="app:hangs")
    provider = PythonProvider(hangs, settings=settings, timeout_s=0.05)
    frame = Frame(messages=(ChatMessage(role="system", content="s"),))
    try:
        await provider.send(provider.prepare(ModelRequest(frame=frame, user="u")))
    except Exception as error:
        print(error.category.value)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "timeout"


async def test_no_more_calls_run_at_once_than_the_bound() -> None:
    inside = most = 0

    async def counted(_: object) -> str:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        return "x"

    provider = PythonProvider(counted, settings=SETTINGS, concurrency=2)
    call = provider.prepare(ModelRequest(frame=FRAME, user="u"))
    await asyncio.gather(*(provider.send(call) for _ in range(10)))
    assert most == 2


async def test_a_function_is_found_beside_the_authors_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    (tmp_path / "my_judge_module.py").write_text("def answer(messages):\n    return 'from the file'\n")
    row = {"name": "mine", "kind": "python", "function": "my_judge_module:answer"}
    provider = make_provider(row, base_dir=tmp_path)
    raw = await provider.send(provider.prepare(ModelRequest(frame=FRAME, user="u")))
    assert provider.read(raw).text == "from the file"
    assert provider.settings.model == "my_judge_module:answer"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no_such_module_here:f", "a module no_such_module_here"),
        ("json:no_such_function", "a function no_such_function in json"),
        ("json:__name__", "a function __name__ in json"),
        ("json", "module:function"),
        ("json:", "module:function"),
        ("a b:c", "module:function"),
    ],
)
def test_a_function_that_is_not_there_is_found_before_a_run(name: str, expected: str) -> None:
    with pytest.raises(AuthoringError, match=expected):
        make_provider({"kind": "python", "function": name})
