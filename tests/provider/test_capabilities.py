"""What is known of models, and whose word counts."""

from __future__ import annotations

from typing import Any

import pytest

from jurat.provider.capabilities import capabilities_for, capability_faults
from jurat.provider.protocol import Capabilities


@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5.2-pro", "gpt-5-mini-2025-08-07"])
def test_openai_reasoners_get_no_temperature_and_another_limit(model: str) -> None:
    able = capabilities_for("openai", model)
    assert (able.temperature, able.token_limit_name, able.reasoning) == (False, "max_completion_tokens", True)


@pytest.mark.parametrize(
    ("model", "strict", "context"),
    [
        ("gpt-4o", True, 128_000),
        ("gpt-4o-2024-05-13", False, 128_000),
        ("gpt-4o-mini-2024-07-18", True, 128_000),
        ("gpt-4.1-mini", True, 1_047_576),
        ("gpt-4", False, 8_192),
        ("gpt-4-turbo-2024-04-09", False, 128_000),
        ("gpt-3.5-turbo", False, 16_385),
        ("ft:gpt-4o-mini:team::id", True, 128_000),
    ],
)
def test_the_longest_name_that_fits_decides(model: str, strict: bool, context: int) -> None:
    able = capabilities_for("openai", model)
    assert (able.structured_output, able.context_tokens, able.top_logprobs) == (strict, context, 20)


def test_a_name_that_only_begins_alike_is_another_model() -> None:
    assert capabilities_for("openai", "o1x").temperature is True
    assert capabilities_for("openai", "gpt-4omni").context_tokens is None


def test_a_gateways_prefix_is_looked_through() -> None:
    assert capabilities_for("openrouter", "openai/gpt-5").temperature is False
    assert capabilities_for("openai_compatible", "openai/o3").token_limit_name == "max_completion_tokens"


def test_an_unknown_model_gets_the_defaults_of_its_kind() -> None:
    assert capabilities_for("openai_compatible", "my-model") == Capabilities(top_logprobs=20)
    assert capabilities_for("groq", "llama-3.3-70b").structured_output is False
    assert capabilities_for("groq", "openai/gpt-oss-120b").structured_output is True


def test_words_that_a_vendor_refuses_are_known() -> None:
    assert capabilities_for("openai", "gpt-4o").schema_keywords_refused == ("minLength", "maxLength")
    assert "maxItems" in capabilities_for("xai", "grok-4").schema_keywords_refused


def test_the_authors_word_wins() -> None:
    told: dict[str, Any] = {"temperature": True, "top_logprobs": 3, "schema_keywords_refused": ["pattern"]}
    able = capabilities_for("openai", "o3", told)
    assert (able.temperature, able.top_logprobs, able.schema_keywords_refused) == (True, 3, ("pattern",))
    assert able.token_limit_name == "max_completion_tokens"


@pytest.mark.parametrize(
    ("told", "path"),
    [
        ({"temprature": False}, "capabilities.temprature"),
        ({"temperature": "no"}, "capabilities.temperature"),
        ({"token_limit_name": "limit"}, "capabilities.token_limit_name"),
        ({"top_logprobs": -1}, "capabilities.top_logprobs"),
        ({"top_logprobs": True}, "capabilities.top_logprobs"),
        ({"context_tokens": 0}, "capabilities.context_tokens"),
        ({"schema_keywords_refused": "maxLength"}, "capabilities.schema_keywords_refused"),
        (["temperature"], "capabilities"),
    ],
)
def test_a_wrong_declaration_is_named_by_its_path(told: object, path: str) -> None:
    assert [fault.path for fault in capability_faults(told)] == [path]


def test_a_misspelt_capability_gets_the_nearest_name() -> None:
    assert "temperature" in (capability_faults({"temprature": False})[0].hint or "")


def test_a_right_declaration_has_no_faults() -> None:
    told: dict[str, Any] = {
        "structured_output": True,
        "context_tokens": None,
        "schema_keywords_refused": [],
        "reasoning": False,
    }
    assert capability_faults(told) == []
