"""How many trials a second a run records durably, in how much memory and in how large a store.

    python benchmarks/trials.py [--trials 100000] [--samples 1] [--in-flight 64] [--folder DIR]

A trial is one call of the subject and one of the judge, both with the scripted provider, and one deterministic
assertion; every reply and every trial is on the disk before anything goes on. Every question has its own number in it,
so that no two calls are alike. The plan is made first, as a run makes it; what grows after the first tenth is what a
run holds. Bar: 1,500 trials a second on two cores, and memory that stays flat.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from jurat.assertions import build_assertions
from jurat.engine import Plan, PlannedCase, RunJob, Silent
from jurat.judge import Judge
from jurat.provider import ProviderSettings, ScriptedProvider
from jurat.provider.capabilities import capabilities_for
from jurat.report.record import CaseRecord, RunRecord, RunStatus, TrialRecord
from jurat.store import Store
from jurat.subject import ProviderSubject
from jurat.suite.case import Case
from jurat.suite.suite import Limits, Prompt

RUN = "20260101T000000Z-benchmark"
ANSWER = "A full tank waters four pots for about ten days."
VERDICT = json.dumps({"evidence": [{"message_index": 1, "quote": "ten days"}], "reason": "It says so.", "score": 90})
HASH = "sha256:" + "0" * 64


def scripted(name: str, reply: str) -> ScriptedProvider:
    """A provider that says one thing."""
    settings = ProviderSettings(
        name=name, kind="scripted", model=name, capabilities=capabilities_for("scripted", "scripted")
    )
    return ScriptedProvider(reply, settings=settings)


def make_plan(cases: int, samples: int) -> Plan:
    """A plan whose cases share their assertions, as those of a suite do."""
    judge = Judge("correctness", scripted("judge", VERDICT))
    checks = build_assertions(
        [{"type": "contains", "value": "ten days"}, {"type": "rubric_judge", "template": "correctness"}],
        judge_factory=lambda *_: judge,
    )
    planned = [
        PlannedCase(case_index=index, case=Case(name=f"case-{index}", variables={"n": index}), assertions=checks)
        for index in range(cases)
    ]
    prompt = Prompt(system="You answer customers.", text="Customer {{n}} asks how long a full tank lasts.")
    return Plan(cases=planned, samples=samples, prompt=prompt, prompt_version="prompt@1")


def memory_mb() -> float:
    """What the process holds at this moment; 0 where there is no /proc."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text("ascii", "replace").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024 / 1e6


class Progress(Silent):
    """Prints rate and memory after each tenth."""

    def __init__(self, trials: int) -> None:
        self._trials, self._step = trials, max(trials // 10, 1)
        self._done, self._started = 0, time.monotonic()
        self.memory: list[float] = []

    def trial(self, trial: TrialRecord) -> None:  # noqa: ARG002
        self._done += 1
        if self._done % self._step == 0:
            self.memory.append(memory_mb())
            rate = self._done / (time.monotonic() - self._started)
            print(f"  {self._done:>9,} trials: {rate:7,.0f} a second, {self.memory[-1]:.1f} MB", flush=True)


class Recorder:
    """Commits trials to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def commit_trials(self, trials: Sequence[TrialRecord]) -> None:
        await self._store.runs.commit_trials(RUN, trials)


def run_record(plan: Plan) -> RunRecord:
    """The run, as it is begun."""
    return RunRecord(
        id=RUN,
        suite="benchmark",
        suite_hash=HASH,
        status=RunStatus.RUNNING,
        created_at="2026-01-01T00:00:00Z",
        samples=plan.samples,
        reducer="all",
        cases=len(plan.cases),
    )


async def measure(plan: Plan, in_flight: int, file: Path) -> None:
    """Run the plan into a new store, and print what it took."""
    store = await Store.open(file)
    cases = [CaseRecord(case_index=one.case_index, name=one.case.name, case_hash=HASH) for one in plan.cases]
    await store.runs.begin(run_record(plan), cases, [])
    subject = ProviderSubject(scripted("answerer", ANSWER))
    progress = Progress(plan.trials)
    job = RunJob(
        plan,
        store.runs.journal(RUN),
        Recorder(store),
        subject=subject,
        limits=Limits(concurrency=in_flight),
        watcher=progress,
    )
    started, cpu = time.monotonic(), time.process_time()
    await job.run()
    wall_s, cpu_s = time.monotonic() - started, time.process_time() - cpu
    kept = len(await store.runs.keys(RUN))
    await store.aclose()
    if kept != plan.trials:
        raise RuntimeError(f"expected {plan.trials} trials in the store, found {kept}")
    size = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*")) / 1e6
    each = f"{cpu_s / kept * 1e6:.0f} µs CPU each"
    print(f"  {kept:,} trials: {kept / wall_s:,.0f} a second ({each}, load {os.getloadavg()[0]:.1f}), bar 1,500")
    first, most = progress.memory[0], max(progress.memory)
    print(f"  memory: {first:.1f} MB after a tenth, {most:.1f} MB at most; store {size:.0f} MB")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000, help="how many trials (100000)")
    parser.add_argument("--samples", type=int, default=1, help="trials a case (1)")
    parser.add_argument("--in-flight", type=int, default=64, help="calls in flight (64)")
    parser.add_argument("--folder", type=Path, help="where to put the store: some 300 MB")
    given = parser.parse_args()
    plan = make_plan(given.trials // given.samples, given.samples)
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        asyncio.run(measure(plan, given.in_flight, Path(place) / "runs.db"))


if __name__ == "__main__":
    main()
