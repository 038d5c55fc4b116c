"""Recordings: what was answered once is answered again, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback import answer, serving

from jurat.errors import AuthoringError, ErrorCategory, ProviderError
from jurat.provider import (
    Capabilities,
    ChatMessage,
    Frame,
    HttpProvider,
    ModelRequest,
    ProviderSettings,
    RecordingProvider,
    ReplayProvider,
    ScriptedProvider,
    make_provider,
)

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
        (f'{_HEAD}\n{{"key": "k", "body": "x", "latency_ms": "slow"}}', 2),
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
