"""What an answer that is no reply means, by the vendors' own words for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.errors_from_http import Destination, error_from_reply
from jurat.provider.faults import RefusedParameter, TransientError
from jurat.provider.http import HttpReply

TO = Destination(where="host/v1", model="m", key_variable="KEY")


def error(status: int, body: Any) -> ProviderError:
    return error_from_reply(HttpReply(status, {}, json.dumps(body).encode(), 1.0), TO)


def told(message: str, *, status: int = 400, **more: Any) -> ProviderError:
    return error(status, {"error": {"message": message, **more}})


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens, you requested 5000.",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "the input length exceeds the context length",
        "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
        "'max_tokens' is too large: 500. This model's maximum context length is 4096 tokens.",
        "Prompt exceeds max length",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ],
)
def test_a_text_that_is_too_long_is_known_by_every_servers_words(message: str) -> None:
    assert told(message).category is ErrorCategory.CONTEXT_TOO_LARGE


def test_a_request_above_the_limit_of_a_whole_minute_is_too_large_and_not_tried_again() -> None:
    found = told("Request too large for m on tokens per min (TPM): Limit 30000, Requested 40000.", status=429)
    assert found.category is ErrorCategory.CONTEXT_TOO_LARGE
    assert not isinstance(found, TransientError)
    again = told("Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000.", status=429)
    assert (again.category, isinstance(again, TransientError)) == (ErrorCategory.RATE_LIMITED, True)


@pytest.mark.parametrize(
    ("message", "more"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", {"param": "max_tokens"}),
        ("no", {"param": "max_tokens"}),
        ("", {"param": "max_tokens", "code": "unsupported_parameter"}),
        ("max_tokens: Extra inputs are not permitted", {}),
        ("Unrecognized request argument supplied: max_tokens", {}),
    ],
)
def test_a_limit_whose_name_is_refused_says_which_name_to_declare(message: str, more: dict[str, Any]) -> None:
    found = told(message, **more)
    assert isinstance(found, RefusedParameter)
    assert found.param == "max_tokens"
    assert "capabilities: {token_limit_name: max_completion_tokens}" in str(found)


@pytest.mark.parametrize(
    ("message", "more"),
    [
        ("max_tokens is too large: 50000. This model supports at most 16384 tokens.", {"param": "max_tokens"}),
        ("Invalid value", {"param": "max_completion_tokens", "code": "integer_above_max_value"}),
        ("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for m", {}),
        ("`max_tokens` must be less than or equal to `8192`", {}),
        ("has a maxOutputTokens value of 100000 but the supported range is from 1 to 65537", {}),
        ("Expected a value >= 16", {"param": "max_output_tokens", "code": "integer_below_min_value"}),
        ("Unknown", {"param": "max_output_tokens"}),
    ],
)
def test_a_limit_whose_number_is_refused_is_not_sent_under_another_name(message: str, more: dict[str, Any]) -> None:
    found = told(message, **more)
    assert (found.category, isinstance(found, RefusedParameter)) == (ErrorCategory.INVALID_REQUEST, False)
    assert "refused the limit of output tokens for model m (400). Set another max_output_tokens" in str(found)


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "Your credit balance is too low to access the API.", None),
        (403, "Your newly created team doesn't have any credits yet.", None),
        (403, "You have run out of credits or need a subscription.", None),
        (403, "Key limit exceeded (total limit).", None),
        (429, "Your prepayment credits are depleted.", None),
        (429, "m", "exceeded_current_quota_error"),
        (403, "m", "billing_error"),
        (402, "m", None),
    ],
)
def test_credit_that_is_used_up_is_no_refused_key_and_not_tried_again(
    status: int, message: str, code: str | None
) -> None:
    found = told(message, status=status, code=code)
    assert (found.category, isinstance(found, TransientError)) == (ErrorCategory.RATE_LIMITED, False)
    assert "the credit or quota at host/v1 is used up" in str(found)


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (401, "You have run out of patience", "insufficient_quota"),
        (403, "m", "unsupported_country_region_territory"),
        (400, "User location is not supported for the API use.", None),
        (400, "API key not valid. Please pass a valid API key.", None),
    ],
)
def test_who_may_not_ask_is_told_of_the_key(status: int, message: str, code: str | None) -> None:
    found = told(message, status=status, code=code)
    assert (found.category, "environment variable KEY" in str(found)) == (ErrorCategory.AUTH_ERROR, True)


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [(404, "m", None), (400, "nobody/m is not a valid model ID", None), (400, "m", "model_decommissioned")],
)
def test_a_model_that_nobody_knows_is_named(status: int, message: str, code: str | None) -> None:
    found = told(message, status=status, code=code)
    assert found.category is ErrorCategory.INVALID_REQUEST
    assert "knows no model m" in str(found)


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ('Invalid JSON payload received. Unknown name "responseJsonSchema" at generation_config.', "openapi"),
        ("generation_config.response_json_schema: unsupported", "openapi"),
        ("generation_config.response_schema.properties: should be non-empty", "schema"),
        ("output_config: Extra inputs are not permitted", "tool"),
    ],
)
def test_a_form_of_schema_that_is_refused_says_which_other_one_to_declare(message: str, hint: str) -> None:
    assert f"capabilities: {{structured_by: {hint}}}" in str(told(message))


def behind(raw: Any, status: int = 400) -> ProviderError:
    return told("Provider returned error", status=status, code=status, metadata={"raw": raw, "provider_name": "X"})


def in_words(value: Any) -> str:
    return json.dumps(value)


@pytest.mark.parametrize(
    ("raw", "category"),
    [
        (in_words({"error": {"code": "context_length_exceeded"}}), ErrorCategory.CONTEXT_TOO_LARGE),
        (in_words([{"error": {"message": "prompt is too long"}}]), ErrorCategory.CONTEXT_TOO_LARGE),
        (in_words({"error": "the input length exceeds the context length"}), ErrorCategory.CONTEXT_TOO_LARGE),
        ("prompt is too long: 9 tokens > 8 maximum", ErrorCategory.CONTEXT_TOO_LARGE),
        (in_words({"error": {"code": "content_filter"}}), ErrorCategory.REFUSAL),
        (
            in_words({"error": {"code": "invalid_api_key", "message": "Incorrect API key"}}),
            ErrorCategory.INVALID_REQUEST,
        ),
        (in_words({"error": {"code": "insufficient_quota"}}), ErrorCategory.INVALID_REQUEST),
        *(
            (raw, ErrorCategory.INVALID_REQUEST)
            for raw in ("[" * 100_000, "null", "[]", "3", "", None, 7, {"error": 1})
        ),
    ],
)
def test_of_an_error_behind_a_gateway_only_what_it_says_of_the_request_counts(
    raw: Any, category: ErrorCategory
) -> None:
    assert behind(raw).category is category


def test_a_parameter_that_is_refused_behind_a_gateway_is_named() -> None:
    for raw in ("`temperature` is deprecated", '{"error": {"param": "temperature", "message": "secret words"}}'):
        found = behind(raw)
        assert "capabilities: {temperature: false}" in str(found)
        assert "secret words" not in str(found)


def test_a_rate_limit_behind_a_gateway_is_tried_again() -> None:
    found = behind('{"error": {"code": "insufficient_quota"}}', status=429)
    assert (found.category, isinstance(found, TransientError)) == (ErrorCategory.RATE_LIMITED, True)


@pytest.mark.parametrize("words", ["can handle the requested parameters", "support tool use"])
def test_a_gateway_with_nobody_for_all_that_is_asked_says_so_and_not_that_the_model_is_unknown(words: str) -> None:
    found = told(f"No endpoints found that {words}.", status=404, code=404)
    assert found.category is ErrorCategory.INVALID_REQUEST
    assert "nobody behind host/v1 takes for model m all that the request asks for (404)" in str(found)
    assert "knows no model m" in str(told("No endpoints found for nobody/m.", status=404, code=404))
