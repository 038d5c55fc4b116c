"""The chat-completions dialect on the wire: what is sent, what is not, and what errors say."""

from __future__ import annotations

import contextlib
import json
import logging
from typing import Any

import pytest
from contract import FRAME
from hypothesis import given
from hypothesis import strategies as st
from loopback import REPLY, Answer, FakeTime, Server, answer, serving

from jurat.errors import ErrorCategory, ProviderError, RequestError
from jurat.provider import (
    Capabilities,
    ChatMessage,
    FinishReason,
    Frame,
    HttpProvider,
    ModelRequest,
    ProviderSettings,
    Raw,
    Reply,
    ResponseSchema,
    Usage,
)
from jurat.provider.errors_from_http import Destination
from jurat.provider.openai_reply import read_reply

SECRET = "sk-fake-0000000000000000000000000000"
PLAIN = Frame(messages=(ChatMessage(role="system", content="Be brief."),))


def settings(server: Server | None = None, **more: Any) -> ProviderSettings:
    url = server.url if server else "http://127.0.0.1:1/v1"
    given = {"name": "judge", "kind": "openai_compatible", "model": "judge-model", "endpoint": url, **more}
    return ProviderSettings(**given)


def body_of(frame: Frame, user: str = "hello", **more: Any) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(HttpProvider(settings(**more)).prepare(ModelRequest(frame=frame, user=user)).body)
    return sent


def read(envelope: object) -> Reply:
    raw = Raw(body=json.dumps(envelope).encode(), latency_ms=1.0)
    return read_reply(raw, Destination(where="host/v1", model="m", key_variable=None))


def message(**parts: Any) -> Reply:
    return read({"choices": [{"message": parts, "finish_reason": "stop"}]})


async def failure(given: Answer, **more: Any) -> ProviderError:
    async with serving(given) as server:
        provider = HttpProvider(settings(server, **more), timing=FakeTime().timing)
        with pytest.raises(ProviderError) as caught:
            await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    return caught.value


# What is sent


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


# What comes back


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("tool_calls", FinishReason.TOOL_CALL),
        ("function_call", FinishReason.TOOL_CALL),
        ("refusal", FinishReason.REFUSAL),
        ("never seen", FinishReason.OTHER),
        (7, FinishReason.OTHER),
        (None, FinishReason.UNREPORTED),
    ],
)
def test_reasons_to_stop_have_one_vocabulary(word: object, reason: FinishReason) -> None:
    assert read({"choices": [{"message": {"content": "x"}, "finish_reason": word}]}).finish_reason is reason


def test_an_absent_reason_to_stop_is_unreported() -> None:
    assert read({"choices": [{"message": {"content": "x"}}]}).finish_reason is FinishReason.UNREPORTED


def test_parts_of_text_are_joined_without_separator() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, "b", {"text": "c"}, None]
    assert message(content=parts).text == "abc"


def test_a_part_without_text_is_no_crash() -> None:
    assert message(content=[{"type": "text", "text": None}]).text is None


def test_thoughts_are_left_out_by_their_flag_and_counted() -> None:
    answer_text = '{"score": 4}'
    reply = message(content=[{"text": "Thinking", "thought": True}, {"text": answer_text}])
    assert (reply.text, reply.reasoning_characters) == (answer_text, 8)
    listed = message(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"text": "x"}])
    assert (listed.text, listed.reasoning_characters) == ("x", 2)


def test_a_think_block_in_the_text_is_text() -> None:
    assert message(content="<think>hm</think>{}").text == "<think>hm</think>{}"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
def test_a_reasoning_field_is_counted_and_not_read(name: str) -> None:
    reply = message(content="", **{name: '{"score": 4}'})
    assert (reply.text, reply.reasoning_characters) == ("", 12)


