"""Whether a budget can be kept: only if what every provider asks for its calls is known, or is nothing."""

from __future__ import annotations

from collections.abc import Iterable

from jurat.errors import Fault
from jurat.provider import Provider
from jurat.provider.pricing import Pricer

__all__ = ["unpriced_faults"]


def unpriced_faults(providers: Iterable[Provider], path: str = "limits.budget_usd") -> list[Fault]:
    """A fault at `path` for each provider whose price is not known: spending could not be told from saving."""
    faults = []
    for provider in providers:
        settings = provider.settings
        if Pricer(settings).price_source is None:
            hint = "Give prices: {input: …, output: …} in its row (USD per million tokens), or set no budget"
            found = f"none for {settings.model}"
            expected = f"a known price of provider {settings.name}, since there is a budget"
            faults.append(Fault(path=path, expected=expected, found=found, hint=hint))
    return faults
