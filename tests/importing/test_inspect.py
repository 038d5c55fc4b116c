"""Logs of Inspect become suites."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importfiles import FILES, Made, attempt, imported, told_of

from jurat.errors import AuthoringError


def test_samples_become_cases_with_target_and_scores(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "inspect.json")

    assert suite["suite"] == "opening_hours"
    assert suite["cases"] == [
        {
            "name": "1",
            "messages": [
                {"role": "system", "content": "Answer shortly."},
                {"role": "user", "content": "When do you open?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "text": "I look it up."},
                        {"type": "tool_call", "id": "c1", "name": "hours", "arguments": {"day": "monday"}},
                    ],
                },
                {
                    "role": "tool",
                    "content": [
                        {"type": "tool_result", "tool_call_id": "c1", "content": "closed", "failed": True},
                    ],
                },
            ],
            "expected": "At nine.",
            "output": "At nine, I think.",
            "execution": {"latency_ms": 750.0},
            "labels": ["match: C", "judge: 0.5"],
            "metadata": {"day": "monday", "model": "gpt-x"},
        },
        {
            "name": "1 epoch 2",
            "messages": [{"role": "user", "content": "When do you open on Mondays?"}],
            "expected": "At nine.",
            "output": "At ten.",
            "metadata": {"choices": ["At nine.", "At ten."], "model": "openai/gpt-x"},
        },
    ]
    assert told == told_of("inspect.json")


def test_a_header_says_how_to_get_the_whole_log() -> None:
    with pytest.raises(AuthoringError, match="inspect log dump"):
        Made({"eval": {"task": "t"}, "status": "success"}, "log.json", "inspect")


# --- packed logs ---------------------------------------------------------------------------------------------------


def members(log: dict[str, Any] | None = None) -> dict[str, bytes]:
    """What stands in the archive that holds a log."""
    log = log or json.loads((FILES / "inspect.json").read_text("utf-8"))
    header = {key: part for key, part in log.items() if key != "samples"}
    made = {"_journal/start.json": json.dumps({"eval": log["eval"]}).encode()}
    for sample in filter(None, log["samples"]):
        made[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = json.dumps(sample).encode()
    return {**made, "summaries.json": b"[]", "header.json": json.dumps(header).encode()}


def packed(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return page.getvalue()


def in_zstandard(parts: dict[str, bytes]) -> bytes:
    """An archive as newer writers make it, written by hand: Python writes none such before 3.14."""
    import pyarrow as pa

    page, places = io.BytesIO(), []
    for file, data in parts.items():
        name = file.encode()
        small = bytes(pa.compress(data, codec="zstd", asbytes=True))
        sizes = (zlib.crc32(data), len(small), len(data))
        places.append((page.tell(), name, sizes))
        page.write(struct.pack("<4s5H3I2H", b"PK\x03\x04", 63, 0, 93, 0, 33, *sizes, len(name), 0) + name + small)
    start = page.tell()
    for offset, name, sizes in places:
        head = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 63, 63, 0, 93, 0, 33, *sizes, len(name), 0, 0, 0, 0, 0, offset)
        page.write(head + name)
    count, size = len(places), page.tell() - start
    page.write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, size, start, 0))
    return page.getvalue()


@pytest.mark.parametrize("pack", [packed, in_zstandard])
@pytest.mark.parametrize("name", ["log.eval", "log"])
def test_a_packed_log_becomes_what_its_json_form_does(pack: Any, name: str) -> None:
    plain = Made((FILES / "inspect.json").read_bytes())

    made = Made(pack(members()), name)

    assert (made.cases, made.suite) == (plain.cases, plain.suite)
    assert len(made.notes) == len(plain.notes) - 1  # of the sample that is none
    assert {note.file for note in made.notes} - {name} <= {f"{name}/{part}" for part in members()}


def test_a_packed_log_that_was_broken_off_is_read_as_far_as_it_goes() -> None:
    parts = members()
    del parts["header.json"]

    assert Made(packed(parts), "log.eval").suite["suite"] == "opening_hours"


def test_a_sample_that_cannot_be_read_is_listed_and_the_others_are_read() -> None:
    parts = {**members(), "samples/a_epoch_1.json": b"{no json", "samples/b_epoch_1.json": b"\xff", "../x.json": b"{}"}
    archive = bytearray(packed({"samples/0_epoch_1.json": b'{"id": "TORN"}', **parts}, zipfile.ZIP_STORED))
    archive[archive.index(b"TORN")] ^= 1

    made = Made(bytes(archive), "log.eval")

    assert made.cases == Made((FILES / "inspect.json").read_bytes()).cases
    torn, invalid, foreign = (one for one in made.reasons if one.endswith("; the sample is left out"))
    assert "samples/0_epoch_1.json: expected members that can be read, found one that is broken, or locked" in torn
    assert "samples/a_epoch_1.json: expected valid JSON, found a fault at column 2" in invalid
    assert "samples/b_epoch_1.json: expected UTF-8, found bytes that are no UTF-8" in foreign


def test_what_unpacks_to_too_much_is_listed_and_costs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurat.importing.archive._MOST", 1_000_000)
    parts = {**members(), "samples/bomb_epoch_1.json": b" " * 2_000_000}

    made = Made(packed(parts), "log.eval")

    assert len(made.cases) == len(Made((FILES / "inspect.json").read_bytes()).cases)
    assert "samples/bomb_epoch_1.json: expected members of at most" in str(made.reasons)


def test_an_archive_that_is_no_log_is_told() -> None:
    for content, form, told in (
        (packed({"a.txt": b"a"}), "auto", "found none of them"),
        (
            packed({"a.txt": b"a"}),
            "inspect",
            "expected a packed log of Inspect, with header.json, found another archive",
        ),
        (packed(members()), "otel", "expected JSON, YAML or a table, found an archive. Unpack it first"),
        (packed(members()), "promptfoo", "expected an object with prompts"),
        (packed(members())[:-30], "inspect", "expected an archive that is whole, found one that is broken or cut off"),
    ):
        with pytest.raises(AuthoringError, match=re.escape(told)):
            Made(content, "log.eval", form)


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 2_000), at=st.integers(0, 2_000), flip=st.integers(1, 255))
def test_no_archive_makes_an_import_crash(cut: int, at: int, flip: int) -> None:
    content = bytearray(packed(members({"eval": {"task": "t"}, "samples": [{"id": 1, "epoch": 1, "input": "x"}]})))
    content[at % len(content)] ^= flip

    attempt(bytes(content[: len(content) - cut] or content), "log.eval", "inspect")
