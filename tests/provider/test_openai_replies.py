"""The chat-completions dialect on the wire: what comes back, and that nothing of it is taken for what it is not."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from chat_completions import SECRET, message, read
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import FinishReason, Raw, Reply, Usage
from jurat.provider.errors_from_http import Destination
from jurat.provider.openai_reply import read_reply


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
