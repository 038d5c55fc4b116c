"""The fake that ships."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import AuthoringError, ErrorCategory, ProviderError, RequestError
from jurat.provider import (
    Capabilities,
    ChatMessage,
    Frame,
    Image,
    ModelRequest,
    ProviderSettings,
    ResponseSchema,
    ScriptedProvider,
    ScriptedReply,
    make_provider,
)

FRAME = Frame(messages=())


async def ask(provider: Any, user: str = "x", repeat: int = 0) -> str | None:
    call = provider.prepare(ModelRequest(frame=FRAME, user=user, repeat=repeat))
    text: str | None = provider.read(await provider.send(call)).text
    return text


async def test_replies_come_in_turn_and_begin_again() -> None:
    provider = ScriptedProvider(["a", "b"])
    assert [await ask(provider) for _ in range(5)] == ["a", "b", "a", "b", "a"]
    assert provider.calls == 5


async def test_without_cycle_one_request_too_many_is_an_error() -> None:
    provider = ScriptedProvider(["a"], cycle=False)
    await ask(provider)
    with pytest.raises(ProviderError, match="1 replies, and this is one request more") as caught:
        await ask(provider)
    assert caught.value.category is ErrorCategory.INVALID_REQUEST


async def test_a_match_in_the_users_text_goes_first() -> None:
    provider = ScriptedProvider(["else", {"match": "Paris", "text": "city"}, {"match": "is", "text": "verb"}])
    assert [await ask(provider, user) for user in ("Paris is", "it is", "no")] == ["city", "verb", "else"]


async def test_a_request_that_nothing_matches_is_an_error() -> None:
    provider = ScriptedProvider({"match": "Paris", "text": "city"})
    with pytest.raises(ProviderError, match="no reply that matches"):
        await ask(provider, "Rome")


async def test_by_request_the_order_of_calls_does_not_matter() -> None:
    users = [f"item {n}" for n in range(40)]
    replies = ["a", "b", "c"]
    forward, backward = (ScriptedProvider(replies, order="by_request") for _ in range(2))
    first = {user: await ask(forward, user) for user in users}
    second = {user: await ask(backward, user) for user in reversed(users)}
    assert first == second
    assert set(first.values()) == {"a", "b", "c"}
    assert len({await ask(forward, "item 0", repeat) for repeat in range(30)}) == 3


async def test_an_object_is_written_as_json_in_its_own_order() -> None:
    assert await ask(ScriptedProvider({"json": {"b": [1.5, None], "a": "ü"}})) == '{"b": [1.5, null], "a": "ü"}'


async def test_a_function_answers_each_request() -> None:
    provider = ScriptedProvider(lambda messages: messages[-1]["content"].upper())
    assert await ask(provider, "abc") == "ABC"


@pytest.mark.parametrize("category", ["rate_limited", "timeout", "auth_error", "overloaded", "network_error"])
async def test_a_reply_may_be_a_failure(category: str) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(ScriptedProvider({"error": category}))
    assert caught.value.category == category


async def test_a_latency_is_reported_and_not_waited_for() -> None:
    provider = ScriptedProvider({"text": "x", "latency_ms": 86_400_000})
    raw = await provider.send(provider.prepare(ModelRequest(frame=FRAME, user="x")))
    assert raw.latency_ms == 86_400_000.0


async def test_a_delay_can_be_cancelled() -> None:
    provider = ScriptedProvider({"text": "x", "delay_s": 3600})
    task = asyncio.create_task(ask(provider))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert provider.calls == 1


async def test_keys_of_calls_are_appended_for_other_processes(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    first, second = (ScriptedProvider("x", call_log=log) for _ in range(2))
    await asyncio.gather(*(ask(provider, str(n)) for n in range(5) for provider in (first, second)))
    lines = log.read_text().splitlines()
    assert (len(lines), len(set(lines))) == (10, 5)


async def test_declared_capabilities_hold() -> None:
    settings = ProviderSettings(
        name="s", kind="scripted", model="s", capabilities=Capabilities(structured_output=False)
    )
    provider = ScriptedProvider("x", settings=settings)
    frame = Frame(messages=(), schema=ResponseSchema(name="a", schema={}))
    with pytest.raises(RequestError) as caught:
        provider.prepare(ModelRequest(frame=frame, user="x"))
    assert caught.value.category is ErrorCategory.UNSUPPORTED_STRUCTURED_OUTPUT
    assert provider.calls == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.yaml", "- text: a\n- match: Paris\n  json: {score: 1}\n"),
        ("s.yaml", "replies:\n  - a\n  - {match: Paris, json: {score: 1}}\n"),
        ("s.json", '["a", {"match": "Paris", "json": {"score": 1}}]'),
        ("s.jsonl", '"a"\n\n{"match": "Paris", "json": {"score": 1}}\n'),
    ],
)
async def test_scripts_come_from_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    provider = make_provider({"kind": "scripted", "replies_file": name}, base_dir=tmp_path)
    assert [await ask(provider, user) for user in ("x", "Paris")] == ["a", '{"score": 1}']


def test_every_fault_of_a_script_is_told_at_once() -> None:
    wrong: Any = [
        {"txt": "x"},
        {"text": "x", "json": 1},
        {"finish_reason": "end"},
        {"error": "schema_violation"},
        {"usage": {"input": 1}},
        {"latency_ms": -1},
        {"logprobs": [{"top": 3}]},
        {"json": float("nan")},
        {"text": 5},
        7,
    ]
    with pytest.raises(AuthoringError) as caught:
        ScriptedProvider(wrong)
    assert [fault.path for fault in caught.value.faults] == [
        *("replies[0].txt", "replies[1].json", "replies[2].finish_reason", "replies[3].error", "replies[4].usage"),
        *("replies[5].latency_ms", "replies[6].logprobs", "replies[7].json", "replies[8].text", "replies[9]"),
    ]
    assert "Did you mean text?" in str(caught.value)


def test_a_script_without_replies_is_refused() -> None:
    with pytest.raises(AuthoringError, match="at least one reply"):
        ScriptedProvider([])


@pytest.mark.parametrize(("name", "text"), [("s.jsonl", '"a"\n{oops\n'), ("missing.yaml", None), ("s.yaml", "a: [")])
def test_a_file_that_cannot_be_read_is_the_authors_fault(tmp_path: Path, name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(AuthoringError, match=name):
        make_provider({"kind": "scripted", "replies_file": name}, base_dir=tmp_path)


def test_a_reply_is_written_once_for_each_model() -> None:
    reply = ScriptedReply(text="x")
    assert reply.body("m") is reply.body("m")
    assert b'"model": "n"' in reply.body("n")


async def test_a_reply_is_found_by_the_text_beside_an_image() -> None:
    provider = ScriptedProvider([{"match": "a cat?", "text": "yes"}, "no"])
    last = ChatMessage(role="user", parts=(Image(media_type="image/png", data=b"x"), "Is it a cat?"))
    request = ModelRequest(frame=FRAME, last=last)
    assert provider.read(await provider.send(provider.prepare(request))).text == "yes"
