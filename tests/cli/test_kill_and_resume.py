"""A judging job that is killed and resumed. The stories are told, and checked, by `benchmarks/kill.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "kill.py"


def tell(kind: str, *, kills: int, seed: int) -> str:
    """Run the program; what it prints, once it has found no fault."""
    command = [sys.executable, str(PROGRAM), kind, "--kills", str(kills), "--rows", "150", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["scripted", "loopback"])
def test_a_killed_job_that_is_resumed_leaves_the_file_of_an_undisturbed_one_and_pays_for_no_reply_twice(
    kind: str,
) -> None:
    told = tell(kind, kills=2, seed=11)
    assert "faults: 0" in told
    assert "2 kills in 1 stories of 150 rows" in told


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scripted", "loopback"])
@pytest.mark.parametrize("seed", [1, 2])
def test_so_does_one_that_is_killed_again_and_again(kind: str, seed: int) -> None:
    assert "faults: 0" in tell(kind, kills=8, seed=seed)
