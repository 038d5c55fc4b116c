"""What `jurat judge` and `jurat run` add to their calls, against a bare aiohttp client that makes the same calls.

    python benchmarks/overhead.py [cpu] [wall] [many] [run] [--repeats 5] [--rows 4000]

cpu   CPU (user + system, of the whole client process by the kernel's account) of one judgement at 0 ms latency and 32
      calls in flight. Start-up is taken out: each figure is the difference of a long and a short run. Bar: 2.0 times.
wall  4,000 judgements at 200 ms latency, 256 in flight: wall time, start-up included. Bar: 1.15 times.
many  5,000 judgements at 1 s latency, 1,000 in flight: wall time, and peak memory. Bars: 1.10 times, 120 MB.
run   the first two of `jurat run`: a trial is a call of the subject, one of the judge, and a deterministic assertion;
      the suite is read and kept, the run begun, decided and told. Rows are trials; the bare client makes both calls.

jurat runs as the command line does: rows read from a file, prompts rendered, replies committed to a SQLite store
(durable, `synchronous=FULL`), answers validated with two quotes each, verdicts written, the summary printed. The bare
client posts the very same bytes, recorded from jurat's own first run, and parses the replies. Both talk to the same
loopback server, in turn and repeatedly; what is printed are medians of the ratios of neighbours in time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loopback_chat import Running, running
from material import JURAT, RUBRIC, Taken, judge_command, rows, run_child, write_config, write_rows
from scripted_suite import load

WHAT = ("cpu", "wall", "many", "run")
BARE = str(Path(__file__).with_name("bare_client.py"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A folder with rows and recorded bodies, and the server that answers."""

    folder: Path
    server: Running
    in_flight: int

    def jurat(self, count: int) -> Taken:
        """Judge so many rows, in a new store and a new verdict file."""
        for left in (self.folder / "out.jsonl", *(self.folder / ".jurat").glob("*")):
            left.unlink(missing_ok=True)
        options = ["--limit", str(count), "--concurrency", str(self.in_flight)]
        taken = run_child(judge_command(Path("rows.jsonl"), Path("out.jsonl"), more=options), self.folder)
        with (self.folder / "out.jsonl").open("rb") as stream:
            decided = sum(b'"status":"completed"' in line for line in stream)
        if decided != count:
            raise RuntimeError(f"expected {count} decided verdicts, found {decided}")
        return taken

    def bare(self, count: int) -> Taken:
        """Make the same calls barely."""
        url = f"{self.server.url}/chat/completions"
        command = [sys.executable, BARE, url, "bodies", str(count), str(self.in_flight)]
        return run_child(command, self.folder)


def _case(row: dict[str, str]) -> dict[str, object]:
    return {"name": row["id"], "variables": {"question": row["question"], "passage": row["passage"]}}


SUITE: dict[str, object] = {
    "schema_version": 1,
    "suite": "overhead",
    "prompt": "{{question}}",
    "subject": "loopback",
    "assertions": [
        {"type": "contains", "value": "about ten days"},
        {"type": "rubric_judge", "template": RUBRIC, "provider": "loopback", "context": "{{passage}}"},
    ],
    "cases_file": "cases.jsonl",
}


class RunBench(Bench):
    """The same for `jurat run`: two calls a trial."""

    def jurat(self, count: int) -> Taken:
        """Run so many trials, in a new store."""
        for left in (self.folder / ".jurat").glob("*"):
            left.unlink(missing_ok=True)
        with (self.folder / "cases.jsonl").open("w", encoding="utf-8") as stream:
            for one in rows(count):
                stream.write(json.dumps(_case(one)) + "\n")
        (self.folder / "suite.json").write_text(json.dumps(SUITE), encoding="utf-8")
        options = ["--concurrency", str(self.in_flight), "--fail-on", "never", "--format", "json"]
        taken = run_child([*JURAT, "run", "suite.json", *options], self.folder)
        counts = json.loads(taken.output)["summary"]["trials"]["counts"]
        if counts["pass"] + counts["fail"] != count:
            raise RuntimeError(f"expected {count} decided trials, found {counts}")
        return taken

    def bare(self, count: int) -> Taken:
        """Make both calls of so many trials barely."""
        return super().bare(2 * count)