def test_a_refusal_is_kept_and_an_empty_one_is_none() -> None:
    assert message(content=None, refusal="I can't.").refusal == "I can't."
    assert message(content="x", refusal="").refusal is None
    assert message(content=[{"type": "refusal", "refusal": "No."}]).refusal == "No."


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ([], Usage()),
        ({"prompt_tokens": 10, "completion_tokens_details": None}, Usage(input_tokens=10)),
        (
            {"prompt_tokens": 1000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 400}},
            Usage(input_tokens=1000, output_tokens=5, cached_input_tokens=400),
        ),
        (
            {
                "prompt_tokens": 14746,
                "completion_tokens": 1944,
                "total_tokens": 16690,
                "completion_tokens_details": {"reasoning_tokens": 1360},
            },
            Usage(input_tokens=14746, output_tokens=1944, reasoning_tokens=1360),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 115,
                "completion_tokens_details": {"reasoning_tokens": 100},
            },
            Usage(input_tokens=10, output_tokens=105, reasoning_tokens=100),
        ),
        (
            {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623},
            Usage(input_tokens=20, output_tokens=603, reasoning_tokens=405),
        ),
        (
            {
                "prompt_tokens": 21,
                "completion_tokens": 0,
                "total_tokens": 82,
                "completion_tokens_details": {"reasoning_tokens": 60},
            },
            Usage(input_tokens=21, output_tokens=60, reasoning_tokens=60),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 900,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(input_tokens=10, output_tokens=5, reasoning_tokens=4),
        ),
        *(
            ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": n}, Usage(input_tokens=10, output_tokens=5))
            for n in (0, 14, 15, 17, -3, None, "900")
        ),
        ({"prompt_tokens": "10", "completion_tokens": True}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": 2.0}, Usage(output_tokens=2)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Usage(input_tokens=9, cached_input_tokens=4)),
        ({"prompt_tokens": 9, "cached_tokens": 4}, Usage(input_tokens=9, cached_input_tokens=4)),
    ],
)
def test_usage_is_counted_in_one_way_and_unknown_stays_unknown(usage: object, expected: Usage) -> None:
    assert read({"choices": [{"message": {"content": "x"}}], "usage": usage}).usage == expected


@pytest.mark.parametrize(
    ("usage", "charged"),
    [
        ({"cost": 0.0021}, 0.0021),
        ({"cost": 0}, 0.0),
        ({"cost": 0.0001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.002}}, 0.0021),
        ({"cost": 0.0001, "is_byok": True, "cost_details": None}, None),
        ({"cost": 0.0021, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.002}}, 0.0021),
        ({"cost_in_usd_ticks": 37_756_000}, 0.0037756),
        *(({"cost": cost}, None) for cost in (None, "0.1", True, -1, float("nan"), float("inf"))),
    ],
)
def test_what_a_gateway_says_that_it_charged_is_kept(usage: dict[str, Any], charged: float | None) -> None:
    told: dict[str, Any] = {"prompt_tokens": 9, **usage}
    counted = read({"choices": [{"message": {"content": "x"}}], "usage": told}).usage
    assert counted.input_tokens == 9
    assert counted.charged_usd == (None if charged is None else pytest.approx(charged, abs=1e-12))


def test_usage_in_groqs_own_corner_is_found() -> None:
    told: dict[str, Any] = {"x_groq": {"id": "req_1", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}}
    assert read({"choices": [{"message": {"content": "x"}}], **told}).usage == Usage(input_tokens=9, output_tokens=2)


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


def test_token_probabilities_come_as_the_servers_give_them() -> None:
    openai = {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": [{"token": "no", "logprob": -2.5}]}]}
    older = {"tokens": ["yes"], "token_logprobs": [-0.1], "top_logprobs": [{"yes": -0.1, "no": -2.5}]}
    bare = {"content": [{"token": "yes", "logprob": -0.1}]}
    odd = {"content": [{"token": 3, "top_logprobs": [None, {"token": "a", "logprob": "x"}]}, 7]}
    tops = [
        [dict(token.top) for token in read({"choices": [{"message": {"content": "x"}, "logprobs": given}]}).logprobs]
        for given in (openai, older, bare, odd)
    ]
    assert tops == [[{"no": -2.5, "yes": -0.1}], [{"yes": -0.1, "no": -2.5}], [{"yes": -0.1}], [{}]]


def test_probabilities_that_are_no_numbers_are_left_out() -> None:
    body = b'{"choices":[{"message":{"content":"x"},"logprobs":{"content":[{"token":"a","logprob":-Infinity}]}}]}'
    reply = read_reply(Raw(body=body, latency_ms=1), Destination(where="h", model="m", key_variable=None))
    assert [dict(token.top) for token in reply.logprobs] == [{}]


_WORDS = [
    *("choices", "message", "content", "text", "type", "usage", "prompt_tokens", "logprobs", "error", "code"),
    *("completion_tokens_details", "top_logprobs", "token", "logprob", "refusal", "finish_reason", "thinking"),
]
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_WORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(_json)
def test_no_envelope_crashes_the_reader(value: object) -> None:
    around = [value, {"choices": [value]}, {"choices": [{"message": value}]}]
    for envelope in [*around, {"choices": [{"message": {"content": value}}]}]:
        with contextlib.suppress(ProviderError):
            assert isinstance(read(envelope), Reply)


def refused(envelope: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(envelope)
    return caught.value


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("maxTokens", FinishReason.LENGTH),
        ("max_output_tokens", FinishReason.LENGTH),
        ("incomplete", FinishReason.LENGTH),
        ("content-filter", FinishReason.CONTENT_FILTER),
        ("contentFilter", FinishReason.CONTENT_FILTER),
        ("RECITATION", FinishReason.CONTENT_FILTER),
        ("blocklist", FinishReason.CONTENT_FILTER),
        ("tool-calls", FinishReason.TOOL_CALL),
        ("END_TURN", FinishReason.STOP),
        ("eos_token", FinishReason.STOP),
        ("", FinishReason.UNREPORTED),
    ],
)
def test_a_reason_to_stop_is_known_however_it_is_spelled(word: str, reason: FinishReason) -> None:
    assert read({"choices": [{"message": {"content": "x"}, "finish_reason": word}]}).finish_reason is reason


