"""Rows and shorthands become providers; what is wrong with them is told at once, and no key is repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import AuthoringError
from jurat.provider import Frame, HttpProvider, ModelRequest, is_shorthand, make_provider, parse_shorthand
from jurat.provider.hosts import HostTrust

SECRET = "sk-fake-0000000000000000000000000000"
ROW: dict[str, Any] = {
    "name": "judge",
    "kind": "openai_compatible",
    "model": "m",
    "base_url": "https://host.example/v1",
}


def faults(**changes: Any) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        make_provider({**ROW, **changes})
    assert SECRET not in str(caught.value)
    return [fault.path for fault in caught.value.faults]


def message(row: Any) -> str:
    with pytest.raises(AuthoringError) as caught:
        make_provider(row)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "url", "variable"),
    [
        ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
        ("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        ("google", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"),
        ("ollama", "http://127.0.0.1:11434", None),
        ("vllm", "http://127.0.0.1:8000/v1", None),
        ("llama_cpp", "http://127.0.0.1:8080/v1", None),
        ("lm_studio", "http://127.0.0.1:1234/v1", None),
    ],
)
def test_a_shorthand_of_a_kind_knows_address_and_key_variable(kind: str, url: str, variable: str | None) -> None:
    settings = make_provider(f"{kind}:some-model").settings
    assert (settings.name, settings.kind, settings.model) == (f"{kind}:some-model", kind, "some-model")
    assert (settings.endpoint, settings.api_key_env) == (url, variable)


def test_a_row_says_everything() -> None:
    provider = make_provider(
        {
            **ROW,
            "api_key_env": "JUDGE_KEY",
            "api_key_header": "api-key",
            "headers": {"X-Team": "blue"},
            "prices": {"input": 1, "output": 2.5},
            "capabilities": {"temperature": False},
            "default_strategy": "logprob",
            "extra": {"seed": 1, "nested": {"a": [1]}},
            "timeout_s": 20,
            "deadline_s": 100,
            "max_attempts": 2,
            "concurrency": 8,
            "max_reply_bytes": 1000,
        }
    )
    settings = provider.settings
    assert isinstance(provider, HttpProvider)
    assert (settings.name, settings.endpoint, settings.api_key_env) == ("judge", "https://host.example/v1", "JUDGE_KEY")
    assert settings.prices == {"input": 1.0, "output": 2.5}
    assert (settings.capabilities.temperature, settings.default_strategy) == (False, "logprob")
    assert settings.identity == {
        "kind": "openai_compatible",
        "endpoint": "https://host.example/v1",
        "model": "m",
        "extra": {"seed": 1, "nested": {"a": (1,)}},
    }
    sent = json.loads(provider.prepare(ModelRequest(frame=Frame(messages=()), user="x")).body)
    assert (sent["seed"], sent["nested"]) == (1, {"a": [1]})


def test_openrouter_is_asked_to_respect_every_parameter() -> None:
    provider = make_provider("openrouter:vendor/model")
    sent = json.loads(provider.prepare(ModelRequest(frame=Frame(messages=()), user="x")).body)
    assert sent["provider"] == {"require_parameters": True}


def test_a_vendors_address_can_be_replaced() -> None:
    row = {"kind": "openai", "model": "m", "base_url": "https://eu.example/v1/", "api_key_env": None}
    settings = make_provider(row).settings
    assert (settings.endpoint, settings.api_key_env) == ("https://eu.example/v1", None)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("openai:gpt-x", {"name": "openai:gpt-x", "kind": "openai", "model": "gpt-x"}),
        ("openrouter:a/b:free", {"name": "openrouter:a/b:free", "kind": "openrouter", "model": "a/b:free"}),
        ("local", {"name": "local", "kind": "local"}),
        ("local:qwen", {"name": "local:qwen", "kind": "local", "model": "qwen"}),
        ("python:m:f", {"name": "python:m:f", "kind": "python", "function": "m:f"}),
        ("scripted:s.yaml", {"name": "scripted:s.yaml", "kind": "scripted", "replies_file": "s.yaml"}),
        ("replay:r.jsonl", {"name": "replay:r.jsonl", "kind": "replay", "file": "r.jsonl"}),
    ],
)
def test_a_shorthand_stands_for_a_row(text: str, row: dict[str, str]) -> None:
    assert parse_shorthand(text) == row
    assert is_shorthand(text)


@pytest.mark.parametrize("text", ["opus-typo", "gpt-4o", "", "openai", "openai:", "nobody:model"])
def test_no_vendor_is_guessed_from_a_name(text: str) -> None:
    assert "kind:model with one of anthropic, azure_openai" in message(text)


def test_a_name_is_no_shorthand() -> None:
    assert not is_shorthand("judge")
    assert not is_shorthand("my:judge")


def test_all_faults_are_told_together() -> None:
    wrong = {"timeout_s": 0, "concurrency": "many", "max_attempts": 0, "prices": {"input": -1, "inptu": 1}, "extra": 3}
    assert faults(**wrong, capabilities={"temprature": 1}, headers={"a b": "c"}) == [
        *("timeout_s", "concurrency", "max_attempts", "prices.input", "prices.inptu", "extra"),
        *("capabilities.temprature", "headers.a b"),
    ]


def test_an_unknown_setting_gets_the_nearest_name() -> None:
    assert "Did you mean base_url?" in message({**ROW, "base_ulr": "x"})


def test_what_a_kind_needs_is_asked_for() -> None:
    assert "model: expected the model's name, found nothing" in message({"kind": "openai"})
    assert "base_url: expected the base URL of the server" in message({"kind": "openai_compatible", "model": "m"})
    assert "either replies or replies_file, found neither" in message({"kind": "scripted"})
    assert "kind: expected one of anthropic, azure_openai, google" in message({"model": "m"})
    assert "Did you mean openai?" in message({"kind": "opneai", "model": "m"})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", True, None, 1e12])
def test_a_price_is_a_number_from_zero(value: object) -> None:
    assert faults(prices={"input": value}) == ["prices.input"]


def test_a_number_that_json_does_not_know_cannot_be_an_extra_setting() -> None:
    assert faults(extra={"a": {"b": float("inf")}}) == ["extra.a.b"]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"api_key": SECRET}, "api_key"),
        ({"api_key": "short"}, "api_key"),
        ({"apiKey": "x"}, "apiKey"),
        ({"token": "x"}, "token"),
        ({"api_key_env": SECRET}, "api_key_env"),
        ({"model": SECRET}, "model"),
        ({"name": SECRET}, "name"),
        ({"headers": {"Authorization": "Bearer {{env.JUDGE_KEY}}"}}, "headers.Authorization"),
        ({"headers": {"X-Api-Key": "x"}}, "headers.X-Api-Key"),
        ({"headers": {"X-Team": f"Bearer {SECRET}"}}, "headers.X-Team"),
        ({"extra": {"a": [{"client_secret": "x"}]}}, "extra.a[0].client_secret"),
        ({"extra": {"a": ["eyJhbGciOi.eyJzdWIiOiI.c2lnbmF0dXJl"]}}, "extra.a[0]"),
        ({"base_url": f"https://host.example/v1?x={SECRET}"}, "base_url"),
        ({"base_url": "https://user:pw-fake@host.example/v1"}, "base_url"),
        ({"base_url": "https://host.example/v1?token=t0k-fake"}, "base_url"),
        ({"base_url": "https://user@host.example/v1"}, "base_url"),
    ],
)
def test_what_looks_like_a_key_is_refused_and_not_repeated(changes: dict[str, Any], path: str) -> None:
    told = message({**ROW, **changes})
    assert path in told
    assert "api_key_env" in told
    assert not any(secret in told for secret in (SECRET, "eyJ", "pw-fake", "t0k-fake", "JUDGE_KEY"))


@pytest.mark.parametrize(
    "changes",
    [
        {"api_key_env": "MY_API_KEY"},
        {"extra": {"max_tokens_hint": 5, "prompt_cache_key": "judge", "logit_bias": {"1": 2}}},
        {"model": "hf-internal-testing/tiny-random-model-name"},
        {"headers": {"HTTP-Referer": "https://example.org/?page=401"}},
    ],
)
def test_harmless_settings_that_sound_like_secrets_pass(changes: dict[str, Any]) -> None:
    assert make_provider({**ROW, **changes}).settings.name == "judge"


def test_what_a_fake_says_is_content_and_no_setting() -> None:
    assert make_provider({"kind": "scripted", "replies": [f"the key is {SECRET}"]}).settings.kind == "scripted"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "host.example/v1",
        "https://",
        "https:///v1",
        "http://[::1",
        "https://host:99999/",
        "https://a b/",
    ],
)
def test_an_address_that_cannot_be_called_is_refused(url: str) -> None:
    assert faults(base_url=url) == ["base_url"]


def test_http_leaves_this_machine_only_when_it_is_allowed() -> None:
    assert "allow_plain_http: true" in message({**ROW, "base_url": "http://gpu.example:8000/v1"})
    row = {**ROW, "base_url": "http://gpu.example:8000/v1", "allow_plain_http": True}
    assert make_provider(row).settings.endpoint == "http://gpu.example:8000/v1"
    for host in ("127.0.0.1", "localhost", "[::1]", "127.9.9.9"):
        assert make_provider({**ROW, "base_url": f"http://{host}:8000/v1"}).settings.endpoint


def url_of(row: Any) -> str:
    """Where a provider's requests go."""
    return str(make_provider(row)._sender._url)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("row", "url"),
    [
        ("openai:gpt-4o", "https://api.openai.com/v1/chat/completions"),
        ("openai:gpt-5.2-pro", "https://api.openai.com/v1/responses"),
        ({"kind": "openai", "model": "gpt-4o", "api": "responses"}, "https://api.openai.com/v1/responses"),
        ("openrouter:openai/gpt-5.2-pro", "https://openrouter.ai/api/v1/chat/completions"),
        (
            {"kind": "openai_compatible", "model": "openai/o3-pro", "base_url": "https://llm.example/v1"},
            "https://llm.example/v1/chat/completions",
        ),
        ({"kind": "openai", "model": "o3-pro", "api": "chat"}, "https://api.openai.com/v1/chat/completions"),
        ("anthropic:claude-sonnet-5-5", "https://api.anthropic.com/v1/messages"),
        (
            "google:gemini-3.8-flash",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent",
        ),
        (
            "google:tunedModels/a b",
            "https://generativelanguage.googleapis.com/v1beta/tunedModels/a%20b:generateContent",
        ),
        ("ollama:qwen3:8b", "http://127.0.0.1:11434/api/chat"),
        ("lm_studio:m", "http://127.0.0.1:1234/v1/chat/completions"),
    ],
)
def test_each_kind_has_its_path(row: Any, url: str) -> None:
    assert url_of(row) == url


