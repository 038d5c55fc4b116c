"""From a vendor's own words for its tokens to US dollars: every figure here was worked out by hand.

The prices of the snapshot, in USD per million tokens, as of the version that is pinned:

    claude-haiku-4-5   1 in, 0.1 read from the cache, 1.25 written to it, 5 out
    gemini-2.5-flash   0.3 in, 0.03 cached, 2.5 out
    gemini-2.5-pro     1.25 in, 10 out; above 200,000 tokens of input 2.5 and 15
    gpt-4.1-mini       0.4 in, 0.1 cached, 1.6 out
    gpt-5              1.25 in, 0.125 cached, 10 out
    gpt-oss-20b        0.075 in, 0.3 out, at Groq
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.provider import Pricer, Raw, make_provider
from jurat.suiterun.money import unpriced_faults

Row = dict[str, Any]
CLAUDE: Row = {"kind": "anthropic", "model": "claude-haiku-4-5"}
FLASH: Row = {"kind": "google", "model": "gemini-2.5-flash"}
PRO: Row = {"kind": "google", "model": "gemini-2.5-pro"}
MINI: Row = {"kind": "openai", "model": "gpt-4.1-mini"}
GPT: Row = {"kind": "openai", "model": "gpt-5"}
OSS: Row = {"kind": "groq", "model": "openai/gpt-oss-20b"}
HERE: Row = {"kind": "vllm", "model": "house"}


def claude(**usage: int) -> Any:
    return {"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn", "usage": usage}


def gemini(**usage: int) -> Any:
    return {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}], "usageMetadata": usage}


def chat(prompt: int | None, made: int | None, cached: int = 0, reasoned: int = 0, **more: Any) -> Any:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": made,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoned},
        **more,
    }
    return {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}


def response(**usage: Any) -> Any:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    return {"object": "response", "status": "completed", "output": [said], "usage": usage}


def ollama(**usage: int) -> Any:
    return {"message": {"role": "assistant", "content": "x"}, "done": True, "done_reason": "stop", **usage}


BY_HAND: list[tuple[Row, Any, float | None]] = [
    # 50 at 1, 2,000 at 1.25, 10,000 at 0.1, 300 at 5: Anthropic's input leaves both parts of the cache out.
    (
        CLAUDE,
        claude(input_tokens=50, cache_creation_input_tokens=2_000, cache_read_input_tokens=10_000, output_tokens=300),
        0.00505,
    ),
    (CLAUDE, claude(input_tokens=1_000, output_tokens=100), 0.0015),
    # 600 at 0.3, 400 at 0.03, and 100 of the answer with 900 of thoughts at 2.5: thoughts stand beside candidates.
    (
        FLASH,
        gemini(promptTokenCount=1_000, cachedContentTokenCount=400, candidatesTokenCount=100, thoughtsTokenCount=900),
        0.002692,
    ),
    # 250,000 at 2.5, and 1,000 with 3,000 of thoughts at 15.
    (PRO, gemini(promptTokenCount=250_000, candidatesTokenCount=1_000, thoughtsTokenCount=3_000), 0.685),
    (MINI, chat(10_000, 500, cached=8_000), 0.0024),  # 2,000 at 0.4, 8,000 at 0.1, 500 at 1.6
    (GPT, chat(1_000, 2_000, reasoned=1_800), 0.02125),  # 1,000 at 1.25, 2,000 at 10: reasoning is among them
    # 400 at 0.4, 600 at 0.1, 100 at 1.6.
    (
        {**MINI, "api": "responses"},
        response(
            input_tokens=1_000,
            input_tokens_details={"cached_tokens": 600},
            output_tokens=100,
            output_tokens_details={"reasoning_tokens": 64},
        ),
        0.00038,
    ),
    (OSS, chat(1_000, 1_000), 0.000375),
    ({"kind": "openai", "model": "nobody-knows-this"}, chat(1_000, 1_000), None),
    (HERE, chat(1_000, 1_000), None),
    # 800 at 2, 200 at 0.5, 100 at 8.
    ({**HERE, "prices": {"input": 2, "cached_input": 0.5, "output": 8}}, chat(1_000, 100, cached=200), 0.0025),
    (
        {"kind": "ollama", "model": "qwen3", "prices": {"input": 0, "output": 0}},
        ollama(prompt_eval_count=1_000, eval_count=100),
        0.0,
    ),
    ({**HERE, "prices": {"input": 2}}, chat(1_000, 100), None),  # half a price is none
    (MINI, chat(1_000, None), None),
    (MINI, {"choices": [{"message": {"content": "x"}}]}, None),
    # What OpenRouter says that it charged.
    ({"kind": "openrouter", "model": "nobody/knows"}, chat(1_000, 100, cost=0.0123), 0.0123),
    # Rates that the snapshot does not know.
    ({**GPT, "extra": {"service_tier": "flex"}}, chat(1_000, 100), None),
    ({**GPT, "extra": {"service_tier": "priority"}, "prices": {"input": 2.5, "output": 20}}, chat(1_000, 100), 0.0045),
    ({**GPT, "extra": {"service_tier": "default"}}, chat(1_000, 100), 0.00225),
    ({**CLAUDE, "extra": {"inference_geo": "us"}}, claude(input_tokens=1_000, output_tokens=100), None),
    ({**MINI, "extra": {"web_search_options": {}}}, chat(1_000, 100), None),
]


@pytest.mark.parametrize(("row", "body", "usd"), BY_HAND)
def test_a_reply_costs_what_was_worked_out_by_hand(row: Row, body: Any, usd: float | None) -> None:
    provider = make_provider({"name": "p", **row})
    usage = provider.read(Raw(body=json.dumps(body).encode(), latency_ms=1.0)).usage
    assert Pricer(provider.settings).cost(usage) == (None if usd is None else pytest.approx(usd, rel=1e-12))


@pytest.mark.parametrize(
    "row", [{**GPT, "extra": {"service_tier": "flex"}}, {**HERE, "prices": {"input": 2}}, {**HERE, "prices": {}}]
)
def test_a_price_that_is_not_whole_has_no_source_so_that_no_budget_rests_on_it(row: Row) -> None:
    assert Pricer(make_provider({"name": "p", **row}).settings).price_source is None


@pytest.mark.parametrize(
    ("row", "fine"),
    [
        ({"kind": "python", "function": "json:dumps"}, False),
        ({"kind": "python", "function": "json:dumps", "prices": {"input": 0, "output": 0}}, True),
        (HERE, False),
        ({**HERE, "prices": {"input": 2}}, False),
        ({**GPT, "extra": {"service_tier": "flex"}}, False),
        (GPT, True),
        ({"kind": "openrouter", "model": "nobody/knows"}, True),
        ({"kind": "scripted", "replies": ["x"]}, True),
    ],
)
def test_no_budget_rests_on_a_price_that_nobody_knows(row: Row, fine: bool) -> None:
    faults = unpriced_faults([make_provider({"name": "p", **row})])
    assert (not faults) is fine
    assert all("expected a known price of provider p, since there is a budget" in str(fault) for fault in faults)
