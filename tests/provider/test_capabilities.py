"""What is known of models, and whose word counts."""

from __future__ import annotations

from typing import Any

import pytest

from jurat.provider.capabilities import (
    capabilities_for,
    capability_faults,
    capability_sources,
    knows,
    usual_api,
)
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
        ("gpt-4-0125-preview", False, 128_000),
        ("gpt-4-0613", False, 8_192),
        ("gpt-4-32k-0613", False, 32_768),
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


@pytest.mark.parametrize(
    ("model", "strict", "reasoning", "context"),
    [
        ("google/gemini-2.5-pro", True, True, 1_048_576),
        ("google/gemma-3-27b-it", True, False, 131_072),
        ("x-ai/grok-4.5", True, True, 500_000),
        ("openai/gpt-oss-120b", True, True, 131_072),
        ("anthropic/claude-sonnet-4.5", True, False, 200_000),
        ("anthropic/claude-opus-4.1", True, False, 200_000),
        ("anthropic/claude-sonnet-4", False, False, 200_000),
        ("anthropic/claude-3.7-sonnet:thinking", False, False, 200_000),
        ("somebody/else", True, False, None),
    ],
)
def test_a_gateway_asks_for_what_its_models_can_do_in_its_own_way(
    model: str, strict: bool, reasoning: bool, context: int | None
) -> None:
    able = capabilities_for("openrouter", model)
    assert (able.structured_output, able.reasoning, able.context_tokens) == (strict, reasoning, context)
    assert able.structured_by == "schema"


def test_a_model_that_was_trained_further_takes_fewer_words_of_schema() -> None:
    plain, tuned = (capabilities_for("openai", name) for name in ("gpt-4o-mini", "ft:gpt-4o-mini:team::id"))
    assert "minimum" not in plain.schema_keywords_refused
    assert {"minimum", "maxItems", "pattern", *plain.schema_keywords_refused} <= set(tuned.schema_keywords_refused)
    assert capability_sources("openai", "ft:gpt-4o-mini:team::id")["schema_keywords_refused"] == "table"


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
        ({"structured_by": "prose"}, "capabilities.structured_by"),
        ({"images": 1}, "capabilities.images"),
        ({"reasoning_room": -1}, "capabilities.reasoning_room"),
        (["temperature"], "capabilities"),
        ({1: True}, "capabilities.1"),
        ({None: True}, "capabilities.None"),
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
        "images": True,
        "documents": False,
        "later_system": True,
        "structured_by": "tool",
    }
    assert capability_faults(told) == []


@pytest.mark.parametrize(
    ("model", "by", "temperature", "reasoning"),
    [
        ("claude-3-5-haiku-20241022", "tool", True, False),
        ("claude-opus-4-1-20250805", "tool", True, False),
        ("claude-sonnet-4-20250514", "tool", True, False),
        ("claude-haiku-4-5-20251001", "schema", True, False),
        ("claude-opus-4-6", "schema", True, False),
        ("claude-opus-4-8", "schema", False, False),
        ("claude-sonnet-5-5", "schema", False, True),
        ("claude-fable-5-2", "schema", False, True),
        ("claude-of-the-future", "schema", False, True),
    ],
)
def test_each_generation_of_claude_is_asked_in_its_own_way(
    model: str, by: str, temperature: bool, reasoning: bool
) -> None:
    able = capabilities_for("anthropic", model)
    assert (able.structured_output, able.structured_by) == (True, by)
    assert (able.temperature, able.reasoning, able.images) == (temperature, reasoning, True)


@pytest.mark.parametrize(
    ("model", "by", "context"),
    [
        ("gemini-3.8-flash", "schema", 1_048_576),
        ("models/gemini-2.5-pro", "schema", 1_048_576),
        ("gemini-2.0-flash-001", "openapi", 1_048_576),
        ("gemini-of-the-future", "schema", None),
    ],
)
def test_gemini_takes_a_schema_of_its_generation(model: str, by: str, context: int | None) -> None:
    able = capabilities_for("google", model)
    assert (able.structured_by, able.context_tokens) == (by, context)


@pytest.mark.parametrize(
    ("kind", "model", "takes"),
    [
        *(("openai", model, True) for model in ("gpt-4o", "gpt-5.6", "o3", "gpt-of-the-future")),
        *(("openai", model, False) for model in ("gpt-4", "gpt-3.5-turbo", "o3-mini")),
        *(("anthropic", "claude-haiku-4-5", True), ("anthropic", "claude-2", False)),
        *(("google", "gemini-3.8-flash", True), ("google", "gemma-3", False)),
        *((kind, "m", False) for kind in ("ollama", "groq", "xai", "vllm", "llama_cpp", "local", "azure_openai")),
        ("openrouter", "anthropic/claude-haiku-4.5", True),
    ],
)
def test_documents_go_as_files_to_models_that_read_them(kind: str, model: str, takes: bool) -> None:
    assert capabilities_for(kind, model).documents is takes


@pytest.mark.parametrize(
    ("model", "reasoning", "context"),
    [
        ("grok-4-1-fast-non-reasoning", False, 2_000_000),
        ("grok-4-1-fast-reasoning", True, 2_000_000),
        ("grok-4.6", True, 500_000),
        ("grok-code-fast-1", True, 256_000),
        ("grok-4-0709", True, 256_000),
    ],
)
def test_groks_are_told_apart_by_their_whole_names(model: str, reasoning: bool, context: int) -> None:
    able = capabilities_for("xai", model)
    assert (able.reasoning, able.context_tokens) == (reasoning, context)


@pytest.mark.parametrize(
    ("model", "api"),
    [
        *((model, "responses") for model in ("gpt-5-pro", "gpt-5.2-pro-2025-12-11", "gpt-5.1-codex-mini", "o3-pro")),
        *((model, "") for model in ("gpt-5", "gpt-5.6-terra", "gpt-4o", "o3-mini")),
    ],
)
def test_models_that_one_interface_alone_serves_are_known(model: str, api: str) -> None:
    assert usual_api("openai", model) == api


@pytest.mark.parametrize(
    ("model", "context"),
    [
        ("gpt-5-pro", 400_000),
        ("gpt-5.2-pro", 400_000),
        ("gpt-5.5-pro", 1_050_000),
        ("gpt-5.6-terra-pro", 1_050_000),
        ("gpt-6.1-terra-pro", 1_050_000),
        ("gpt-6-astra-pro", 1_050_000),
        ("gpt-6.1-terra", 1_050_000),
    ],
)
def test_a_stronger_sister_has_the_context_of_its_generation(model: str, context: int) -> None:
    assert capabilities_for("openai", model).context_tokens == context


def test_a_dot_and_a_dash_in_a_version_are_the_same() -> None:
    assert capabilities_for("openrouter", "anthropic/claude-opus-4.7").temperature is False
    assert capabilities_for("anthropic", "claude-opus-4-7") == capabilities_for("anthropic", "claude-opus-4.7")


def test_a_server_that_serves_a_borrowed_model_keeps_its_own_habits() -> None:
    able = capabilities_for("openai_compatible", "gpt-4o-mini")
    assert (able.token_limit_name, able.schema_keywords_refused) == ("max_tokens", ("minLength", "maxLength"))


def test_whose_word_a_capability_is_can_be_told() -> None:
    sources = capability_sources("openai", "o3", {"images": False})
    assert (sources["images"], sources["temperature"], sources["structured_output"]) == ("declared", "table", "kind")
    assert (knows("openai", "o3"), knows("openai", "nobody")) == (True, False)
