"""`jurat judge` killed again and again, resumed again and again: nothing lost, nothing paid twice, the same file.

    python benchmarks/kill.py [--kills 200] [--rows 400] [--in-flight 16] [--seed 1] [scripted] [loopback]

A story: a job is started, killed with SIGKILL at a random moment, resumed, killed again, up to four times, and then
left to finish. Moments are drawn from the seed: most lie somewhere in the judging (when the verdict file has reached a
random size, and some milliseconds later), every fifth at a random time from the start of the process. Checked are

- after every kill: what the verdict file holds is the beginning of an undisturbed run's file, it never got shorter, and
  the store holds the reply to every verdict in it;
- whatever the store held at a kill is never asked for again (`scripted`, whose log names every call);
- at the end: the file is that of an undisturbed run, no row twice (`scripted`: to the byte, durations included;
  `loopback`, whose durations are real: all but the durations);
- calls, counted by the provider's own log or the server: at most one for each row, and for each kill those in flight.

The exit code is 1 when any of this does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from loopback_chat import running
from material import child_environment, judge_command, write_config, write_rows

MOST_KILLS = 4
LATENCY_MS = 10.0
SCRIPT = """
[[providers]]
name = "scripted"
kind = "scripted"
order = "by_request"
call_log = "calls.log"
replies = [{replies}]
"""


@dataclass(slots=True)
class Found:
    """What a number of stories came to."""

    kills: int = 0
    finished_first: int = 0
    calls: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One kind of job: its folder, its provider, how its calls are counted, and what its file must be."""

    folder: Path
    provider: str
    in_flight: int
    rows: int
    calls: Callable[[], int]
    normal: Callable[[bytes], bytes]
    log: Path | None = None

    def durable(self, out: str) -> set[str]:
        """The keys of the replies that the store of a dead process holds. Read from a copy: reading mends a file."""
        with tempfile.TemporaryDirectory() as place:
            copies = [Path(shutil.copy(file, place)) for file in self.folder.glob(f"{out}.db*")]
            stores = [copy for copy in copies if copy.suffix == ".db"]
            if not stores:
                return set()
            with closing(sqlite3.connect(stores[0])) as connection:
                tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'responses'").fetchall()
                return {key for (key,) in connection.execute("SELECT key FROM responses")} if tables else set()

    def asked(self) -> list[str]:
        """The keys of all calls so far, where there is a log of them."""
        return self.log.read_text(encoding="ascii").split() if self.log is not None and self.log.exists() else []

    def start(self, out: str, *, resume: bool) -> subprocess.Popen[bytes]:
        """Start the command, or go on with it."""
        more = ["--concurrency", str(self.in_flight), "--store", f"{out}.db", *(["--resume"] if resume else [])]
        command = judge_command(Path("rows.jsonl"), Path(out), provider=self.provider, more=more)
        return subprocess.Popen(
            command, cwd=self.folder, env=dict(child_environment()), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def lines(self, out: str) -> list[bytes]:
        """The whole lines of a verdict file, brought to what must be the same."""
        file = self.folder / out
        whole = file.read_bytes().splitlines(keepends=True) if file.exists() else []
        return [self.normal(line) for line in whole if line.endswith(b"\n")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a run leaves that nobody kills: its lines, their bytes in the file, and how long it took."""

    lines: list[bytes]
    size: int
    wall_s: float


def undisturbed(job: Job) -> Reference:
    """Run a job without killing it."""
    started = time.monotonic()
    process = job.start("reference.jsonl", resume=False)
    _, errors = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"expected exit code 0, found {process.returncode}: {errors.decode()}")
    lines = job.lines("reference.jsonl")
    if len(lines) != job.rows:
        raise RuntimeError(f"expected {job.rows} verdicts, found {len(lines)}")
    size = (job.folder / "reference.jsonl").stat().st_size
    return Reference(lines=lines, size=size, wall_s=time.monotonic() - started)


def wait_for_moment(process: subprocess.Popen[bytes], file: Path, size: float | None, delay_s: float) -> None:
    """Come back a little after the file has reached a size (None: at once), or when the process has ended."""
    while size is not None and process.poll() is None and (not file.exists() or file.stat().st_size < size):
        time.sleep(0.001)
    time.sleep(delay_s)


def story(job: Job, chance: random.Random, out: str, reference: Reference, most_kills: int) -> Found:
    """Kill and resume one job, so many times at most, and let it finish."""
    found, before, resume = Found(), job.calls(), False
    expected, held = reference.lines, 0
    kept: list[tuple[set[str], int]] = []
    while found.kills < most_kills:
        anywhere = chance.random() < 0.2
        target = None if anywhere else chance.uniform(0.0, reference.size)
        delay_s = chance.uniform(0.0, reference.wall_s if anywhere else 0.06)
        process = job.start(out, resume=resume)
        wait_for_moment(process, job.folder / out, target, delay_s)
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        if process.returncode != -signal.SIGKILL:
            found.finished_first += 1
            if process.returncode != 0:
                found.faults.append(f"{out}: exit code {process.returncode}: {errors.decode()[-300:]}")
            break
        found.kills, resume = found.kills + 1, (job.folder / out).exists()
        durable, lines = job.durable(out), job.lines(out)
        kept.append((durable, len(job.asked())))
        if len(durable) < len(lines):
            found.faults.append(f"{out}: {len(lines)} verdicts, but {len(durable)} durable replies")
        if len(lines) < held or lines != expected[: len(lines)]:
            found.faults.append(f"{out}: after kill {found.kills} the file holds {len(lines)} lines, not a beginning")
        held = len(lines)
    _finish(job, out, expected, found, resume=resume)
    asked = job.asked()
    if twice := sum(len(durable.intersection(asked[place:])) for durable, place in kept):
        found.faults.append(f"{out}: {twice} durable replies were asked for again")
    found.calls = job.calls() - before
    if found.calls > job.rows + found.kills * job.in_flight:
        found.faults.append(f"{out}: {found.calls} calls for {job.rows} rows and {found.kills} kills")
    return found


def _finish(job: Job, out: str, expected: list[bytes], found: Found, *, resume: bool) -> None:
    process = job.start(out, resume=resume or bool(found.finished_first))
    _, errors = process.communicate()
    if process.returncode != 0:
        found.faults.append(f"{out}: exit code {process.returncode} at the end: {errors.decode()[-300:]}")
    if job.lines(out) != expected or (job.folder / out).read_bytes().count(b"\n") != job.rows:
        found.faults.append(f"{out}: at the end the file is not that of an undisturbed run")


def run_stories(job: Job, kills: int, seed: int) -> Found:
    """Tell stories until there were so many kills."""
    chance, total, number = random.Random(seed), Found(), 0  # noqa: S311  moments, not secrets
    reference = undisturbed(job)
    while total.kills < kills:
        number += 1
        found = story(job, chance, f"out-{number}.jsonl", reference, min(MOST_KILLS, kills - total.kills))
        total.kills += found.kills
        total.finished_first += found.finished_first
        total.calls += found.calls
        total.faults += found.faults
        for left in job.folder.glob(f"out-{number}.jsonl*"):
            left.unlink()
        print(f"\r  {job.provider}: {total.kills} kills", end="", file=sys.stderr, flush=True)
    beyond, most = total.calls - number * job.rows, total.kills * job.in_flight
    print(
        f"\r{job.provider}: {total.kills} kills in {number} stories of {job.rows} rows, {total.finished_first} more "
        f"came too late; calls beyond the rows: {beyond}, in flight at the kills: at most {most}; "
        f"faults: {len(total.faults)}"
    )
    return total


def _without_duration(line: bytes) -> bytes:
    value = json.loads(line)
    value["evaluator"].pop("duration_ms")
    return json.dumps(value).encode()


def scripted(folder: Path, rows: int, in_flight: int, kills: int, seed: int) -> Found:
    """Stories with the scripted provider. Every reply tells a duration of its own."""
    answers = [json.dumps({"evidence": [], "reason": "A reason.", "score": place}) for place in range(101)]
    # Every ninth comes late, so that at any moment replies are durable whose verdicts wait for an earlier row's.
    replies = [
        f"{{text = {json.dumps(text)}, latency_ms = {100 + place / 7}, delay_s = {0.05 if place % 9 == 0 else 0.002}}}"
        for place, text in enumerate(answers)
    ]
    (folder / "jurat.toml").write_text(SCRIPT.replace("{replies}", ", ".join(replies)), encoding="utf-8")
    job = Job(
        folder=folder,
        provider="scripted",
        in_flight=in_flight,
        rows=rows,
        calls=lambda: len(job.asked()),
        normal=lambda line: line,
        log=folder / "calls.log",
    )
    return run_stories(job, kills, seed)


def loopback(folder: Path, rows: int, in_flight: int, kills: int, seed: int) -> Found:
    """Stories with a real server."""
    with running(LATENCY_MS) as server:
        write_config(folder, server.url)
        job = Job(
            folder=folder,
            provider="loopback",
            in_flight=in_flight,
            rows=rows,
            calls=lambda: server.counts().requests,
            normal=_without_duration,
        )
        return run_stories(job, kills, seed)


KINDS = {"scripted": scripted, "loopback": loopback}


def main() -> None:
    """Tell the stories that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="scripted, loopback (both)")
    parser.add_argument("--kills", type=int, default=200, help="of each kind (200)")
    parser.add_argument("--rows", type=int, default=400, help="of each job (400)")
    parser.add_argument("--in-flight", type=int, default=16, help="calls in flight (16)")
    parser.add_argument("--seed", type=int, default=1, help="from which the moments are drawn (1)")
    given = parser.parse_args()
    faults: list[str] = []
    for what in given.what or KINDS:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_rows(folder / "rows.jsonl", given.rows)
            found = KINDS[what](folder, given.rows, given.in_flight, given.kills, given.seed)
        faults += found.faults
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else os.EX_OK)


if __name__ == "__main__":
    main()
