"""A run of 100,000 trials by the command line: trials recorded a second, memory, store size, exports, and resuming.

    python benchmarks/run_scale.py [--trials 100000] [--few 10000] [--in-flight 64] [--folder DIR] [--quick]

A trial is one call of the subject, one of the judge (both scripts) and one deterministic assertion; replies and trials
are on the disk before anything goes on. What is measured is `jurat run --format json --output` as a process of its own,
from the kernel's account and from what the store holds at any moment:

run      trials a second from the first that is durable to the last (bar 1,500 on two cores), and of the whole process;
         memory when a tenth is durable, and the most after that until the process ends (flat: at most 1.1 times)
export   as JSON, JSON Lines and CSV: time, and peak memory against that of a run of few trials (bar: 50 MB more; what
         grows is the suite's own list of its cases, some 140 bytes a case)
resume   ten trials and their replies are taken out, as if they had never been made: seconds until the first new trial
         is durable, from the start of the process (bar 5), and how many calls it made

The load of the machine is printed beside: on a busy one the rates say little, and CPU a trial says more.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from material import child_environment
from scripted_suite import STORE, SUITE, jurat_command, load, write_suite

LOST = 10
STEP_S = 0.1
EXPORTS = ("json", "jsonl", "csv")


@dataclass(slots=True)
class Taken:
    """What a process took, and what was seen of it meanwhile: seconds since its start, durable trials, memory in MB."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    seen: list[tuple[float, int, float]] = field(default_factory=list)

    def rate(self) -> float:
        """Trials a second, from the first that was seen to be durable to the last."""
        first = next(one for one in self.seen if one[1])
        last = next(one for one in self.seen if one[1] == self.seen[-1][1])
        return (last[1] - first[1]) / max(last[0] - first[0], 1e-9)

    def memory_after(self, trials: int) -> float:
        """The most memory from the moment on when so many trials were durable."""
        return max(memory for _, done, memory in self.seen if done >= trials)

    def memory_at(self, trials: int) -> float:
        """The memory at that moment."""
        return next(memory for _, done, memory in self.seen if done >= trials)


class Watch(threading.Thread):
    """Looks at a process and its store every so often."""

    def __init__(self, process: int, store: Path, taken: Taken) -> None:
        super().__init__(daemon=True)
        self._process, self._store, self._taken = process, store, taken
        self._from, self._over = time.monotonic(), threading.Event()

    def run(self) -> None:
        while not self._over.wait(STEP_S):
            at, memory = time.monotonic() - self._from, memory_mb(self._process)
            self._taken.seen.append((at, counted(self._store, "trials"), memory))

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()


def memory_mb(process: int) -> float:
    """What a process holds; 0 where there is no /proc, or no such process."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    held = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(held[0]) * 1024 / 1e6 if held else 0.0


def counted(store: Path, table: str) -> int:
    """How many rows a table of the store holds; 0 before there is one."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            ((count,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()  # noqa: S608
        except sqlite3.Error:  # the tables are being made
            return 0
        return int(count)


def run(folder: Path, *words: str, watched: bool = False) -> Taken:
    """Run the command to its end, and account for it.

    Raises:
        RuntimeError: when it fails.
    """
    taken, started = Taken(), time.monotonic()
    process = subprocess.Popen(
        jurat_command(*words), cwd=folder, env=dict(child_environment()), stdout=subprocess.DEVNULL
    )
    watch = Watch(process.pid, folder / STORE, taken) if watched else None
    if watch is not None:
        watch.start()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if watch is not None:
        watch.stop()
    if process.returncode != 0:
        raise RuntimeError(f"expected exit code 0, found {process.returncode}: jurat {' '.join(words)}")
    taken.wall_s, taken.cpu_s = time.monotonic() - started, used.ru_utime + used.ru_stime
    taken.peak_mb = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return taken


