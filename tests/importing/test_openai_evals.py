"""Evals, graders and items of OpenAI become suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from importfiles import Made, command, imported, told_of

ITEM = {"item": {"question": "When?", "time": "nine"}, "sample": {"output_text": "At nine."}}


def graded(*graders: Any) -> Made:
    source = {"type": "file_content", "content": [ITEM]}
    return Made({"testing_criteria": list(graders), "data_source": {"type": "jsonl", "source": source}})


def test_an_eval_comes_over_with_graders_prompt_and_items(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "openai_eval.json")

    assert suite["suite"] == "garden shop"
    assert suite["subject"] == {"provider": "gpt-y"}
    assert suite["prompt"]["messages"][1] == {"role": "user", "content": "{{item.question}}"}
    assert [one.get("name") for one in suite["assertions"]] == [
        "says the time",
        "kindness",
        "tone",
        "short",
        "never",
    ]
    assert suite["assertions"][1]["threshold"] == 75.0
    assert suite["assertions"][4] == {
        "type": "exact_match",
        "name": "never",
        "weight": 0.75,
        "value": "ten",
        "negate": True,
    }
    assert suite["cases"][0]["output"] == "At nine."
    assert suite["cases"][0]["variables"]["item.customer.name"] == "Ada"
    assert told == told_of("openai_eval.json")


def test_items_of_the_older_shape_come_over(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "openai_rows.jsonl")

    assert suite["cases"] == [
        {
            "name": "case-1",
            "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "2+2?"}],
            "expected": "4",
        },
        {
            "name": "case-2",
            "messages": [{"role": "user", "content": "3+3?"}],
            "expected": ["6", "six"],
            "metadata": {"kind": "sum"},
        },
        {
            "name": "case-3",
            "variables": {"item.question": "4+4?"},
            "messages": [{"role": "user", "content": "4+4?"}],
            "output": "8",
        },
    ]
    assert told == told_of("openai_rows.jsonl")


@pytest.mark.parametrize(
    ("operation", "made"),
    [
        ("eq", {"type": "exact_match", "value": "{{item.time}}"}),
        ("ne", {"type": "exact_match", "value": "{{item.time}}", "negate": True}),
        ("like", {"type": "contains", "value": "{{item.time}}"}),
        ("ilike", {"type": "contains", "value": "{{item.time}}", "ignore_case": True}),
    ],
)
def test_each_operation_of_a_string_check_has_its_assertion(operation: str, made: Any) -> None:
    grader = {"type": "string_check", "input": "{{sample.output_text}}", "reference": "{{ item.time }}"}

    found = graded({**grader, "operation": operation})

    assert found.suite["assertions"] == [made]
    assert found.notes == []


@pytest.mark.parametrize("kind", ["text_similarity", "python", "endpoint", "unheard-of"])
def test_a_grader_without_a_counterpart_is_listed(kind: str) -> None:
    found = graded({"type": kind, "name": "x"})

    assert "assertions" not in found.suite
    assert [note.path for note in found.notes] == ["testing_criteria[0]"]


def test_a_score_without_a_threshold_is_told() -> None:
    found = graded({"type": "score_model", "input": [{"role": "user", "content": "Kind?"}]})

    assert "threshold" not in found.suite["assertions"][0]
    assert "80 of 100" in found.reasons[0]


def test_a_formula_that_is_no_sum_is_told_and_each_grader_stands_by_itself() -> None:
    check = {"type": "string_check", "input": "{{sample.output_text}}", "reference": "a", "operation": "eq"}
    found = graded({"type": "multi", "graders": {"a": check, "b": check}, "calculate_output": "min(a, b)"})

    assert found.suite["assertions"] == [{"type": "exact_match", "value": "a"}] * 2
    assert "no weighted sum" in found.reasons[0]


def test_graders_and_items_of_two_files_are_read_as_one(tmp_path: Path) -> None:
    grader = {"type": "string_check", "input": "{{sample.output_text}}", "reference": "{{item.a.b}}", "operation": "eq"}
    (tmp_path / "g.json").write_text(json.dumps({"grader": grader}), "utf-8")
    (tmp_path / "r.jsonl").write_text('{"item": {"a": {"b": "x"}}, "sample": {"output_text": "x"}}\n', "utf-8")

    code, told = command(
        "openai-evals", str(tmp_path / "g.json"), str(tmp_path / "r.jsonl"), "--out", str(tmp_path / "s.json")
    )

    assert (code, told) == (0, "taken over: 1 case, 1 assertion; not taken over as it stood: 0\n")
    suite = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert suite["cases"][0]["variables"] == {"item.a": {"b": "x"}, "item.a.b": "x"}


LABELS = {
    "type": "label_model",
    "name": "tone",
    "model": "gpt-x",
    "input": [
        {"role": "developer", "content": "Classify the tone of {{sample.output_text}}."},
        {"role": "user", "content": "It answers {{item.question}}"},
    ],
    "labels": ["kind", "plain", "rude"],
    "passing_labels": ["kind", "plain"],
}


def test_a_choice_among_labels_becomes_a_score_of_those_that_pass() -> None:
    made = graded(LABELS)

    assert made.suite["assertions"] == [
        {
            "type": "rubric_judge",
            "name": "tone",
            "rubric": "Classify the tone of (the output, which is the last assistant message).\n\n"
            "It answers {{item.question}}\n\nChoose the label that fits. "
            "Score 100 when it is one of: kind, plain; score 0 when it is one of: rude.",
            "provider": "gpt-x",
            "threshold": 50.0,
        }
    ]
    assert made.reasons == [
        "testing_criteria[0]: a choice among labels; it became a score, 100 for a label that passes and 0 otherwise"
    ]


@pytest.mark.parametrize(
    "parts",
    [
        {"passing_labels": []},
        {"passing_labels": ["kind", "plain", "rude"]},
        {"passing_labels": ["kind", "other"]},
        {"labels": None},
    ],
)
def test_labels_that_decide_nothing_are_listed(parts: dict[str, Any]) -> None:
    made = graded({**LABELS, **parts})

    assert "assertions" not in made.suite
    assert made.reasons == ["testing_criteria[0]: labels of which not some pass and the others do not; left out"]
