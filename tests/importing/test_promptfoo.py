"""Configurations of promptfoo become suites."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importfiles import FILES, Made, command, imported, told_of

from jurat.errors import AuthoringError, Fault
from jurat.folderfiles import FolderFiles
from jurat.importing import Draft, Notes, Source, compose, finished, importer_for
from jurat.suite.manifest import gather_suite

EMBEDDED = "judged by the embedded model unless you name another provider (--provider)"


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
    assert len(suite["cases"][0]["assertions"]) == 15
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
    judged = made["type"] == "rubric_judge"
    assert found.reasons == ([f"tests[0].assert[0]: {EMBEDDED}"] if judged else [])


def test_an_assertion_that_a_model_decides_is_listed_where_nobody_is_named_to_grade() -> None:
    rubric = {"type": "llm-rubric", "value": "Is kind."}
    graded = {**rubric, "provider": "openai:judge"}
    tests = [{"assert": [rubric, graded]}, {"assert": [rubric], "options": {"provider": "groq:judge"}}]

    made = Made(config(tests=tests, prompts=["Hello"]))

    assert made.reasons == [f"tests[0].assert[0]: {EMBEDDED}"]
    assert [one.get("provider") for case in made.cases for one in case["assertions"]] == [
        None,
        "openai:judge",
        "groq:judge",
    ]
    assert Made(config(tests=tests, prompts=["Hello"]), provider="mine").reasons == []
    unknown = Made(config(prompts=["Hello"], tests=[{"assert": [{**rubric, "provider": "exec:x"}]}]))
    assert unknown.reasons == [
        "tests[0].assert[0].provider: no provider of this kind (exec); give one with --provider",
        f"tests[0].assert[0]: {EMBEDDED}",
    ]


def test_settings_of_models_that_are_not_the_subject_are_listed() -> None:
    settings_ = {"temperature": 0.3, "max_tokens": 9, "seed": 7, "apiKeyEnvar": "TEAM_KEY"}
    providers = [{"id": f"openai:{name}", "config": settings_} for name in ("first", "second")]
    graded = {"type": "llm-rubric", "value": "Is kind.", "provider": {"id": "groq:judge", "config": {"temperature": 0}}}

    made = Made(config(providers=providers, tests=[{"vars": {"q": "why?"}, "assert": [graded]}]))

    beside = "not mapped: a setting of a model that stands beside; write it into subject when this one takes its place"
    grades = "not mapped: a setting of a model that grades; a judge has settings of its own"
    assert made.suite["subject"] == {"provider": "openai:first", "temperature": 0.3, "max_output_tokens": 9}
    assert made.reasons == [
        "providers[0].config.seed: a setting of the model; write it into subject.extra if it is needed",
        *(f"providers[1].config.{key}: {beside}" for key in ("temperature", "max_tokens", "seed")),
        "providers[1]: a suite has one subject; openai:second stands beside it, to take its place and run again",
        f"tests[0].assert[0].provider.config.temperature: {grades}",
    ]


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
    (tmp_path / "v.md").write_text("a {{b|c}}", "utf-8")
    written = "prompts: [file://p.txt]\nproviders: [openai:m]\ntests: [{vars: {text: file://v.md}}]\n"
    (tmp_path / "c.yaml").write_text(written, "utf-8")

    code, told = command("auto", str(tmp_path / "c.yaml"), "--out", str(tmp_path / "s.json"))

    assert (code, told.splitlines()[-1][-3:]) == (0, ": 1")
    suite = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert suite["prompt"] == "Say it: {{text}}"
    assert suite["cases"][0]["variables"] == {"text": "a {{b|c}}"}


def test_references_to_templates_of_assertions_are_followed() -> None:
    templates = {"kind": {"type": "contains", "value": "kind"}}
    made = Made(config(assertionTemplates=templates, tests=[{"assert": [{"$ref": "#/assertionTemplates/kind"}]}]))

    assert made.cases[0]["assertions"] == [{"type": "contains", "value": "kind"}]


def test_with_strict_what_was_not_taken_over_ends_with_2(tmp_path: Path) -> None:
    code, told = command("promptfoo", str(FILES / "promptfoo.yaml"), "--out", str(tmp_path / "s.yaml"), "--strict")

    assert code == 2
    assert told.splitlines()[-1].endswith("not taken over as it stood: 22")
    assert (tmp_path / "s.yaml").is_file()


def test_a_file_without_tests_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("prompts: [a]\ntests: tests.csv\n", "utf-8")

    code, told = command("auto", str(tmp_path / "c.yaml"), "--out", str(tmp_path / "s.yaml"))

    assert code == 2
    assert "expected at least one case, found none" in told
    assert "tests in a file that is not in the configuration's folder, or cannot be read" in told
    assert not (tmp_path / "s.yaml").exists()


# --- files beside the configuration --------------------------------------------------------------------------------


def beside(folder: Path, *, told: list[str] | None = None, **parts: Any) -> dict[str, Any]:
    """The suite that a configuration in a folder becomes; what is listed goes into `told`."""
    (folder / "config.json").write_text(json.dumps(config(**parts)), "utf-8")
    out = folder / "suite.json"
    code, text = command("promptfoo", str(folder / "config.json"), "--out", str(out), "--overwrite")
    assert code == 0, text
    if told is not None:
        told += text.replace(f"{folder}/", "").splitlines()[:-1]
    suite: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return suite


TABLE = (
    "\ufeffq,__expected,__expected2,__description,__threshold,__metadata:team,__prefix,__config:__expected2:threshold\r\n"
    '"why, then?",contains:so,"grade: Is ""kind"".",first,0.5,blue,,0.9\r\n'
    "when,at nine,latency(200),,,,x,\r\n"
    'who,"not-icontains-any: me, you",is-json,third,,,,\r\n'
    "how,fn:output.length,file://check.py,,,,,\r\n"
)


def test_tests_of_a_csv_file_are_read_with_promptfoos_columns(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text(TABLE, "utf-8", newline="")
    told: list[str] = []

    suite = beside(tmp_path, tests="file://tests.csv", told=told)

    first, second, third, fourth = suite["cases"]
    assert first == {
        "name": "first",
        "variables": {"q": "why, then?"},
        "metadata": {"team": "blue"},
        "assertions": [
            {"type": "contains", "value": "so"},
            {"type": "rubric_judge", "rubric": 'Is "kind".', "threshold": 90.0},
        ],
        "pass_threshold": 0.5,
    }
    assert second["name"] == f"{tmp_path}/tests.csv row 3"
    assert second["assertions"] == [
        {"type": "exact_match", "value": "at nine"},
        {"type": "max_latency_ms", "value": 200.0},
    ]
    assert third["assertions"] == [
        {"type": "contains", "value": ["me", "you"], "match": "any", "ignore_case": True, "negate": True},
        {"type": "structured_output"},
    ]
    assert "assertions" not in fourth
    assert told == [
        f"tests.csv:2: assert[1]: {EMBEDDED}",
        "tests.csv:3: __prefix: no counterpart in a case; left out",
        "tests.csv:5: __expected2: what another file says, or code; left out",
        "tests.csv:5: assert[0]: code of another language; write it as a python assertion (javascript); left out",
    ]


def test_tests_variables_and_defaults_of_yaml_and_json_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "tests.yaml").write_text(
        "- vars: file://vars.yaml\n  assert: [{type: contains, value: file://expected.txt}]\n"
        "- vars: {q: two, r: file://rows.yaml}\n- three\n",
        "utf-8",
    )
    (tmp_path / "vars.yaml").write_text("q: one\ntone: kind\n", "utf-8")
    (tmp_path / "rows.yaml").write_text("- a: 1\n", "utf-8")
    (tmp_path / "expected.txt").write_text("so", "utf-8")
    (tmp_path / "lines.jsonl").write_text('{"vars": {"q": "four"}}\n{"vars": {"q": "five"}, "odd": 1}\n', "utf-8")
    (tmp_path / "default.json").write_text('{"assert": [{"type": "cost", "threshold": 1}]}', "utf-8")
    told: list[str] = []

    suite = beside(
        tmp_path,
        prompts=["{{q}}{{r}}"],
        tests=["file://more/tests.yaml", "lines.jsonl"],
        defaultTest="file://default.json",
        told=told,
    )

    assert [case["variables"]["q"] for case in suite["cases"]] == ["one", "two", "four", "five"]
    assert suite["cases"][0]["variables"]["tone"] == "kind"
    assert suite["cases"][1]["variables"]["r"] == '[{"a":1}]'
    assert [case["assertions"] for case in suite["cases"]] == [
        [{"type": "max_cost_usd", "value": 1}, {"type": "contains", "value": "so"}],
        *[[{"type": "max_cost_usd", "value": 1}]] * 3,
    ]
    assert told == [
        "more/tests.yaml:1: [0].vars: nothing fills {{r}}; it stands for empty text",
        "more/tests.yaml:4: [2]: expected a test; left out",
        "lines.jsonl:1: vars: nothing fills {{r}}; it stands for empty text",
        "lines.jsonl:2: odd: no counterpart in a case; left out",
        "lines.jsonl:2: vars: nothing fills {{r}}; it stands for empty text",
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("file://../outside.yaml", "not in the configuration's folder, or cannot be read"),
        ("file:///etc/hostname.yaml", "not in the configuration's folder, or cannot be read"),
        ("file://link.yaml", "not in the configuration's folder, or cannot be read"),
        ("file://missing.csv", "not in the configuration's folder, or cannot be read"),
        ("huggingface://datasets/x", "in another place, and nothing is fetched"),
        ("https://example.com/tests.csv", "in another place, and nothing is fetched"),
        ("file://tests/*.yaml", "name them one by one"),
        ("file://make.py", "in a file that is code"),
    ],
)
def test_tests_that_stand_elsewhere_are_listed(tmp_path: Path, name: str, told: str) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "outside.yaml").write_text("[{vars: {q: SECRET}}]", "utf-8")
    (folder / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    listed: list[str] = []

    suite = beside(folder, tests=[{"vars": {"q": "one"}}, name], told=listed)

    assert len(suite["cases"]) == 1
    (line,) = listed
    assert line.startswith("config.json:1: tests[1]: tests ")
    assert told in line
    assert "SECRET" not in json.dumps(suite)


def test_each_row_of_a_scenario_is_tried_with_each_of_its_tests() -> None:
    made = Made(
        config(
            scenarios=[
                {
                    "description": "greetings",
                    "config": [{"vars": {"lang": "de"}, "assert": [{"type": "webhook"}]}, {"vars": {"lang": "fr"}}],
                    "tests": [
                        {"vars": {"q": "in {{lang}}"}, "assert": [{"type": "contains", "value": "{{lang}}"}]},
                        {"description": "bye", "vars": {"q": "bye"}, "metadata": {"a": 1}},
                    ],
                }
            ],
            tests=None,
        )
    )

    assert [(case["name"], case["variables"]) for case in made.cases] == [
        ("greetings", {"lang": "de", "q": "in de"}),
        ("bye", {"lang": "de", "q": "bye"}),
        ("greetings (2)", {"lang": "fr", "q": "in fr"}),
        ("bye (2)", {"lang": "fr", "q": "bye"}),
    ]
    assert made.cases[0]["assertions"] == [{"type": "contains", "value": "{{lang}}"}]
    assert made.cases[1]["metadata"] == {"a": 1}
    assert made.reasons == [
        "scenarios[0].config[0].assert[0]: a service of its own decides (webhook); left out",
    ]


def test_values_that_name_others_are_filled_and_what_cannot_be_is_listed() -> None:
    made = Made(config(tests=[{"vars": {"q": "{{ a }} and {{b.c}}", "a": "<{{b.c}}>", "b": {"c": 1}, "d": "{{x|y}}"}}]))

    assert made.cases[0]["variables"] == {"q": "<1> and 1", "a": "<1>", "b": {"c": 1}, "d": "{{x|y}}"}
    assert made.reasons == ["tests[0].vars.d: a value with a template that cannot be filled; in a suite it is text"]


def test_values_that_grow_by_filling_one_another_stay_within_bounds() -> None:
    variables = {f"v{number}": "{{v" + str(number + 1) + "}}" * 1 + " " * 200_000 for number in range(5)}
    variables["v5"] = "x" * 900_000
    variables["q"] = "{{v0}}" * 2_000

    made = Made(config(tests=[{"vars": variables}]))

    assert len(made.cases[0]["variables"]["q"]) <= 12_000


def test_an_assertion_that_checks_what_is_computed_first_is_left_out() -> None:
    found = asserted({"type": "contains", "value": "A", "transform": "output.toUpperCase()"})

    assert "assertions" not in found.cases[0]
    assert found.reasons == ["tests[0].assert[0]: it checks what is computed first (contains); left out"]


def test_a_list_that_is_one_text_is_divided_outside_of_quotation_marks() -> None:
    found = asserted({"type": "contains-any", "value": '"a, b", c , "d"'})

    assert found.cases[0]["assertions"] == [{"type": "contains", "value": ["a, b", "c", "d"], "match": "any"}]


def test_a_file_of_prompts_holds_one_between_each_of_its_lines_of_dashes(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Kind: {{q}}\n---\nCurt --- {{q}}\n---\n", "utf-8")
    (tmp_path / "chat.yaml").write_text("- {role: user, content: 'Ask {{q}}'}\n", "utf-8")

    suite = beside(tmp_path, prompts=["file://p.txt", {"id": "file://chat.yaml", "label": "chat"}])

    assert suite["prompts"] == {
        "prompt-1": "Kind: {{q}}\n",
        "prompt-1 2": "Curt --- {{q}}\n",
        "chat": {"text": "Ask {{q}}"},
    }


@pytest.mark.parametrize(
    ("settings", "row", "told"),
    [
        (
            {"apiBaseUrl": "http://localhost:8000/v1/"},
            {"kind": "openai_compatible", "base_url": "http://localhost:8000/v1"},
            "apiBaseUrl: an address of its own; it gets a key only where api_key_env names one",
        ),
        (
            {"apiHost": "openrouter.ai", "apiKey": "{{env.ROUTER_KEY}}"},
            {"kind": "openai_compatible", "base_url": "https://openrouter.ai/v1", "api_key_env": "ROUTER_KEY"},
            "apiHost: an address of its own; it gets a key only where api_key_env names one",
        ),
        ({"apiBaseUrl": "https://llm.example.com/v1"}, None, "apiBaseUrl: an address that a suite may not name"),
        ({"apiBaseUrl": "{{env.BASE}}"}, None, "apiBaseUrl: an address that a suite may not name, or that is computed"),
        ({"apiBaseUrl": "https://me:key@localhost/v1"}, None, "apiBaseUrl: an address that a suite may not name"),
    ],
)
def test_what_went_to_an_address_of_its_own_never_goes_to_the_vendor(
    settings: dict[str, str], row: dict[str, str] | None, told: str
) -> None:
    made = Made(config(providers=[{"id": "openai:m", "config": settings}]))

    rows = [{"name": "openai:m", "model": "m", **row}] if row else []
    assert made.suite.get("providers", []) == rows
    assert made.suite["subject"] == {"provider": "openai:m" if row else "local"}
    assert made.reasons[0].startswith(f"providers[0].config.{told}")


def test_providers_of_a_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "who.yaml").write_text("- {id: 'openai:m', config: {temperature: 1}}\n- groq:n\n", "utf-8")
    told: list[str] = []

    suite = beside(tmp_path, providers="file://who.yaml", told=told)

    assert [row["name"] for row in suite["providers"]] == ["openai:m", "groq:n"]
    assert suite["subject"] == {"provider": "openai:m", "temperature": 1}
    assert len(told) == 1


def test_what_anchors_share_is_written_out() -> None:
    text = """\
