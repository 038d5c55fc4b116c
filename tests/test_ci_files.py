"""What other repositories run of this one: the action and the hooks name commands and options that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from typer.main import get_command

from jurat.cli.app import app
from jurat.yamltext import parse_yaml

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]


def test_the_action_runs_suites_with_options_that_exist() -> None:
    action = parse_yaml((ROOT / "action.yml").read_text("utf-8")).value
    last = action["runs"]["steps"][-1]["run"]

    known = {option for parameter in COMMANDS["run"].params for option in parameter.opts}
    assert "jurat run" in last
    assert set(re.findall(r"--[a-z-]+", last)) <= known


def test_no_input_of_the_action_is_put_into_a_command() -> None:
    action = parse_yaml((ROOT / "action.yml").read_text("utf-8")).value

    assert [step["run"] for step in action["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_every_hook_is_a_command() -> None:
    hooks = parse_yaml((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")).value

    for hook in hooks:
        program, group, command = shlex.split(hook["entry"])
        assert program == "jurat"
        assert command in COMMANDS[group].commands
        assert re.search(hook["files"], "evals/support.jurat.yaml")
        assert not re.search(hook["files"], "values.yaml")
