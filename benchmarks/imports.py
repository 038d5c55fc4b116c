"""What starting costs: CPU seconds (user + system) of fresh interpreters.

    python benchmarks/imports.py [--repeats 15]

Byte code is compiled first, as an installer does, and the children run without PYTHONDONTWRITEBYTECODE, which would
also be measured otherwise. `pytest plugin` is what a session of pytest in an empty folder takes with the plugin, as it
is installed, less what it takes without. Figures are medians; the bare interpreter is printed to compare.
"""

from __future__ import annotations

import argparse
import compileall
import statistics
import sys
import tempfile
from pathlib import Path

import jurat
from material import run_child

HELP = "import sys; sys.argv = ['jurat', '--help']; from jurat.cli import main; main()"
CASES = (
    ("the bare interpreter", "pass", None),
    ("import jurat", "import jurat", 0.20),
    ("jurat --help", HELP, 0.30),
    ("import jurat and judge", "import jurat; jurat.Judge", None),
    ("import aiohttp (to compare)", "import aiohttp", None),
)


def cpu_s(code: str, repeats: int) -> list[float]:
    """CPU seconds of so many fresh interpreters that run this code."""
    return [run_child([sys.executable, "-c", code], Path.cwd()).cpu_s for _ in range(repeats)]


def report(what: str, figures: list[float], bar_s: float | None) -> None:
    """Print one line."""
    median = statistics.median(figures)
    bar = f"   ratio to the bar of {bar_s:.2f} s: {median / bar_s:.2f}" if bar_s else ""
    print(f"  {what:<34} {median:.3f} s (least {min(figures):.3f}){bar}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="interpreters for each figure (15)")
    given = parser.parse_args()
    compileall.compile_dir(str(Path(jurat.__file__).parent), quiet=1)
    print(f"CPU seconds, medians of {given.repeats} fresh interpreters, byte code compiled")
    for what, code, bar_s in CASES:
        report(what, cpu_s(code, given.repeats), bar_s)
    with tempfile.TemporaryDirectory() as empty:
        # A shorter command, such as --version, loads no plugin at all.
        quiet = ["-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function", empty]
        start = f"import pytest; pytest.main([*{quiet!r}, *{{0!r}}])"
        without = cpu_s(start.format(["-p", "no:jurat"]), given.repeats)
        with_it = cpu_s(start.format([]), given.repeats)
    report("pytest without the plugin", without, None)
    report("pytest plugin", [one - statistics.median(without) for one in with_it], 0.15)


if __name__ == "__main__":
    main()
