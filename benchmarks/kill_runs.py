"""`jurat run` killed again and again, resumed again and again: the record of an undisturbed run, nothing paid twice.

    python benchmarks/kill_runs.py [--kills 200] [--trials 500] [--in-flight 16] [--seed 1] [--quick]

A story: a run is begun, killed with SIGKILL, gone on with by `jurat resume`, killed again, up to four times, and then
left to finish. Most moments lie somewhere in the calls (when so many were made, and some milliseconds later); every
fifth is a random time from the start of the process, every tenth comes shortly after the last call, so that kills also
fall into loading, beginning, claiming, finishing and reporting; how many fell where is told. Subject and judge are
scripts that err, take their time, cost money and note every call. Checked are

- after every kill: `jurat store verify` finds nothing, the run shows as interrupted (or is complete), and of what this
  process asked for no more is missing than may be in flight;
- whatever was durable at a kill is never asked for again, nor is a trial that is there made again;
- at the end: the JSON report, answers included, is that of an undisturbed run, in everything but times and names;
- calls, by the scripts' own log: those of the plan, and for each kill those in flight.

The exit code is 1 when any of this does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
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
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from jurat.engine import trial_status
from jurat.jsontext import Json
from jurat.report.run_report import comparable
from jurat.store import Store
from material import child_environment
from scripted_suite import LOG, STORE, SUITE, asked, jurat, jurat_command, load, write_suite

MOST_KILLS = 4
SAMPLES = 2
LINE = 65
REPORT = ("--format", "json", "--include-output", "--fail-on", "never")


@dataclass(slots=True)
class Found:
    """What a number of stories came to."""

    kills: int = 0
    too_late: int = 0
    calls: int = 0
    twice: int = 0
    lost: int = 0
    places: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def include(self, other: Found) -> None:
        """Add another's."""
        self.kills += other.kills
        self.too_late += other.too_late
        self.calls += other.calls
        self.twice += other.twice
        self.lost += other.lost
        self.places += other.places
        self.faults += other.faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a run leaves that nobody kills. `final` are the keys of calls that came to an error, and leave no reply."""

    report: Json
    calls: frozenset[str]
    final: frozenset[str]
    wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the store of a dead process holds: replies, trials, and how far its run came (None: there is none)."""

    replies: frozenset[str] = frozenset()
    trials: frozenset[tuple[int, int]] = frozenset()
    status: str | None = None
    faults: tuple[str, ...] = ()


def undisturbed(folder: Path) -> Reference:
    """Run the suite without killing it."""
    started = time.monotonic()
    done = jurat(folder, "run", SUITE, *REPORT)
    wall_s = time.monotonic() - started
    if done.returncode != 0:
        raise RuntimeError(f"expected exit code 0, found {done.returncode}: {done.stderr}")
    calls, replies = asked(folder), kept(folder).replies
    if len(set(calls)) != len(calls):
        raise RuntimeError("the undisturbed run asked for something twice")
    for left in (*folder.glob(f"{STORE}*"), folder / LOG):
        left.unlink()
    report = comparable(json.loads(done.stdout))
    return Reference(report=report, calls=frozenset(calls), final=frozenset(calls) - replies, wall_s=wall_s)


def kept(folder: Path) -> Kept:
    """What the store holds and what is wrong with it. A copy is looked at: whoever opens a store mends it."""
    with tempfile.TemporaryDirectory() as place:
        copies = [Path(shutil.copy(file, place)) for file in folder.glob(f"{STORE}*") if file.suffix != ".db-shm"]
        store = Path(place) / STORE
        if not copies or not store.exists():
            return Kept()
        return asyncio.run(_look(store))


