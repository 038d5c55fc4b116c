"""A server as the subject, against a real one on loopback."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from loopback import Answer, FakeTime, Server, answer, serving, serving_elsewhere

from jurat.errors import AuthoringError, ErrorCategory, ProviderError
from jurat.evaluation.subject import SubjectReply, Task
from jurat.evidence import Message, Role
from jurat.subject import make_subject
from jurat.subject.server import HttpSubject
from jurat.suite.suite import SubjectKind, SubjectSpec

KEY = "sk-zq7canary-0123456789"
TASK = Task(
    system="Be brief.",
    messages=(Message(role=Role.USER, content="Hello"), Message(role=Role.USER, content="Where is it?")),
    rendered_input="Where is it?",
    variables={"country": "France", "n": 5},
    repeat=2,
)


async def ask(server: Server, task: Task = TASK, **options: Any) -> SubjectReply:
    subject = HttpSubject(server.url, **options)
    try:
        return subject.read(await subject.send(subject.prepare(task)))
    finally:
        await subject.aclose()


async def fault(given: Answer, **options: Any) -> ProviderError:
    async with serving(given) as server:
        with pytest.raises(ProviderError) as caught:
            await ask(server, **options)
    return caught.value


# --- What it is asked ------------------------------------------------------------------------------------------------


async def test_the_mapping_is_filled_and_sent_as_json() -> None:
    request = {
        "q": "{{input}} ({{country}}, {{n}})",
        "system": "{{ system }}",
        "history": "{{messages}}",
        "deep": [{"repeat": "{{repeat}}"}, 7, True, None],
    }
    async with serving(answer({"text": "Paris"})) as server:
        reply = await ask(server, request=request, output="text", headers={"X-Version": "2"})

    assert reply.output == "Paris"
    (seen,) = server.requests
    assert seen.json == {
        "q": "Where is it? (France, 5)",
        "system": "Be brief.",
        "history": [{"role": "user", "content": "Hello"}, {"role": "user", "content": "Where is it?"}],
        "deep": [{"repeat": "2"}, 7, True, None],
    }
    assert (seen.headers["content-type"], seen.headers["x-version"]) == ("application/json", "2")
    assert "authorization" not in seen.headers


async def test_without_a_mapping_the_input_is_sent_alone() -> None:
    async with serving(answer({"a": 1})) as server:
        await ask(server)

    assert server.requests[0].json == {"input": "Where is it?"}


async def test_a_value_is_never_filled_again() -> None:
    task = Task(rendered_input="{{country}}", variables={"country": "zq7canary"})
    async with serving(answer({})) as server:
        await ask(server, task)

    assert server.requests[0].json == {"input": "{{country}}"}


def test_without_a_prompt_the_input_is_the_last_message_or_the_variable_of_that_name() -> None:
    subject = HttpSubject("https://example.com/ask")
    spoken = subject.prepare(Task(messages=(Message(role=Role.USER, content="Well?"),)))
    named = subject.prepare(Task(variables={"input": "Hm?"}))

    assert json.loads(spoken.body) == {"input": "Well?"}
    assert json.loads(named.body) == {"input": "Hm?"}


def test_a_placeholder_without_a_value_is_the_authors_fault() -> None:
    with pytest.raises(AuthoringError, match="capital"):
        HttpSubject("https://example.com/ask", request={"q": "{{capital}}"}).prepare(TASK)


async def test_the_key_comes_from_the_environment_and_stands_in_one_header_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    async with serving(answer({"text": "x"}), answer({"text": "x"})) as server:
        await ask(server, api_key_env="MY_KEY")
        await ask(server, api_key_env="MY_KEY", api_key_header="X-Api-Key")
        subject = HttpSubject(server.url, api_key_env="MY_KEY")

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[1].headers["x-api-key"] == KEY
    shown = repr(subject) + json.dumps(dict(subject.identity)) + subject.name + repr(subject.prepare(TASK))
    assert KEY not in shown


def test_a_missing_key_is_found_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)

    with pytest.raises(ProviderError, match="MY_KEY") as caught:
        HttpSubject("https://example.com/ask", api_key_env="MY_KEY").check()
    assert caught.value.category is ErrorCategory.MISSING_API_KEY


def test_its_key_names_address_headers_body_and_repeat() -> None:
    from dataclasses import replace

    made = [
        HttpSubject("https://example.com/ask").prepare(TASK),
        HttpSubject("https://example.com/other").prepare(TASK),
        HttpSubject("https://example.com/ask", headers={"X-Version": "2"}).prepare(TASK),
        HttpSubject("https://example.com/ask", request={"q": "{{input}}"}).prepare(TASK),
        HttpSubject("https://example.com/ask").prepare(replace(TASK, repeat=0)),
    ]

    assert len({call.key for call in made}) == 5
    assert HttpSubject("https://example.com/ask").prepare(TASK) == made[0]


# --- What it answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "path", "output"),
    [
        ({"text": "Paris"}, "text", "Paris"),
        ({"choices": [{"text": "no"}, {"text": "Paris"}]}, "choices[1].text", "Paris"),
        ({"choices": [{"text": "Paris"}]}, "choices.0.text", "Paris"),
        ({"data": {"city": "Paris", "n": [1]}}, "data", '{"city":"Paris","n":[1]}'),
        ({"n": 7}, "n", "7"),
        ({"n": False}, "n", "false"),
        ({"text": ""}, "text", ""),
    ],
)
async def test_the_answer_stands_where_the_mapping_says(body: Any, path: str, output: str) -> None:
    async with serving(answer(body)) as server:
        assert (await ask(server, output=path)).output == output


async def test_without_a_path_the_whole_reply_is_the_answer() -> None:
    async with serving(Answer(headers={"Content-Type": "text/plain"}, body="Paris – é".encode())) as server:
        assert (await ask(server)).output == "Paris – é"


async def test_tool_calls_are_read_where_the_mapping_says_and_none_are_known_without_it() -> None:
    body = {"text": "x", "steps": [{"name": "search", "arguments": {"q": "a"}}]}
    async with serving(answer(body)) as server:
        told = await ask(server, output="text", tool_calls="steps")
        silent = await ask(server, output="text")
        none = await ask(server, output="text", tool_calls="calls")

    assert told.execution["tool_calls"][0]["name"] == "search"
    assert "tool_calls" not in silent.execution
    assert none.execution["tool_calls"] == []


async def test_what_an_answer_cost_is_not_known() -> None:
    async with serving(answer({"text": "x"})) as server:
        assert (await ask(server, output="text")).cost_usd is None


@pytest.mark.parametrize(
    ("given", "options", "expected"),
    [
        (answer({"zq7canary": 1}), {"output": "text"}, "expected an answer at text"),
        (answer({"text": None}), {"output": "text"}, "expected an answer at text"),
        (answer({"a": []}), {"output": "a[0].text"}, r"expected an answer at a\[0\].text"),
        (Answer(body=b"zq7canary"), {"output": "text"}, "expected one JSON value"),
        (Answer(body=b'{"text": NaN}'), {"output": "text"}, "expected one JSON value"),
        (Answer(body=b'{"text": "a", "text": "zq7canary"}'), {"output": "text"}, "no key of an object twice"),
        (Answer(body=b'{"a": {"text": "a", "t\\u0065xt": "b"}}'), {"output": "a.text"}, "no key of an object twice"),
        (Answer(body=b'{"text": "a", "tools": [{"name": "x", "name": "y"}]}'), {"tool_calls": "tools"}, "twice"),
        (Answer(body=b'{"text": 1e999}'), {"output": "text"}, "expected one JSON value"),
        (Answer(body=b'{"text": "a"} {}'), {"output": "text"}, "See docs/subjects.md"),
        (Answer(body=b'{"text": "\\ud800"}'), {"output": "text"}, "expected one JSON value"),
        (Answer(body=b"\xff"), {}, "expected text in UTF-8"),
        (answer({"text": "x", "steps": "zq7canary"}), {"output": "text", "tool_calls": "steps"}, "a list of objects"),
    ],
)
async def test_a_reply_without_an_answer_is_an_error_that_repeats_nothing_of_it(
    given: Answer, options: dict[str, Any], expected: str
) -> None:
    error = await fault(given, **options)

    assert error.category is ErrorCategory.API_ERROR
    assert "zq7canary" not in str(error)
    with pytest.raises(ProviderError, match=expected):
        raise error


@pytest.mark.parametrize("output", ["text", None])
@pytest.mark.parametrize(
    ("status", "category"),
    [(401, "auth_error"), (404, "invalid_request"), (422, "invalid_request"), (301, "api_error"), (500, "api_error")],
)
async def test_a_refused_request_is_an_error_of_its_category_and_what_came_with_it_no_answer(
    status: int, category: str, output: str | None
) -> None:
    error = await fault(
        answer({"text": "zq7canary", "error": "zq7canary"}, status), output=output, timing=FakeTime().timing
    )

    assert error.category.value == category
    assert "zq7canary" not in str(error)


async def test_what_may_pass_is_tried_again() -> None:
    time = FakeTime()
    async with serving(answer({}, 503), answer({}, 429, Retry_After="3"), answer({"text": "Paris"})) as server:
        subject = HttpSubject(server.url, output="text", timing=time.timing)
        raw = await subject.send(subject.prepare(TASK))
        await subject.aclose()

    assert (subject.read(raw).output, raw.attempts) == ("Paris", 3)
    assert len(server.requests) == 3


async def test_one_that_hangs_is_a_timeout() -> None:
    error = await fault(Answer(hold=asyncio.Event()), timeout_s=0.05, timing=FakeTime().timing)

    assert error.category is ErrorCategory.TIMEOUT


def test_it_serves_one_event_loop_after_another() -> None:
    with serving_elsewhere(answer({"text": "Paris"})) as server:
        subject = HttpSubject(server.url, output="text")

        async def once() -> str:
            return subject.read(await subject.send(subject.prepare(TASK))).output

        assert [asyncio.run(once()) for _ in range(2)] == ["Paris", "Paris"]


# --- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"url": "ftp://example.com"}, "http.url"),
        ({"url": "http://example.com/ask"}, "http.url"),
        ({"url": f"https://me:{KEY}@example.com/ask"}, "http.url"),
        ({"url": "https://example.com/ask", "headers": {"Authorization": "x"}}, "http.headers.Authorization"),
        ({"url": "https://example.com/ask", "headers": {"X-Note": f"Bearer {KEY}"}}, "http.headers.X-Note"),
        ({"url": "https://example.com/ask", "method": "GET"}, "http.method"),
    ],
)
def test_what_cannot_be_asked_or_holds_a_secret_is_the_authors_fault(settings: dict[str, Any], path: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        make_subject(SubjectSpec(kind=SubjectKind.HTTP, settings=settings))

    assert [fault.path for fault in caught.value.faults] == [path]
    assert KEY not in str(caught.value)


async def test_a_suite_describes_it() -> None:
    async with serving(answer({"data": {"text": "Paris"}})) as server:
        settings = {"url": server.url, "method": "post", "request": {"q": "{{input}}"}, "output": "data.text"}
        subject = make_subject(SubjectSpec(kind=SubjectKind.HTTP, settings={**settings, "tool_calls": None}))
        assert subject is not None
        reply = subject.read(await subject.send(subject.prepare(TASK)))
        await subject.aclose()

    assert reply.output == "Paris"
    assert subject.identity["output"] == "data.text"
    assert subject.name == f"127.0.0.1:{server.port}/v1"
