"""A provider row, checked: every fault at once, and no credential let in.

A row says kind, model, settings and where the key is found. Which settings there are depends on the kind; an unknown
one is named together with the nearest known. Anything that looks like a key, by name or by value, is refused without
being repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, NotJson, thaw, type_name
from jurat.provider.capabilities import capability_faults
from jurat.provider.credentials import credential_path, is_keyring_entry, is_variable_name
from jurat.provider.headers import header_name_fault
from jurat.provider.pricing import PRICE_NAMES
from jurat.vocabulary import MAX_CONCURRENCY, Strategy, nearest

__all__ = ["KINDS", "PRESETS", "SERVERS", "VENDORS", "Preset", "check_row", "secret_fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Where a kind's models are found, and which variable holds its key; "" where there is no usual one."""

    base_url: str
    api_key_env: str


VENDORS: Mapping[str, Preset] = {
    "anthropic": Preset(base_url="https://api.anthropic.com/v1", api_key_env="ANTHROPIC_API_KEY"),
    "azure_openai": Preset(base_url="", api_key_env="AZURE_OPENAI_API_KEY"),
    "google": Preset(base_url="https://generativelanguage.googleapis.com/v1beta", api_key_env="GEMINI_API_KEY"),
    "groq": Preset(base_url="https://api.groq.com/openai/v1", api_key_env="GROQ_API_KEY"),
    "openai": Preset(base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY"),
    "openrouter": Preset(base_url="https://openrouter.ai/api/v1", api_key_env="OPENROUTER_API_KEY"),
    "xai": Preset(base_url="https://api.x.ai/v1", api_key_env="XAI_API_KEY"),
}
SERVERS: Mapping[str, Preset] = {
    "llama_cpp": Preset(base_url="http://127.0.0.1:8080/v1", api_key_env=""),
    "lm_studio": Preset(base_url="http://127.0.0.1:1234/v1", api_key_env=""),
    "ollama": Preset(base_url="http://127.0.0.1:11434", api_key_env=""),
    "openai_compatible": Preset(base_url="", api_key_env=""),
    "vllm": Preset(base_url="http://127.0.0.1:8000/v1", api_key_env=""),
}
PRESETS: Mapping[str, Preset] = {**VENDORS, **SERVERS}
KINDS = (*PRESETS, "local", "python", "scripted", "replay")

_COMMON = ("name", "kind", "model", "prices", "capabilities", "default_strategy", "extra")
_HTTP = (
    *(
        "base_url",
        "api_key_env",
        "api_key_keyring",
        "api_key_header",
        "headers",
        "timeout_s",
        "deadline_s",
        "max_attempts",
    ),
    *("concurrency", "requests_per_minute", "tokens_per_minute", "allow_plain_http", "max_reply_bytes"),
)
_BY_KIND: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(PRESETS, (*_COMMON, *_HTTP)),
    **dict.fromkeys(("openai", "azure_openai", "openai_compatible"), (*_COMMON, *_HTTP, "api")),
    "local": (*_COMMON, "timeout_s", "concurrency", "context_tokens", "threads", "model_path"),
    "python": (*_COMMON, "function", "timeout_s", "concurrency"),
    "scripted": (*_COMMON, "replies", "replies_file", "order", "cycle", "call_log"),
    "replay": ("name", "kind", "model", "file", "prices"),
}
_BY_KIND["azure_openai"] += ("api_version",)
_NEEDED: dict[str, tuple[str, ...]] = {
    **{kind: ("model",) if preset.base_url else ("model", "base_url") for kind, preset in PRESETS.items()},
    "python": ("function",),
    "replay": ("file",),
}
_APIS = ("chat", "responses")
_NAMES_OF_KEYS = frozenset({"api_key_env", "api_key_header", "api_key_keyring"})
_CONTENT = ("replies",)  # what a fake says is content, not a setting
_TEXTS = (
    *("name", "kind", "model", "base_url", "api_version", "function", "replies_file", "call_log", "file"),
    "model_path",
)
_COUNTS = (
    *("max_attempts", "concurrency", "max_reply_bytes", "context_tokens", "threads"),
    *("requests_per_minute", "tokens_per_minute"),
)
_DURATIONS = ("timeout_s", "deadline_s")
_SWITCHES = ("allow_plain_http", "cycle")
_STRATEGIES = tuple(strategy.value for strategy in Strategy)


def check_row(row: Mapping[str, Any]) -> None:
    """Check everything about a row that can be seen without opening a file.

    Raises:
        AuthoringError: with all faults. No value that looks like a key is in its message.
    """
    if (secret := secret_fault(row)) is not None:
        raise AuthoringError(_subject(row), [secret])
    kind = row.get("kind")
    if kind not in KINDS:
        raise AuthoringError(_subject(row), [_kind_fault(kind)])
    faults = [fault for name in row if (fault := _unknown_fault(str(name), str(kind))) is not None]
    needed = _NEEDED.get(str(kind), ())
    faults += [
        Fault(path=name, expected=_EXPECTED.get(name, "a text"), found="nothing") for name in needed if name not in row
    ]
    for name, value in row.items():
        if name in _BY_KIND[str(kind)]:
            faults += _faults(name, value)
    if row.get("api_key_env") is not None and "api_key_keyring" in row:
        faults.append(Fault(path="api_key_keyring", expected="one place of the key", found="api_key_env beside it"))
    if faults:
        raise AuthoringError(_subject(row), faults)


