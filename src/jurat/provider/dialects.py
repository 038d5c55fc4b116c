"""Which dialect a provider speaks: decided by its kind, never by the model's name. Each is imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jurat.provider.dialect import Dialect
    from jurat.provider.protocol import ProviderSettings

__all__ = ["dialect_for"]

_HOMES = {
    "anthropic": ("anthropic", "ANTHROPIC"),
    "google": ("google", "GOOGLE"),
    "ollama": ("ollama", "OLLAMA"),
    "responses": ("openai_responses", "RESPONSES"),
}


def dialect_for(settings: ProviderSettings) -> Dialect:
    """The dialect of a kind, or of the interface that the settings choose; chat completions for all others."""
    module, name = _HOMES.get(settings.api or settings.kind, ("openai_request", "CHAT"))
    dialect: Dialect = getattr(import_module(f"jurat.provider.{module}"), name)
    return dialect
