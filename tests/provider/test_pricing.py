"""Costs, computed by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.provider import Pricer, ProviderSettings, Usage
from jurat.provider.pricing import is_free

PRICES = {"input": 3.0, "output": 15.0, "cached_input": 0.3, "cache_write": 3.75}


def pricer(kind: str = "openai_compatible", model: str = "m", **more: Any) -> Pricer:
    return Pricer(ProviderSettings(name="p", kind=kind, model=model, **more))


def custom(usage: Usage, prices: dict[str, float]) -> float | None:
    return pricer(prices=prices).cost(usage)


def test_cached_tokens_cost_their_own_rate_once() -> None:
    usage = Usage(input_tokens=100_000, cached_input_tokens=90_000, output_tokens=1_000)
    assert custom(usage, PRICES) == 0.072  # 10,000 at 3, 90,000 at 0.3, 1,000 at 15


def test_written_tokens_cost_their_own_rate_once() -> None:
    usage = Usage(input_tokens=2_000, cached_input_tokens=500, cache_write_tokens=300, output_tokens=0)
    assert custom(usage, PRICES) == 0.004875  # 1,200 at 3, 500 at 0.3, 300 at 3.75


def test_a_cached_part_of_the_input_is_not_charged_in_full_too() -> None:
    assert custom(Usage(input_tokens=1_000, cached_input_tokens=400, output_tokens=0), PRICES) == 0.00192


def test_reasoning_is_a_part_of_the_output() -> None:
    usage = Usage(input_tokens=14_746, output_tokens=1_944, reasoning_tokens=1_360)
    assert custom(usage, {"input": 30.0, "output": 180.0}) == 0.7923


def test_cached_tokens_without_a_rate_of_their_own_cost_the_inputs() -> None:
    usage = Usage(input_tokens=1_000_000, cached_input_tokens=500_000, cache_write_tokens=100_000, output_tokens=0)
    assert custom(usage, {"input": 2.0, "output": 1.0}) == 2.0


def test_a_sum_that_binary_fractions_would_miss_is_exact() -> None:
    assert custom(Usage(input_tokens=1_000_000, output_tokens=1_000_000), {"input": 0.1, "output": 0.2}) == 0.3


@pytest.mark.parametrize(
    "usage",
    [
        *(Usage(), Usage(input_tokens=5), Usage(output_tokens=5)),
        Usage(input_tokens=5, cached_input_tokens=9, output_tokens=1),
    ],
)
def test_an_unknown_or_impossible_usage_has_no_cost(usage: Usage) -> None:
    assert custom(usage, PRICES) is None


@pytest.mark.parametrize("prices", [{}, {"input": 1.0}, {"output": 1.0}, {"input": 0.0}])
def test_an_unknown_price_is_none_and_not_zero(prices: dict[str, float]) -> None:
    assert custom(Usage(input_tokens=5_000, output_tokens=200), prices) is None


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5, output_tokens=5)])
def test_a_price_of_zero_costs_zero(usage: Usage) -> None:
    asked = pricer(prices={"input": 0.0, "output": 0.0})
    assert (asked.cost(usage), asked.price_source) == (0.0, "custom")


@pytest.mark.parametrize("kind", ["local", "scripted", "replay"])
def test_where_nothing_is_paid_the_cost_is_zero(kind: str) -> None:
    assert (pricer(kind).cost(Usage()), pricer(kind).price_source) == (0.0, "nothing is paid")


@pytest.mark.parametrize(
    ("kind", "prices", "free"),
    [
        ("scripted", None, True),
        ("local", None, True),
        ("scripted", {"input": 1.0, "output": 0.0}, False),
        ("openai", {"input": 0.0, "output": 0.0}, True),
        ("openai", {"input": 0.0}, False),
        ("openai", None, False),
        ("python", None, False),
    ],
)
def test_who_is_never_paid_is_known(kind: str, prices: dict[str, float] | None, free: bool) -> None:
    assert is_free(pricer(kind, prices=prices).settings) is free


@pytest.mark.parametrize(
    ("kind", "model", "endpoint"),
    [
        ("openai", "brand-new-judge", "https://api.openai.com/v1"),
        ("openai_compatible", "gpt-4o", "https://gateway.example/v1"),
        ("openai_compatible", "gpt-4o", "http://127.0.0.1:8000/v1"),
        ("python", "my_app:answer", ""),
        ("python", "gpt-4o", ""),
    ],
)
def test_an_unknown_model_has_no_price_and_no_source(kind: str, model: str, endpoint: str) -> None:
    asked = pricer(kind, model, endpoint=endpoint)
    assert (asked.cost(Usage(input_tokens=1_000, output_tokens=1_000)), asked.price_source) == (None, None)


def test_a_known_model_is_priced_from_the_snapshot_whose_version_is_told() -> None:
    import genai_prices

    asked = pricer("openai", "gpt-4o-mini")  # 0.15 in, 0.075 cached, 0.60 out
    assert asked.cost(Usage(input_tokens=1_000_000, output_tokens=100_000)) == 0.21
    assert asked.cost(Usage(input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=0)) == 0.12
    assert asked.price_source == f"genai-prices {genai_prices.__version__}"


def test_an_endpoint_names_its_vendor() -> None:
    asked = pricer("openai_compatible", "gpt-4o-mini", endpoint="https://api.openai.com/v1")
    assert asked.cost(Usage(input_tokens=1_000_000, output_tokens=0)) == 0.15


def test_a_price_in_tiers_depends_on_the_size_of_the_input() -> None:
    asked = pricer("openrouter", "google/gemini-2.5-pro")  # 1.25 and 10; above 200,000 tokens 2.50 and 15
    assert asked.cost(Usage(input_tokens=100_000, output_tokens=10_000)) == 0.225
    assert asked.cost(Usage(input_tokens=300_000, output_tokens=10_000)) == 0.9
    assert asked.cost(Usage(input_tokens=100_000, output_tokens=10_000, reasoning_tokens=9_000)) == 0.225
    assert asked.cost(Usage(input_tokens=300_000)) is None


def test_in_tiers_too_what_was_cached_or_written_costs_its_own_rate_once() -> None:
    asked = pricer("openrouter", "google/gemini-2.5-pro")  # 0.125 cached, above 200,000 tokens 0.25; 0.375 written
    assert asked.cost(Usage(input_tokens=100_000, cached_input_tokens=60_000, output_tokens=0)) == 0.0575
    assert asked.cost(Usage(input_tokens=300_000, cached_input_tokens=100_000, output_tokens=0)) == 0.525
    assert asked.cost(Usage(input_tokens=100_000, cache_write_tokens=60_000, output_tokens=0)) == 0.0725


def test_the_quick_way_agrees_with_the_librarys() -> None:
    from genai_prices import Usage as Counts
    from genai_prices import calc_price

    usage = Usage(input_tokens=12_345, cached_input_tokens=2_345, output_tokens=678, reasoning_tokens=78)
    counts = Counts(input_tokens=12_345, cache_read_tokens=2_345, output_tokens=678)
    for kind, vendor, model in [("openai", "openai", "gpt-4o"), ("xai", "x-ai", "grok-4"), ("openai", "openai", "o3")]:
        theirs = calc_price(counts, model, provider_id=vendor).total_price
        assert pricer(kind, model).cost(usage) == float(theirs)


_tokens = st.integers(min_value=0, max_value=10**9)
_price = st.decimals(min_value=0, max_value=1000, places=4)


@given(_tokens, _tokens, _tokens, _tokens, _price, _price, _price, _price)
def test_costs_are_exact_sums(
    plain: int, cached: int, written: int, made: int, into: Decimal, read: Decimal, write: Decimal, out: Decimal
) -> None:
    usage = Usage(
        input_tokens=plain + cached + written,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=made,
    )
    prices = {"input": float(into), "cached_input": float(read), "cache_write": float(write), "output": float(out)}
    exact = (plain * into + cached * read + written * write + made * out) / 1_000_000
    assert custom(usage, prices) == float(exact)


def test_what_the_provider_says_that_it_charged_is_the_cost_unless_the_author_knows_better() -> None:
    charged = Usage(input_tokens=1_000, output_tokens=100, charged_usd=0.0123)
    assert pricer("openrouter", "nobody/knows").cost(charged) == 0.0123
    assert pricer("openrouter", "nobody/knows", prices={"input": 1.0, "output": 1.0}).cost(charged) == 0.0011


BY_HAND: list[tuple[str, str, dict[str, Any], Usage, float | None]] = [
    # kind, model, settings, usage, USD. Snapshot prices, USD per million: gpt-4o-mini 0.15, cached 0.075, out 0.6;
    # claude-3-5-haiku 0.8, cached 0.08, written 1, out 4.
    ("openai", "gpt-4o-mini", {}, Usage(input_tokens=2_000, output_tokens=300), 0.00048),
    ("openai", "gpt-4o-mini", {}, Usage(input_tokens=2_000, cached_input_tokens=1_000, output_tokens=300), 0.000405),
    ("openai", "gpt-4o-mini", {}, Usage(input_tokens=0, output_tokens=1_000, reasoning_tokens=900), 0.0006),
    ("anthropic", "claude-3-5-haiku-latest", {}, Usage(input_tokens=1_000, output_tokens=100), 0.0012),
    (
        *("anthropic", "claude-3-5-haiku-latest", {}),
        *(Usage(input_tokens=1_000, cached_input_tokens=500, cache_write_tokens=200, output_tokens=100), 0.00088),
    ),
    ("openai", "nobody-knows-this", {}, Usage(input_tokens=1_000, output_tokens=100), None),
    ("openai_compatible", "m", {}, Usage(input_tokens=1_000, output_tokens=100), None),
    ("openai", "gpt-4o-mini", {"prices": PRICES}, Usage(input_tokens=1_000, output_tokens=100), 0.0045),
    ("groq", "m", {"prices": {"input": 0.0, "output": 0.0}}, Usage(input_tokens=1_000, output_tokens=100), 0.0),
    ("openai", "gpt-4o-mini", {}, Usage(output_tokens=100), None),
    ("openrouter", "nobody/knows", {}, Usage(input_tokens=1_000, output_tokens=100, charged_usd=0.02), 0.02),
    ("local", "qwen", {}, Usage(input_tokens=1_000, output_tokens=100), 0.0),
]


@pytest.mark.parametrize(("kind", "model", "more", "usage", "usd"), BY_HAND)
def test_twelve_calls_cost_what_was_worked_out_by_hand(
    kind: str, model: str, more: dict[str, Any], usage: Usage, usd: float | None
) -> None:
    assert pricer(kind, model, **more).cost(usage) == (None if usd is None else pytest.approx(usd, rel=1e-12))


def test_who_tells_what_was_charged_has_a_known_price_without_a_table() -> None:
    assert pricer("openrouter", "nobody/knows").price_source == "what the provider says that it charged"
    assert pricer("openrouter", "nobody/knows").cost(Usage(input_tokens=1, output_tokens=1)) is None
    assert pricer("groq", "nobody-knows").price_source is None
