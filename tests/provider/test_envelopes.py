"""Every vendor's envelope: whatever bytes come, there is a reply or a typed error; and a member's own text is found."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_contract import WIRES

from jurat.errors import ProviderError
from jurat.provider import FinishReason, Raw, Reply, Usage
from jurat.provider.envelopes import characters
from jurat.provider.errors_from_http import Destination
from jurat.provider.registry import make_provider
from jurat.provider.script import ScriptedReply
from jurat.provider.verbatim import member_text

TO = Destination(where="host/v1", model="m", key_variable=None)
READERS = {
    wire.name: make_provider({"base_url": "http://127.0.0.1:1", **wire.row})._read  # type: ignore[attr-defined]
    for wire in WIRES
}
NAMES = st.sampled_from(
    [
        *("choices", "message", "content", "finish_reason", "refusal", "error", "usage", "index", "type", "text"),
        *("output", "status", "incomplete_details", "reason", "stop_reason", "candidates", "finishReason", "parts"),
        *("promptFeedback", "usageMetadata", "done", "done_reason", "thinking", "name", "input", "logprobs", "model"),
        *("object", "code", "details", "metadata", "token", "logprob", "top_logprobs", "stop_details", "cost"),
    ]
)
WORDS = st.sampled_from(
    ["text", "output_text", "message", "tool_use", "jurat_answer", "refusal", "stop", "STOP", "error"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


def assert_sound(reply: Reply) -> None:
    """What the types promise."""
    for text in (reply.text, reply.refusal, reply.model, reply.id):
        assert text is None or type(text) is str
    counts = {name: value for name, value in asdict(reply.usage).items() if name != "charged_usd"}
    assert all(count is None or (type(count) is int and count >= 0) for count in counts.values())
    assert reply.usage.charged_usd is None or reply.usage.charged_usd >= 0
    assert type(reply.reasoning_characters) is int
    assert all(math.isfinite(value) for token in reply.logprobs for value in token.top.values())
    assert isinstance(reply.finish_reason, FinishReason)


@settings(max_examples=200)
@given(st.sampled_from(sorted(READERS)), st.dictionaries(NAMES, VALUES, max_size=6))
def test_any_object_is_a_reply_or_a_typed_error(name: str, envelope: Any) -> None:
    try:
        reply = READERS[name](json.dumps(envelope).encode(), TO)
    except ProviderError:
        return
    assert_sound(reply)


@settings(max_examples=100)
@given(st.sampled_from(WIRES), st.data())
def test_a_reply_that_broke_off_or_was_damaged_is_a_reply_or_a_typed_error(wire: Any, data: st.DataObject) -> None:
    body = bytearray(wire.body(ScriptedReply(text='{"a": "b"}', reasoning="hm"), "m"))
    at = data.draw(st.integers(0, len(body) - 1))
    body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        reply = READERS[wire.name](bytes(body), TO)
    except ProviderError:
        return
    assert_sound(reply)


ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    math.nan,
    math.inf,
    10**400,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    [{}],
]
ODD += [{"a": 1}, [1, "x", None], {"text": "x"}, [{"type": "text"}], [{"type": "text", "text": "q"}], [{"text": ["y"]}]]
FULL = ScriptedReply(
    text='{"a": "b"}',
    reasoning="hm",
    usage=Usage(input_tokens=100, output_tokens=20, cached_input_tokens=40, cache_write_tokens=10, reasoning_tokens=5),
)


@settings(max_examples=300)
@given(st.sampled_from(WIRES), st.data())
def test_a_reply_with_one_odd_value_is_a_sound_one_or_a_typed_error(wire: Any, data: st.DataObject) -> None:
    told = json.loads(wire.body(FULL, "m"))
    path = data.draw(st.sampled_from([path for path, _ in places(told) if path]))
    inner = told
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = data.draw(st.sampled_from(ODD))
    try:
        reply = READERS[wire.name](json.dumps(told).encode(), TO)
    except ProviderError:
        return
    assert_sound(reply)


DOUBLED = {
    "openai (responses)": '{"output": [], "status": "failed", "status": "completed"}',
    "anthropic": '{"content": [], "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}',
    "google": '{"candidates": [{"content": {"parts": []}, "finishReason": "SAFETY", "finishReason": "STOP"}]}',
    "ollama": '{"message": {"content": "a", "content": "b"}, "done": true}',
}


@pytest.mark.parametrize("name", DOUBLED)
def test_an_envelope_that_says_two_things_is_no_reply(name: str) -> None:
    wire = next(wire for wire in WIRES if wire.name == name)
    provider = make_provider({"base_url": "http://127.0.0.1:1", **wire.row})
    with pytest.raises(ProviderError, match="each member once"):
        provider.read(Raw(body=DOUBLED[name].encode(), latency_ms=1.0))


@pytest.mark.parametrize("name", ["cost", "cost_in_usd_ticks"])
def test_an_amount_beyond_all_measure_is_unknown(name: str) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, name: 10**400}
    body = json.dumps({"choices": [{"message": {"content": "x"}}], "usage": usage}).encode()
    assert READERS["openrouter"](body, TO).usage == Usage(input_tokens=1, output_tokens=2)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("abc", 3),
        ([{"text": "ab"}, {"text": 4}, "c", None, {"text": "d"}], 3),
        ([{"text": [{"text": "parts hold no parts"}]}], 0),
        ({"text": "x"}, 0),
        (None, 0),
    ],
)
def test_reasoning_is_counted_where_it_is_text(value: object, count: int) -> None:
    assert characters(value) == count


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Every value inside of a value, with its path."""
    found = [(path, value)]
    if isinstance(value, dict):
        for name, part in value.items():
            found += places(part, (*path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            found += places(part, (*path, index))
    return found


@given(JSON, st.sampled_from([None, 1, "\t"]))
def test_the_text_at_every_path_is_the_value_that_is_there(value: Any, indent: Any) -> None:
    text = json.dumps(value, indent=indent)
    for path, part in places(value):
        found = member_text(text, path)
        assert found is not None
        assert json.loads(found) == part


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ('{"a": {"b": 1.50, "b": 2}}', ("a",), '{"b": 1.50, "b": 2}'),
        ('{"a": 1, "a": [2 , 3]}', ("a",), "[2 , 3]"),
        ('{"a": [1, {"x": 1e999}]}', ("a", 1, "x"), "1e999"),
        ('{"a": [1]}', ("a", 1), None),
        ('{"a": []}', ("a", 0), None),
        ('{"a": 1}', ("b",), None),
        ("{}", ("b",), None),
        ('{"a": 1}', ("a", "b"), None),
        ("[1]", ("b",), None),
        ('{"a": 1}', (0,), None),
    ],
)
def test_a_members_text_is_cut_out_as_it_was_written(text: str, path: tuple[str | int, ...], found: str | None) -> None:
    assert member_text(text, path) == found
