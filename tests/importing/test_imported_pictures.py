"""Pictures in other tools' conversations come over with their bytes, or are told."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importfiles import Made

from jurat.importing.talk import message
from papers import png

TEXT = base64.b64encode(png(4, 3)).decode()
URL = f"data:image/png;base64,{TEXT}"
BLOCK = {"type": "image", "media_type": "image/png", "data": TEXT}


def read(part: Any, role: str = "user") -> tuple[Any, list[str]]:
    told: list[str] = []
    made = message({"role": role, "content": [{"type": "text", "text": "Look: "}, part]}, told.append)
    assert made is not None
    content = made["content"]
    return (content[1:] if isinstance(content, list) else []), told


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
        {"type": "image_url", "image_url": URL},
        {"type": "input_image", "image_url": URL, "detail": "auto"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": TEXT}},
        {"inlineData": {"mimeType": "image/png", "data": TEXT}},
        {"inline_data": {"mime_type": "image/png", "data": TEXT}},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": TEXT},
        {"type": "image", "image.image.url": URL},
        {"type": "image", "image": TEXT, "mediaType": "image/png"},
        {"type": "image", "image": {"url": URL}},
        {"type": "image", "source_type": "base64", "mime_type": "image/jpeg", "data": TEXT},
    ],
)
def test_a_picture_comes_over_whoever_wrote_it(part: Any) -> None:
    assert read(part) == ([BLOCK], [])


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}, "a picture at an address; nothing is"),
        ({"type": "image", "source": {"type": "url", "url": "https://x.example/a"}}, "a picture at an address"),
        ({"type": "uri", "modality": "image", "uri": "gs://bucket/a.png"}, "a picture at an address"),
        ({"type": "image", "source": {"type": "base64", "data": "aGVsbG8="}}, "a picture that cannot be read"),
        ({"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}, "a picture that cannot be read"),
        ({"type": "image"}, "content that is no text (image); left out"),
        ({"type": "input_audio", "input_audio": {"data": TEXT}}, "content that is no text (input_audio); left out"),
        ({"type": "blob", "modality": "audio", "content": TEXT}, "content that is no text (blob); left out"),
    ],
)
def test_what_is_no_picture_that_can_be_taken_is_told(part: Any, reason: str) -> None:
    blocks, told = read(part)
    assert blocks == []
    assert len(told) == 1
    assert told[0].startswith(reason)


def test_a_picture_in_an_answer_is_told() -> None:
    assert read({"type": "image_url", "image_url": URL}, "assistant") == (
        [],
        ["a picture in a message of the role assistant; left out"],
    )


def test_the_picture_of_a_tool_is_in_its_result() -> None:
    told: list[str] = []
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "image", "source": {"data": TEXT}}]}
    made = message({"role": "user", "content": [result]}, told.append)
    assert made == {"role": "user", "content": [{"type": "tool_result", "tool_call_id": "c", "content": [BLOCK]}]}
    assert told == []


def test_an_imported_suite_shows_the_picture() -> None:
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": URL}}]
    rows = {"input": [{"role": "user", "content": content}], "ideal": "a cat"}
    made = Made(f"{json.dumps(rows)}\n", "rows.jsonl", "openai-evals")
    assert made.cases[0]["messages"] == [{"role": "user", "content": [content[0], BLOCK]}]
    assert made.reasons == []


PARTS = st.recursive(
    st.none() | st.booleans() | st.sampled_from([TEXT, URL, "https://x", "image", "data:,", "blob"]),
    lambda inner: st.dictionaries(
        st.sampled_from(["type", "image", "image_url", "source", "data", "url", "inlineData", "mime_type"]), inner
    ),
    max_leaves=6,
)


@given(PARTS)
def test_no_part_makes_it_crash(part: Any) -> None:
    told: list[str] = []
    message({"role": "user", "content": [part]}, told.append)
