"""Anthropic's dialect, where it is like no other: the system apart, the tool of the answer, the cache, the counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import ChatMessage, FinishReason, Frame, ModelRequest, Raw, Reply, ResponseSchema, Usage
from jurat.provider.registry import make_provider

SCHEMA = ResponseSchema(
    name="score_v1",
    schema={
        "type": "object",
        "properties": {"reason": {"type": "string", "maxLength": 9}, "score": {"type": "number", "minimum": 0}},
        "required": ["reason", "score"],
    },
)
SENT_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "number"}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}


def sent(model: str, *said: tuple[str, str], schema: ResponseSchema | None = None, **more: Any) -> dict[str, Any]:
    frame = Frame(messages=tuple(ChatMessage(role=role, content=text) for role, text in said), schema=schema, **more)
    body = make_provider(f"anthropic:{model}").prepare(ModelRequest(frame=frame, user="hello")).body
    told: dict[str, Any] = json.loads(body)
    return told


def read(**envelope: Any) -> Reply:
    body = json.dumps({"type": "message", "content": [], "stop_reason": "end_turn", **envelope})
    return make_provider("anthropic:m").read(Raw(body=body.encode(), latency_ms=1.0))


def test_a_current_model_gets_the_schema_of_the_reply_and_no_temperature() -> None:
    assert sent("claude-sonnet-5-5", ("system", "Judge."), schema=SCHEMA) == {
        "model": "claude-sonnet-5-5",
        "system": [{"type": "text", "text": "Judge.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 8692,  # 500 for the answer, the rest for thoughts
        "output_config": {"format": {"type": "json_schema", "schema": SENT_SCHEMA}},
    }


def test_an_older_model_must_call_one_tool_whose_input_is_the_answer() -> None:
    told = sent("claude-opus-4-1", ("system", "Judge."), schema=SCHEMA)
    assert told["tool_choice"] == {"type": "tool", "name": "jurat_answer", "disable_parallel_tool_use": True}
    assert [(tool["name"], tool["input_schema"]) for tool in told["tools"]] == [("jurat_answer", SENT_SCHEMA)]
    assert (told["temperature"], "output_config" in told) == (0.0, False)


def test_the_last_trusted_message_of_a_judge_is_marked_for_the_cache_and_nothing_else() -> None:
    told = sent("m", ("system", "S"), ("user", "a"), ("assistant", "b"), schema=SCHEMA)
    marked = [{"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}]
    assert (told["system"], told["messages"][1]["content"]) == ("S", marked)
    assert json.dumps(sent("m", ("system", "S"), ("user", "a"), ("assistant", "b"))).count("cache_control") == 0


def test_a_later_system_message_stands_behind_the_users_turn_where_the_model_knows_it() -> None:
    said = (("system", "A"), ("user", "a"), ("system", "B"), ("user", "b"), ("assistant", "c"), ("system", "D"))
    told = sent("claude-opus-4-8", *said)
    assert told["system"] == "A"
    assert told["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "system", "content": "B"},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": "hello"},
        {"role": "system", "content": "D"},
    ]
    assert sent("claude-opus-4-7", *said)["system"] == "A\n\nB\n\nD"
    assert json.dumps(sent("claude-opus-5", *said)).count('"role": "system"') == 2


def test_a_judges_frame_is_marked_for_the_cache_where_later_system_messages_are_known_too() -> None:
    told = sent("claude-opus-4-8", ("system", "S"), ("user", "a"), ("assistant", "b"), schema=SCHEMA)
    marked = [{"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}]
    assert [message["content"] for message in told["messages"]] == ["a", marked, "hello"]


def test_system_messages_are_joined_and_neighbours_of_one_role_become_one_turn() -> None:
    told = sent("m", ("system", "A"), ("user", "a"), ("user", "b"), ("assistant", "c"), ("system", "B"), ("user", "d"))
    assert told["system"] == "A\n\nB"
    assert told["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": [{"type": "text", "text": "d"}, {"type": "text", "text": "hello"}]},
    ]


def test_a_limit_is_always_sent_because_the_vendor_wants_one() -> None:
    assert sent("claude-haiku-4-5", max_output_tokens=None)["max_tokens"] == 4096
    assert sent("claude-sonnet-5-5", max_output_tokens=None)["max_tokens"] == 4096 + 8192


def test_a_temperature_stays_on_the_vendors_scale() -> None:
    assert sent("claude-haiku-4-5", temperature=1.7)["temperature"] == 1.0


def test_further_settings_of_the_output_stand_beside_the_schema() -> None:
    frame = Frame(messages=(), schema=SCHEMA, extra={"output_config": {"effort": "low"}})
    body = make_provider("anthropic:claude-sonnet-5").prepare(ModelRequest(frame=frame, user="x")).body
    assert sorted(json.loads(body)["output_config"]) == ["effort", "format"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALL),
        ("refusal", FinishReason.REFUSAL),
        ("never seen", FinishReason.OTHER),
    ],
)
def test_every_reason_to_stop_has_our_word(word: str, reason: FinishReason) -> None:
    assert read(content=[{"type": "text", "text": "x"}], stop_reason=word).finish_reason is reason


def test_a_turn_that_is_not_done_is_no_reply() -> None:
    with pytest.raises(ProviderError) as caught:
        read(content=[{"type": "text", "text": "x"}], stop_reason="pause_turn")
    assert caught.value.category is ErrorCategory.API_ERROR


def test_the_caches_parts_are_added_to_the_input() -> None:
    counts = {
        "input_tokens": 600,
        "cache_read_input_tokens": 400,
        "cache_creation_input_tokens": 30,
        "output_tokens": 9,
    }
    assert read(usage=counts).usage == Usage(
        input_tokens=1030, output_tokens=9, cached_input_tokens=400, cache_write_tokens=30
    )
    assert read(usage={"input_tokens": 5, "cache_read_input_tokens": None}).usage == Usage(input_tokens=5)
    assert read(usage={"cache_read_input_tokens": 4}).usage == Usage(cached_input_tokens=4)


def tool(text: str, name: str = "jurat_answer") -> str:
    return f'{{"type": "tool_use", "id": "t", "name": "{name}", "input": {text}}}'


def read_tools(*blocks: str, stop: str = "tool_use") -> Reply:
    body = f'{{"type": "message", "content": [{", ".join(blocks)}], "stop_reason": "{stop}"}}'
    return make_provider("anthropic:m").read(Raw(body=body.encode(), latency_ms=1.0))


@pytest.mark.parametrize("text", ['{"score": 1, "score": 2}', '{"score": 1.0}', '{"score": 1e999}', '{ "a" : [ ] }'])
def test_the_answers_input_is_taken_to_the_letter(text: str) -> None:
    reply = read_tools('{"type": "text", "text": "Here it is:"}', tool(text))
    assert (reply.text, reply.finish_reason) == (text, FinishReason.STOP)


def test_two_answers_are_told_together_so_that_the_check_refuses_them() -> None:
    assert read_tools(tool('{"a": 1}'), tool('{"a": 2}')).text == '{"a": 1}{"a": 2}'


def test_of_several_answers_the_first_alone_is_taken_to_the_letter_and_thousands_are_no_trouble() -> None:
    assert read_tools(tool('{"a":  1.50}'), tool('{"a":  1.50}')).text == '{"a":  1.50}{"a": 1.5}'
    assert read_tools(*[tool("{}")] * 20_000).text == "{}" * 20_000


@pytest.mark.parametrize("before", [(), ("{}",)])
def test_an_answer_nested_as_deeply_as_can_be_is_a_reply_or_a_typed_error(before: tuple[str, ...]) -> None:
    outcomes: set[str | None] = set()
    for depth in (10, *range(850, 1000), 100_000):
        try:
            read_tools(*map(tool, before), tool('{"a": ' + "[" * depth + "]" * depth + "}"))
        except ProviderError as error:
            outcomes.add(error.category)
        else:
            outcomes.add(None)
    assert outcomes == {None, ErrorCategory.API_ERROR}


def test_a_call_of_another_tool_is_no_answer() -> None:
    assert read_tools(tool("{}"), tool("{}", name="search")).finish_reason is FinishReason.TOOL_CALL
    assert read_tools(tool("{}", name="search"), stop="end_turn").finish_reason is FinishReason.TOOL_CALL


def test_an_answer_that_was_cut_off_is_cut_off() -> None:
    assert read_tools(tool("{}"), stop="max_tokens").finish_reason is FinishReason.LENGTH


def test_a_refusal_without_words_is_a_refusal_all_the_same() -> None:
    assert read(stop_reason="refusal", stop_details={"type": "refusal"}).refusal == "(a refusal without words)"
    assert read(stop_reason="refusal", stop_details=None).finish_reason is FinishReason.REFUSAL
