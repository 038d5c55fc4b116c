"""What other repositories run of this one: the action and the hooks name commands and options that exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from jurat.cli.app import app
from jurat.yamltext import parse_yaml

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]


ACTION = parse_yaml((ROOT / "action.yml").read_text("utf-8")).value
SUITE = """\
schema_version: 1
suite: {name}
cases:
  - {{name: greeting, output: {output}, assertions: [{{type: contains, value: hello}}]}}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A checkout with two suites that pass, one of them in a file with a blank in its name, and one that fails."""
    for file, output in (("good.yaml", "hello"), ("not so.yaml", "hello"), ("bad.yaml", "farewell")):
        (tmp_path / "evals").mkdir(exist_ok=True)
        (tmp_path / "evals" / file).write_text(SUITE.format(name=Path(file).stem, output=output), "utf-8")
    return tmp_path


def acted(workspace: Path, **inputs: str) -> tuple[int, list[str]]:
    """The action's own step as the runner has it: the shell that it names, inputs put into the environment."""
    step = ACTION["runs"]["steps"][-1]
    assert step["shell"] == "python"
    given = {name: inputs.get(name, about.get("default", "")) for name, about in ACTION["inputs"].items()}
    filled = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: given[found[1]], text)
        for name, text in step["env"].items()
    }
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    summary = {"GITHUB_STEP_SUMMARY": str(workspace / "summary.md"), "GITHUB_WORKSPACE": str(workspace)}
    done = subprocess.run(
        [sys.executable, "-c", step["run"]],
        cwd=workspace,
        env={**os.environ, **filled, **summary, "PATH": path, "GITHUB_ACTIONS": "true"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, re.findall(r"^::(?:error|notice) .*?title=(.*?)::", done.stdout, re.MULTILINE)


BAD = ["bad%3A failed", "fail%3A greeting"]


@pytest.mark.parametrize(
    ("suites", "code", "titles"),
    [
        ("evals/good.yaml", 0, ["good%3A passed"]),
        ("evals/good.yaml\nevals/bad.yaml\n", 1, [*BAD, "good%3A passed"]),
        ('evals/good.yaml "evals/not so.yaml"', 0, ["good%3A passed", "not so%3A passed"]),
        ("evals/*.yaml", 1, [*BAD, "good%3A passed", "not so%3A passed"]),
        ("$(touch owned) `touch owned`", 2, ["wrong input"] * 4),
        ("--version", 2, ["wrong input"]),
        ("nowhere/*.yaml", 2, ["wrong input"]),
        ('evals/good.yaml "', 2, ["jurat"]),
        (" \n", 2, ["jurat"]),
    ],
)
def test_the_action_runs_every_suite_that_it_is_given_and_nothing_else(
    workspace: Path, suites: str, code: int, titles: list[str]
) -> None:
    ended, given = acted(workspace, suites=suites)

    assert (ended, sorted(given)) == (code, titles)
    assert not (workspace / "owned").exists()


def test_the_action_hands_every_line_of_its_arguments_on(workspace: Path) -> None:
    ended, given = acted(
        workspace, suites="evals/bad.yaml", arguments='--samples 2\n--filter "greet*"\n--fail-on never', report="o ut"
    )

    assert (ended, sorted(given)) == (0, BAD)
    assert sorted(file.name for file in (workspace / "o ut").iterdir()) == ["junit.xml", "report.html"]
    assert "bad" in (workspace / "summary.md").read_text("utf-8")


def test_the_action_runs_suites_with_options_that_exist() -> None:
    last = ACTION["runs"]["steps"][-1]["run"]

    known = {option for parameter in COMMANDS["run"].params for option in parameter.opts}
    assert '"jurat", "run"' in last
    assert set(re.findall(r"--[a-z-]+", last)) <= known


def test_no_input_of_the_action_is_put_into_a_command() -> None:
    assert [step["run"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_every_hook_is_a_command() -> None:
    hooks = parse_yaml((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")).value

    for hook in hooks:
        program, group, command = shlex.split(hook["entry"])
        assert program == "jurat"
        assert command in COMMANDS[group].commands
        assert re.search(hook["files"], "evals/support.jurat.yaml")
        assert not re.search(hook["files"], "values.yaml")
