"""Logs of Inspect become suites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importfiles import Made, imported, told_of

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


@pytest.mark.parametrize(
    "content", [json.dumps({"eval": {"task": "t"}, "status": "success"}).encode(), b"PK\x03\x04zip"]
)
def test_a_header_or_an_archive_says_how_to_get_the_whole_log(content: bytes) -> None:
    with pytest.raises(AuthoringError, match="inspect log"):
        Made(content, "log.json", "inspect")