prompts: ["{{q}}"]
providers: [openai:m]
tests:
  - &first
    vars: {q: one}
    assert: &checks [{type: contains, value: x}]
  - {<<: *first, vars: {q: two}}
  - {vars: {q: three}, assert: *checks}
"""

    made = Made(text, "config.yaml")

    assert [case["variables"]["q"] for case in made.cases] == ["one", "two", "three"]
    assert [case["assertions"] for case in made.cases] == [[{"type": "contains", "value": "x"}]] * 3


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai:ft:gpt-x:shop::1", "ft:gpt-x:shop::1"),
        ("openai:chat:gpt-x", "gpt-x"),
        ("openai:assistant:asst_1", None),
    ],
)
def test_a_model_is_what_stands_behind_its_mode(name: str, model: str | None) -> None:
    made = Made(config(providers=[name]))

    assert [row["model"] for row in made.suite.get("providers", ())] == ([model] if model else [])
    assert made.reasons == (
        [] if model else ["providers[0]: no provider of this kind (openai:assistant); give one with --provider"]
    )


class Shelf:
    """A folder in which every file holds the same."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, path: str, *, limit: int) -> bytes:
        if len(path) > 40:
            raise AuthoringError("file", [Fault(path="", expected="a file", found="none")])
        return self._content[:limit]

    def open(self, path: str) -> Any:
        return io.BytesIO(self.read(path, limit=1_000))