def record(kind: type[Bench], folder: Path, count: int) -> None:
    """Write the rows, and the bodies that jurat sends for them. Also compiles everything to byte code."""
    write_rows(folder / "rows.jsonl", count)
    bodies = folder / "bodies"
    bodies.unlink(missing_ok=True)
    with running(record=bodies) as server:
        write_config(folder, server.url)
        kind(folder=folder, server=server, in_flight=32).jurat(count)
    with bodies.open("rb") as stream:
        calls = sum(1 for _ in stream)
    size = bodies.stat().st_size / calls
    print(
        f"\n{count} rows, {calls} calls of {size:,.0f} bytes, of which most is the trusted instruction and the schema"
    )


def measure_cpu(kind: type[Bench], folder: Path, count: int, repeats: int) -> None:
    """Print CPU a judgement, or a trial, against that of its bare calls."""
    short = max(count // 8, 1)
    print(f"\ncpu: 0 ms latency, 32 in flight, {count} less {short} rows, {repeats} times in turn ({load()})")
    ratios: list[float] = []
    sums = [0.0, 0.0]
    with running() as server:
        write_config(folder, server.url)
        bench = kind(folder=folder, server=server, in_flight=32)
        for _ in range(repeats):
            ours = bench.jurat(count).minus(start := bench.jurat(short))
            theirs = bench.bare(count).minus(bare_start := bench.bare(short))
            ratios.append(ours.cpu_s / theirs.cpu_s)
            sums = [sums[0] + ours.cpu_s, sums[1] + theirs.cpu_s]
            each = 1e6 / (count - short)
            print(
                f"  jurat {ours.cpu_s * each:6.1f} µs (start-up {_start(start, ours, short, count):.2f} s), "
                f"bare {theirs.cpu_s * each:6.1f} µs (start-up {_start(bare_start, theirs, short, count):.2f} s): "
                f"ratio {ratios[-1]:.2f}"
            )
    print(f"  CPU ratio, median: {statistics.median(ratios):.2f}; of the sums: {sums[0] / sums[1]:.2f} (bar 2.0)")


def _start(short_run: Taken, slope: Taken, short: int, count: int) -> float:
    return short_run.cpu_s - slope.cpu_s / (count - short) * short


def measure_wall(
    kind: type[Bench], folder: Path, count: int, latency_ms: float, in_flight: int, repeats: int, bar: str
) -> None:
    """Print wall time and peak memory against the bare client's."""
    print(f"\nwall: {count} at {latency_ms:g} ms, {in_flight} in flight, {repeats} times in turn ({load()})")
    ratios: list[float] = []
    peaks: list[float] = []
    with running(latency_ms) as server:
        write_config(folder, server.url)
        bench = kind(folder=folder, server=server, in_flight=in_flight)
        for _ in range(repeats):
            ours, theirs = bench.jurat(count), bench.bare(count)
            ratios.append(ours.wall_s / theirs.wall_s)
            peaks.append(ours.peak_mb)
            print(
                f"  jurat {ours.wall_s:.2f} s ({ours.cpu_s:.2f} s CPU, peak {ours.peak_mb:.0f} MB), bare "
                f"{theirs.wall_s:.2f} s ({theirs.cpu_s:.2f} s CPU, peak {theirs.peak_mb:.0f} MB): "
                f"ratio {ratios[-1]:.3f}"
            )
        most = server.counts().most_in_flight
    print(f"  wall ratio, median: {statistics.median(ratios):.3f} ({bar}); in flight at most: {most}")
    print(f"  peak memory of jurat, worst: {max(peaks):.0f} MB")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what was asked for; everything by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help=f"{', '.join(WHAT)} (all)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each pair is measured (5)")
    parser.add_argument("--rows", type=int, default=4_000, help="judgements of cpu and wall, trials of run (4000)")
    given = parser.parse_args(arguments)
    wanted, rows_wanted, repeats = set(given.what or WHAT), given.rows, given.repeats
    if unknown := wanted - set(WHAT):
        parser.error(f"expected some of {', '.join(WHAT)}, found {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if wanted - {"run"}:
            record(Bench, folder, max(rows_wanted, 5_000 if "many" in wanted else 0))
        if "cpu" in wanted:
            measure_cpu(Bench, folder, rows_wanted, repeats)
        if "wall" in wanted:
            measure_wall(Bench, folder, rows_wanted, 200.0, 256, repeats, "bar 1.15")
        if "many" in wanted:
            measure_wall(Bench, folder, 5_000, 1_000.0, 1_000, repeats, "bar 1.10; memory 120 MB")
        if "run" in wanted:
            record(RunBench, folder, rows_wanted)
            measure_cpu(RunBench, folder, rows_wanted, repeats)
            measure_wall(RunBench, folder, rows_wanted, 200.0, 256, repeats, "no bar")


if __name__ == "__main__":
    main()