def measure_run(folder: Path, trials: int, in_flight: int) -> None:
    """Run so many trials in full, and print what it took."""
    write_suite(folder, trials, in_flight=in_flight)
    report = ("--format", "json", "--output", "report.json", "--fail-on", "never")
    taken = run(folder, "run", SUITE, *report, watched=True)
    size = sum(part.stat().st_size for part in folder.glob(f"{STORE}*")) / 1e6
    tenth, most = taken.memory_at(trials // 10), taken.memory_after(trials // 10)
    print(f"run: {trials:,} trials ({load()})")
    print(
        f"  {taken.rate():,.0f} trials a second are recorded (bar 1,500); the whole: {taken.wall_s:.1f} s, "
        f"{trials / taken.wall_s:,.0f} a second, {taken.cpu_s / trials * 1e6:.0f} µs CPU each"
    )
    print(f"  memory {tenth:.0f} MB at a tenth, {most:.0f} MB at most from then on: {most / tenth:.2f} times (bar 1.1)")
    print(f"  peak {taken.peak_mb:.0f} MB; store {size:.0f} MB, {size / trials * 1e6:,.0f} bytes a trial")
    sizes = (folder / "report.json").stat().st_size / 1e6
    print(f"  report {sizes:.0f} MB", flush=True)


def measure_exports(folder: Path, small: Path, trials: int, few: int) -> None:
    """Export both runs in every form, and print time and memory."""
    for form in EXPORTS:
        words = ("export", "latest", "--format", form, "--output", f"out.{form}")
        less, more = run(small, *words), run(folder, *words)
        print(
            f"export {form}: {more.wall_s:.1f} s, {more.cpu_s / trials * 1e6:.0f} µs CPU a trial; peak "
            f"{more.peak_mb:.0f} MB, of {few:,} trials {less.peak_mb:.0f} MB (bar 50 MB more; {load()})",
            flush=True,
        )


def lose(store: Path, trials: int) -> None:
    """Take some trials out of the newest run, with the replies that they rest on, and leave it interrupted."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("PRAGMA foreign_keys=ON")
        ((number,),) = connection.execute("SELECT max(number) FROM runs")
        for index in range(0, trials, trials // LOST):
            place = (number, index)
            ((paid,),) = connection.execute("SELECT paid FROM trials WHERE run = ? AND case_index = ?", place)
            connection.executemany("DELETE FROM responses WHERE key = ?", [(key,) for key in json.loads(paid)])
            connection.execute("DELETE FROM trials WHERE run = ? AND case_index = ?", place)
        connection.execute("UPDATE runs SET status = 'interrupted', gate = NULL WHERE number = ?", (number,))
        connection.execute("UPDATE cases SET status = NULL WHERE run = ?", (number,))


def measure_resume(folder: Path, trials: int) -> None:
    """Resume the run of which some trials are missing, and print how soon the first of them is there."""
    lose(folder / STORE, trials)
    left, replies = counted(folder / STORE, "trials"), counted(folder / STORE, "responses")
    taken = run(folder, "resume", "latest", "--fail-on", "never", watched=True)
    first = next(at for at, done, _ in taken.seen if done > left)
    print(
        f"resume: {trials - left} of {trials:,} trials missing; the first new one is durable after {first:.1f} s "
        f"(bar 5), the whole {taken.wall_s:.1f} s, {taken.cpu_s:.1f} s CPU, peak {taken.peak_mb:.0f} MB ({load()})"
    )
    if counted(folder / STORE, "trials") != trials:
        raise RuntimeError("after resuming trials are missing")
    print(f"  {counted(folder / STORE, 'responses') - replies} new replies, of {2 * LOST} that were missing")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000, help="of the run (100000)")
    parser.add_argument("--few", type=int, default=10_000, help="of the run that exports are compared with (10000)")
    parser.add_argument("--in-flight", type=int, default=64, help="calls in flight (64)")
    parser.add_argument("--folder", type=Path, help="where to put everything: some 800 MB")
    parser.add_argument("--quick", action="store_true", help="2,000 trials, compared with 500")
    given = parser.parse_args(arguments)
    trials, few = (2_000, 500) if given.quick else (given.trials, given.few)
    with tempfile.TemporaryDirectory(dir=given.folder) as place, tempfile.TemporaryDirectory(dir=given.folder) as other:
        measure_run(Path(place), trials, given.in_flight)
        write_suite(Path(other), few, in_flight=given.in_flight)
        run(Path(other), "run", SUITE, "--fail-on", "never")
        measure_exports(Path(place), Path(other), trials, few)
        measure_resume(Path(place), trials)


if __name__ == "__main__":
    main()
