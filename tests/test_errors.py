"""What goes wrong is told without repeating what looks like a key, wherever it stood."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.credentials import looks_like_credential, masked
from jurat.errors import AuthoringError, ErrorCategory, Fault, ModelError, ProviderError, StoreError

KEY = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"
KEYS = [
    KEY,
    "Bearer abcdefghijklmnop0123",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
    "AKIAABCDEFGHIJKLMNOP",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("field", ["path", "expected", "found", "hint", "file"])
def test_no_fault_repeats_a_key_wherever_it_stands(field: str, key: str) -> None:
    fields: dict[str, Any] = {
        "path": "cases[0].name",
        "expected": "a name",
        "found": "another",
        field: f"'{key}' there",
    }
    fault = Fault(**fields)

    for text in (str(fault), str(AuthoringError("suite", [fault]))):
        assert key not in text
        assert "***" in text


@pytest.mark.parametrize("key", KEYS)
def test_no_error_of_any_kind_repeats_a_key(key: str) -> None:
    for error in (
        StoreError(f"{key}: there is no store"),
        ModelError(f"no model {key}"),
        AuthoringError(key, []),
        ProviderError(ErrorCategory.PROVIDER_NOT_FOUND, f"there is no provider {key!r}"),
    ):
        assert key not in str(error)
        assert str(copy.copy(error)) == str(error)


def test_of_an_address_the_host_is_still_told() -> None:
    error = StoreError("postgresql://jurat:hunter2@db.example/evals: the server does not answer")
    assert str(error) == "postgresql://***@db.example/evals: the server does not answer"


def test_a_message_without_a_key_stays_as_it_is() -> None:
    fault = Fault(path="cases[0].task-1", expected="a risk-based name", found="'desk-top'", file="s.yaml", line=3)
    assert str(fault) == "s.yaml:3: cases[0].task-1: expected a risk-based name, found 'desk-top'"


@given(st.lists(st.sampled_from([*KEYS, " ", "'", "://a:b@c", "x", ".", "\n"]), max_size=8).map("".join))
def test_what_is_masked_looks_like_no_key_and_is_not_masked_again(text: str) -> None:
    once = masked(text)
    assert not looks_like_credential(once)
    assert masked(once) == once
