"""Whatever a file holds: an import or an error of the author's, and never a secret, a crash or a loss unseen."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importfiles import FILES, Made, attempt, command, imported

from jurat.cli.import_ import FORMATS_HELP
from jurat.importing import FORMATS, Draft, Note, Notes, Source, finished
from jurat.importing.draft import Raw

KEYS = (
    *("prompts", "providers", "tests", "vars", "assert", "type", "value", "threshold", "defaultTest", "options", "id"),
    *("input", "actual_output", "expected_output", "context", "turns", "role", "content", "tool_calls", "function"),
    *("name", "arguments", "metrics", "criteria", "test_cases", "resourceSpans", "scopeSpans", "spans", "attributes"),
    *("key", "stringValue", "arrayValue", "kvlistValue", "values", "events", "trace", "observations", "traceId"),
    *("output", "metadata", "scores", "tags", "latency", "eval", "samples", "messages", "choices", "message", "target"),
    *("testing_criteria", "item", "sample", "output_text", "ideal", "graders", "calculate_output", "reference"),
    *("operation", "range", "pass_threshold", "data_source", "source", "weight", "metric", "config", "label", "parts"),
)
WORDS = (
    *("contains", "llm-rubric", "is-json", "regex", "assert-set", "openai:m", "user", "assistant", "tool", "{{q}}"),
    *("{{ item.q }}", "{{ a | b }}", "{{sample.output_text}}", "GENERATION", "LLM", "chat", "gen_ai.operation.name"),
    *("gen_ai.output.messages", "openinference.span.kind", "output.value", "score_model", "string_check", "multi"),
    *('[{"role":"user","content":"x"}]', "sk-0123456789abcdef", "GEval", "eq", "", "\0", "\u2028", "{{"),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WORDS)
ANY: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=30,
)
SHELLS: dict[str, Any] = {
    "promptfoo": lambda x, y: {"prompts": x, "providers": y, "tests": [{"vars": x, "assert": [y]}], "defaultTest": y},
    "deepeval": lambda x, y: {"test_cases": [{"input": x, "actual_output": y, "turns": x}], "metrics": [y]},
    "otel": lambda x, y: {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": x, "events": y}, y]}]}]},
    "langfuse": lambda x, y: [{"id": "1", "traceId": "2", "input": x, "output": y, "metadata": x, "observations": [y]}],
    "inspect": lambda x, y: {"eval": x, "samples": [{"input": x, "messages": [x], "output": y, "scores": y}, y]},
    "openai-evals": lambda x, y: {"testing_criteria": [x, y], "data_source": {"source": {"content": [{"item": x}, y]}}},
}


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=60, deadline=None)
@given(x=ANY, y=ANY, bare=st.booleans(), rows=st.booleans())
def test_no_json_makes_an_import_crash(form: str, x: Any, y: Any, bare: bool, rows: bool) -> None:
    value = x if bare else SHELLS[form](x, y)
    content = json.dumps(value).encode("utf-8", "surrogatepass")

    attempt(content + b"\n" + content if rows else content, "file.jsonl" if rows else "file.json", form)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=40, deadline=None)
@given(content=st.binary(max_size=60), name=st.sampled_from(["f", "f.csv", "f.jsonl", "f.yaml", "f.json"]))
def test_no_bytes_make_an_import_crash(form: str, content: bytes, name: str) -> None:
    attempt(content, name, form)


def test_names_of_secrets_deeper_inside_are_left_out_as_a_suite_refuses_them() -> None:
    item = {"question": "{{", "q": {"key": 1, "name": 2}, "token": 3}

    made = Made({"item": item, "sample": {"output_text": "a"}})

    assert made.cases[0]["variables"] == {"item.question": "{{", "item.q": {"name": 2}, "open_braces": "{{"}
    assert made.cases[0]["messages"] == [{"role": "user", "content": "{{open_braces}}"}]
    assert len(made.notes) == 2


KEY = "sk-proj-" + "A" * 40


def test_a_key_anywhere_is_told_and_costs_nothing_beside_it(tmp_path: Path) -> None:
    tests = [
        {
            "vars": {"q": KEY},
            "assert": [
                {"type": "contains", "value": "a", "metric": KEY},
                {"type": "contains", "value": "b", "metric": "b"},
            ],
        }
    ]
    config = {"description": f"by {KEY}", "prompts": [f"{KEY} {{{{q}}}}"], "providers": ["openai:m"], "tests": tests}
    (tmp_path / "c.json").write_text(json.dumps(config), "utf-8")

    code, told = command("auto", str(tmp_path / "c.json"), "--out", str(tmp_path / "s.json"))

    suite = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert (code, KEY in told + json.dumps(suite)) == (0, False)
    assert suite["cases"][0]["assertions"] == [
        {"type": "contains", "value": "a"},
        {"type": "contains", "value": "b", "name": "b"},
    ]
    became = "what looks like a key, token or password; it became ***. If it was real, replace it"
    assert told.replace(f"{tmp_path}/", "").splitlines()[:-1] == [
        f"c.json:1: tests[0].variables.q: {became}",
        "c.json:1: tests[0].assert[0]: name of contains: what looks like a key, token or password; left out",
        f"c.json: prompt: {became}",
        f"c.json: description: {became}",
    ]


def test_of_a_list_only_what_no_case_can_hold_is_left_out() -> None:
    told: list[Note] = []
    source = Source("f.json", io.BytesIO(b"{}"), Notes(told.append))
    case = {"name": "a", "output": "b", "labels": ["ok", 5, "fine", "", "good"], "metadata": 3}

    made = list(finished([Raw(source=source, path="rows[0]", case=case)], Draft()))

    assert made == [{"name": "a", "output": "b", "labels": ["ok", "fine", "good"]}]
    assert [note.path for note in told] == ["rows[0].labels[1]", "rows[0].labels[3]", "rows[0].metadata"]


@pytest.mark.parametrize("form", FORMATS)
def test_values_that_go_ever_deeper_are_told(form: str) -> None:
    deep: Any = "x"
    for _ in range(95):
        deep = {"metadata": [deep]} if isinstance(deep, str) else [deep]

    attempt(json.dumps(SHELLS[form](deep, deep)).encode(), "file.json", form)


NAMES = sorted(path.name for path in FILES.iterdir() if not path.name.endswith(".txt"))


@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_becomes_a_sound_suite_that_is_laid_out(name: str, tmp_path: Path) -> None:
    suite, _ = imported(tmp_path, name)

    assert suite["cases"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_found_by_its_content_and_not_by_its_name(name: str, tmp_path: Path) -> None:
    content = (FILES / name).read_bytes()
    other = name if name.endswith(".csv") else f"export{'' if name.endswith('.json') else '.txt'}"

    assert Made(content, other).cases == Made(content, name).cases


def test_an_unknown_file_and_an_unknown_format_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": 1}', "utf-8")

    assert command("auto", str(tmp_path / "x.json")) == (
        2,
        (
            f"import: 1 fault\n  {tmp_path}/x.json: (top level): expected a file of {', '.join(FORMATS)}, "
            "found none of them. Name the format instead of auto, if it is one of these\n"
        ),
    )
    code, told = command("promtfoo", str(tmp_path / "x.json"))
    assert (code, "Did you mean promptfoo?" in told) == (2, True)
    code, told = command("auto", str(tmp_path / "none.json"))
    assert (code, "found no such file" in told) == (2, True)


def test_what_is_no_file_is_told_and_nobody_waits_for_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)

    assert command("auto", str(pipe)) == (
        2,
        f"import: 1 fault\n  {pipe}: (top level): expected a file, found a pipe; save it as a file first\n",
    )
    code, told = command("auto", str(tmp_path))
    assert (code, "expected a file, found a folder" in told) == (2, True)


def test_a_suite_that_is_there_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("mine", "utf-8")
    file = str(FILES / "deepeval.csv")

    code, told = command("auto", file, "--out", str(tmp_path / "s.yaml"))
    assert (code, "add --overwrite" in told) == (2, True)
    assert (tmp_path / "s.yaml").read_text("utf-8") == "mine"
    assert command("auto", file, "--out", str(tmp_path / "s.yaml"), "--overwrite")[0] == 0


def test_the_help_names_every_format() -> None:
    assert all(name in FORMATS_HELP for name in FORMATS)


def test_without_out_the_suite_is_written_to_standard_output_and_notes_are_not() -> None:
    from typer.testing import CliRunner

    from jurat.cli.app import app
    from jurat.yamltext import parse_yaml

    done = CliRunner().invoke(app, ["import", "auto", str(FILES / "langfuse.json"), "--name", "mine"])

    assert parse_yaml(done.stdout).value["suite"] == "mine"
    assert done.stderr.endswith("not taken over as it stood: 5\n")