@pytest.mark.parametrize(
    ("more", "url"),
    [
        ({}, "https://x.openai.azure.com/openai/v1/chat/completions"),
        (
            {"base_url": "https://x.openai.azure.com/openai/v1/"},
            "https://x.openai.azure.com/openai/v1/chat/completions",
        ),
        (
            {"api_version": "2024-10-21"},
            "https://x.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
        ),
        (
            {"base_url": "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21"},
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
        ({"api": "responses"}, "https://x.openai.azure.com/openai/v1/responses"),
        ({"base_url": "https://x.openai.azure.com/openai/"}, "https://x.openai.azure.com/openai/v1/chat/completions"),
        (
            {"base_url": "https://x.openai.azure.com/openai", "api_version": "2024-10-21"},
            "https://x.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
        ),
        (
            {"base_url": "https://x.openai.azure.com/openai/v1", "api_version": "preview"},
            "https://x.openai.azure.com/openai/v1/chat/completions?api-version=preview",
        ),
        (
            {"base_url": "https://x.openai.azure.com/openai/deployments/d?team=a", "api_version": "2024-10-21"},
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?team=a&api-version=2024-10-21",
        ),
        (
            {"model": "gpt-5-pro", "api_version": "2025-04-01-preview"},
            "https://x.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        ),
        (
            {"api": "responses", "api_version": "2025-04-01-preview"},
            "https://x.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        ),
    ],
)
def test_azure_has_an_address_with_and_without_a_dated_version(more: dict[str, Any], url: str) -> None:
    row = {"kind": "azure_openai", "model": "my gpt", "base_url": "https://x.openai.azure.com", **more}
    assert url_of(row) == url


def test_azure_wants_an_address_and_takes_the_key_bare() -> None:
    assert "base_url: expected the base URL" in message({"kind": "azure_openai", "model": "m"})
    provider = make_provider({"kind": "azure_openai", "model": "m", "base_url": "https://x.openai.azure.com"})
    assert provider._keys._header == "api-key"  # type: ignore[attr-defined]
    assert provider.settings.api_key_env == "AZURE_OPENAI_API_KEY"


def test_another_interface_is_told_by_its_own_words() -> None:
    assert "api: expected chat or responses" in message({"kind": "openai", "model": "m", "api": "assistants"})
    assert "api: expected a setting of the kind groq" in message({"kind": "groq", "model": "m", "api": "chat"})


def test_the_interface_is_part_of_who_the_judge_is() -> None:
    told = make_provider({"kind": "openai", "model": "m", "api": "responses"}).settings.identity
    assert told == {"kind": "openai", "endpoint": "https://api.openai.com/v1", "model": "m", "api": "responses"}
    assert "api" not in make_provider("openai:m").settings.identity


def test_an_authors_own_routing_keeps_the_demand_for_every_parameter() -> None:
    row = {"kind": "openrouter", "model": "a/b", "extra": {"provider": {"order": ["x"]}, "seed": 1}}
    sent = json.loads(make_provider(row).prepare(ModelRequest(frame=Frame(messages=()), user="x")).body)
    assert (sent["provider"], sent["seed"]) == ({"require_parameters": True, "order": ["x"]}, 1)
    wrong = {"kind": "openrouter", "model": "a/b", "extra": {"provider": "x"}}
    assert "extra.provider: expected an object of routing, found text" in message(wrong)


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"kind": "scripted", "replies": ["x"], "call_log": "../calls.txt"}, "call_log"),
        ({"kind": "scripted", "replies": ["x"], "call_log": "/elsewhere/calls.txt"}, "call_log"),
        ({"kind": "scripted", "replies": ["x"], "call_log": "a\0b"}, "call_log"),
        ({"kind": "scripted", "replies_file": "../replies.yaml"}, "replies_file"),
        ({"kind": "replay", "file": "link/tape.jsonl"}, "file"),
    ],
)
def test_the_row_of_a_suite_reads_and_writes_no_file_outside_of_its_folder(
    tmp_path: Path, row: dict[str, Any], name: str
) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(AuthoringError) as refused:
        make_provider(row, base_dir=folder, trust=HostTrust.of(()))
    assert f"{name}: expected a file inside of the suite's folder, found one outside of it" in str(refused.value)


def test_the_row_of_a_suite_may_name_the_files_beside_it(tmp_path: Path) -> None:
    row = {"kind": "scripted", "replies": ["x"], "call_log": "logs/../calls.txt"}
    assert make_provider(row, base_dir=tmp_path, trust=HostTrust.of(())).settings.kind == "scripted"
    assert make_provider({**row, "call_log": "/elsewhere/calls.txt"}, base_dir=tmp_path).settings.kind == "scripted"
