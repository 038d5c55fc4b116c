"""`jurat run` where something is taken away from under it: its reader, its disk.

What is durable stays, and one line says what happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import Folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("streams", "code", "told"),
    [
        ("| true; exit ${PIPESTATUS[0]}", 1, ""),
        (">&-", 1, ""),
        (">/dev/full", 4, "standard output: No space left on device; nothing more is printed there\n"),
    ],
)
@pytest.mark.parametrize("form", ["console", "json"])
def test_a_report_that_nobody_takes_leaves_the_record_whole(
    folder: Folder, form: str, streams: str, code: int, told: str
) -> None:
    done = folder.run("run", "suite.yaml", "--format", form, streams=streams)

    assert (done.code, done.err) == (code, told)
    (run,) = folder.jurat("runs", "--format", "json").json
    assert (run["status"], run["gate"]) == ("completed", "failed")


def test_a_disk_that_fills_up_leaves_a_run_that_is_gone_on_with(folder: Folder) -> None:
    verdict = {"json": {"evidence": [], "reason": "Fine.", "score": 95}}
    text = {
        "schema_version": 1,
        "suite": "large",
        "providers": [
            {"name": "answerer", "kind": "scripted", "order": "by_request", "replies": [{"text": "x" * 20_000}]},
            {"name": "judge", "kind": "scripted", "order": "by_request", "replies": [verdict]},
        ],
        "prompt": "Question {{n}}?",
        "subject": "answerer",
        "assertions": [{"type": "rubric_judge", "template": "correctness", "provider": "judge"}],
        "cases": [{"name": f"c{number}", "variables": {"n": number}} for number in range(40)],
    }
    folder.write("large.json", json.dumps(text))

    # The store alone may not grow beyond this many KiB.
    done = folder.run("run", "large.json", first="ulimit -f 600")

    (run,) = folder.jurat("runs", "--format", "json").json
    assert (done.code, done.out, run["status"]) == (4, "", "interrupted")
    trouble, after = done.err.splitlines()
    assert trouble.startswith(f"{folder.path}/.jurat/jurat.db: the disk ")
    assert after == f"run {run['id']} is not complete; when that is mended: jurat resume {run['id']}"
    assert folder.jurat("resume", "latest").code == 0
    assert len(folder.jurat("export", "latest").json["cases"]) == 40
