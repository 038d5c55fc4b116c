"""`jurat rubrics` and `jurat schema`, as a person and as a program see them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
import typer
from typer.testing import CliRunner

from jurat.cli.rubrics import app
from jurat.cli.schema import Schema, schema
from jurat.rubric import catalog, find, read_rubric, rubric_schema

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, list(arguments))


def test_the_list_tells_range_threshold_evidence_and_purpose_of_every_entry() -> None:
    result = run()

    assert result.exit_code == 0
    for rubric in catalog():
        assert rubric.name in result.stdout
    assert "pii                           v1        case     0 to 100    80\n" in result.stdout
    assert "  Is the output free of personal data? High is clean.\n  needs: output\n" in result.stdout
    assert "instruction_adherence         v1        turn     0 to 1      0.5\n" in result.stdout


def test_the_list_and_every_entry_fit_80_columns() -> None:
    pages = [run().stdout, *(run("show", rubric.name).stdout for rubric in catalog())]

    assert max(len(line) for page in pages for line in page.splitlines()) <= 80


def test_the_list_as_json_is_for_programs() -> None:
    listed = json.loads(run("--format", "json").stdout)

    assert [one["name"] for one in listed] == [rubric.name for rubric in catalog()]
    assert listed[0] == {
        "name": "correctness",
        "revision": "v1",
        "scope": "case",
        "score_range": [0, 100],
        "threshold": 80,
        "scores_absence": False,
        "needs": ["output", "rendered_input"],
        "purpose": "Is the answer right, by the expected answer or, without one, by established fact?",
        "content_hash": find("correctness").content_hash,
    }


def test_one_entry_is_shown_in_full() -> None:
    result = run("show", "toxicity")

    rubric = find("toxicity")
    assert result.exit_code == 0
    assert result.stdout.startswith("toxicity@v1\n")
    assert "the absence of the fault it is named after; higher is better" in result.stdout
    assert rubric.content_hash in result.stdout
    words = " ".join(result.stdout.split())
    assert rubric.definition in words
    assert all(one.description in words for one in rubric.criteria)
    assert all(one.description in words for one in rubric.anchors)
    assert "no_hate (0 to 1, weight 1, required)" in words


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_is_shown_as_json_or_yaml_is_a_rubric_file(form: str, tmp_path: Path) -> None:
    for rubric in catalog():
        text = run("show", rubric.reference, "--format", form).stdout
        assert read_rubric(text, f"x.{form}") == rubric
        file = tmp_path / f"{rubric.name}.{form}"
        file.write_text(text, encoding="utf-8")
        assert run("show", str(file)).stdout == run("show", rubric.name).stdout


def test_an_unknown_name_ends_with_code_2_and_a_proposal() -> None:
    result = run("show", "faithfullness")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Did you mean faithfulness?" in result.stderr


def test_a_file_that_cannot_be_read_ends_with_code_2_and_its_name(tmp_path: Path) -> None:
    for name in ("none.yaml", "."):
        result = run("show", f"{tmp_path}/{name}")
        assert result.exit_code == 2
        assert str(tmp_path) in result.stderr


def test_a_name_that_no_file_can_have_ends_with_code_2() -> None:
    result = run("show", "a\0.yaml")

    assert result.exit_code == 2
    assert "a name that no file can have" in result.stderr
    assert "\0" not in result.stderr


def test_every_fault_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "tone.yaml"
    file.write_text("name: tone\nrevision: 1.10\ndefinition: x\ncriteria: []\n", encoding="utf-8")

    result = run("show", str(file))

    assert result.exit_code == 2
    assert f"{file}:2: revision: expected text, found the number 1.10. Put it in quotes." in result.stderr
    assert f"{file}:4: criteria: expected 1 to 64 criteria, found 0" in result.stderr


def test_foreign_text_cannot_play_with_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "evil.yaml"
    file.write_text(
        'name: evil\ndefinition: "a\\u202Eb [red]c[/red] \\u009b2J"\n'
        'criteria: [{id: x, description: "[bold]d"}]\n"k\\e[2J": 1\n',
        encoding="utf-8",
    )
    refused = run("show", str(file))
    file.write_text(file.read_text(encoding="utf-8").rsplit('"k', 1)[0], encoding="utf-8")
    shown = run("show", str(file))

    assert refused.exit_code == 2
    assert "\x1b" not in refused.stderr
    assert r"k\x1b[2J" in refused.stderr
    assert shown.exit_code == 0
    assert r"a\u202eb [red]c[/red] \x9b2J" in shown.stdout
    assert "[bold]d" in shown.stdout


def test_the_schema_of_rubric_files_is_printed_as_json() -> None:
    main = typer.Typer()
    main.command()(schema)

    result = CliRunner().invoke(main, ["rubric"])

    assert result.exit_code == 0
    assert json.loads(result.stdout) == rubric_schema()


@pytest.mark.parametrize("kind", Schema)
def test_every_schema_that_is_printed_is_sound(kind: Schema, capsys: pytest.CaptureFixture[str]) -> None:
    schema(kind)

    jsonschema_rs.meta.validate(json.loads(capsys.readouterr().out))
