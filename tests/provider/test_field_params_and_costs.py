"""Parameters and costs that comparable tools got wrong in the field: each kind must stay impossible here.

The handed reports that carry figures are read and computed as they stand; the others have a sentence of their own.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from loopback import FakeTime, answer, serving
from wired import SECRET

from handed import Case, lines, shared_directory
from jurat.errors import AuthoringError, ErrorCategory, ProviderError
from jurat.jsontext import Json
from jurat.provider import ChatMessage, Frame, ModelRequest, Pricer, ProviderSettings, Raw, ResponseSchema, Usage
from jurat.provider.registry import make_provider
from jurat.testing import AnswerError, check_answer

PRICED = [report for report in lines("cases/field_reports.jsonl") if report["kind"] == "usage_cost"]
OUR_PRICES = {"input": "input", "output": "output", "cache_read": "cached_input", "cache_write": "cache_write"}


def usage_told(style: str, told: Case) -> Usage:
    """A report's figures, as they come in a reply of the vendor whose style they have."""
    if style == "anthropic":
        body: dict[str, Any] = {"type": "message", "content": [], "stop_reason": "end_turn", "usage": told}
        return make_provider("anthropic:m").read(Raw(body=json.dumps(body).encode(), latency_ms=0.0)).usage
    given = told.get("prompt_tokens", told.get("prompt_tokens_total", told.get("input_tokens")))
    counted = {
        "prompt_tokens": given,
        "completion_tokens": told.get("completion_tokens", told.get("output_tokens", 0)),
        "prompt_tokens_details": {
            "cached_tokens": told.get("cached_tokens", told.get("cache_read")),
            "cache_write_tokens": told.get("cache_write"),
        },
        "completion_tokens_details": {"reasoning_tokens": told.get("reasoning_tokens")},
    }
    body = {"choices": [{"message": {"content": "x"}}], "usage": counted}
    return make_provider("openai:m").read(Raw(body=json.dumps(body).encode(), latency_ms=0.0)).usage


def priced(prices: Case, **settings: Any) -> Pricer:
    own = {ours: prices[theirs] for theirs, ours in OUR_PRICES.items() if theirs in prices}
    return Pricer(ProviderSettings(name="p", kind="openai_compatible", model="nobody", prices=own or None, **settings))


def with_costs() -> list[Any]:
    return [
        pytest.param(report["input"], report["right"], id=report["gist"][:60])
        for report in PRICED
        if isinstance(report["input"], dict) and "usage" in report["input"]
    ] or [pytest.param({}, {}, id="missing")]


@pytest.mark.parametrize(("given", "right"), with_costs())
def test_a_reported_usage_costs_what_was_worked_out_by_hand(given: Case, right: Case) -> None:
    shared_directory()
    usage = usage_told(given.get("provider_style", "openai"), given["usage"])
    assert priced(given.get("prices", {})).cost(usage) == right["cost"]


def test_vendors_who_count_differently_come_to_the_same_figures() -> None:
    shared_directory()
    for report in PRICED:
        if isinstance(report["input"], list):
            told = [usage_told(one["provider_style"], one["usage"]) for one in report["input"]]
            figures = [(one.input_tokens, one.cached_input_tokens) for one in told]
            assert figures == [(1000, 400), (1000, 400)]
            sides = [
                priced(report["right"]["prices"]).cost(
                    Usage(input_tokens=one.input_tokens, cached_input_tokens=one.cached_input_tokens, output_tokens=0)
                )
                for one in told
            ]
            assert sides == [report["right"]["cost_input_side"]] * 2


def test_a_price_of_zero_is_known_and_a_missing_one_is_not() -> None:
    usage = Usage(input_tokens=5000, output_tokens=200)
    assert priced({"input": 0, "output": 0}).cost(usage) == 0.0
    assert (priced({}).cost(usage), priced({}).price_source) == (None, None)


# Parameters

FRAME = Frame(messages=(ChatMessage(role="system", content="Judge."),))


async def refusal_of(param: str, code: str = "unsupported_value") -> tuple[ProviderError, int]:
    said = answer({"error": {"code": code, "param": param, "message": f"{SECRET} {param}"}}, 400)
    async with serving(said) as server:
        provider: Any = make_provider({"kind": "openai_compatible", "model": "reasoner", "base_url": server.url})
        provider._sender._timing = FakeTime().timing
        with pytest.raises(ProviderError) as caught:
            await provider.send(provider.prepare(ModelRequest(frame=FRAME, user="x")))
        await provider.aclose()
        return caught.value, len(server.requests)


async def test_a_temperature_that_a_model_refuses_is_named_after_one_request() -> None:
    error, requests = await refusal_of("temperature")
    assert (error.category, requests) == (ErrorCategory.INVALID_REQUEST, 1)
    assert "refused temperature for model reasoner" in str(error)
    assert SECRET not in str(error)


@pytest.mark.parametrize("model", ["o3", "gpt-5", "gpt-5.6-terra", "gpt-6-sol"])
def test_a_model_that_reasons_is_sent_neither_temperature_nor_probabilities_unasked(model: str) -> None:
    sent = json.loads(make_provider(f"openai:{model}").prepare(ModelRequest(frame=FRAME, user="x")).body)
    assert sorted(sent) == ["max_completion_tokens", "messages", "model"]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("openai:gpt-4o", "max_completion_tokens"),
        ("vllm:m", "max_tokens"),
        ({"kind": "openai", "model": "gpt-4o", "api": "responses"}, "max_output_tokens"),
        ("anthropic:claude-haiku-4-5", "max_tokens"),
    ],
)
def test_one_limit_of_the_authors_has_the_name_that_each_server_knows(asked: Any, name: str) -> None:
    frame = Frame(messages=(), max_output_tokens=800)
    sent = json.loads(make_provider(asked).prepare(ModelRequest(frame=frame, user="x")).body)
    assert [key for key, value in sent.items() if value == 800] == [name]


def test_keywords_that_a_vendor_refuses_stay_at_home_and_the_check_stays_whole() -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "title": "Score",
        "properties": {"score": {"type": "number"}},
        "required": ["score"],
        "additionalProperties": False,
    }
    frame = Frame(messages=(), schema=ResponseSchema(name="s", schema=schema))
    row = {"kind": "vllm", "model": "m", "capabilities": {"schema_keywords_refused": ["additionalProperties", "title"]}}
    sent = json.loads(make_provider(row).prepare(ModelRequest(frame=frame, user="x")).body)
    assert sorted(sent["response_format"]["json_schema"]["schema"]) == ["properties", "required", "type"]
    with pytest.raises(AnswerError) as caught:
        check_answer('{"evidence": [], "reason": "r", "score": 1, "more": 2}', [{"role": "user", "content": "x"}])
    assert caught.value.category is ErrorCategory.SCHEMA_VIOLATION


@pytest.mark.parametrize("name", ["opus4.5-typo", "gpt-4o", "judge-latest"])
def test_no_vendor_is_guessed_from_a_models_name(name: str) -> None:
    with pytest.raises(AuthoringError, match="kind:model with one of"):
        make_provider(name)


def test_the_model_that_answered_is_told_beside_the_one_that_was_asked() -> None:
    body = {"model": "judge-2026-05-01", "choices": [{"message": {"content": "x"}}]}
    provider = make_provider("openai:judge-latest")
    assert provider.settings.model == "judge-latest"
    assert provider.read(Raw(body=json.dumps(body).encode(), latency_ms=0.0)).model == "judge-2026-05-01"
