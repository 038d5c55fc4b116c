"""Two `jurat run` loops and a reader on one store: nobody hears of a lock, no row is lost, the store stays sound.

    python benchmarks/runs_at_once.py [--seconds 60] [--trials 200] [--quick]

Two loops run the same suite again and again, each run a process of its own; a third lists runs and shows the newest all
the while. In the end every run that was reported as complete has to be there with all of its trials, `jurat store
verify` has to find nothing, and nobody may have met an error. Then a run that is under way is to be resumed by a second
process, which has to be refused with the number of the process that holds it, and must not disturb it. Exit code 1 when
any of this is not so. (`two_processes.py` does the same to the store alone, at many times the rate.)
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from material import child_environment
from scripted_suite import LOG, SUITE, jurat, jurat_command, load, write_suite

READS = (("runs", "--format", "json"), ("show", "latest"), ("show", "latest", "--format", "json"), ("store", "stats"))


@dataclass(slots=True)
class Told:
    """What the loops met: runs that were reported as complete, reads, the longest of them, and faults."""

    runs: list[str] = field(default_factory=list)
    reads: int = 0
    longest_s: float = 0.0
    faults: list[str] = field(default_factory=list)


def run_again_and_again(folder: Path, until: float, told: Told) -> None:
    """Run the suite until the time is over."""
    while time.monotonic() < until:
        done = jurat(folder, "run", SUITE, "--format", "json", "--fail-on", "never")
        if done.returncode != 0 or done.stderr:
            told.faults.append(f"jurat run: exit code {done.returncode}: {done.stderr.strip()}")
        else:
            told.runs.append(json.loads(done.stdout)["run"]["id"])


def read_again_and_again(folder: Path, until: float, told: Told) -> None:
    """Read what is there until the time is over."""
    while time.monotonic() < until:
        for words in READS:
            started = time.monotonic()
            done = jurat(folder, *words)
            told.longest_s, told.reads = max(told.longest_s, time.monotonic() - started), told.reads + 1
            if done.returncode != 0 or done.stderr:
                told.faults.append(f"jurat {' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()}")


def at_once(folder: Path, seconds: float, trials: int) -> list[str]:
    """Everybody at once; what was wrong."""
    write_suite(folder, trials)
    told = Told()
    first = jurat(folder, "run", SUITE, "--format", "json", "--fail-on", "never")  # so that there is something to read
    told.runs.append(json.loads(first.stdout)["run"]["id"])
    until = time.monotonic() + seconds
    loops: list[Callable[[Path, float, Told], None]] = [run_again_and_again, run_again_and_again, read_again_and_again]
    threads = [threading.Thread(target=loop, args=(folder, until, told)) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = json.loads(jurat(folder, "runs", "--format", "json", "--limit", "10000").stdout)
    complete = {run["id"] for run in found if run["status"] == "completed"}
    if lost := set(told.runs) - complete:
        told.faults.append(f"{len(lost)} runs that were reported as complete are not there")
    stats = json.loads(jurat(folder, "store", "stats", "--format", "json").stdout)
    if stats["trials"] != len(found) * trials or len(found) != len(told.runs):
        told.faults.append(f"expected {len(told.runs)} runs of {trials} trials, found {len(found)}, {stats['trials']}")
    told.faults += unsound(folder)
    print(
        f"{seconds:g} s, two loops of `jurat run` and a reader ({load()}): {len(told.runs)} runs, {stats['trials']:,} "
        f"trials, {told.reads} reads, the longest {told.longest_s:.1f} s with its start-up; faults: {len(told.faults)}"
    )
    return told.faults


def unsound(folder: Path) -> list[str]:
    """What `jurat store verify` finds."""
    done = jurat(folder, "store", "verify")
    return [] if done.returncode == 0 else [f"store verify: {done.stdout.strip()}"]


def left_alone(folder: Path) -> list[str]:
    """A run that is under way is not resumed by another process; what was wrong."""
    write_suite(folder, 200, in_flight=1, lively=True)
    before = len(json.loads(jurat(folder, "runs", "--format", "json", "--limit", "10000").stdout))
    process = subprocess.Popen(
        jurat_command("run", SUITE, "--fail-on", "never"),
        cwd=folder,
        env=dict(child_environment()),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while process.poll() is None and not (folder / LOG).exists():
        time.sleep(0.01)
    refused = jurat(folder, "resume", "latest")
    faults = []
    if refused.returncode != 4 or f"process {process.pid} " not in refused.stderr:
        faults.append(f"expected a refusal that names process {process.pid}, found {refused.stderr.strip()}")
    _, errors = process.communicate()
    if process.returncode != 0 or errors:
        faults.append(f"the run was disturbed: exit code {process.returncode}: {errors.decode().strip()}")
    runs = json.loads(jurat(folder, "runs", "--format", "json", "--limit", "10000").stdout)
    if len(runs) != before + 1 or runs[0]["status"] != "completed":
        faults.append(f"expected one more run, complete; found {len(runs) - before}, {runs[0]['status']}")
    told = refused.stderr.strip().replace(str(folder), "")
    print(f"resuming a run that is under way: exit code {refused.returncode}, {told}; faults: {len(faults)}")
    return faults + unsound(folder)


def main() -> None:
    """Let them all at the store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--trials", type=int, default=200, help="of each run (200)")
    parser.add_argument("--quick", action="store_true", help="8 seconds, 50 trials a run")
    given = parser.parse_args()
    seconds, trials = (8.0, 50) if given.quick else (given.seconds, given.trials)
    with tempfile.TemporaryDirectory() as place:
        faults = at_once(Path(place), seconds, trials) + left_alone(Path(place))
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else os.EX_OK)


if __name__ == "__main__":
    main()
