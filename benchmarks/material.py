"""What the programs here judge: typical rows, in any number, and how a measured child process is run.

A row is a question, a passage and an answer, together some 900 characters. Every row has its own number in it, so that
no two requests are alike, and every row holds the two sentences that the loopback server quotes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RUBRIC = "faithfulness"
ANSWER = "A full tank of 3 litres waters four pots for about ten days."
PASSAGE = "The Mossbell tank holds 3 litres, which waters four pots for about ten days."
QUOTES = [{"message_index": 1, "quote": ANSWER}, {"message_index": 2, "quote": PASSAGE}]
MAPPING = "output=answer,rendered_input=question,context=passage"
JURAT = [sys.executable, "-c", "from jurat.cli import main; main()"]


def row(number: int) -> dict[str, str]:
    """One row, by its number."""
    return {
        "id": f"row-{number}",
        "question": f"Customer {number} asks: how long does a full tank last when four pots stand on the balcony?",
        "passage": f"{PASSAGE} When less than half a litre is left, the lamp blinks orange and the pump stops until "
        "the tank is filled again. In full sun, or above thirty degrees, the interval is shorter by a third; in the "
        "shade it may be twice as long. The filter is rinsed whenever the tank is filled, and replaced once a year. "
        "Rain water is fine; water from a softener is not, because its salt harms most plants.",
        "answer": f"{ANSWER} In full sun it will be about a third less, and in the shade up to twice as long, so look "
        f"at the lamp now and then: once it blinks orange there is less than half a litre left. Ticket {number}.",
    }


def rows(count: int) -> Iterator[dict[str, str]]:
    """So many rows."""
    return map(row, range(count))


def write_rows(file: Path, count: int) -> None:
    """Write so many rows as JSON Lines, one at a time."""
    with file.open("w", encoding="utf-8") as stream:
        for one in rows(count):
            stream.write(json.dumps(one) + "\n")


def write_config(folder: Path, url: str) -> None:
    """A configuration with the provider `loopback`. Its prices are given, so that every verdict is priced."""
    lines = ["[[providers]]", 'name = "loopback"', 'kind = "openai_compatible"', 'model = "loopback-1"']
    lines += [f'base_url = "{url}"', "timeout_s = 120", "prices = {input = 0.15, output = 0.6}"]
    (folder / "jurat.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def judge_command(file: Path, out: Path, *, provider: str = "loopback", more: Sequence[str] = ()) -> list[str]:
    """`jurat judge` on a file of rows, gate off, nothing printed but the summary."""
    command = [*JURAT, "judge", str(file), "--rubric", RUBRIC, "--provider", provider, "--map", MAPPING]
    return [*command, "--out", str(out), "--pass-rate", "0", "--format", "json", *more]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a finished child process took, by the kernel's account of that process alone."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    output: str

    def minus(self, start: Taken) -> Taken:
        """What it took beyond another one. The peak is not a difference."""
        return Taken(
            cpu_s=self.cpu_s - start.cpu_s,
            wall_s=self.wall_s - start.wall_s,
            peak_mb=self.peak_mb,
            output=self.output,
        )


def child_environment() -> Mapping[str, str]:
    """The environment of a measured child: byte code is written and used, as it is for everybody."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run_child(command: Sequence[str], folder: Path) -> Taken:
    """Run a command to its end and account for it.

    Raises:
        RuntimeError: when it fails.
    """
    import time

    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=child_environment(), stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"expected exit code 0, found {process.returncode}: {' '.join(command[-12:])}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Taken(cpu_s=used.ru_utime + used.ru_stime, wall_s=wall_s, peak_mb=used.ru_maxrss * unit / 1e6, output=output)