@pytest.mark.parametrize(
    "word", ["error", "ERROR", "cancelled", "abort", "insufficient_system_resource", "network_error", ["stop"], {}]
)
def test_a_reply_that_its_server_calls_broken_is_no_reply(word: object) -> None:
    error = refused({"choices": [{"message": {"content": "x"}, "finish_reason": word}]})
    assert error.category is ErrorCategory.API_ERROR


@pytest.mark.parametrize("place", ["top", "choice"])
def test_an_error_beside_an_answer_is_an_error(place: str) -> None:
    told = {"error": {"code": 429, "message": "slow down"}}
    choice = {"message": {"content": "x"}, "finish_reason": "stop", **(told if place == "choice" else {})}
    error = refused({"choices": [choice], **(told if place == "top" else {})})
    assert error.category is ErrorCategory.RATE_LIMITED


@pytest.mark.parametrize("nothing", [None, {}, "", False])
def test_an_empty_error_beside_an_answer_is_none(nothing: object) -> None:
    assert read({"error": nothing, "choices": [{"message": {"content": "x"}, "error": nothing}]}).text == "x"


@pytest.mark.parametrize("refusal", [True, {"reason": "policy"}, ["no"]])
def test_a_refusal_that_is_no_text_is_a_refusal_all_the_same(refusal: object) -> None:
    assert message(content="x", refusal=refusal).refusal == "(a refusal without words)"


@pytest.mark.parametrize("said", [None, "", True, {}])
def test_a_part_of_refusal_without_words_is_a_refusal(said: object) -> None:
    parts = [{"type": "text", "text": "x"}, {"type": "refusal", "refusal": said}]
    assert message(content=parts).refusal == "(a refusal without words)"


@pytest.mark.parametrize("nothing", [None, False, "", [], {}])
def test_what_says_no_refusal_is_none(nothing: object) -> None:
    assert message(content="x", refusal=nothing).refusal is None


@pytest.mark.parametrize(
    "parts",
    [
        {"content": "x", "tool_calls": [{"id": "1"}]},
        {"content": "x", "function_call": {"name": "f"}},
        {"content": [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "1"}]},
    ],
)
def test_text_beside_a_call_of_a_tool_is_no_answer(parts: dict[str, Any]) -> None:
    assert message(**parts).finish_reason is FinishReason.TOOL_CALL
    assert message(content="x", tool_calls=[], function_call=None).finish_reason is FinishReason.STOP


def test_content_of_no_parts_is_no_text() -> None:
    assert message(content=[]).text is None
    assert message(role="assistant").text is None


@pytest.mark.parametrize("content", [0, False, {}, 4, True, {"score": 4}, 1.5, [4], [{"type": "text", "text": 4}]])
def test_content_that_is_no_text_is_no_reply(content: object) -> None:
    assert refused({"choices": [{"message": {"content": content}}]}).category is ErrorCategory.API_ERROR


