"""The chat-completions dialect on the wire: what is sent, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from chat_completions import PLAIN, SECRET, body_of, failure, settings
from contract import FRAME
from hypothesis import given
from hypothesis import strategies as st
from loopback import REPLY, answer, serving

from jurat.errors import ErrorCategory, RequestError
from jurat.provider import Capabilities, ChatMessage, Frame, HttpProvider, ModelRequest, ResponseSchema


def test_a_request_with_everything_is_written_in_the_dialect() -> None:
    frame = Frame(
        messages=(ChatMessage(role="system", content="Judge."),),
        schema=ResponseSchema(name="score_v1", schema={"type": "object", "required": ["b", "a"]}),
        top_logprobs=5,
        extra={"seed": 7},
    )
    assert body_of(frame, capabilities=Capabilities(top_logprobs=20)) == {
        "model": "judge-model",
        "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "hello"}],
        "temperature": 0.0,
        "max_tokens": 500,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "score_v1", "strict": True, "schema": {"type": "object", "required": ["b", "a"]}},
        },
        "seed": 7,
    }


def test_what_is_not_set_is_not_sent() -> None:
    frame = Frame(messages=(), temperature=None, max_output_tokens=None)
    assert body_of(frame) == {"model": "judge-model", "messages": [{"role": "user", "content": "hello"}]}


def test_a_model_that_refuses_temperature_gets_none_and_the_limit_under_its_name() -> None:
    able = Capabilities(temperature=False, token_limit_name="max_completion_tokens")
    sent = body_of(PLAIN, capabilities=able)
    assert sorted(sent) == ["max_completion_tokens", "messages", "model"]
    assert sent["max_completion_tokens"] == 500


def test_schema_words_that_a_server_refuses_stay_at_home() -> None:
    schema = {
        "type": "object",
        "properties": {"maxLength": {"type": "string", "maxLength": 9}, "b": {"items": {"maxLength": 1}}},
        "required": ["maxLength"],
        "enum": [{"maxLength": 3}],
    }
    frame = Frame(messages=(), schema=ResponseSchema(name="s", schema=schema))
    sent = body_of(frame, capabilities=Capabilities(schema_keywords_refused=("maxLength",)))
    assert sent["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"maxLength": {"type": "string"}, "b": {"items": {}}},
        "required": ["maxLength"],
        "enum": [{"maxLength": 3}],
    }


def test_the_schema_keeps_the_order_in_which_the_model_is_to_write() -> None:
    properties: dict[str, Any] = {"evidence": {}, "reason": {}, "score": {}}
    frame = Frame(messages=(), schema=ResponseSchema(name="s", schema={"properties": properties}))
    assert list(body_of(frame)["response_format"]["json_schema"]["schema"]["properties"]) == list(properties)


def test_a_model_without_structured_output_is_not_called_at_all() -> None:
    provider = HttpProvider(settings(capabilities=Capabilities(structured_output=False)))
    with pytest.raises(RequestError) as caught:
        provider.prepare(ModelRequest(frame=Frame(messages=(), schema=FRAME.schema), user="x"))
    assert caught.value.category is ErrorCategory.UNSUPPORTED_STRUCTURED_OUTPUT
    assert "judge-model" in str(caught.value)


def test_more_token_probabilities_than_the_model_reports_are_refused() -> None:
    provider = HttpProvider(settings(capabilities=Capabilities(top_logprobs=5)))
    with pytest.raises(RequestError, match="at most 5"):
        provider.prepare(ModelRequest(frame=Frame(messages=(), top_logprobs=6), user="x"))


@pytest.mark.parametrize("name", ["model", "messages", "stream", "n", "response_format", "temperature", "max_tokens"])
def test_an_extra_setting_cannot_replace_what_has_a_place_of_its_own(name: str) -> None:
    provider = HttpProvider(settings())
    with pytest.raises(RequestError, match=name):
        provider.prepare(ModelRequest(frame=Frame(messages=(), extra={name: 1}), user="x"))


def test_the_frames_extra_wins_over_the_providers() -> None:
    sent = body_of(Frame(messages=(), extra={"seed": 2}), extra={"seed": 1, "top_k": 4})
    assert (sent["seed"], sent["top_k"]) == (2, 4)


def test_kind_endpoint_and_model_are_in_the_key() -> None:
    request = ModelRequest(frame=PLAIN, user="x")
    variants: list[dict[str, Any]] = [{}, {"kind": "groq"}, {"endpoint": "https://a.example/v1"}, {"model": "other"}]
    keys = {HttpProvider(settings(**more)).prepare(request).key for more in variants}
    assert len(keys) == 4


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_of_the_user_arrives_whole(text: str) -> None:
    assert body_of(PLAIN, text)["messages"][-1] == {"role": "user", "content": text}


def test_many_frames_do_not_pile_up() -> None:
    provider = HttpProvider(settings())
    frames = [Frame(messages=(ChatMessage(role="system", content=str(n)),)) for n in range(200)]
    keys = [provider.prepare(ModelRequest(frame=frame, user="x")).key for frame in frames]
    assert len(provider._encoder._frames) <= 64
    assert provider.prepare(ModelRequest(frame=frames[0], user="x")).key == keys[0]


async def test_the_key_travels_in_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", SECRET + "\n")
    async with serving() as server:
        bearer = HttpProvider(settings(server, api_key_env="JUDGE_KEY"))
        bare = HttpProvider(settings(server, api_key_env="JUDGE_KEY"), key_header="api-key", headers={"X-Team": "blue"})
        for provider in (bearer, bare):
            await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        monkeypatch.setenv("JUDGE_KEY", "rotated")
        await bearer.send(bearer.prepare(ModelRequest(frame=PLAIN, user="x")))
        await bearer.aclose()
        await bare.aclose()
    first, second, third = (request.headers for request in server.requests)
    assert first["authorization"] == f"Bearer {SECRET}"
    assert (second["api-key"], second["x-team"], "authorization" in second) == (SECRET, "blue", False)
    assert third["authorization"] == "Bearer rotated"
    assert first["content-type"] == "application/json"


async def test_the_path_is_added_before_a_query_of_the_base_url() -> None:
    async with serving() as server:
        provider = HttpProvider(settings(endpoint=f"http://127.0.0.1:{server.port}/deploy/?api-version=2"))
        await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    assert server.requests[0].target == "/deploy/chat/completions?api-version=2"


@pytest.mark.parametrize(("value", "word"), [(None, "unset"), ("  ", "empty"), ("two words", "no header")])
async def test_a_missing_key_names_its_variable_and_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch, value: str | None, word: str
) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("JUDGE_KEY", value)
    error = await failure(answer(REPLY), api_key_env="JUDGE_KEY")
    assert (error.category, error.attempts) == (ErrorCategory.MISSING_API_KEY, 0)
    assert "JUDGE_KEY" in str(error)
    assert word in str(error)
    assert "two words" not in str(error)


def test_a_vendor_whose_strict_mode_wants_closed_objects_gets_them_and_a_server_of_ones_own_the_schema_as_it_is() -> (
    None
):
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    frame = Frame(messages=(), schema=ResponseSchema(name="s", schema=schema))
    closed = {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert body_of(frame, kind="openai")["response_format"]["json_schema"]["schema"] == closed
    assert body_of(frame)["response_format"]["json_schema"]["schema"] == schema