async def _look(file: Path) -> Kept:
    store = await Store.open(file)
    try:
        faults = tuple([str(fault) async for fault in store.verify(trial_status)])
        runs = await store.runs.runs()
        with closing(sqlite3.connect(file)) as connection:
            replies = frozenset(key for (key,) in connection.execute("SELECT key FROM responses"))
        if not runs:
            return Kept(replies=replies, faults=faults)
        if len(runs) > 1:
            faults = (*faults, f"{len(runs)} runs, where there should be one")
        trials = frozenset(await store.runs.keys(runs[0].id))
        return Kept(replies=replies, trials=trials, status=runs[0].status.value, faults=faults)
    finally:
        await store.aclose()


def wait_for_moment(process: subprocess.Popen[bytes], log: Path, calls: float | None, delay_s: float) -> None:
    """Come back a little after so many calls were made in all (None: at once), or when the process has ended."""
    while calls is not None and process.poll() is None and (not log.exists() or log.stat().st_size < calls * LINE):
        time.sleep(0.001)
    time.sleep(delay_s)


def choose_moment(chance: random.Random, reference: Reference) -> tuple[float | None, float]:
    """After how many calls, and how much later."""
    drawn = chance.random()
    if drawn < 0.2:
        return None, chance.uniform(0.0, reference.wall_s)
    if drawn < 0.3:
        return len(reference.calls), chance.uniform(0.0, 0.4)
    return chance.uniform(0.0, len(reference.calls)), chance.uniform(0.0, 0.06)


def place_of(now: Kept, before: Kept, trials: int) -> str:
    """In which part of a run's life a kill fell, by what is there afterwards."""
    if now.status is None:
        return "before the run was there"
    if now.status == "completed":
        return "in the report"
    if len(now.trials) == trials:
        return "in the finish"
    if before.status is not None and now.replies == before.replies:
        return "in resuming, before the first reply"
    return "after beginning, before the first reply" if not now.replies else "in the trials"


def story(folder: Path, chance: random.Random, reference: Reference, most_kills: int, in_flight: int) -> Found:
    """Kill and resume one run, so many times at most, and let it finish."""
    found, before, trials = Found(), Kept(), reference_trials(reference)
    while found.kills < most_kills:
        known = len(asked(folder))
        code, errors = killed(folder, chance, reference, resume=before.status is not None)
        now, fresh = kept(folder), asked(folder)[known:]
        found.faults += [f"store verify: {fault}" for fault in now.faults]
        if code != -signal.SIGKILL:
            found.too_late += 1
            found.faults += [f"exit code {code}: {errors[-300:]}"] if code else []
            before = now
            break
        found.kills += 1
        found.places[place_of(now, before, trials)] += 1
        found.faults += compared(now, before, fresh, reference, in_flight)
        found.lost += len(set(fresh) - now.replies - reference.final)
        before = now
    words = ("resume", "latest") if before.status is not None else ("run", SUITE)
    done = jurat(folder, *words, *REPORT)
    found.include(ended(folder, done, reference))
    return found


def reference_trials(reference: Reference) -> int:
    """How many trials the run has."""
    report = reference.report
    assert isinstance(report, dict)
    return sum(len(case["trials"]) for case in report["cases"])