@pytest.mark.parametrize(
    "body",
    [
        '{"choices":[{"message":{"content":"a"}}],"choices":[{"message":{"content":"b"}}]}',
        '{"choices":[{"message":{"content":"a"},"message":{"content":"b"}}]}',
        '{"choices":[{"message":{"content":"a","content":"b"}}]}',
        '{"choices":[{"message":{"content":"a","c\\u006fntent":"b"}}]}',
        '{"choices":[{"finish_reason":"length","message":{"content":"a"},"finish_reason":"stop"}]}',
        '{"error":{"code":500},"choices":[{"message":{"content":"a"}}],"error":null}',
        '{"choices":[{"message":{"refusal":"no","content":"a","refusal":null}}]}',
    ],
)
def test_an_envelope_that_says_two_things_is_no_reply(body: str) -> None:
    to = Destination(where="h", model="m", key_variable=None)
    with pytest.raises(ProviderError, match="each member once") as caught:
        read_reply(Raw(body=body.encode(), latency_ms=1.0), to)
    assert caught.value.category is ErrorCategory.API_ERROR


def test_the_same_names_in_different_places_are_fine() -> None:
    logprobs = {"content": [{"token": "content", "logprob": -1.0}], "refusal": None}
    choice = {"message": {"content": 'é "content": "choices"', "refusal": None}, "logprobs": logprobs}
    assert read({"choices": [choice]}).text == 'é "content": "choices"'


def test_the_choice_with_the_index_0_is_the_answer() -> None:
    second, first = ({"index": n, "message": {"content": str(n)}} for n in (1, 0))
    assert read({"choices": [second, first]}).text == "0"
    assert refused({"choices": [second]}).category is ErrorCategory.API_ERROR


@pytest.mark.parametrize("count", [10**12 + 1, 1e300, -5, True, "7", [1]])
def test_a_count_that_cannot_be_is_unknown(count: object) -> None:
    details = {"prompt_tokens_details": {"cached_tokens": count}}
    usage = {"prompt_tokens": count, "completion_tokens": 3, **details}
    assert read({"choices": [{"message": {"content": "x"}}], "usage": usage}).usage == Usage(output_tokens=3)


@pytest.mark.parametrize("name", ["gpt-4o-2024-08-06", "meta-llama/Llama-3.1-8B:free", "models\\a (q4).gguf"])
def test_the_model_that_answered_is_kept(name: str) -> None:
    assert read({"model": name, "choices": [{"message": {"content": "x"}}]}).model == name


@pytest.mark.parametrize("name", ["", "m" * 101, "a\x1b[31m", "a\nb", "<b>m</b>", "mödel", "a|b", SECRET, 5, None])
def test_a_name_of_a_model_that_could_do_harm_is_unknown(name: object) -> None:
    assert read({"model": name, "choices": [{"message": {"content": "x"}}]}).model is None


# What errors say


