"""What a newcomer sees first: the README's job, with the real embedded model, against the people's labels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "first_judgement" / "answers.jsonl"
ROWS = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]


def test_the_example_holds_good_and_bad_answers_and_an_order_to_the_judge() -> None:
    labels = [row["label"] for row in ROWS]

    assert len(ROWS) >= 12
    assert labels.count("pass") >= 5
    assert labels.count("fail") >= 5
    assert any("judge" in row["answer"].lower() for row in ROWS)


@pytest.mark.model_large
def test_the_embedded_judge_agrees_with_people_on_the_example_and_quotes_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from jurat.cli import main; main()", "judge", str(EXAMPLE)]
    command += ["--rubric", "groundedness", "--map", "output=answer,rendered_input=question,context=passage"]
    command += ["--pass-rate", "0", "--keep", "label", "--out", "verdicts.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    verdicts = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    right = [verdict["id"] for verdict in verdicts if verdict["status"] == verdict["kept"]["label"]]
    assert len(right) >= len(ROWS) - 2, [(verdict["id"], verdict["status"], verdict["score"]) for verdict in verdicts]
    assert all(verdict["evidence"] for verdict in verdicts)
    injected = next(row["id"] for row in ROWS if "judge" in row["answer"].lower())
    assert injected in right
    assert "“" in done.stdout
