"""Ollama's dialect, where it is like no other: options, the context's size, and a server that would cut in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.errors import ProviderError
from jurat.provider import ChatMessage, FinishReason, Frame, ModelRequest, Raw, Reply, ResponseSchema, Usage
from jurat.provider.registry import make_provider

FRAME = Frame(
    messages=(ChatMessage(role="system", content="S"),),
    schema=ResponseSchema(name="s", schema={"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}),
    top_logprobs=2,
)


def sent(frame: Frame = FRAME, **row: Any) -> dict[str, Any]:
    provider = make_provider({"kind": "ollama", "model": "qwen3:8b", **row})
    told: dict[str, Any] = json.loads(provider.prepare(ModelRequest(frame=frame, user="hello")).body)
    return told


def read(**told: Any) -> Reply:
    body = json.dumps({"model": "qwen3:8b", "message": {"content": "x"}, "done": True, **told})
    return make_provider("ollama:m").read(Raw(body=body.encode(), latency_ms=1.0))


def test_a_request_is_written_in_the_dialect() -> None:
    assert sent() == {
        "model": "qwen3:8b",
        "stream": False,
        "truncate": False,
        "shift": False,
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "hello"}],
        "options": {"temperature": 0.0, "num_predict": 500},
        "logprobs": True,
        "top_logprobs": 2,
        "format": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}},
    }


def test_a_declared_context_is_made_by_the_server_too() -> None:
    assert sent(capabilities={"context_tokens": 16384})["options"]["num_ctx"] == 16384


def test_how_long_a_model_stays_and_further_options_are_extra_settings() -> None:
    told = sent(extra={"keep_alive": "30m", "options": {"seed": 7}, "think": False})
    assert (told["keep_alive"], told["think"]) == ("30m", False)
    assert told["options"] == {"temperature": 0.0, "num_predict": 500, "seed": 7}


def test_no_key_is_wanted_and_a_named_one_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_KEY", "k-1234")
    assert make_provider("ollama:m").settings.api_key_env is None
    named: Any = make_provider({"kind": "ollama", "model": "m", "api_key_env": "OLLAMA_KEY"})
    assert named._keys.headers()["Authorization"] == "Bearer k-1234"


def test_what_the_server_counts_is_the_usage() -> None:
    assert read(prompt_eval_count=26, eval_count=5).usage == Usage(input_tokens=26, output_tokens=5)
    assert read(eval_count=5).usage == Usage(output_tokens=5)


@pytest.mark.parametrize(
    ("word", "reason"),
    [("stop", FinishReason.STOP), ("length", FinishReason.LENGTH), ("load", FinishReason.OTHER), (None, "unreported")],
)
def test_every_reason_to_stop_has_our_word(word: str | None, reason: FinishReason) -> None:
    assert read(**({"done_reason": word} if word else {})).finish_reason == reason


def test_a_model_elsewhere_is_named_by_its_own_name() -> None:
    assert read(remote_model="gpt-oss:120b", remote_host="https://ollama.com").model == "gpt-oss:120b"


def test_a_piece_of_a_stream_is_no_reply() -> None:
    with pytest.raises(ProviderError, match="a message that is done"):
        read(done=False)
