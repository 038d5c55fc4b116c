"""What a call cost, in US dollars: a price is looked up once, a usage is then priced in a few microseconds.

An unknown price or an unknown usage gives None, never 0; 0.0 is said only where it is known that nothing is paid: for
the kinds `local`, `scripted` and `replay`, and for prices that the author set to 0. A `python` function may well pay
somebody, so its price is unknown until the author tells it. Prices are USD per million tokens.

    cost = (input - cached - written) * input + cached * cached_input + written * cache_write + output * output

Cached and written tokens are parts of the input and cost their own rate once; where that rate is unknown, the input's.
Reasoning tokens are a part of the output and are not counted again. A part that the provider did not report counts as
none of it. Sums are exact, and rounded to a float once.

Prices come from the author, or from the snapshot inside genai-prices, unless the provider's reply says itself what it
charged (OpenRouter, xAI), which is then the cost; a model is looked up within the vendor that the
kind or the endpoint names, and never guessed from its name. The snapshot knows a vendor's usual rates: where an extra
setting asks for others (a tier of service, a fast mode) or for what is paid by the piece (a search), the price is
unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jurat.jsontext import Json, thaw
from jurat.provider.protocol import Provider, ProviderSettings, Raw, Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo
    from genai_prices.types import Provider as Vendor

__all__ = ["PRICE_NAMES", "Pricer", "is_free", "price_of_replies"]

PRICE_NAMES = ("input", "output", "cached_input", "cache_write")
_VENDORS = {
    "anthropic": "anthropic",
    "azure_openai": "azure",
    "google": "google",
    "groq": "groq",
    "openai": "openai",
    "openrouter": "openrouter",
    "xai": "x-ai",
}
_FREE_KINDS = ("local", "scripted", "replay")
_TELLING = ("openrouter", "xai")
_FLAT_NAMES = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")
# Prices for things that a judge's call never uses, or that a plain count of tokens does not touch.
_IRRELEVANT = (
    *("web_searches", "storage_searches", "cache_write_1h", "audio_", "input_audio", "output_audio", "cache_audio"),
    *("input_image", "output_image", "cache_image", "input_video", "output_video", "input_document"),
    *("input_annotated", "input_mchars", "input_text_messages", "output_citation"),
)

_USUAL_RATES: Mapping[str, tuple[object, ...]] = {
    "service_tier": ("auto", "default", "standard", "standard_only", "on_demand"),
    "speed": ("standard",),
    "inference_geo": ("global",),
    **dict.fromkeys(("tools", "web_search_options", "search_parameters", "plugins", "mcp_servers", "container"), ([],)),
}
"""Settings that change what a call costs, with the values under which the vendor's usual rates hold."""

_Cost = Callable[[Usage], float | None]


class Pricer:
    """Prices the calls of one provider. The look-up is made at the first question.

    Attributes:
        settings: whose calls these are.
    """

    __slots__ = ("_cost", "_source", "settings")

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self._cost: _Cost | None = None
        self._source: str | None = None

    def cost(self, usage: Usage) -> float | None:
        """The cost of one reply in USD, or None when its price or its usage is not known.

        The author's prices come first, then what the provider says that it charged, then the table.
        """
        cost = self._cost or self._resolve()
        charged = usage.charged_usd
        told = charged is not None and self.settings.prices is None and self.settings.kind != "replay"
        return charged if told else cost(usage)

    @property
    def price_source(self) -> str | None:
        """Where the price comes from; None when there is none.

        `custom`, `nothing is paid`, `genai-prices 0.2.3`, or `what the provider says that it charged`. Those that tell
        a charge with each reply (OpenRouter, xAI) are charged by that even where the table knows the model.
        """
        if self._cost is None:
            self._resolve()
        return self._source

    def _resolve(self) -> _Cost:
        settings = self.settings
        if settings.prices is not None and settings.kind != "replay":
            whole = {"input", "output"} <= settings.prices.keys()
            self._cost, self._source = _custom(settings), "custom" if whole else None
        elif settings.kind in _FREE_KINDS:
            self._cost, self._source = _free, "nothing is paid"
        else:
            self._cost, self._source = _from_snapshot(settings)
            if self._source is None and settings.kind in _TELLING:
                self._source = "what the provider says that it charged"
        return self._cost


def is_free(settings: ProviderSettings) -> bool:
    """Whether it is known that nothing is ever paid: by the kind, or because the author set every price to 0."""
    if settings.prices is not None and settings.kind != "replay":
        return {"input", "output"} <= settings.prices.keys() and not any(settings.prices.values())
    return settings.kind in _FREE_KINDS


