"""A person's function as the subject: what it gets, what it may give, and that it never speaks through its failures."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import AuthoringError, ErrorCategory, ProviderError
from jurat.evaluation.subject import SubjectReply, Task
from jurat.evidence import Document, Message, Role, ToolCallBlock
from jurat.provider import Raw, Usage
from jurat.subject import make_subject
from jurat.subject.function import PythonSubject
from jurat.suite.suite import SubjectKind, SubjectSpec

TASK = Task(
    system="Be brief.",
    messages=(Message(role=Role.USER, content="Where?"),),
    rendered_input="Where?",
    variables={"n": 1, "tags": ("a",)},
    documents=(Document(text="It is here.", name="page"),),
    metadata={"tier": 2},
    repeat=4,
)


async def ask(function: Any, task: Task = TASK, **options: Any) -> SubjectReply:
    subject = PythonSubject(function, name="mine:answer", **options)
    return subject.read(await subject.send(subject.prepare(task)))


async def fault(function: Any, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(function, **options)
    return caught.value


async def test_it_gets_the_task_as_plain_data() -> None:
    seen: list[Any] = []

    def answer(task: Any) -> str:
        seen.append(task)
        return "here"

    assert (await ask(answer)).output == "here"
    assert seen == [
        {
            "input": "Where?",
            "system": "Be brief.",
            "messages": [{"role": "user", "content": "Where?"}],
            "variables": {"n": 1, "tags": ["a"]},
            "documents": [{"name": "page", "media_type": "text/plain", "text": "It is here."}],
            "metadata": {"tier": 2},
            "repeat": 4,
        }
    ]


async def test_what_it_does_to_its_task_is_nobody_elses() -> None:
    def spoil(task: Any) -> str:
        task["variables"]["n"] = task["variables"]["n"] + 1
        return str(task["variables"]["n"])

    subject = PythonSubject(spoil, name="mine:spoil")
    call = subject.prepare(TASK)

    assert [subject.read(await subject.send(call)).output for _ in range(2)] == ["2", "2"]


async def test_without_a_prompt_its_input_is_the_last_message() -> None:
    def answer(task: Any) -> str:
        return str(task["input"])

    assert (await ask(answer, Task(messages=(Message(role=Role.USER, content="Well?"),)))).output == "Well?"
    assert (await ask(answer, Task())).output == ""


async def test_a_coroutine_function_is_awaited_in_the_loop_and_any_other_runs_in_a_thread() -> None:
    async def waits(_: Any) -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    def blocks(_: Any) -> str:
        return threading.current_thread().name

    class Callable:
        async def __call__(self, _: Any) -> str:
            return threading.current_thread().name

    here = threading.current_thread().name
    assert (await ask(waits)).output == here
    assert (await ask(Callable())).output == here
    assert (await ask(blocks)).output != here
    assert (await ask(lambda task: waits(task) if task else "")).output == here


async def test_an_answer_may_tell_what_happened_on_the_way() -> None:
    def answer(_: Any) -> dict[str, Any]:
        call = {"type": "tool_call", "id": "1", "name": "search", "arguments": {"q": "x"}}
        return {
            "output": "here",
            "messages": [{"role": "assistant", "content": [call]}, {"role": "tool", "content": "3 hits"}],
            "tool_calls": [{"name": "search", "arguments": {"q": "x"}}],
            "usage": {"input_tokens": 10, "output_tokens": 2},
            "cost_usd": 0.25,
            "metadata": {"trace": "t1"},
        }

    reply = await ask(answer)

    assert (reply.output, reply.cost_usd) == ("here", 0.25)
    assert reply.usage == Usage(input_tokens=10, output_tokens=2)
    assert reply.messages == (
        Message(role=Role.ASSISTANT, content=(ToolCallBlock(id="1", name="search", arguments={"q": "x"}),)),
        Message(role=Role.TOOL, content="3 hits"),
    )
    assert json.loads(json.dumps(reply.execution["tool_calls"][0]["name"])) == "search"
    assert reply.execution["metadata"] == {"trace": "t1"}


async def test_what_it_does_not_tell_of_tools_is_not_known() -> None:
    assert "tool_calls" not in (await ask(lambda _: "here")).execution
    assert (await ask(lambda _: {"output": "here", "tool_calls": []})).execution["tool_calls"] == ()


async def test_an_unknown_cost_stays_unknown() -> None:
    assert (await ask(lambda _: "here")).cost_usd is None
    assert (await ask(lambda _: {"output": "here", "cost_usd": 0})).cost_usd == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "expected text or an object with output, found null"),
        (7, "found a number"),
        ({}, "output: expected text, found nothing"),
        ({"output": 7}, "output: expected text, found a number"),
        ({"output": "x", "zq7canary": 1}, "expected the keys output, messages, .*, found another key"),
        ({"output": "x", "messages": "zq7canary"}, "messages: expected an array of messages, found text"),
        ({"output": "x", "messages": [{"role": "zq7canary"}]}, r"messages\[0\].role"),
        ({"output": "x", "tool_calls": [{}]}, r"tool_calls\[0\]: expected an object with a name"),
        ({"output": "x", "tool_calls": {"a": 1}}, "tool_calls: expected an array of objects"),
        ({"output": "x", "tool_calls": [{"name": "f", "arguments": "zq7canary"}]}, r"tool_calls\[0\].arguments"),
        ({"output": "x", "tool_calls": [{"name": "f", "failed": "zq7canary"}]}, r"tool_calls\[0\].failed"),
        ({"output": "x", "usage": {"input_tokens": -1}}, "usage: expected whole numbers"),
        ({"output": "x", "usage": {"words": 1}}, "usage: expected whole numbers"),
        ({"output": "x", "cost_usd": -1}, "cost_usd: expected a number of at least 0"),
        ({"output": "x", "cost_usd": float("nan")}, "cost_usd: expected a number of at least 0"),
        ({"output": "x", "cost_usd": True}, "cost_usd: expected a number of at least 0"),
        ({"output": "x", "metadata": "zq7canary"}, "metadata: expected an object"),
        ({"output": "x", "metadata": {"a": object()}}, "expected a JSON value"),
        ({"output": "lone \ud800"}, "expected a JSON value"),
    ],
)
async def test_what_is_no_answer_is_an_error_that_repeats_nothing_of_it(value: Any, expected: str) -> None:
    error = await fault(lambda _: value)

    assert error.category is ErrorCategory.INVALID_RESULT
    with pytest.raises(ProviderError, match=expected):
        raise error
    assert "zq7canary" not in str(error)


class Rude(BaseException):
    """What no library expects."""


@pytest.mark.parametrize(
    "raised", [RuntimeError, SystemExit, StopIteration, Rude, asyncio.CancelledError, TimeoutError]
)
@pytest.mark.parametrize("is_async", [False, True])
async def test_whatever_it_raises_is_an_error_that_names_the_type_and_place_alone(
    raised: type[BaseException], is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent)

    def blocks(_: Any) -> str:
        raise raised("zq7canary")

    async def waits(_: Any) -> str:
        if raised is StopIteration:
            raise RuntimeError("zq7canary")  # a coroutine cannot raise the other one
        raise raised("zq7canary")

    error = await fault(waits if is_async else blocks)

    blocked_at = blocks.__code__.co_firstlineno + 1
    name = "RuntimeError" if is_async and raised is StopIteration else raised.__name__
    assert error.category is ErrorCategory.EVALUATOR_EXCEPTION
    line = waits.__code__.co_firstlineno + (2 if name != raised.__name__ else 3) if is_async else blocked_at
    assert str(error) == f"the function mine:answer raised {name} at test_function_subject.py:{line}"


@pytest.fixture
def held() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_one_that_hangs_is_a_timeout(held: threading.Event) -> None:
    async def waits(_: Any) -> str:
        await asyncio.Event().wait()
        return ""

    for function in (lambda _: held.wait(30), waits):
        error = await fault(function, timeout_s=0.01)
        assert error.category is ErrorCategory.TIMEOUT
        assert "within 0.01 s" in str(error)


async def test_somebody_elses_cancellation_passes_through(held: threading.Event) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def blocks(_: Any) -> str:
        loop.call_soon_threadsafe(begun.set)
        held.wait(30)
        return ""

    running = asyncio.create_task(ask(blocks))
    await begun.wait()
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


# --- Its name, its key -----------------------------------------------------------------------------------------------


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "answers_of_mine.py"
    file.write_text("def answer(task):\n    return task['input'].upper()\n", "utf-8")
    yield file
    sys.modules.pop("answers_of_mine", None)
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]


async def test_it_is_found_beside_the_suite(module: Path) -> None:
    spec = SubjectSpec(kind=SubjectKind.PYTHON, settings={"function": "answers_of_mine:answer", "timeout_s": 5})
    subject = make_subject(spec, base_dir=module.parent)

    assert subject is not None
    subject.check()
    assert subject.read(await subject.send(subject.prepare(TASK))).output == "WHERE?"
    await subject.aclose()


def test_one_that_is_not_there_is_the_authors_fault(module: Path) -> None:
    for name in ("answers_of_mine:nothing", "no_such_module:answer", "answers_of_mine", "answers_of_mine:answer()"):
        with pytest.raises(AuthoringError):
            PythonSubject.named(name, base_dir=module.parent)


def test_its_key_names_the_task_the_repeat_the_function_and_its_source(module: Path) -> None:
    from dataclasses import replace

    first = PythonSubject.named("answers_of_mine:answer", base_dir=module.parent)
    keys = [first.prepare(TASK).key, first.prepare(replace(TASK, repeat=0)).key, first.prepare(Task()).key]
    keys.append(PythonSubject(lambda _: "", name="answers_of_mine:answer").prepare(TASK).key)
    module.write_text("def answer(task):\n    return 'changed'\n", "utf-8")
    sys.modules.pop("answers_of_mine")
    changed = PythonSubject.named("answers_of_mine:answer", base_dir=module.parent)
    keys.append(changed.prepare(TASK).key)

    assert len(set(keys)) == 5
    assert first.prepare(TASK).key == keys[0]
    assert all(len(key) == 64 for key in keys)
    assert first.identity["function"] == first.name == "answers_of_mine:answer"
    assert first.identity["source"] != changed.identity["source"]


def test_the_ends_of_its_sources_lines_are_no_part_of_its_identity(module: Path) -> None:
    unix = PythonSubject.named("answers_of_mine:answer", base_dir=module.parent)
    module.write_bytes(module.read_bytes().replace(b"\n", b"\r\n"))
    sys.modules.pop("answers_of_mine")
    windows = PythonSubject.named("answers_of_mine:answer", base_dir=module.parent)

    assert b"\r\n" in module.read_bytes()
    assert windows.prepare(TASK) == unix.prepare(TASK)


def test_bytes_that_hold_no_answer_are_an_error() -> None:
    subject = PythonSubject(lambda _: "", name="mine:answer")
    for body in (b"", b"[]", b'{"a": 1}', b'{"output": "x", "usage": {"words": 1}}', b"\xff"):
        with pytest.raises(ProviderError, match="is no answer"):
            subject.read(Raw(body=body, latency_ms=0.0))
