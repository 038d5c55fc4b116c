"""The chat-completions dialect on the wire: what errors say, where they hide, and what never leaks of them."""

from __future__ import annotations

import json
import logging

import pytest
from chat_completions import PLAIN, SECRET, failure, read, settings
from loopback import REPLY, Answer, FakeTime, answer, serving

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider import Frame, HttpProvider, ModelRequest


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
