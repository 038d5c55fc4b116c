"""Models by the names that other tools give them, as provider rows. Of keys comes along only where they are found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jurat.credentials import is_variable_name
from jurat.importing.finish import one_line
from jurat.provider.addresses import BadAddress, checked_base_url
from jurat.provider.hosts import HostTrust

__all__ = ["provider_row", "sampling_of", "settings_left"]

_KINDS = {
    **{name: name for name in ("openai", "anthropic", "google", "ollama", "groq", "openrouter", "xai")},
}
_MODES = {
    "openai": ("chat", "completion", "responses"),
    "anthropic": ("messages", "completion"),
    "ollama": ("chat", "completion"),
}
_NO_TALK = (
    "agents",
    "assistant",
    "embedding",
    "embeddings",
    "image",
    "moderation",
    "realtime",
    "transcription",
    "video",
)
"""Modes of a vendor in which nobody answers a conversation, or not a model alone."""
_KEYS = {
    **dict.fromkeys(("openai",), "OPENAI_API_KEY"),
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
    "groq": "GROQ_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "xai": "XAI_API_KEY",
}
_ENVIRONMENT = re.compile(r"\{\{\s*env\.(\w+)\s*\}\}|\$\{?(\w+)\}?")
_URLS = ("apiBaseUrl", "baseUrl", "base_url", "apiHost")
_SECRETS = ("apiKey", "api_key", "apiKeyEnvar")

Tell = Callable[[str, str], None]


def provider_row(name: str, config: Mapping[str, Any], label: str | None, tell: Tell) -> dict[str, Any] | None:
    """The row of a model that another tool calls `vendor:model` or `vendor:mode:model`; None when it has none.

    Args:
        config: its settings, of which those of the connection are read.
        tell: takes a path within the settings, and a reason.
    """
    vendor, _, model = name.partition(":")
    kind = _KINDS.get(vendor)
    mode, _, rest = model.partition(":")
    if rest and mode in _MODES.get(vendor, ()):
        model = rest
    if kind is None or not model or (rest and mode in _NO_TALK):
        shown = f"{vendor}:{mode}" if kind is not None and rest else vendor
        tell("", f"no provider of this kind ({one_line(shown, 40) or 'none'}); give one with --provider")
        return None
    row: dict[str, Any] = {"name": one_line(label or name) or "model", "kind": kind, "model": model}
    if kind == "openai" and mode == "responses" and rest:
        row["api"] = "responses"
    for key in _URLS:
        if isinstance(config.get(key), str) and not _addressed(row, config[key], f"config.{key}", tell):
            return None
    _key(row, config, tell)
    return row


def _addressed(row: dict[str, Any], text: str, path: str, tell: Tell) -> bool:
    """Have the row name an address of its own; false where no suite may name that one.

    Then there is no row at all: one without the address would send everything to the vendor.
    """
    url = text if "://" in text else f"https://{text}/v1"
    try:
        made = checked_base_url(url)
    except BadAddress:
        made = ""
    if not made or not HostTrust().permits(made):
        reason = "an address that a suite may not name, or that is computed; write a row with base_url"
        tell(path, f"{reason} and give it with --provider")
        return False
    row["base_url"] = made
    if row["kind"] == "openai":
        row["kind"] = "openai_compatible"
        tell(path, "an address of its own; it gets a key only where api_key_env names one")
    return True


def _key(row: dict[str, Any], config: Mapping[str, Any], tell: Tell) -> None:
    usual = _KEYS.get(row["kind"], "")
    named = config.get("apiKeyEnvar")
    if isinstance(named, str) and is_variable_name(named):
        if named != usual:
            row["api_key_env"] = named
        return
    for key in ("apiKey", "api_key"):
        value = config.get(key)
        if not isinstance(value, str) or not value:
            continue
        found = _ENVIRONMENT.fullmatch(value.strip())
        variable = (found[1] or found[2]) if found else None
        if variable and is_variable_name(variable):
            if variable != usual:
                row["api_key_env"] = variable
            continue
        place = f"looked for in {usual}" if usual else "has to be named in api_key_env"
        tell(f"config.{key}", f"a key in the file; it is left out, and {place}. If it was real, replace it")


def sampling_of(config: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """What of a model's settings a subject takes: `temperature` and `max_output_tokens`. All else is told."""
    advice = "a setting of the model; write it into subject.extra if it is needed"
    made: dict[str, Any] = {}
    for key, value in config.items():
        number = not isinstance(value, bool) and isinstance(value, int | float) and value >= 0
        if key == "temperature" and number:
            made["temperature"] = value
        elif (
            key in ("max_tokens", "max_output_tokens", "max_completion_tokens") and number and 1 <= value <= 10_000_000
        ):
            made["max_output_tokens"] = int(value)
        elif key not in (*_URLS, *_SECRETS):
            tell(_setting(key), advice)
    return made


def settings_left(config: Mapping[str, Any], reason: str, tell: Tell) -> None:
    """Tell of every setting of a model that is no subject: a provider row holds none of them."""
    for key in config:
        if key not in (*_URLS, *_SECRETS):
            tell(_setting(key), reason)


def _setting(key: object) -> str:
    return f"config.{one_line(str(key), 80)}"
