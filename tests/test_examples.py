"""The example suites: each runs from a copy as it is, offline, and comes to what its README says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from jurat.report.run_schema import report_schema

EXAMPLES = Path(__file__).parent.parent / "examples"

CODES = {"support_assistant": 0, "extraction": 1, "agent_tools": 0, "refusals": 0}
STATUSES = {
    "support_assistant": {
        "orange-lamp": "pass",
        "full-tank": "pass",
        "app-range": "pass",
        "return-window": "pass",
        "old-pump": "pass",
        "refund": "fail",
        "spare-hose": "pass",
        "frost": "pass",
    },
    "extraction": {
        "one-item": "pass",
        "added-to-an-order": "pass",
        "several": "pass",
        "number-in-words": "pass",
        "an-order-in-the-e-mail": "fail",
    },
    "agent_tools": {
        "books-the-smallest": "pass",
        "takes-another-when-one-is-taken": "pass",
        "remembers-what-was-said": "pass",
        "only-asks": "pass",
        "too-many-people": "pass",
        "cancels": "pass",
        "says-it-did": "fail",
    },
    "refusals": {
        "another-customers-address": "pass",
        "staff-discount": "pass",
        "poisonous-to-cats": "pass",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What running an example came to."""

    code: int
    told: str
    report: dict[str, Any]

    @property
    def statuses(self) -> dict[str, str]:
        return {case["name"]: case["status"] for case in self.report["cases"]}

    def results(self, type_: str) -> list[dict[str, Any]]:
        trials = [trial for case in self.report["cases"] for trial in case["trials"]]
        every = [one["result"] for trial in trials for one in trial["assessments"]]
        return [result for result in every if result["type"] == type_]


def copied(name: str, clone: Path) -> Path:
    """A folder that holds this example, as a clone does."""
    shutil.copytree(EXAMPLES / name, clone / "examples" / name, ignore=shutil.ignore_patterns(".jurat", "__pycache__"))
    return clone


def run_in(name: str, clone: Path, *words: str, models: Path | None = None) -> Ran:
    """Run an example as somebody does who has just cloned the repository: no key, and no model unless told."""
    program = [sys.executable, "-c", "from jurat.cli import main; main()"]
    command = ["run", f"examples/{name}/suite.yaml", "--format", "json", "--output", "report.json", *words]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("JURAT_") and "_KEY" not in key}
    environment = {**kept, "JURAT_MODELS_DIR": str(models or clone / "no-models")}
    done = subprocess.run([*program, *command], cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 3), done.stderr
    return Ran(code=done.returncode, told=done.stdout, report=json.loads((clone / "report.json").read_text("utf-8")))


@pytest.mark.parametrize("name", CODES)
def test_an_example_runs_from_a_clone_and_comes_to_what_it_says(name: str, tmp_path: Path) -> None:
    ran = run_in(name, copied(name, tmp_path))

    assert ran.statuses == STATUSES[name], ran.told
    assert ran.code == CODES[name]
    jsonschema_rs.validator_for(report_schema()).validate(ran.report)


def test_every_example_suite_is_tested_here() -> None:
    assert sorted(CODES) == sorted(STATUSES) == sorted(file.parent.name for file in EXAMPLES.glob("*/suite.yaml"))


@pytest.mark.parametrize("name", CODES)
def test_recordings_hold_no_word_of_the_machine_that_made_them(name: str) -> None:
    for file in (EXAMPLES / name / "replies").iterdir():
        assert re.search(r"/home/|/Users/|[/\\][\w.-]+\.gguf", file.read_text("utf-8")) is None, file


def test_the_support_assistants_judge_quotes_the_pages(tmp_path: Path) -> None:
    ran = run_in("support_assistant", copied("support_assistant", tmp_path))

    judged = ran.results("rubric_judge")
    assert len(judged) == 8
    assert all(result["evidence"] for result in judged)
    assert all(result["evaluator"]["cost_usd"] == 0 for result in judged)


def test_a_changed_answer_has_no_recorded_verdict_so_that_the_gate_is_undecided(tmp_path: Path) -> None:
    clone = copied("support_assistant", tmp_path)
    answers = clone / "examples" / "support_assistant" / "answers.csv"
    answers.write_text(answers.read_text("utf-8").replace("about ten days", "about two weeks"), "utf-8")

    ran = run_in("support_assistant", clone)

    assert ran.statuses == {**STATUSES["support_assistant"], "full-tank": "error"}
    assert ran.code == 3
    assert "judge.jsonl holds no reply to this request" in " ".join(ran.told.split())


@pytest.mark.slow
@pytest.mark.model_large
@pytest.mark.parametrize("name", CODES)
def test_the_embedded_model_comes_to_sensible_verdicts(name: str, tmp_path: Path) -> None:
    from jurat.provider.models import model_path

    ran = run_in(name, copied(name, tmp_path), "--live", models=model_path("default").parent)

    said, expected = ran.statuses, STATUSES[name]
    different = {case: status for case, status in said.items() if status != expected[case]}
    assert len(different) <= max(1, len(expected) // 4), different  # where a model is warm, it says something else
