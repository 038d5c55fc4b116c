"""Pictures in a conversation: what is recorded of them, and what stands in their place where text is read."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import Fault
from jurat.evidence import (
    Context,
    Document,
    ImageBlock,
    Message,
    Role,
    TextBlock,
    ToolResultBlock,
    context_from_json,
    context_to_json,
    message_from_json,
    message_to_json,
    number_evidence,
)

DATA = b"\x89PNG\r\n\x1a\n" + bytes(1000)
HASH = hashlib.sha256(DATA).hexdigest()
PICTURE = ImageBlock(media_type="image/png", path="a.png", data=DATA)
LINE = f"[image/png, 1,008 bytes, sha256 {HASH[:16]}; the picture itself is not shown]"
SHOWN = Message(role=Role.USER, content=(TextBlock(text="Is this "), PICTURE, TextBlock(text=" a cat?")))


def read(block: Any) -> tuple[ImageBlock | None, list[str]]:
    faults: list[Fault] = []
    message = message_from_json({"role": "user", "content": [block]}, "m", faults)
    return (message.content[0] if message else None), [str(fault) for fault in faults]  # type: ignore[return-value]


def test_a_picture_knows_its_hash_and_size() -> None:
    assert (PICTURE.sha256, PICTURE.size_bytes) == (HASH, 1008)
    assert "PNG" not in repr(PICTURE)


def test_a_line_stands_in_its_place_where_text_is_read() -> None:
    assert SHOWN.visible_text == f"Is this {LINE} a cat?"
    assert SHOWN.spoken_text == "Is this  a cat?"
    assert ImageBlock(path="a.png").placeholder == "[image; the picture itself is not shown]"


def test_pictures_are_found_with_their_places_in_the_results_of_tools_too() -> None:
    result = ToolResultBlock(tool_call_id="1", content=(TextBlock(text="x"), PICTURE))
    message = Message(role=Role.TOOL, content=(result, PICTURE))
    assert [path for path, _ in message.pictures()] == ["content[0].content[1]", "content[1]"]
    assert list(Message(role=Role.USER, content="text").pictures()) == []


def test_what_is_recorded_of_a_picture_holds_no_byte_of_it() -> None:
    recorded = {"type": "image", "path": "a.png", "media_type": "image/png", "sha256": HASH, "size_bytes": 1008}
    assert message_to_json(SHOWN)["content"][1] == recorded
    assert message_to_json(SHOWN, "kept")["content"][1] == recorded
    shown = message_to_json(SHOWN, "shown")["content"][1]
    assert shown == {**recorded, "data": base64.b64encode(DATA).decode()}


def test_a_picture_that_stands_in_no_file_is_kept_with_its_bytes() -> None:
    inline = ImageBlock(media_type="image/png", data=DATA)
    message = Message(role=Role.USER, content=(ToolResultBlock(tool_call_id="", content=(inline,)),))
    kept = message_to_json(message, "kept")["content"][0]["content"][0]
    assert kept["data"] == base64.b64encode(DATA).decode()
    assert "data" not in message_to_json(message)["content"][0]["content"][0]


@given(
    st.builds(
        ImageBlock,
        media_type=st.none() | st.just("image/png"),
        path=st.none() | st.text(max_size=9),
        data=st.binary(min_size=1, max_size=99),
    )
)
def test_a_message_reads_back_as_the_same_with_and_without_the_bytes(block: ImageBlock) -> None:
    message = Message(role=Role.USER, content=(block,))
    faults: list[Fault] = []
    assert message_from_json(message_to_json(message), "m", faults) == message
    if block.path is None:
        again = message_from_json(message_to_json(message, "kept"), "m", faults)
        assert again == message
        assert again is not None
        assert next(again.pictures())[1].data == block.data
    assert faults == []


def test_data_in_base64_is_read_with_white_space_in_it() -> None:
    spelled = base64.b64encode(DATA).decode()
    found, faults = read({"type": "image", "data": f"{spelled[:9]}\n {spelled[9:]}\n"})
    assert faults == []
    assert found is not None
    assert (found.data, found.sha256) == (DATA, HASH)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ({"type": "image"}, "m.content[0]: expected a picture by its path, by its data in base64, or by the sha256"),
        ({"type": "image", "media_type": "image/png"}, "m.content[0]: expected a picture by its path"),
        ({"type": "image", "path": "a", "data": "aaaa"}, "found both path and data"),
        ({"type": "image", "data": "a picture?"}, "m.content[0].data: expected a picture in base64, found other text"),
        ({"type": "image", "data": ""}, "m.content[0].data: expected a picture in base64"),
        ({"type": "image", "data": 7}, "m.content[0].data: expected text, found a number"),
        ({"type": "image", "path": None}, "m.content[0].path: expected text, found null"),
        ({"type": "image", "sha256": "abc"}, "m.content[0].sha256: expected 64 hexadecimal digits"),
        ({"type": "image", "data": "aaaa", "sha256": "0" * 64}, "sha256: expected the hash of its data, found another"),
        ({"type": "image", "path": "a", "size_bytes": -1}, "m.content[0].size_bytes: expected a whole number from 0"),
        ({"type": "image", "path": "a", "size_bytes": True}, "size_bytes: expected a whole number"),
        ({"type": "image", "url": "https://x.example"}, "m.content[0].url: expected one of type, path, data"),
        (
            {"type": "image", "data": base64.b64encode(bytes(10 * 2**20 + 1)).decode()},
            "m.content[0].data: expected a picture of at most 10 MiB, found 10,485,761 bytes",
        ),
    ],
)
def test_what_is_no_picture_is_told_at_its_place(block: Any, told: str) -> None:
    found, faults = read(block)
    assert found is None
    assert any(told in fault for fault in faults), faults


def test_the_evidence_lists_the_pictures_that_nobody_sees_who_reads_it() -> None:
    context = Context(
        output="A cat.",
        messages=(Message(role=Role.SYSTEM, content="S"), SHOWN),
        documents=(Document(text="[image/png, 4 × 4]", media_type="image/png"), Document(text="x")),
    )
    evidence = number_evidence(context)
    assert evidence.unseen_fields == ("messages[1].content[1]", "documents[0]")
    assert evidence.entries[1].text == f"Is this {LINE} a cat?"
    assert number_evidence(Context(output="x")).unseen_fields == ()


def test_a_context_holds_no_bytes_and_reads_back_as_the_same() -> None:
    context = Context(output="x", messages=(SHOWN,))
    assert next(context.messages[0].pictures())[1].data is None
    assert context_from_json(context_to_json(context)) == context
