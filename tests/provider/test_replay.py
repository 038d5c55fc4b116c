"""Recordings: what was answered once is answered again, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import answer, serving

from jurat.errors import AuthoringError, ErrorCategory, ProviderError, StoreError
from jurat.provider import (
    Capabilities,
    ChatMessage,
    Frame,
    HttpProvider,
    ModelRequest,
    Pricer,
    ProviderSettings,
    Raw,
    RecordingProvider,
    ReplayProvider,
    ResponseSchema,
    ScriptedProvider,
    Usage,
    make_provider,
)
from jurat.provider.recording import read_recording
from jurat.provider.replay import head_of

FRAME = Frame(messages=(ChatMessage(role="system", content="s"),))


def request(user: str, repeat: int = 0) -> ModelRequest:
    return ModelRequest(frame=FRAME, user=user, repeat=repeat)


async def test_a_recording_of_a_server_is_replayed_byte_for_byte(tmp_path: Path) -> None:
    body = {"choices": [{"message": {"content": "Pärıs"}}], "odd": [1, None]}
    path = tmp_path / "r.jsonl"
    able = Capabilities(temperature=False, token_limit_name="max_completion_tokens")
    async with serving(answer(body)) as server:
        settings = ProviderSettings(
            name="judge",
            kind="openai",
            model="m",
            endpoint=server.url,
            capabilities=able,
            extra={"seed": 1},
            prices={"input": 1.0, "output": 2.0},
        )
        recorder = RecordingProvider(HttpProvider(settings), path)
        sent = await recorder.send(recorder.prepare(request("x")))
        await recorder.aclose()
    replay = make_provider({"kind": "replay", "file": "r.jsonl"}, base_dir=tmp_path)
    raw = await replay.send(replay.prepare(request("x")))
    assert (raw.body, raw.latency_ms) == (sent.body, sent.latency_ms)
    assert replay.read(raw).text == "Pärıs"
    told = replay.settings
    assert (told.name, told.kind, told.model, told.capabilities) == ("judge", "replay", "m", able)
    assert told.prices == {"input": 1.0, "output": 2.0}


async def test_repeats_of_a_request_are_replayed_apart(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorder = RecordingProvider(ScriptedProvider(["a", "b"]), path)
    for repeat in (0, 1):
        await recorder.send(recorder.prepare(request("x", repeat)))
    replay = ReplayProvider(path)
    texts = [replay.read(await replay.send(replay.prepare(request("x", repeat)))).text for repeat in (1, 0, 1)]
    assert texts == ["b", "a", "b"]


async def test_a_request_that_was_not_recorded_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    RecordingProvider(ScriptedProvider("a"), path)
    replay = ReplayProvider(path)
    with pytest.raises(ProviderError, match=r"r\.jsonl holds no reply to this request") as caught:
        await replay.send(replay.prepare(request("x")))
    assert (caught.value.category, caught.value.attempts) == (ErrorCategory.INVALID_REQUEST, 0)


async def test_failures_are_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorder = RecordingProvider(ScriptedProvider({"error": "timeout"}), path)
    with pytest.raises(ProviderError):
        await recorder.send(recorder.prepare(request("x")))
    assert len(path.read_text().splitlines()) == 1


async def test_a_recording_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    for user in ("x", "y"):
        recorder = RecordingProvider(ScriptedProvider("a"), path)
        await recorder.send(recorder.prepare(request(user)))
    replay = ReplayProvider(path, name="mine")
    assert [(await replay.send(replay.prepare(request(user)))).attempts for user in ("x", "y")] == [1, 1]
    assert replay.settings.name == "mine"


_HEAD = json.dumps(
    {
        "jurat_recording": 1,
        "provider": {
            "name": "a",
            "kind": "scripted",
            "model": "m",
            "capabilities": {"schema_keywords_refused": []},
        },
    }
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, None),
        ("", 1),
        ("{}", 1),
        ('{"jurat_recording": 2, "provider": {}}', 1),
        ('{"jurat_recording": 1, "provider": {"name": "a"}}', 1),
        (f"{_HEAD}\nno json", 2),
        (f'{_HEAD}\n\n{{"key": "k"}}', 3),
        (f'{_HEAD}\n{{"key": "k", "body_base64": "?"}}', 2),
        *(
            (f'{_HEAD}\n{{"key": "k", "body": "x", "latency_ms": {latency}}}', 2)
            for latency in ('"slow"', "NaN", "-1", "true", "1e999", "9" * 400)
        ),
    ],
)
def test_a_file_that_is_no_recording_is_named_with_its_line(tmp_path: Path, text: str | None, line: int | None) -> None:
    path = tmp_path / "r.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(AuthoringError) as caught:
        ReplayProvider(path)
    assert (caught.value.faults[0].file, caught.value.faults[0].line) == (str(path), line)


async def test_a_body_that_is_no_text_survives(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    replay_key = ReplayProvider(_written(path, _HEAD)).prepare(request("x")).key
    _written(path, f'{_HEAD}\n{{"key": "{replay_key}", "body_base64": "/wA="}}')
    replay = ReplayProvider(path)
    assert (await replay.send(replay.prepare(request("x")))).body == b"\xff\x00"


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


# --- what decides a request's bytes ---------------------------------------------------------------------------------


SCHEMA = ResponseSchema(
    name="verdict",
    schema={"type": "object", "properties": {"reason": {"type": "string", "maxLength": 4000}}, "required": ["reason"]},
)


def test_a_replay_of_the_embedded_model_makes_the_very_requests_that_the_model_was_sent(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    model = make_provider({"name": "judge", "kind": "local", "model": "default"})
    recorder = RecordingProvider(model, path)
    frame = Frame(messages=(ChatMessage(role="system", content="s"),), schema=SCHEMA)
    asked = ModelRequest(frame=frame, user="x")

    replay = ReplayProvider(path)

    assert replay.prepare(asked) == recorder.prepare(asked) == model.prepare(asked)
    assert b'"maxLength":240' in replay.prepare(asked).body
    assert replay.settings.wants_examples
    assert replay.settings.default_strategy == model.settings.default_strategy


def test_a_reply_of_the_embedded_model_is_told_by_the_models_name(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    RecordingProvider(make_provider({"name": "judge", "kind": "local", "model": "default"}), path)
    body = json.dumps({"model": "some-file.gguf", "choices": [{"message": {"content": "x"}}]}).encode()

    assert ReplayProvider(path).read(Raw(body=body, latency_ms=1.0)).model == "qwen2.5-coder-1.5b"


def test_a_replay_has_the_identity_of_the_provider_that_was_recorded(tmp_path: Path) -> None:
    settings = ProviderSettings(name="judge", kind="openai", model="m", endpoint="https://models.example/v1")
    RecordingProvider(HttpProvider(settings), tmp_path / "r.jsonl")

    replay = ReplayProvider(tmp_path / "r.jsonl")

    assert replay.settings.identity == settings.identity
    assert (replay.settings.kind, replay.settings.replays) == ("replay", "openai")


def test_who_was_recorded_can_be_asked_again(tmp_path: Path) -> None:
    row = {"name": "judge", "kind": "openai", "model": "gpt-4.1-mini", "api_key_env": "MY_KEY", "extra": {"seed": 1}}
    row |= {"capabilities": {"top_logprobs": 5}, "prices": {"input": 1.0, "output": 2.0}}
    made = make_provider(row)
    RecordingProvider(made, tmp_path / "r.jsonl")

    assert make_provider(ReplayProvider(tmp_path / "r.jsonl", name="judge").live_row).settings == made.settings


def test_a_replay_costs_nothing_whatever_the_recorded_provider_charged(tmp_path: Path) -> None:
    settings = ProviderSettings(
        name="j",
        kind="openrouter",
        model="m",
        endpoint="https://models.example/v1",
        prices={"input": 1.0, "output": 1.0},
    )
    for told in (settings, replace(settings, prices=None)):
        path = tmp_path / f"{told.prices is None}.jsonl"
        RecordingProvider(HttpProvider(told), path)
        pricer = Pricer(ReplayProvider(path).settings)

        assert pricer.cost(Usage(input_tokens=1_000_000, output_tokens=0, charged_usd=3.0)) == 0.0
        assert pricer.price_source == "nothing is paid"


async def test_a_recording_of_a_replay_is_one_of_the_recorded_provider(tmp_path: Path) -> None:
    first = RecordingProvider(ScriptedProvider(["a"]), tmp_path / "1.jsonl")
    await first.send(first.prepare(request("x")))
    copy = RecordingProvider(ReplayProvider(tmp_path / "1.jsonl"), tmp_path / "2.jsonl")
    await copy.send(copy.prepare(request("x")))

    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


# --- the file -------------------------------------------------------------------------------------------------------


async def test_a_line_that_was_cut_off_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = RecordingProvider(ScriptedProvider("a"), path)
    await first.send(first.prepare(request("x")))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "half')

    again = RecordingProvider(ScriptedProvider("a"), path)
    await again.send(again.prepare(request("y")))

    assert path.read_bytes().startswith(whole)
    assert len(read_recording(path).replies) == 2


async def test_a_reply_that_cannot_be_recorded_is_not_lost_and_the_fault_is_told_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorder = RecordingProvider(ScriptedProvider("a"), path)
    path.unlink()
    path.mkdir()

    raw = await recorder.send(recorder.prepare(request("x")))

    assert recorder.read(raw).text == "a"
    with pytest.raises(StoreError, match=r"the recording .*r\.jsonl could not be written: Is a directory"):
        await recorder.aclose()


def test_whose_key_is_in_the_keyring_is_asked_again_with_it(tmp_path: Path) -> None:
    row = {"name": "j", "kind": "openai", "model": "m", "api_key_keyring": "models/me"}
    path = tmp_path / "tape.jsonl"
    path.write_text(json.dumps({"jurat_recording": 1, **head_of(make_provider(row).settings)}) + "\n")
    replay = ReplayProvider(path)
    assert not replay.settings.keyed
    assert make_provider(replay.live_row).settings.api_key_keyring == "models/me"
