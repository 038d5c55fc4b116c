"""The peak memory of `jurat judge` on few and on many recorded rows: it must not grow with their number.

    python benchmarks/memory.py [--rows 1000000] [--few 10000]

The rows are short and written to the disk as they are made; the judge is the scripted provider, 16 calls in flight,
with a store and a verdict file as always. Peak memory is the kernel's figure for each process. Bar: the peak at a
million rows is at most 1.2 times the peak at ten thousand. A million rows take some minutes; progress is printed, with
the memory that the process has at that moment (where there is a /proc).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from material import child_environment, judge_command

STEP_S = 10.0
SCRIPT = """
[[providers]]
name = "scripted"
kind = "scripted"
order = "by_request"
replies = [{replies}]
"""


def write_script(folder: Path) -> None:
    """A provider that gives one of eleven valid answers to each request."""
    answers = [json.dumps({"evidence": [], "reason": f"Reason {place}.", "score": place * 10}) for place in range(11)]
    replies = ", ".join(json.dumps(answer) for answer in answers)
    (folder / "jurat.toml").write_text(SCRIPT.replace("{replies}", replies), encoding="utf-8")


def write_short_rows(file: Path, count: int) -> None:
    """So many short rows, one at a time."""
    with file.open("w", encoding="utf-8") as stream:
        for number in range(count):
            stream.write(f'{{"id":"{number}","question":"What is {number} and 1?","answer":"It is {number + 1}."}}\n')


class Watch(threading.Thread):
    """Prints how far a process is, every few seconds."""

    def __init__(self, process: int, out: Path) -> None:
        super().__init__(daemon=True)
        self._process, self._out, self._over = process, out, threading.Event()

    def run(self) -> None:
        started = time.monotonic()
        while not self._over.wait(STEP_S):
            size = self._out.stat().st_size if self._out.exists() else 0
            print(
                f"    {time.monotonic() - started:5.0f} s: {size / 1e6:7.1f} MB of verdicts, {self._memory()}",
                flush=True,
            )

    def _memory(self) -> str:
        status = Path(f"/proc/{self._process}/status")
        if not status.exists():
            return "memory unknown"
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return ", ".join(" ".join(line.split()) for line in lines if line.startswith(("VmRSS", "VmHWM")))

    def stop(self) -> None:
        """Print no more."""
        self._over.set()


def peak_mb(folder: Path, count: int) -> float:
    """Judge so many rows in a new store, and give the peak memory of the process in MB."""
    rows, out = folder / f"rows-{count}.jsonl", folder / f"out-{count}.jsonl"
    write_short_rows(rows, count)
    command = judge_command(rows, out, provider="scripted", more=["--store", f"store-{count}.db"])
    command[command.index("--map") + 1] = "output=answer,rendered_input=question"
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=dict(child_environment()), stdout=subprocess.DEVNULL)
    watch = Watch(process.pid, out)
    watch.start()
    _, status, used = os.wait4(process.pid, 0)
    watch.stop()
    process.returncode = os.waitstatus_to_exitcode(status)
    with out.open("rb") as stream:
        written = sum(1 for _ in stream)
    if process.returncode or written != count:
        raise RuntimeError(f"expected {count} verdicts, found {written}; exit code {process.returncode}")
    peak, wall_s, cpu_s = used.ru_maxrss * 1024 / 1e6, time.monotonic() - started, used.ru_utime + used.ru_stime
    each = f"{cpu_s / count * 1e6:.0f} µs CPU a row"
    print(f"  {count:>9,} rows: peak {peak:.1f} MB, {wall_s:.0f} s, {count / wall_s:,.0f} rows/s, {each}", flush=True)
    for used_up in (rows, out, *folder.glob(f"store-{count}.db*")):
        used_up.unlink()
    return peak


def main() -> None:
    """Measure both, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="the many (1000000)")
    parser.add_argument("--few", type=int, default=10_000, help="the few (10000)")
    parser.add_argument("--folder", type=Path, help="where to put rows, store and verdicts: some 2 GB for a million")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        folder = Path(place)
        write_script(folder)
        few = peak_mb(folder, given.few)
        many = peak_mb(folder, given.rows)
    print(f"  peak memory, {given.rows:,} rows against {given.few:,}: {many / few:.3f} times (bar 1.2)")


if __name__ == "__main__":
    main()