CELLS = st.text(st.sampled_from('a:(0.5),\n\r\t"{}[] -_'), max_size=12) | st.sampled_from(
    ["contains:", "not-is-json", "latency(2)", "similar(9):x", "grade:y", "{{q}}", "file://t.txt", "fn:x", "cost:nan"]
)
HEADS = st.sampled_from(
    ["q", "__expected", "__expected1", "__threshold", "__metadata:a", "__metric", "__prefix", "token"]
)
TABLES = st.lists(st.lists(CELLS, max_size=4), max_size=4).flatmap(
    lambda rows: st.lists(HEADS, min_size=1, max_size=4).map(lambda head: [head, *rows])
)
PARTS = st.sampled_from(
    [*(f"file://t.{kind}" for kind in ("csv", "yaml", "jsonl", "txt", "py")), "x", "{{q}}", None, 1]
)
TREES: st.SearchStrategy[Any] = st.recursive(
    PARTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["vars", "q", "assert", "type", "value", "config", "tests", "path"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None)
@given(rows=TABLES, tree=TREES, config=st.tuples(TREES, TREES, TREES, TREES), table=st.booleans())
def test_no_file_beside_a_configuration_makes_an_import_crash(rows: Any, tree: Any, config: Any, table: bool) -> None:
    page = io.StringIO()
    csv.writer(page).writerows(rows)
    content = page.getvalue() if table else json.dumps(tree)
    tests, scenarios, default, prompts = config
    whole = {
        "prompts": prompts,
        "providers": "openai:m",
        "tests": tests,
        "defaultTest": default,
        "scenarios": scenarios,
    }
    source = Source("c.json", io.BytesIO(json.dumps(whole).encode()), Notes(lambda _: None), Shelf(content.encode()))
    draft = Draft()

    try:
        cases = list(finished(importer_for("promptfoo", source).read(source, draft), draft))
    except AuthoringError:
        return
    if cases:
        faults: list[Fault] = []
        text = json.dumps({**compose(draft, "x"), "cases": cases}).encode()
        gather_suite(text, "suite.json", FolderFiles(FILES), faults)
        assert faults == []