def price_of_replies(provider: Provider) -> Callable[[Raw], float | None]:
    """What tells what a raw reply of this provider cost, in USD; None where that is not known.

    What is no reply has no price that anybody knows, and is no fault here: who reads it says what is wrong with it.
    """
    price = Pricer(provider.settings).cost

    def cost(raw: Raw) -> float | None:
        try:
            return price(provider.read(raw).usage)
        except Exception:
            return None

    return cost


def _free(_: Usage) -> float:
    return 0.0


def _unknown(_: Usage) -> None:
    return None


def _custom(settings: ProviderSettings) -> _Cost:
    if is_free(settings):
        return _free  # a price of 0 is known to give 0, whatever the usage
    prices = {name: Decimal(str(price)) for name, price in (settings.prices or {}).items()}
    into, out = prices.get("input"), prices.get("output")
    if into is None or out is None:
        return _unknown
    return _flat(into, prices.get("cached_input", into), prices.get("cache_write", into), out)


def _flat(into: Decimal, cached_rate: Decimal, write_rate: Decimal, out: Decimal) -> _Cost:
    # In whole numbers: as exact as decimals, rounded once in the division, and a quarter of their work.
    rates = [Fraction(rate) for rate in (into, cached_rate, write_rate, out)]
    scale = math.lcm(*(rate.denominator for rate in rates))
    of_plain, of_cached, of_written, of_output = (int(rate * scale) for rate in rates)
    divisor = scale * 1_000_000

    def cost(usage: Usage) -> float | None:
        given, made = usage.input_tokens, usage.output_tokens
        if given is None or made is None:
            return None
        cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
        plain = given - cached - written
        if plain < 0:
            return None  # parts larger than the whole: nobody knows what was counted
        total = plain * of_plain + cached * of_cached + written * of_written + made * of_output
        try:
            return total / divisor
        except OverflowError:
            return None  # no model takes so many tokens: what was counted is not known

    return cost


def _from_snapshot(settings: ProviderSettings) -> tuple[_Cost, str | None]:
    """The price in the snapshot. Imported late: the snapshot takes half a second to load."""
    vendor_id = _VENDORS.get(settings.kind)
    if (vendor_id is None and not settings.endpoint) or not _at_usual_rates(settings.extra):
        return _unknown, None
    import genai_prices
    from genai_prices.data_snapshot import get_snapshot

    try:
        url = None if vendor_id else settings.endpoint
        vendor, model = get_snapshot().find_provider_model(settings.model, None, vendor_id, url)
    except LookupError:
        return _unknown, None
    cost = _flat_of(model) or _tiered(model, vendor)
    return cost, f"genai-prices {genai_prices.__version__}"


def _at_usual_rates(extra: Mapping[str, Json]) -> bool:
    return all(extra.get(name) is None or thaw(extra[name]) in usual for name, usual in _USUAL_RATES.items())


def _flat_of(model: ModelInfo) -> _Cost | None:
    """The quick way, for a model whose price depends on nothing but the four counts; None for all others."""
    from datetime import UTC, datetime

    from genai_prices.types import StartDateConstraint

    prices: Any = model.prices
    if isinstance(prices, list) and not all(
        part.constraint is None or isinstance(part.constraint, StartDateConstraint) for part in prices
    ):
        return None
    known = {
        name: price
        for name, price in model.get_prices(datetime.now(tz=UTC)).__dict__.items()
        if price is not None and not name.startswith(_IRRELEVANT)
    }
    if not {"input_mtok", "output_mtok"} <= known.keys() <= set(_FLAT_NAMES):
        return None
    if not all(isinstance(price, Decimal) for price in known.values()):
        return None
    into = known["input_mtok"]
    return _flat(into, known.get("cache_read_mtok", into), known.get("cache_write_mtok", into), known["output_mtok"])


def _tiered(model: ModelInfo, vendor: Vendor) -> _Cost:
    """The library's own way: tiers by size of the input, prices by the time of day, reasoning at a rate of its own."""
    from genai_prices import Usage as Counts

    def cost(usage: Usage) -> float | None:
        given, made = usage.input_tokens, usage.output_tokens
        cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
        if given is None or made is None or cached + written > given:
            return None
        counts = Counts(
            input_tokens=given,
            output_tokens=made,
            cache_read_tokens=cached,
            cache_write_tokens=written,
            output_reasoning_tokens=usage.reasoning_tokens,
        )
        try:
            return float(model.calc_price(counts, vendor).total_price)
        except ValueError:
            return None

    return cost
