"""Every way in which a run ends early or its report goes nowhere: the record stays whole, and one line says what to do.

    python benchmarks/endings.py [--trials 200] [--quick]

Each ending is told once: Ctrl-C, Ctrl-C twice, SIGTERM (each as soon as a third of the calls was made), a reader that
leaves after a line, a closed standard output, a full device, and a full disk under the store: a tmpfs of under a MiB
where mounting is allowed, and a bound on the size of files (RLIMIT_FSIZE) everywhere. Checked are the exit code, what
was said (one line, two where the store failed: what is wrong and how to go on; never a traceback), that `jurat store
verify` is clean, and that `jurat resume` gives the report of an undisturbed run. Exit code 1 when not.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jurat.jsontext import Json
from jurat.report.run_report import comparable
from material import child_environment
from scripted_suite import LOG, STORE, SUITE, jurat, jurat_command, load, write_suite

KEY_LINE = 65
REPORT = ("--format", "json", "--include-output", "--fail-on", "never")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run is disturbed, and what has to come of it.

    Attributes:
        signals: sent one after the other once a third of the calls was made.
        first, streams: what a shell does before, and with the streams.
        tmpfs_kib: how large a disk the store gets, where mounting is allowed.
        code: the exit code that is expected.
        lines: how many lines on standard error.
    """

    name: str
    code: int
    lines: int = 1
    signals: tuple[signal.Signals, ...] = ()
    first: str = ""
    streams: str = ""
    tmpfs_kib: int = 0


ENDINGS = (
    Ending(name="Ctrl-C", code=130, signals=(signal.SIGINT,)),
    Ending(name="Ctrl-C twice", code=130, signals=(signal.SIGINT, signal.SIGINT)),
    Ending(name="SIGTERM", code=130, signals=(signal.SIGTERM,)),
    Ending(name="| head -1", code=0, lines=0, streams="| head -1 >/dev/null; exit ${PIPESTATUS[0]}"),
    Ending(name="closed stdout", code=0, lines=0, streams=">&-"),
    Ending(name="stdout on a full device", code=4, streams=">/dev/full"),
    Ending(name="full disk (RLIMIT_FSIZE)", code=4, lines=2, first="ulimit -f 300"),
    Ending(name="full disk (tmpfs)", code=4, lines=2, tmpfs_kib=700),
)


def disturbed(folder: Path, ending: Ending, calls: int) -> subprocess.CompletedProcess[str]:
    """Run the suite, and disturb it."""
    if not ending.signals:
        return jurat(folder, "run", SUITE, *REPORT, first=ending.first, streams=ending.streams)
    process = subprocess.Popen(
        jurat_command("run", SUITE, *REPORT),
        cwd=folder,
        env=dict(child_environment()),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = folder / LOG
    while process.poll() is None and (not log.exists() or log.stat().st_size < calls // 3 * KEY_LINE):
        time.sleep(0.001)
    for number in ending.signals:
        process.send_signal(number)
    out, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


def tell(folder: Path, ending: Ending, wanted: Json, calls: int) -> list[str]:
    """One ending; what is wrong with it."""
    done = disturbed(folder, ending, calls)
    faults = _said(done, ending)
    (run,) = json.loads(jurat(folder, "runs", "--format", "json").stdout)
    whole = ending.code == 0 or ending.streams != ""
    status = "completed" if whole else "interrupted"
    if run["status"] != status:
        faults.append(f"expected a run that is {status}, found {run['status']}")
    faults += _sound(folder)
    resumed = jurat(folder, "resume", "latest", *REPORT)
    if resumed.returncode != 0:
        faults.append(f"resume: exit code {resumed.returncode}: {resumed.stderr.strip()}")
    elif comparable(json.loads(resumed.stdout)) != wanted:
        faults.append("after resuming the report is not that of an undisturbed run")
    faults += _sound(folder)
    told = " / ".join(done.stderr.splitlines()).replace(str(folder), "") or "-"
    print(f"  {ending.name:<26} {done.returncode:>4}  {run['status']:<12} {'; '.join(faults) or 'sound':<8} {told}")
    return [f"{ending.name}: {fault}" for fault in faults]


def _said(done: subprocess.CompletedProcess[str], ending: Ending) -> list[str]:
    faults: list[str] = []
    if done.returncode != ending.code:
        faults.append(f"expected exit code {ending.code}, found {done.returncode}")
    lines = done.stderr.splitlines()
    if len(lines) != ending.lines or "Traceback" in done.stderr:
        faults.append(f"expected {ending.lines} lines of trouble, found {len(lines)}")
    return faults


def _sound(folder: Path) -> list[str]:
    found = jurat(folder, "store", "verify")
    return [] if found.returncode == 0 else [f"store verify: {found.stdout.strip()}"]


def mounted(folder: Path, kib: int) -> bool:
    """Put a small disk where the store will be; whether that is allowed here."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "jurat", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def on_small_disk(ending: Ending, trials: int, wanted: Json, calls: int) -> list[str]:
    """The same on a disk that fills up, and is then made larger."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not mounted(folder, ending.tmpfs_kib):
            print(f"  {ending.name:<26} not told: mounting is not allowed here")
            return []
        try:
            write(folder, trials)
            done = disturbed(folder, ending, calls)
            faults = _said(done, ending)
            larger = ["mount", "-o", "remount,size=64m", str(folder)]
            subprocess.run(larger, check=True, capture_output=True)
            return faults + _gone_on(folder, ending, done, faults, wanted)
        finally:
            subprocess.run(["umount", str(folder)], check=False, capture_output=True)


def _gone_on(
    folder: Path, ending: Ending, done: subprocess.CompletedProcess[str], faults: Sequence[str], wanted: Json
) -> list[str]:
    (run,) = json.loads(jurat(folder, "runs", "--format", "json").stdout)
    more = [] if run["status"] == "interrupted" else [f"expected a run that is interrupted, found {run['status']}"]
    more += _sound(folder)
    resumed = jurat(folder, "resume", "latest", *REPORT)
    if resumed.returncode != 0 or comparable(json.loads(resumed.stdout)) != wanted:
        more.append(f"resume: exit code {resumed.returncode}, or another report; {resumed.stderr.strip()}")
    more += _sound(folder)
    told = " / ".join(done.stderr.splitlines()).replace(str(folder), "")
    print(
        f"  {ending.name:<26} {done.returncode:>4}  {run['status']:<12} "
        f"{'; '.join([*faults, *more]) or 'sound':<8} {told}"
    )
    return more


def write(folder: Path, trials: int) -> None:
    """The suite of all endings."""
    write_suite(folder, trials, in_flight=8, lively=True)


def main() -> None:
    """Tell every ending."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200, help="of each run (200)")
    parser.add_argument("--quick", action="store_true", help="150 trials")
    given = parser.parse_args()
    trials = 150 if given.quick else given.trials
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder, trials)
        report = jurat(folder, "run", SUITE, *REPORT)
        wanted, calls = comparable(json.loads(report.stdout)), (folder / LOG).stat().st_size // KEY_LINE
        print(f"{trials} trials, {calls} calls ({load()})\n  {'ending':<26} exit  run          record   said")
        for ending in ENDINGS:
            for left in (*folder.glob(f"{STORE}*"), folder / LOG):
                left.unlink(missing_ok=True)
            small = ending.tmpfs_kib > 0
            faults += on_small_disk(ending, trials, wanted, calls) if small else tell(folder, ending, wanted, calls)
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else os.EX_OK)


if __name__ == "__main__":
    main()
