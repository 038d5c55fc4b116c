"""A suite of any size whose subject and judge are scripts, for the programs here that run `jurat run` in full.

A trial is one call of the subject, one of the judge, and one deterministic assertion. Replies are picked by a hash of
the request, so that a run comes out the same in whatever order its calls are made, however often it is broken off.
What was asked is noted in `calls.log`, a key a line. `lively` scripts take their time (every ninth reply longer), err
now and then, and have prices; every tenth case asks the same as the one before it, so that replies are shared. (Those
never err: what failed is shared by who asks meanwhile, and asked for again by who comes later, as chance will have it.)
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from material import JURAT, child_environment

__all__ = ["LOG", "STORE", "SUITE", "asked", "jurat", "jurat_command", "load", "write_suite"]

SUITE, STORE, LOG = "suite.json", "store.db", "calls.log"
ANSWER = "A full tank waters four pots for about ten days."
PRICES = {"input": 0.15, "output": 0.6}
USAGE = {"input_tokens": 640, "output_tokens": 96}
SLOW_EVERY = 9


def write_suite(folder: Path, cases: int, *, samples: int = 1, in_flight: int = 16, lively: bool = False) -> None:
    """Write `suite.json` and its cases file, a case at a time."""
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(cases):
            asks = number - 1 if lively and number % 10 == 9 else number
            case = {"name": f"case-{number}", "variables": {"n": asks}, "expected": "ten days"}
            stream.write(json.dumps(case) + "\n")
    suite = {
        "schema_version": 1,
        "suite": "scripted",
        "providers": [
            _provider("answerer", _answers(), erring=(5, 46) if lively else ()),
            _provider("judge", _verdicts(), erring=(17, 33) if lively else ()),
        ],
        "prompt": "Customer {{n}} asks how long a full tank lasts.",
        "subject": "answerer",
        "sampling": {"samples": samples},
        "limits": {"concurrency": in_flight},
        "assertions": [
            {"type": "contains", "value": "ten days"},
            {"type": "rubric_judge", "template": "correctness", "provider": "judge", "threshold": 60},
        ],
        "cases_file": "cases.jsonl",
    }
    (folder / SUITE).write_text(json.dumps(suite, indent=1), encoding="utf-8")


def _answers() -> list[dict[str, object]]:
    return [{"text": f"{ANSWER} Ticket {number}."} for number in range(101)]


def _verdicts() -> list[dict[str, object]]:
    quote = [{"message_index": 1, "quote": "ten days"}]
    sound: list[dict[str, object]] = [
        {"json": {"evidence": quote, "reason": f"It says so, for reason {score}.", "score": score}}
        for score in range(101)
    ]
    return [*sound, {"text": "I would rather not say."}, {"text": "", "finish_reason": "length"}]


def _provider(name: str, replies: Sequence[Mapping[str, object]], erring: Sequence[int]) -> dict[str, object]:
    """A script; a lively one errs with the customers of these numbers."""
    made = [dict(reply) for reply in replies]
    row: dict[str, object] = {"name": name, "kind": "scripted", "order": "by_request"}
    if erring:
        for place, reply in enumerate(made):
            reply["delay_s"] = 0.05 if place % SLOW_EVERY == 0 else 0.002
            reply["latency_ms"] = 100 + place / 7
            reply["usage"] = USAGE
        made += [{"match": f"Customer {n} asks", "error": "network_error", "delay_s": 0.002} for n in erring]
        row.update(prices=PRICES, call_log=LOG)
    return {**row, "replies": made}


def asked(folder: Path) -> list[str]:
    """The keys of all calls so far, in order."""
    log = folder / LOG
    return log.read_text(encoding="ascii").split() if log.exists() else []


def jurat_command(*words: str) -> list[str]:
    """The program, with the store of these suites."""
    return [*JURAT, *words, "--store", STORE]


def jurat(folder: Path, *words: str, first: str = "", streams: str = "") -> subprocess.CompletedProcess[str]:
    """The program in a folder, to its end.

    Args:
        first: what a shell does before, such as setting limits.
        streams: how the shell redirects its streams.
    """
    shell = ["bash", "-c", f'{first or ":"}; "$@" {streams}', "bash"] if first or streams else []
    return subprocess.run(
        [*shell, *jurat_command(*words)],
        cwd=folder,
        env={**child_environment(), "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def load() -> str:
    """How busy the machine is, beside every figure."""
    return f"load {os.getloadavg()[0]:.1f}"