def killed(folder: Path, chance: random.Random, reference: Reference, *, resume: bool) -> tuple[int, str]:
    """Begin the run, or go on with it, and kill it at a moment of chance; its exit code and standard error."""
    calls, delay_s = choose_moment(chance, reference)
    words = ("resume", "latest") if resume else ("run", SUITE)
    process = subprocess.Popen(
        jurat_command(*words, *REPORT),
        cwd=folder,
        env=dict(child_environment()),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    wait_for_moment(process, folder / LOG, calls, delay_s)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    return process.returncode, errors.decode()


def compared(now: Kept, before: Kept, fresh: list[str], reference: Reference, in_flight: int) -> list[str]:
    """What is wrong after one kill."""
    faults: list[str] = []
    if now.status not in (None, "interrupted", "completed"):
        faults.append(f"the run shows as {now.status}")
    if now.status is None and fresh:
        faults.append(f"{len(fresh)} calls before the run was there")
    if again := before.replies.intersection(fresh):
        faults.append(f"{len(again)} durable replies were asked for again")
    if before.replies - now.replies or before.trials - now.trials:
        faults.append("something that was durable is gone")
    if (missing := len(set(fresh) - now.replies - reference.final)) > in_flight:
        faults.append(f"{missing} replies are missing, of at most {in_flight} in flight")
    return faults


def difference(found: Json, wanted: Json, path: str = "") -> str | None:
    """Where two JSON values differ first, and how; None where they do not."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        pairs = [(f"{path}.{key}", found.get(key), wanted.get(key)) for key in {**wanted, **found}]
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = [(f"{path}[{place}]", *both) for place, both in enumerate(zip(found, wanted, strict=True))]
    else:
        return None if found == wanted else f"{path} is {str(found)[:80]}, not {str(wanted)[:80]}"
    told = (difference(one, other, inner) for inner, one, other in pairs)
    return next((one for one in told if one is not None), None)


def ended(folder: Path, done: subprocess.CompletedProcess[str], reference: Reference) -> Found:
    """What a story left in the end."""
    calls = Counter(asked(folder))
    found = Found(calls=calls.total(), twice=calls.total() - len(calls))
    if done.returncode != 0:
        found.faults.append(f"exit code {done.returncode} at the end: {done.stderr[-300:]}")
    elif (where := difference(comparable(json.loads(done.stdout)), reference.report)) is not None:
        found.faults.append(f"at the end the report is not that of an undisturbed run: {where}")
    if set(calls) != reference.calls:
        found.faults.append("at the end other things were asked for than in an undisturbed run")
    found.faults += [f"store verify at the end: {fault}" for fault in kept(folder).faults]
    for left in (*folder.glob(f"{STORE}*"), folder / LOG):
        left.unlink(missing_ok=True)
    return found


def tell_stories(folder: Path, kills: int, in_flight: int, seed: int) -> Found:
    """Tell stories until there were so many kills, and print what they came to."""
    chance, total, number = random.Random(seed), Found(), 0  # noqa: S311  moments, not secrets
    reference = undisturbed(folder)
    while total.kills < kills:
        number += 1
        found = story(folder, chance, reference, min(MOST_KILLS, kills - total.kills), in_flight)
        found.faults = [f"story {number}: {fault}" for fault in found.faults]
        total.include(found)
        print(f"\r  {total.kills} kills", end="", file=sys.stderr, flush=True)
    plan = number * len(reference.calls)
    print(
        f"\r{total.kills} kills in {number} stories of {reference_trials(reference)} trials and {len(reference.calls)} "
        f"calls ({load()}), {total.too_late} more came too late; faults: {len(total.faults)}"
    )
    print("  kills fell " + ", ".join(f"{place}: {count}" for place, count in total.places.most_common()))
    print(
        f"  calls beyond the plan: {total.calls - plan}, asked twice: {total.twice}; on their way at the kills: "
        f"{total.lost}, of at most {total.kills * in_flight}"
    )
    if total.twice > total.kills * in_flight:
        total.faults.append(f"{total.twice} calls were made twice, of at most {total.kills * in_flight} in flight")
    return total


def main() -> None:
    """Tell as many stories as were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="how many (200)")
    parser.add_argument("--trials", type=int, default=500, help="of each run (500)")
    parser.add_argument("--in-flight", type=int, default=16, help="calls in flight (16)")
    parser.add_argument("--seed", type=int, default=1, help="from which the moments are drawn (1)")
    parser.add_argument("--quick", action="store_true", help="8 kills over runs of 100 trials")
    given = parser.parse_args()
    kills, trials = (8, 100) if given.quick else (given.kills, given.trials)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_suite(folder, trials // SAMPLES, samples=SAMPLES, in_flight=given.in_flight, lively=True)
        found = tell_stories(folder, kills, given.in_flight, given.seed)
    print(*found.faults, sep="\n", end="\n" if found.faults else "")
    sys.exit(1 if found.faults else os.EX_OK)


if __name__ == "__main__":
    main()
