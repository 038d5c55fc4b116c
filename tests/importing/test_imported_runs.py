"""What is imported runs: offline, with scripts in the place of every model that the files name."""

from __future__ import annotations

from pathlib import Path

import pytest
from importfiles import FILES, imported

import jurat
from jurat.suite.suite import Suite
from jurat.suitecheck import loaded_suite

JUDGE = {"json": {"evidence": [], "reason": "As it should be.", "score": 0.9}}
FULL = {"json": {"evidence": [], "reason": "As it should be.", "score": 90}}
NAMES = sorted(path.name for path in FILES.iterdir() if not path.name.endswith(".txt"))


def asked(suite: Suite) -> set[str]:
    """Who answers and judges in a suite."""
    judges = [one.get("provider", "local") for case in suite.cases for one in case.assertions if "judge" in one["type"]]
    return {*judges, *([] if suite.subject.provider is None else [suite.subject.provider])}


@pytest.mark.parametrize("name", NAMES)
def test_an_imported_suite_runs_to_its_end_without_a_single_error(name: str, tmp_path: Path) -> None:
    imported(tmp_path, name)
    suite = loaded_suite(tmp_path / "suite.json").suite
    script = {"kind": "scripted", "order": "by_request", "replies": [{"match": "0 to 1", **JUDGE}, FULL]}

    run = jurat.run_suite(
        tmp_path / "suite.json",
        providers=dict.fromkeys(asked(suite), script),
        store=tmp_path / "runs.db",
    )

    counts = run.summary["trials"]["counts"]
    assert run.record.status.value == "completed"
    assert counts["error"] == 0
    assert sum(counts.values()) == run.record.cases * run.record.samples > 0
