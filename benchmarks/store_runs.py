"""How many assessments a second the store makes durable, how large a run becomes, and how fast it is read back.

    python benchmarks/store_runs.py [--trials 4096] [--folder DIRECTORY]

Each trial has an answer of some 600 bytes and two assessments: a rubric judge's with two quotes, and a `contains`.
One caller commits batch after batch, each waiting for the one before; then many callers commit one trial each at once,
which the store groups. The disk's share is what fsync takes; the CPU is that of the whole process, kernel included.
Bytes are those of the file once it is closed, without the replies. SQLite is measured always, in a new file; PostgreSQL
when JURAT_TEST_POSTGRES names a server (its own CPU is not counted, and the rows stay there). Bar: 5,000 assessments a
second on SQLite.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from jurat.jsontext import Json, canonical
from jurat.judge import Spending
from jurat.provider.protocol import Usage
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, RunStatus, Snapshot, SubjectRecord, TrialRecord
from jurat.store import Store
from jurat.vocabulary import Status, content_id

BATCHES = (1, 16, 64, 256)
PROMPT = "A customer writes: where is my order 1024? Answer from the documents, and name the page that you rely on."
ANSWER = "Your order left our warehouse on Monday and will reach you within three working days (page 4). " * 6
SPENT = Spending(
    usage=Usage(input_tokens=812, output_tokens=96),
    cost_usd=0.00042,
    duration_ms=431.218,
    attempts=1,
    models=("judge-model-2026",),
)


def judged(score: float) -> dict[str, Json]:
    """A rubric judge's result map of a usual size."""
    return {
        "type": "rubric_judge",
        "status": "pass",
        "passed": True,
        "score": score,
        "reason": "Both dates that the answer names stand on page 4 of the terms, and nothing else is claimed.",
        "evidence": [
            {"message_index": 1, "quote": "left our warehouse on Monday"},
            {"message_index": 2, "quote": "within three working days"},
        ],
        "metadata": {
            "schema_version": 1, "threshold": 80.0, "rubric": "faithfulness@v1", "template": "faithfulness",
            "template_revision": "v1", "score_range": [0, 100], "contract": "score/v1", "strategy": "answer",
            "judge": "sha256:" + "0" * 64, "truncated_fields": [],
        },
        "evaluator": {
            "status": "completed", "provider": "judge", "model": "judge-model", "input_tokens": 812,
            "output_tokens": 96, "cost_usd": 0.00042, "duration_ms": 431.218, "attempts": 1, "cached": False,
            "response_model": "judge-model-2026",
        },
    }  # fmt: skip


CONTAINS: dict[str, Json] = {
    "type": "contains", "status": "pass", "passed": True, "score": 100.0, "reason": None, "evidence": [],
    "metadata": {"schema_version": 1, "value": "page"},
    "evaluator": {"status": "completed", "name": "contains", "revision": "1"},
}  # fmt: skip


def make_trial(case_index: int) -> TrialRecord:
    """A trial of a usual size."""
    score = float(case_index % 21 + 80)
    assessments = (
        AssessmentRecord(
            name="faithful", type="rubric_judge", status=Status.PASS, score=score, result=judged(score), spending=SPENT
        ),
        AssessmentRecord(name="names a page", type="contains", status=Status.PASS, score=100.0, result=CONTAINS),
    )
    prompt = f"{PROMPT} ({case_index})"
    subject = SubjectRecord(
        output=f"{ANSWER}{case_index}",
        messages=({"role": "user", "content": prompt},),
        rendered_input=prompt,
        execution={"latency_ms": 812.4, "cost_usd": 0.00031, "tool_calls": []},
        spending=SPENT,
    )
    return TrialRecord(
        case_index=case_index, trial_index=0, status=Status.PASS, subject=subject, assessments=assessments
    )


def snapshot(kind: str) -> Snapshot:
    """Something that a run rests on."""
    body = {"kind": kind}
    return Snapshot(hash=content_id(canonical(body).encode()), kind=kind, body=body)


SUITE, CASE = snapshot("suite"), snapshot("case")


async def begin(store: Store, count: int) -> str:
    """A new run of so many cases."""
    run = RunRecord(
        id=uuid.uuid4().hex, suite="bench", suite_hash=SUITE.hash, status=RunStatus.RUNNING,
        created_at="2026-01-01T00:00:00Z", samples=1, reducer="all", cases=count,
    )  # fmt: skip
    cases = [CaseRecord(case_index=index, name=f"case {index}", case_hash=CASE.hash) for index in range(count)]
    await store.runs.begin(run, cases, [SUITE, CASE])
    return run.id


async def measure(place: str | Path, wanted: int) -> None:
    """Print one table for one database."""
    store = await Store.open(place)
    print(f"\n{store.shown}")
    try:
        for batch in BATCHES:
            await measure_batches(store, batch, max(wanted * batch // max(BATCHES), 200))
        await measure_crowd(store, wanted)
    finally:
        await store.aclose()


async def measure_batches(store: Store, batch: int, count: int) -> None:
    """Commit so many trials in batches of one size."""
    run, trials = await begin(store, count), [make_trial(index) for index in range(count)]

    async def commit() -> None:
        for start in range(0, count, batch):
            await store.runs.commit_trials(run, trials[start : start + batch])

    await report(f"commit, {batch:>3} trials a batch", commit, count)


async def measure_crowd(store: Store, count: int) -> None:
    """Commit so many trials, 64 callers at once with one each; then read them."""
    run, trials = await begin(store, count), [make_trial(index) for index in range(count)]

    async def caller(own: Sequence[TrialRecord]) -> None:
        for trial in own:
            await store.runs.commit_trials(run, [trial])

    async def crowd() -> None:
        await asyncio.gather(*(caller(trials[start::64]) for start in range(64)))

    async def read() -> None:
        assert sum([1 async for _ in store.runs.trials(run)]) == count

    await report("commit, 64 callers", crowd, count)
    await report("read back", read, count)
    await report("keys alone", lambda: store.runs.keys(run), count)


async def report(what: str, work: Callable[[], Awaitable[object]], count: int) -> None:
    """Time some work and print one line."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rates = f"{2 * count / wall:>9,.0f} assessments/s {count / wall:>9,.0f} trials/s"
    print(f"  {what:<26} {rates}  {cpu / count * 1e6:>7.1f} µs CPU a trial")


async def fill(place: Path, count: int) -> None:
    """One run of so many trials."""
    store = await Store.open(place)
    run = await begin(store, count)
    for start in range(0, count, 256):
        await store.runs.commit_trials(run, [make_trial(index) for index in range(start, min(start + 256, count))])
    await store.aclose()


def measure_size(folder: Path, count: int) -> None:
    """Print the bytes that a trial takes in the file."""
    asyncio.run(fill(folder / "one.db", 1))
    asyncio.run(fill(folder / "many.db", count))
    size = (folder / "many.db").stat().st_size - (folder / "one.db").stat().st_size
    print(f"\nsize: {size / (count - 1):,.0f} bytes a trial, its case and two assessments included")


def main() -> None:
    """Measure what there is to measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=4_096, help="how many in the largest batches (4096)")
    parser.add_argument("--folder", type=Path, help="where to put the SQLite files: its disk is what is measured")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        asyncio.run(measure(Path(folder) / "store.db", given.trials))
        measure_size(Path(folder), given.trials)
    server = os.environ.get("JURAT_TEST_POSTGRES")
    if server:
        asyncio.run(measure(server, given.trials))
    else:
        print("\nPostgreSQL: not measured, JURAT_TEST_POSTGRES names no server")


if __name__ == "__main__":
    main()
