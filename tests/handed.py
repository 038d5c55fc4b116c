"""Handed inputs: files that stand beside the repository, in `../shared`, and are never copied into it.

Where they are missing, the tests that need them are skipped, with the reason; under CI=true they fail instead.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
Case = dict[str, Any]


def shared_directory() -> Path:
    """The directory of handed inputs; skips, or fails under CI=true, where there is none."""
    if not SHARED.is_dir():
        reason = "the handed inputs are missing: expected a directory `shared` beside the repository"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return SHARED


def lines(name: str) -> list[Case]:
    """The objects of a handed JSON Lines file; none when it is missing."""
    path = SHARED / name
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def document(name: str) -> Case:
    """A handed JSON document; an empty one when it is missing."""
    path = SHARED / name
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def params(cases: list[Case]) -> list[Any]:
    """The cases as parameters, each under its own id; where there are none, one that ends in `shared_directory`."""
    return [pytest.param(case, id=str(case["id"])) for case in cases] or [pytest.param({}, id="missing")]