@pytest.mark.parametrize(
    ("status", "body", "category"),
    [
        (401, {"error": {"code": "invalid_api_key"}}, ErrorCategory.AUTH_ERROR),
        (403, {"error": {}}, ErrorCategory.AUTH_ERROR),
        (403, {"error": {"code": 403, "metadata": {"reasons": ["violence"]}}}, ErrorCategory.REFUSAL),
        (404, {"error": {"code": "model_not_found"}}, ErrorCategory.INVALID_REQUEST),
        (400, {"error": {"code": "context_length_exceeded"}}, ErrorCategory.CONTEXT_TOO_LARGE),
        (400, {"error": {"code": 400, "type": "exceed_context_size_error"}}, ErrorCategory.CONTEXT_TOO_LARGE),
        (
            400,
            {"object": "error", "message": "This model's maximum context length is 4096 tokens", "code": 400},
            ErrorCategory.CONTEXT_TOO_LARGE,
        ),
        (413, {}, ErrorCategory.CONTEXT_TOO_LARGE),
        (400, {"error": {"code": "content_filter", "message": "filtered"}}, ErrorCategory.REFUSAL),
        (400, {"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}, ErrorCategory.REFUSAL),
        (400, {"error": {"code": "unsupported_value", "param": "temperature"}}, ErrorCategory.INVALID_REQUEST),
        (422, {"detail": [{"loc": ["body"]}]}, ErrorCategory.INVALID_REQUEST),
        (429, {"error": {"code": "rate_limit_exceeded"}}, ErrorCategory.RATE_LIMITED),
        (402, {"error": {"message": "credits"}}, ErrorCategory.RATE_LIMITED),
        (503, {"error": {"type": "unavailable_error"}}, ErrorCategory.OVERLOADED),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, ErrorCategory.OVERLOADED),
        (408, {}, ErrorCategory.TIMEOUT),
        (504, {}, ErrorCategory.TIMEOUT),
        (500, {}, ErrorCategory.API_ERROR),
        (502, {}, ErrorCategory.API_ERROR),
        (301, {}, ErrorCategory.API_ERROR),
        (204, {}, ErrorCategory.API_ERROR),
        (200, {"error": {"message": "x", "code": 429}}, ErrorCategory.RATE_LIMITED),
        (200, {"error": {"code": "context_length_exceeded"}}, ErrorCategory.CONTEXT_TOO_LARGE),
        (200, {"error": "broken"}, ErrorCategory.API_ERROR),
        (200, {"id": "x", "object": "error", "error": {"code": 429}}, ErrorCategory.RATE_LIMITED),
        (200, {"id": "x", "error": {"code": "429"}}, ErrorCategory.RATE_LIMITED),
        (200, {"id": "x", "error": {"type": "rate_limit_error"}}, ErrorCategory.RATE_LIMITED),
        (200, {**REPLY, "error": {"code": 503}}, ErrorCategory.OVERLOADED),
        (200, {"choices": [{**REPLY["choices"][0], "error": {"code": 502}}]}, ErrorCategory.API_ERROR),
        (200, {"id": "x", "object": "error", "message": "no"}, ErrorCategory.API_ERROR),
    ],
)
async def test_every_failure_has_its_category(status: int, body: object, category: ErrorCategory) -> None:
    error = await failure(answer(body, status))
    assert error.category is category


async def test_an_error_in_a_body_with_status_200_is_found_when_it_is_read_too() -> None:
    with pytest.raises(ProviderError) as caught:
        read({"id": "x", "error": {"code": "context_length_exceeded"}})
    assert caught.value.category is ErrorCategory.CONTEXT_TOO_LARGE


@pytest.mark.parametrize(
    ("param", "hint"),
    [
        ("temperature", "temperature: false"),
        ("top_logprobs", "top_logprobs: 0"),
        ("response_format.json_schema", "structured_output: false"),
    ],
)
async def test_a_refused_parameter_is_named_with_the_capability_to_declare(param: str, hint: str) -> None:
    error = await failure(answer({"error": {"code": "unsupported_value", "param": param}}, 400))
    assert param.partition(".")[0] in str(error)
    assert hint in str(error)
    assert error.attempts == 1


NO_SUCH_LIMIT = answer(
    {"error": {"code": "unsupported_parameter", "param": "max_tokens", "message": "Use 'max_completion_tokens'."}}, 400
)


async def test_a_limit_that_is_known_under_its_other_name_is_sent_under_that_once_more_and_ever_after() -> None:
    frame = Frame(messages=PLAIN.messages, extra={"metadata": {"max_tokens": "mine"}})
    async with serving(NO_SUCH_LIMIT, answer(REPLY)) as server:
        provider = HttpProvider(settings(server))
        call = provider.prepare(ModelRequest(frame=frame, user='say "max_tokens":'))
        first, second = await provider.send(call), await provider.send(call)
        await provider.aclose()
    assert (first.attempts, second.attempts, len(server.requests)) == (2, 1, 3)
    limits = [
        {name: sent.json.get(name) for name in ("max_tokens", "max_completion_tokens")} for sent in server.requests
    ]
    renamed = {"max_tokens": None, "max_completion_tokens": 500}
    assert limits == [{"max_tokens": 500, "max_completion_tokens": None}, renamed, renamed]
    assert {json.dumps(sent.json["messages"]) for sent in server.requests} == {
        json.dumps(server.requests[0].json["messages"])
    }
    assert server.requests[2].json["metadata"] == {"max_tokens": "mine"}


async def test_a_limit_that_has_no_name_at_all_there_is_an_error_after_two_requests() -> None:
    other = {"error": {"code": "unsupported_parameter", "param": "max_completion_tokens"}}
    async with serving(NO_SUCH_LIMIT, answer(other, 400)) as server:
        provider = HttpProvider(settings(server))
        with pytest.raises(ProviderError, match="refused max_completion_tokens") as caught:
            await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    assert (caught.value.category, caught.value.attempts) == (ErrorCategory.INVALID_REQUEST, 2)
    assert len(server.requests) == 2


async def test_a_parameter_named_only_in_the_text_is_found_too() -> None:
    error = await failure(answer({"message": "`temperature` must be 1 for this model"}, 400))
    assert "refused temperature for model judge-model" in str(error)
    assert "must be 1" not in str(error)


async def test_a_sign_in_page_is_no_reply() -> None:
    page = Answer(headers={"Content-Type": "text/html; charset=utf-8"}, body=b"<html><title>Sign in</title></html>")
    async with serving(page) as server:
        provider = HttpProvider(settings(endpoint=f"http://127.0.0.1:{server.port}/v1?tenant=blue"))
        with pytest.raises(ProviderError) as caught:
            await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    expected = f"expected application/json, got text/html from 127.0.0.1:{server.port}/v1/chat/completions."
    assert str(caught.value).startswith(expected)
    assert (caught.value.category, len(server.requests)) == (ErrorCategory.API_ERROR, 1)


async def test_a_redirect_says_so() -> None:
    error = await failure(Answer(status=308, headers={"Location": "https://x.example/"}, body=b""))
    assert "redirects (308)" in str(error)


async def test_json_under_another_name_is_taken() -> None:
    body = b"\n" + json.dumps(REPLY).encode() + b"\r\n"
    async with serving(Answer(headers={"Content-Type": "text/plain"}, body=body)) as server:
        provider = HttpProvider(settings(server))
        raw = await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    assert provider.read(raw).text == "Paris"


async def test_the_request_id_is_kept() -> None:
    error = await failure(answer({}, 400, X_Request_Id="req-7"))
    assert error.request_id == "req-7"
    async with serving(answer(REPLY, X_Request_Id="req-8")) as server:
        provider = HttpProvider(settings(server))
        raw = await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    assert raw.request_id == "req-8"


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
async def test_a_key_that_the_server_echoes_is_in_no_message_repr_or_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    told = {"error": {"message": f"Incorrect API key provided: {SECRET}", "param": SECRET, "code": SECRET}}
    async with serving(answer(told, status, X_Debug=SECRET)) as server:
        provider = HttpProvider(settings(server, api_key_env="JUDGE_KEY"), timing=FakeTime().timing)
        with pytest.raises(ProviderError) as caught:
            await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    error = caught.value
    shown = [str(error), repr(error), repr(vars(error)), repr(provider), repr(provider.settings), caplog.text]
    shown += [repr(vars(provider)), repr(error.__context__), repr(error.__cause__)]
    assert SECRET in str(server.requests[0].headers)
    assert not any(SECRET in text for text in shown)
    if status in (401, 403):
        assert "JUDGE_KEY" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        {"id": "x", "object": "error", "error": {"code": 429, "message": "slow down"}},
        {**REPLY, "error": {"code": 503}},
        {"choices": [{**REPLY["choices"][0], "error": {"code": 502}}]},
    ],
)
async def test_an_error_inside_of_a_200_is_tried_again_and_never_given_back(body: object) -> None:
    async with serving(answer(body), answer(REPLY)) as server:
        provider = HttpProvider(settings(server), timing=FakeTime().timing)
        raw = await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    assert (raw.attempts, len(server.requests), json.loads(raw.body)) == (2, 2, REPLY)


async def test_an_answer_that_speaks_of_an_error_is_an_answer() -> None:
    told = {"choices": [{"message": {"content": '{"error": "none"}', "note": "error"}, "finish_reason": "stop"}]}
    async with serving(answer(told)) as server:
        provider = HttpProvider(settings(server))
        raw = await provider.send(provider.prepare(ModelRequest(frame=PLAIN, user="x")))
        await provider.aclose()
    assert provider.read(raw).text == '{"error": "none"}'


@pytest.mark.parametrize(
    ("told", "shown"),
    [("text/html", "text/html"), ("application/XML; a=b", "application/xml"), ("x-secret/abc123", "another type")],
)
async def test_only_known_types_of_content_are_named(told: str, shown: str) -> None:
    error = await failure(Answer(headers={"Content-Type": told}, body=b"<p>"))
    assert f"got {shown} from" in str(error)


@pytest.mark.parametrize("told", ["a b", "<b>", "r" * 101, SECRET])
async def test_a_request_id_that_could_do_harm_is_none(told: str) -> None:
    assert (await failure(answer({}, 400, X_Request_Id=told))).request_id is None
