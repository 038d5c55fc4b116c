"""Datasets of DeepEval become suites."""

from __future__ import annotations

import json
from pathlib import Path

from importfiles import FILES, Made, imported, told_of


def test_goldens_test_cases_conversations_and_metrics_come_over(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "deepeval.json")

    assert suite["suite"] == "garden shop"
    assert suite["assertions"] == [
        {
            "type": "rubric_judge",
            "name": "Correctness",
            "rubric": "Is the actual output correct?\nEvaluation steps:\n1. Compare the facts.\n2. Ignore the tone.",
            "threshold": 70.0,
        },
        {"type": "rubric_judge", "template": "faithfulness", "threshold": 90.0},
        {"type": "rubric_judge", "template": "hallucination", "threshold": 75.0},
    ]
    assert suite["cases"][0] == {
        "name": "pots",
        "variables": {"open_braces": "{{"},
        "messages": [{"role": "user", "content": "Do you sell {{open_braces}}pots}}?"}],
        "documents": [{"name": "retrieval context 1", "text": "Pots: clay, 12 kinds."}],
        "expected": "Yes, of clay.",
        "output": "We sell 12 kinds of pots.",
        "execution": {
            "tool_calls": [{"name": "stock", "arguments": {"item": "pot"}}, {"name": "log", "arguments": {}}],
            "latency_ms": 1250.0,
            "cost_usd": 0.002,
        },
        "labels": ["smoke", "Correctness [GEval]: 0.8"],
        "metadata": {"tier": "gold"},
        "assertions": [{"type": "required_tool", "tool": "stock", "arguments": {"item": "pot"}}],
    }
    assert [case["name"] for case in suite["cases"]] == ["pots", "case-2", "case-3"]
    assert "output" not in suite["cases"][1]
    assert suite["cases"][2]["messages"] == [{"role": "user", "content": "Do you have roses?"}]
    assert suite["cases"][2]["output"] == "Yes, for 3 francs."
    assert told == told_of("deepeval.json")


def test_a_table_comes_over_with_its_lists(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "deepeval.csv")

    assert [document["text"] for document in suite["cases"][0]["documents"]] == ["Opens at nine.", "Closes at six."]
    assert suite["cases"][0]["execution"] == {"tool_calls": [{"name": "clock", "arguments": {}}]}
    assert suite["cases"][1] == {
        "name": "case-2",
        "messages": [{"role": "user", "content": "Do you sell pots?"}],
        "documents": [{"name": "retrieval context 1", "text": "Pots; clay."}],
        "expected": "Yes.",
    }
    assert suite["subject"] == "local"
    assert told.splitlines()[-1].startswith("taken over: 2 cases, 0 assertions (a case without any is unverified)")


def test_byte_order_marks_and_line_ends_of_windows_make_no_difference() -> None:
    for name in ("deepeval.json", "deepeval.csv"):
        plain = (FILES / name).read_bytes()

        assert Made(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"), name).cases == Made(plain, name).cases


def test_a_list_of_test_cases_is_enough() -> None:
    made = Made([{"input": "a\0b\u2028", "actual_output": "é\0"}])

    assert made.cases == [
        {"name": "case-1", "messages": [{"role": "user", "content": "a\0b\u2028"}], "output": "é\0"},
    ]
    assert made.notes == []


def test_the_judge_of_the_metrics_is_the_one_that_is_named() -> None:
    made = Made({"test_cases": [], "metrics": [{"type": "geval", "criteria": "Is it {{kind}}?"}]}, provider="mine")

    assert made.suite["assertions"] == [
        {"type": "rubric_judge", "rubric": "Is it { {kind}}?", "threshold": 50.0, "provider": "mine"}
    ]


def test_a_metric_in_strict_mode_wants_the_most_that_there_is() -> None:
    strict = {"strict_mode": True, "threshold": 0.5}
    metrics = [{"type": "geval", "criteria": "Is it kind?", **strict}, {"name": "Toxicity", **strict}]

    made = Made({"test_cases": [], "metrics": metrics})

    assert [one["threshold"] for one in made.suite["assertions"]] == [100.0, 1.0]
    assert made.notes == []


def test_rows_of_json_hold_pieces_of_a_context_in_one_text_and_what_a_case_took() -> None:
    row = {"input": "q", "actual_output": "a", "context": "c;1|c2", "retrieval_context": ["r|1"], "token_cost": 0.5}

    made = Made(json.dumps({**row, "input_token_count": 3, "output_token_count": 4, "expectations": None}), "g.jsonl")

    assert [one["text"] for one in made.cases[0]["documents"]] == ["c;1", "c2", "r|1"]
    assert made.cases[0]["execution"] == {"cost_usd": 0.5, "input_tokens": 3, "output_tokens": 4}
    assert made.notes == []


def test_a_document_is_what_its_list_says_whatever_signs_are_in_it() -> None:
    made = Made([{"input": "q", "actual_output": "a", "context": ["c|1;2"], "retrieval_context": "r|1;2"}])

    assert [one["text"] for one in made.cases[0]["documents"]] == ["c|1;2", "r|1;2"]
