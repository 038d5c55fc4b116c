"""Keys are recognised where they do not belong, masked where they are shown, and packed data stays bounded."""

from __future__ import annotations

import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import ProviderError
from jurat.provider.addresses import BadAddress, checked_base_url, join_path, mask_url, place
from jurat.provider.credentials import (
    KeySource,
    credential_path,
    is_credential_name,
    is_variable_name,
    looks_like_credential,
)
from jurat.provider.inflate import BadEncoding, TooLarge, inflate


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "apikey", "X-API-Key", "openaiApiKey", "token", "access_token", "secret", "clientSecret"),
        *("Authorization", "proxy-authorization", "auth", "Cookie", "key", "Ocp-Apim-Subscription-Key", "sig"),
        *("password", "dbPassword", "x-functions-key", "account_key", "connectionString", "passphrase", "authtoken"),
        *("jwt", "secretKey", "client-secret", "clientsecret"),
    ],
)
def test_names_that_announce_a_secret(name: str) -> None:
    assert is_credential_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "token_limit_name",
        "api_key_env",
        "author",
        "monkey",
        "prompt_cache_key",
        "tokens",
        "keys",
        "keyfile",
    ],
)
def test_names_that_only_sound_alike(name: str) -> None:
    assert not is_credential_name(name)


@pytest.mark.parametrize(
    "value",
    [
        "sk-fake-0000000000000000000000000000",
        "Bearer abcdefghijklmnop",
        "gsk_" + "a" * 30,
        "AIza" + "b" * 35,
        "ghp_" + "c" * 36,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "-----BEGIN RSA PRIVATE KEY-----",
        "http://u:pw2-fake@proxy.example",
        "github_pat_" + "1A" * 15,
        "AQ.Ab8" + "x" * 30,
        "npm_" + "d" * 36,
        "r8_" + "e" * 37,
        "pcsk_abc12_" + "f" * 40,
        "SG." + "g" * 22 + "." + "h" * 43,
        "Basic dXNlcjpwYXNzd29yZA==",
        *(
            "BEARER abcdefghijklmnop",
            "rk_live_" + "i" * 10,
            "sk_test_" + "j" * 10,
            "xai-" + "k" * 24,
            "pplx-" + "l" * 24,
        ),
        *(
            "hf_" + "m" * 24,
            "gho_" + "n" * 24,
            "ghs_" + "o" * 24,
            "ghu_" + "p" * 24,
            "nvapi-" + "q" * 20,
            "glpat-" + "r" * 20,
        ),
        *(f"xox{kind}-" + "s" * 20 for kind in "abps"),
        *(
            "dop_v1_" + "t" * 20,
            "ya29." + "u" * 20,
            "fw_" + "v" * 20,
            "csk-" + "w" * 20,
            "AKIA" + "X" * 16,
            "ASIA" + "Y" * 16,
        ),
    ],
)
def test_values_that_look_like_keys(value: str) -> None:
    assert looks_like_credential(value)
    assert looks_like_credential(f"text before {value}")
    assert looks_like_credential(f"key-{value}")


@pytest.mark.parametrize(
    "value",
    [
        "gpt-4o",
        "401",
        "sk-learn",
        "qwen2.5-coder-1.5b",
        "https://host.example/v1",
        "the bearer of news",
        "a@b.c",
        "npm_config_registry_url_of_a_user",
        *("basic authentication", "FAQ.how-do-i-register-again", "SG.something"),
    ],
)
def test_values_that_are_harmless(value: str) -> None:
    assert not looks_like_credential(value)


@pytest.mark.parametrize(
    "piece", ["A", "a.", "-----BEGIN ", "eyJaaaaa-", "eyJaaaaa.", "bearer ", "bearer\t\t", "://a:", "sk-a ", "_token"]
)
def test_long_text_without_a_secret_is_looked_at_once(piece: str) -> None:
    text = piece * (500_000 // len(piece))  # with anything but linear time, this test would not end

    assert looks_like_credential(text) == (piece == "eyJaaaaa.")
    assert is_credential_name(text) == (piece == "_token")


def test_a_credential_is_found_at_any_depth_and_named_by_its_path() -> None:
    assert credential_path({"a": [{"b": "sk-fake-00000000"}]}) == "a[0].b"
    assert credential_path({"a": {"password": 1}}) == "a.password"
    assert credential_path({"api_key_header": "api-key"}) is None
    assert credential_path({"a": [1, None, "x"]}) is None


def test_a_source_of_keys_shows_the_variable_and_never_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-fake-00000000")
    source = KeySource("JUDGE_KEY", {"Accept": "application/json"})
    first = source.headers()
    assert first == {"Accept": "application/json", "Authorization": "Bearer sk-fake-00000000"}
    assert source.headers() is first
    assert repr(source) == "KeySource('JUDGE_KEY')"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw-fake@host.example/v1?token=t0k-fake", "https://***@host.example/v1?token=***"),
        ("http://u:pw2-fake@proxy.example", "http://***@proxy.example"),
        ("https://h/v1?page=401&key=x&b=sk-fake-00000000", "https://h/v1?page=401&key=***&b=***"),
        ("https://h/v1#access_token=abc", "https://h/v1#***"),
        ("https://h/v1", "https://h/v1"),
    ],
)
def test_a_shown_url_is_masked_and_stays_readable(url: str, shown: str) -> None:
    assert mask_url(url) == shown


def test_a_place_is_host_and_path() -> None:
    assert place("https://u:p@host.example:8443/v1/chat?x=1") == "host.example:8443/v1/chat"
    assert join_path("https://host/v1/?a=1", "/chat") == "https://host/v1/chat?a=1"


@given(st.text(max_size=60))
def test_no_text_crashes_the_check_of_addresses(text: str) -> None:
    assert isinstance(mask_url(text), str)
    with contextlib.suppress(BadAddress):
        assert checked_base_url(text).startswith(("http://", "https://"))


@given(st.binary(max_size=2000), st.sampled_from(["gzip", "deflate"]))
def test_what_was_packed_comes_out_again(data: bytes, encoding: str) -> None:
    packed = gzip.compress(data) if encoding == "gzip" else zlib.compress(data)
    assert inflate(packed, encoding, 2000) == data


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br"]))
def test_no_bytes_crash_the_unpacking(data: bytes, encoding: str) -> None:
    with contextlib.suppress(TooLarge, BadEncoding):
        assert len(inflate(data, encoding, 50)) <= 50


@pytest.mark.parametrize("value", ["sk-fake-0000000000000000", "my key", "a1b2c3d4e5f6a7b8c9d0e1f2", "x=y", "k" * 200])
def test_what_is_no_name_of_a_variable_is_not_repeated(value: str) -> None:
    source = KeySource(value, {})
    with pytest.raises(ProviderError) as caught:
        source.headers()
    assert value not in str(caught.value)
    assert value not in repr(source)
    assert "api_key_env" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "key", "_K2", "AZURE_OPENAI_GPT4_KEY_2", "MYVERYLONGCOMPANYNAMEKEY1"]
)
def test_a_name_of_a_variable_is_one(name: str) -> None:
    assert is_variable_name(name)
