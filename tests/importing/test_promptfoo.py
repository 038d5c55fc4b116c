"""Configurations of promptfoo become suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from importfiles import FILES, Made, command, imported, told_of


def config(**parts: Any) -> dict[str, Any]:
    return {"prompts": ["{{q}}"], "providers": ["openai:m"], "tests": [{"vars": {"q": "why?"}}], **parts}


def asserted(*assertions: Any) -> Made:
    return Made(config(tests=[{"vars": {"q": "why?", "context": "c"}, "assert": list(assertions)}]))


def test_a_configuration_becomes_a_sound_suite_and_everything_else_is_listed(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "promptfoo.yaml")

    assert [case["name"] for case in suite["cases"]] == ["opening hours", "test-2", "test-2 (2)", "test-3"]
    assert suite["subject"] == {"provider": "openai:chat:gpt-x", "prompt": "prompt-1"}
    assert suite["prompts"]["polite"] == {"system": "You are polite to {{customer.name}}.", "text": "{{question}}"}
    assert suite["sampling"] == {"samples": 3}
    assert suite["limits"] == {"concurrency": 8}
    assert suite["cases"][0]["pass_threshold"] == 0.75
    assert suite["cases"][0]["metadata"] == {"tier": "gold"}
    assert suite["cases"][2]["variables"]["question"] == "Do you sell roses?"
    assert len(suite["cases"][0]["assertions"]) == 14
    assert told == told_of("promptfoo.yaml")


def test_the_key_of_a_configuration_comes_along_nowhere(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "promptfoo.yaml")

    assert "sk-made-up" not in str(suite) + told


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"type": "equals", "value": "x"}, {"type": "exact_match", "value": "x"}),
        ({"type": "not-equals", "value": "x"}, {"type": "exact_match", "value": "x", "negate": True}),
        ({"type": "contains", "value": 9, "weight": 2}, {"type": "contains", "value": "9", "weight": 2}),
        ({"type": "icontains", "value": "x"}, {"type": "contains", "value": "x", "ignore_case": True}),
        ({"type": "contains-all", "value": "a, b"}, {"type": "contains", "value": ["a", "b"]}),
        ({"type": "contains-any", "value": ["a", 1]}, {"type": "contains", "value": ["a", "1"], "match": "any"}),
        ({"type": "regex", "value": "a+"}, {"type": "regex", "value": "a+"}),
        ({"type": "starts-with", "value": "a.b"}, {"type": "regex", "value": r"\Aa\.b"}),
        ({"type": "is-json"}, {"type": "structured_output"}),
        ({"type": "is-json", "value": {"type": "array"}}, {"type": "json_schema", "schema": {"type": "array"}}),
        ({"type": "latency", "threshold": 5}, {"type": "max_latency_ms", "value": 5}),
        ({"type": "cost", "threshold": 0.1}, {"type": "max_cost_usd", "value": 0.1}),
        ({"type": "llm-rubric", "value": "Is kind."}, {"type": "rubric_judge", "rubric": "Is kind."}),
        (
            {"type": "llm-rubric", "value": "Is kind.", "threshold": 0.55},
            {"type": "rubric_judge", "rubric": "Is kind.", "threshold": 55.0},
        ),
        ({"type": "factuality", "value": "x"}, {"type": "rubric_judge", "template": "correctness", "expected": "x"}),
        (
            {"type": "g-eval", "value": "Is kind."},
            {"type": "rubric_judge", "rubric": "Criteria:\nIs kind.", "threshold": 70.0},
        ),
        (
            {"type": "context-faithfulness", "threshold": 0.5},
            {"type": "rubric_judge", "template": "faithfulness", "context": "{{context}}", "threshold": 50.0},
        ),
        (
            {"type": "contains", "value": "x", "metric": "m"},
            {"type": "contains", "value": "x", "name": "m"},
        ),
    ],
)
def test_each_type_with_a_counterpart_becomes_it(given: Any, made: Any) -> None:
    found = asserted(given)

    assert found.cases[0]["assertions"] == [made]
    assert found.notes == []


@pytest.mark.parametrize(
    "kind",
    [
        "javascript",
        "python",
        "contains-json",
        "similar",
        "rouge-n",
        "webhook",
        "moderation",
        "perplexity",
        "unheard-of",
    ],
)
def test_each_type_without_a_counterpart_is_listed(kind: str) -> None:
    found = asserted({"type": kind, "value": "x"})

    assert "assertions" not in found.cases[0]
    assert [note.path for note in found.notes] == ["tests[0].assert[0]"]
    assert kind in found.notes[0].reason


def test_defaults_hold_for_every_test_unless_it_will_have_none() -> None:
    default = {"assert": [{"type": "contains", "value": "a"}], "threshold": 0.5, "metadata": {"a": 1}}
    tests = [{"vars": {"q": "1"}}, {"vars": {"q": "2"}, "options": {"disableDefaultAsserts": True}}]

    made = Made(config(defaultTest=default, tests=tests))

    assert made.cases[0]["assertions"] == [{"type": "contains", "value": "a"}]
    assert "assertions" not in made.cases[1]
    assert [case["pass_threshold"] for case in made.cases] == [0.5, 0.5]
    assert Made(config(defaultTest=default)).suite["assertions"] == [{"type": "contains", "value": "a"}]


@pytest.mark.parametrize(
    ("written", "row"),
    [
        ("openai:gpt", {"name": "openai:gpt", "kind": "openai", "model": "gpt"}),
        (
            "openai:responses:gpt",
            {"name": "openai:responses:gpt", "kind": "openai", "model": "gpt", "api": "responses"},
        ),
        ("ollama:chat:llama:8b", {"name": "ollama:chat:llama:8b", "kind": "ollama", "model": "llama:8b"}),
        ({"id": "groq:g", "label": "fast"}, {"name": "fast", "kind": "groq", "model": "g"}),
        ({"xai:x": {"config": {}}}, {"name": "xai:x", "kind": "xai", "model": "x"}),
        (
            {"id": "openai:m", "config": {"apiKey": "{{env.TEAM_KEY}}"}},
            {"name": "openai:m", "kind": "openai", "model": "m", "api_key_env": "TEAM_KEY"},
        ),
        (
            {"id": "openai:m", "config": {"apiKeyEnvar": "TEAM_KEY"}},
            {"name": "openai:m", "kind": "openai", "model": "m", "api_key_env": "TEAM_KEY"},
        ),
    ],
)
def test_providers_become_rows_that_name_where_the_key_is(written: Any, row: Any) -> None:
    made = Made(config(providers=[written]))

    assert made.suite["providers"] == [row]
    assert made.suite["subject"] == {"provider": row["name"]}
    assert made.notes == []


def test_somebody_answers_where_the_file_names_nobody_that_is_known() -> None:
    assert Made(config(providers=["exec:x"]), provider="mine").suite["subject"] == {"provider": "mine"}
    assert Made(config(providers=["exec:x"])).suite["subject"] == {"provider": "local"}


def test_a_template_that_computes_stays_text_and_is_told() -> None:
    made = Made(config(prompts=["{{ q | upper }} and {{q}}"]))

    assert made.suite["prompt"] == "{{open_braces}} q | upper }} and {{q}}"
    assert made.cases[0]["variables"] == {"q": "why?", "open_braces": "{{"}
    assert "computes" in made.reasons[0]


def test_prompts_and_values_are_read_from_files_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Say it: {{ text }}", "utf-8")
    (tmp_path / "v.md").write_text("a {{b}}", "utf-8")
    written = "prompts: [file://p.txt]\nproviders: [openai:m]\ntests: [{vars: {text: file://v.md}}]\n"
    (tmp_path / "c.yaml").write_text(written, "utf-8")

    code, told = command("auto", str(tmp_path / "c.yaml"), "--out", str(tmp_path / "s.json"))

    assert (code, told.splitlines()[-1][-3:]) == (0, ": 0")
    suite = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert suite["prompt"] == "Say it: {{text}}"
    assert suite["cases"][0]["variables"] == {"text": "a {{b}}"}


def test_references_to_templates_of_assertions_are_followed() -> None:
    templates = {"kind": {"type": "contains", "value": "kind"}}
    made = Made(config(assertionTemplates=templates, tests=[{"assert": [{"$ref": "#/assertionTemplates/kind"}]}]))

    assert made.cases[0]["assertions"] == [{"type": "contains", "value": "kind"}]


def test_with_strict_what_was_not_taken_over_ends_with_2(tmp_path: Path) -> None:
    code, told = command("promptfoo", str(FILES / "promptfoo.yaml"), "--out", str(tmp_path / "s.yaml"), "--strict")

    assert code == 2
    assert told.splitlines()[-1].endswith("not taken over as it stood: 20")
    assert (tmp_path / "s.yaml").is_file()


def test_a_file_without_tests_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("prompts: [a]\ntests: tests.csv\n", "utf-8")

    code, told = command("auto", str(tmp_path / "c.yaml"), "--out", str(tmp_path / "s.yaml"))

    assert code == 2
    assert "expected at least one case, found none" in told
    assert "tests of another file" in told
    assert not (tmp_path / "s.yaml").exists()