_EXPECTED = {
    "base_url": "the base URL of the server (https://host/v1)",
    "model": "the model's name",
    "function": "module:function",
    "file": "the path of a recording",
}


def _subject(row: Mapping[str, Any]) -> str:
    name = row.get("name")
    shown = isinstance(name, str) and credential_path(name) is None and len(name) <= 100
    return f"provider {name}" if shown else "provider"


def secret_fault(row: Mapping[str, Any]) -> Fault | None:
    """Where a row holds what looks like a key, if it does; nothing of it is repeated."""
    settings = {name: value for name, value in row.items() if name not in _CONTENT}
    path = credential_path(settings, allowed=_NAMES_OF_KEYS)
    if path is None:
        return None
    hint = "Put it into an environment variable, and name that variable in api_key_env. If it was real, replace it"
    return Fault(path=path, expected="no key, token or password in settings", found="what looks like one", hint=hint)


def _kind_fault(kind: object) -> Fault:
    shown = "nothing" if kind is None else "another word" if isinstance(kind, str) else type_name(kind)
    close = nearest(kind, KINDS) if isinstance(kind, str) else None
    hint = f"Did you mean {close}?" if close else None
    return Fault(path="kind", expected="one of " + ", ".join(KINDS), found=shown, hint=hint)


def _unknown_fault(name: str, kind: str) -> Fault | None:
    known = _BY_KIND[kind]
    if name in known:
        return None
    close = nearest(name, known)
    hint = f"Did you mean {close}?" if close else f"The kind {kind} knows " + ", ".join(known)
    return Fault(path=name, expected=f"a setting of the kind {kind}", found="an unknown one", hint=hint)


def _faults(name: str, value: Json) -> list[Fault]:
    if name == "capabilities":
        return capability_faults(value)
    if name == "prices":
        return _price_faults(value)
    if name in ("extra", "headers"):
        return _map_faults(name, value)
    fault = _scalar_fault(name, value)
    return [fault] if fault is not None else []


def _scalar_fault(name: str, value: Json) -> Fault | None:
    if name in _TEXTS:
        fine, expected = isinstance(value, str) and bool(value.strip()), "a text that is not blank"
    elif name == "concurrency":
        fine = type(value) is int and 1 <= value <= MAX_CONCURRENCY
        expected = f"a whole number from 1 to {MAX_CONCURRENCY}"
    elif name in _COUNTS:
        fine, expected = type(value) is int and value >= 1, "a whole number from 1"
    elif name in _DURATIONS:
        fine, expected = type(value) in (int, float) and 0 < value < 1e6, "a number of seconds above 0"
    elif name in _SWITCHES:
        fine, expected = isinstance(value, bool), "true or false"
    elif name == "api_key_env":
        fine = value is None or (isinstance(value, str) and is_variable_name(value))
        return (
            None if fine else Fault(path=name, expected="the name of an environment variable", found="something else")
        )
    elif name == "api_key_keyring":
        fine = isinstance(value, str) and is_keyring_entry(value)
        return None if fine else Fault(path=name, expected="service/user of a keyring's entry", found="something else")
    elif name == "api_key_header":
        return header_name_fault(value, name)
    elif name == "default_strategy":
        fine, expected = value in _STRATEGIES, "one of " + ", ".join(_STRATEGIES)
    elif name == "api":
        fine, expected = value in _APIS, " or ".join(_APIS)
    elif name == "order":
        fine, expected = value in ("in_turn", "by_request"), "in_turn or by_request"
    else:
        return None
    shown = str(value) if type(value) in (int, float, bool) else type_name(value)
    return None if fine else Fault(path=name, expected=expected, found=shown)


def _price_faults(value: Json) -> list[Fault]:
    if not isinstance(value, Mapping):
        return [
            Fault(path="prices", expected="USD per million tokens by " + ", ".join(PRICE_NAMES), found=type_name(value))
        ]
    faults: list[Fault] = []
    for name, price in value.items():
        path = f"prices.{name}"
        if name not in PRICE_NAMES:
            close = nearest(str(name), PRICE_NAMES)
            hint = f"Did you mean {close}?" if close else None
            faults.append(
                Fault(path=path, expected="one of " + ", ".join(PRICE_NAMES), found="an unknown name", hint=hint)
            )
        elif type(price) not in (int, float) or not 0 <= price < 1e9:
            shown = str(price) if type(price) in (int, float) else type_name(price)
            faults.append(Fault(path=path, expected="USD per million tokens, from 0", found=shown))
    return faults


def _map_faults(name: str, value: Json) -> list[Fault]:
    if not isinstance(value, Mapping):
        return [Fault(path=name, expected="an object", found=type_name(value))]
    if name == "extra":
        try:
            thaw(value)
        except NotJson as error:
            return [Fault(path=f"extra.{error.path}", expected="a JSON value", found=error.found)]
        return []
    faults = [fault for header in value if (fault := header_name_fault(header, f"headers.{header}")) is not None]
    if not all(isinstance(text, str) and text.isprintable() and text.isascii() for text in value.values()):
        faults.append(Fault(path=name, expected="values that a header can carry", found="others"))
    return faults
