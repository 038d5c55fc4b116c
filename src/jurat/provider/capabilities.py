"""What models can do, as data: one table of model families, from the vendors' own documentation, and overrides.

An author's declaration always wins. A model that no row knows gets the plain defaults of its kind, and a wrong guess
shows itself as a refused request whose message says which capability to declare. Nothing here decides on a vendor:
the kind does; a model name is only ever looked up inside its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from jurat.errors import Fault
from jurat.jsontext import Json, type_name
from jurat.provider.protocol import Capabilities
from jurat.vocabulary import nearest

__all__ = ["capabilities_for", "capability_faults"]

_OPENAI_REFUSES = ("minLength", "maxLength")
_XAI_REFUSES = ("minLength", "maxLength", "minItems", "maxItems")
_NO_LENGTHS: dict[str, Any] = {"schema_keywords_refused": _OPENAI_REFUSES}

_DEFAULTS: dict[str, dict[str, Any]] = {
    "openai": {"token_limit_name": "max_completion_tokens", **_NO_LENGTHS},
    "groq": {"structured_output": False, "token_limit_name": "max_completion_tokens"},
    "xai": {"token_limit_name": "max_completion_tokens", "schema_keywords_refused": _XAI_REFUSES},
    "openrouter": _NO_LENGTHS,
    "openai_compatible": {"top_logprobs": 20},
    "local": {"top_logprobs": 20, "context_tokens": 8192},
    "scripted": {"top_logprobs": 20},
}

_REASONER: dict[str, Any] = {
    "temperature": False,
    "reasoning": True,
    "top_logprobs": 0,
    "token_limit_name": "max_completion_tokens",
    "schema_keywords_refused": _OPENAI_REFUSES,
}
_STRICT: dict[str, Any] = {"top_logprobs": 20, "context_tokens": 128_000, **_NO_LENGTHS}
_BEFORE_STRICT: dict[str, Any] = {"structured_output": False, "top_logprobs": 20}
_OPENAI_FAMILIES: dict[str, dict[str, Any]] = {
    "gpt-5": {**_REASONER, "context_tokens": 400_000},
    "gpt-5-chat": {"context_tokens": 128_000, **_NO_LENGTHS},
    "o1": {**_REASONER, "context_tokens": 200_000},
    "o1-mini": {**_REASONER, "structured_output": False, "context_tokens": 128_000},
    "o1-preview": {**_REASONER, "structured_output": False, "context_tokens": 128_000},
    "o3": {**_REASONER, "context_tokens": 200_000},
    "o4-mini": {**_REASONER, "context_tokens": 200_000},
    "gpt-4.1": {**_STRICT, "context_tokens": 1_047_576},
    "gpt-4.5": _STRICT,
    "gpt-4o": _STRICT,
    "gpt-4o-2024-05-13": {**_BEFORE_STRICT, "context_tokens": 128_000},
    "chatgpt-4o": {**_BEFORE_STRICT, "context_tokens": 128_000},
    "gpt-4-turbo": {**_BEFORE_STRICT, "context_tokens": 128_000},
    "gpt-4": {**_BEFORE_STRICT, "context_tokens": 8_192},
    "gpt-3.5-turbo": {**_BEFORE_STRICT, "context_tokens": 16_385},
}
_FAMILIES: dict[str, dict[str, dict[str, Any]]] = {
    "openai": _OPENAI_FAMILIES,
    "openai_compatible": _OPENAI_FAMILIES,
    "openrouter": _OPENAI_FAMILIES,
    # Strict output (`strict: true`) is documented for these two alone; the others follow a schema as well as they can.
    "groq": {
        "gpt-oss-20b": {"structured_output": True, "reasoning": True, "context_tokens": 131_072},
        "gpt-oss-120b": {"structured_output": True, "reasoning": True, "context_tokens": 131_072},
    },
    "xai": {
        "grok-4": {"reasoning": True, "context_tokens": 256_000},
        "grok-3-mini": {"reasoning": True, "context_tokens": 131_072},
        "grok-3": {"top_logprobs": 8, "context_tokens": 131_072},
    },
}
_TOKEN_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")


def capabilities_for(kind: str, model: str, overrides: Mapping[str, Json] | None = None) -> Capabilities:
    """What a model can do: the kind's defaults, then its family's row, then the author's own word.

    Args:
        overrides: fields of Capabilities, already checked by `capability_faults`.
    """
    known = {**_DEFAULTS.get(kind, {}), **_family(kind, model)}
    told = {name: tuple(value) if isinstance(value, list) else value for name, value in (overrides or {}).items()}
    return replace(Capabilities(), **{**known, **told})


def _family(kind: str, model: str) -> dict[str, Any]:
    """The row with the longest name that the model's name begins with, up to a boundary."""
    bare = model.lower().removeprefix("ft:").rpartition("/")[2]
    rows = _FAMILIES.get(kind, {})
    fitting = [name for name in rows if bare.startswith(name) and bare[len(name) : len(name) + 1] in ("", *"-.:@")]
    return rows[max(fitting, key=len)] if fitting else {}


def capability_faults(value: Json, path: str = "capabilities") -> list[Fault]:
    """Everything that is wrong with an author's declaration of capabilities; empty when it can be used."""
    if not isinstance(value, Mapping):
        return [Fault(path=path, expected="an object of capabilities", found=type_name(value))]
    return [fault for name, part in value.items() if (fault := _fault(name, part, f"{path}.{name}")) is not None]


def _fault(name: str, value: Json, path: str) -> Fault | None:
    names = [field.name for field in fields(Capabilities)]
    if name not in names:
        close = nearest(name, names)
        hint = f"Did you mean {close}?" if close else None
        return Fault(path=path, expected="one of " + ", ".join(names), found="an unknown name", hint=hint)
    if name in ("structured_output", "temperature", "reasoning"):
        return None if isinstance(value, bool) else Fault(path=path, expected="true or false", found=type_name(value))
    if name == "token_limit_name":
        fine = value in _TOKEN_LIMIT_NAMES
        return None if fine else Fault(path=path, expected=" or ".join(_TOKEN_LIMIT_NAMES), found="another name")
    if name == "schema_keywords_refused":
        fine = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
        return None if fine else Fault(path=path, expected="a list of words of JSON Schema", found=type_name(value))
    return _count_fault(name, value, path)


def _count_fault(name: str, value: Json, path: str) -> Fault | None:
    least = 0 if name == "top_logprobs" else 1
    if value is None and name == "context_tokens":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return None
    found = str(value) if isinstance(value, int) and not isinstance(value, bool) else type_name(value)
    return Fault(path=path, expected=f"a whole number from {least}", found=found)
