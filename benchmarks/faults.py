"""Faults on the way: no verdict may be lost or doubled, and attempts have to add up to what the server counted itself.

    python benchmarks/faults.py [--rows 2000] [--latencies 0 200 1000] [--in-flight 32 256 1000]

`jurat judge` runs as the command line does against a loopback server that answers 5 % of the requests with a 429,
breaks 1 % of the connections and gives an invalid verdict in 1 % (`loopback_chat.py --faults`). For every latency and
bound it prints the wall time and the same without faults, and holds the verdict file against the server's own account:

rows        every row has one verdict, in its place
attempts    the sum over all verdicts is the number of requests that the server saw
failed      the attempts that failed, by category, are the server's own faults by kind
malformed   the verdicts that are errors for an invalid answer are as many as the server gave

It ends with exit code 1 when anything does not add up.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from loopback_chat import Counts, running
from material import Taken, judge_command, run_child, write_config, write_rows


def judge(folder: Path, count: int, in_flight: int) -> Taken:
    """Judge so many rows, in a new store and a new verdict file."""
    for left in (folder / "out.jsonl", *(folder / ".jurat").glob("*")):
        left.unlink(missing_ok=True)
    options = ["--limit", str(count), "--concurrency", str(in_flight)]
    command = judge_command(Path("rows.jsonl"), Path("out.jsonl"), more=options)
    # Whether the gate is decided is not the question here: 3 says that some verdicts are errors, which they are.
    accepting = f"{sys.executable} -c 'from jurat.cli import main; main()' " + " ".join(command[3:]) + "; [ $? -le 3 ]"
    return run_child(["bash", "-c", accepting], folder)


def account(file: Path, count: int, counts: Counts) -> list[str]:
    """What does not add up, in words."""
    verdicts = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    attempts, failed, errors = 0, Counter[str](), Counter[str]()
    for verdict in verdicts:
        evaluator = verdict["evaluator"]
        attempts += evaluator["attempts"]
        failed.update(evaluator.get("failed_attempts", {}))
        if "error" in evaluator:
            errors[evaluator["error"]["type"]] += 1
    found = {
        "rows": ([verdict["id"] for verdict in verdicts], [f"row-{number}" for number in range(count)]),
        "attempts": (attempts, counts.requests),
        "failed": (dict(failed), {"rate_limited": counts.rate_limited, "network_error": counts.resets}),
        "malformed": (errors["malformed_json"], counts.malformed),
    }
    wrong = [name for name, (ours, theirs) in found.items() if ours != theirs]
    shown = [
        f"{name}: {found[name]}" if name != "rows" else "rows are missing, doubled or out of place" for name in wrong
    ]
    lasting = {name: number for name, number in errors.items() if name != "malformed_json"}
    print(
        f"    {len(verdicts)} verdicts, {attempts} attempts of {counts.requests} requests, failed {dict(failed)}, "
        f"malformed {errors['malformed_json']}, given up {lasting or 'none'}: "
        + ("adds up" if not wrong else "DOES NOT ADD UP: " + "; ".join(shown))
    )
    return wrong


def measure(folder: Path, count: int, latency_ms: float, in_flight: int) -> bool:
    """One latency and one bound: whether everything adds up."""
    with running(latency_ms) as server:
        write_config(folder, server.url)
        plain = judge(folder, count, in_flight)
    with running(latency_ms, faults=True) as server:
        write_config(folder, server.url)
        taken = judge(folder, count, in_flight)
        counts = server.counts()
    print(
        f"  {latency_ms:g} ms, {in_flight} in flight: {taken.wall_s:.2f} s with faults, {plain.wall_s:.2f} s without; "
        f"at most {counts.most_in_flight} in flight, peak {taken.peak_mb:.0f} MB"
    )
    return not account(folder / "out.jsonl", count, counts) and counts.most_in_flight <= in_flight


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000, help="judgements of each pair (2000)")
    parser.add_argument("--latencies", type=float, nargs="+", default=[0.0, 200.0, 1000.0], help="in milliseconds")
    parser.add_argument("--in-flight", type=int, nargs="+", default=[32, 256, 1000], help="bounds")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "rows.jsonl", given.rows)
        print(f"{given.rows} judgements each, with 5 % 429, 1 % broken connections, 1 % invalid verdicts")
        fine = [measure(folder, given.rows, ms, bound) for ms in given.latencies for bound in given.in_flight]
    if not all(fine):
        sys.exit("something does not add up")
    print("nothing lost, nothing doubled, and every attempt is one of the server's own")


if __name__ == "__main__":
    main()
