"""How often the interval of `jurat compare` covers the true difference: 1,000 simulated pairs of runs for each row.

    python benchmarks/compare_coverage.py [--pairs 1000] [--cases 20 30 50 200] [--trials 1 5] [--only WORDS]

Cases are drawn from a population; each has a difficulty of its own, which both runs share, and an effect of its own, by
which the candidate differs. So trials come in clusters, and the runs in pairs. The truth is the mean difference over
the whole population. For each pair the interval is computed as the program does (`jurat.metrics.paired`).

covers   of the intervals, those that hold the truth; bar: 93 to 97 %. Marked where it is missed
below    the truth lies below the interval; above: above it
width    the mean width, in points of the pass rate, or of the score
alarms   of the pairs, those in which the interval lies below 0 although nothing changed (rows without a change)
finds    of the pairs, those in which the interval excludes 0 (rows with a change)

Where three cases or fewer change sides (20 or 30 cases, one trial, a pass rate near 1), every interval that treats both
directions alike covers more often than it says, or less: three of three in one direction happen by chance one time in
four, so that to leave 0 out for these would be wrong too often, and to keep it in is what covers too often.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass

import numpy as np

from jurat.metrics.paired import spread_of

_POPULATION = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A population of cases.

    Attributes:
        level: of an average case on the logit scale; `spread` how far cases lie apart.
        effect: of the candidate on that scale, on average; `uneven` how far effects lie apart.
        scores: whether what is measured is a score of 0 to 100 instead of pass and fail.
    """

    name: str
    level: float
    spread: float
    effect: float
    uneven: float
    scores: bool = False

    def differences(self, draw: np.random.Generator, cases: int, trials: int) -> np.ndarray:
        """Candidate minus base for so many cases, each the mean of its trials."""
        base = self.level + self.spread * draw.standard_normal(cases)
        candidate = base + self.effect + self.uneven * draw.standard_normal(cases)
        found: np.ndarray = self._measured(draw, candidate, trials) - self._measured(draw, base, trials)
        return found

    def _measured(self, draw: np.random.Generator, logits: np.ndarray, trials: int) -> np.ndarray:
        if not self.scores:
            passes: np.ndarray = draw.binomial(trials, _share(logits)) / trials
            return passes
        noise = 0.5 * draw.standard_normal((trials, len(logits)))
        means: np.ndarray = np.round(100 * _share(logits + noise)).mean(axis=0)
        return means

    def truth(self) -> float:
        """The mean difference over the population, by many cases."""
        draw = np.random.default_rng(1)
        if self.scores:
            return float(np.mean([self.differences(draw, _POPULATION, 4).mean() for _ in range(8)]))
        base = self.level + self.spread * draw.standard_normal(8 * _POPULATION)
        candidate = base + self.effect + self.uneven * draw.standard_normal(8 * _POPULATION)
        return float((_share(candidate) - _share(base)).mean()) if self.effect or self.uneven else 0.0


def _share(logits: np.ndarray) -> np.ndarray:
    made: np.ndarray = 1 / (1 + np.exp(-logits))
    return made


WORLDS = (
    World(name="pass rate near 50 %, no change", level=0.0, spread=1.5, effect=0.0, uneven=0.0),
    World(name="pass rate near 80 %, falls", level=2.2, spread=2.0, effect=-0.7, uneven=0.7),
    World(name="pass rate near 90 %, falls a little", level=4.0, spread=3.0, effect=-0.5, uneven=1.0),
    World(name="pass rate near 95 %, no change", level=3.4, spread=1.0, effect=0.0, uneven=0.0),
    World(name="score near 50, no change", level=0.0, spread=1.0, effect=0.0, uneven=0.0, scores=True),
    World(name="score near 80, rises", level=1.5, spread=1.0, effect=0.3, uneven=0.5, scores=True),
    World(name="score near 90, rises", level=2.5, spread=1.0, effect=0.5, uneven=0.5, scores=True),
)


def row(world: World, truth: float, cases: int, trials: int, pairs: int) -> str:
    """One line of the table."""
    draw = np.random.default_rng([cases, trials, zlib.crc32(world.name.encode())])
    covers = low_side = high_side = alarms = excludes = none = 0
    width = 0.0
    for _ in range(pairs):
        found = spread_of(world.differences(draw, cases, trials).tolist(), shares=not world.scores).interval
        if found is None:
            none += 1
            continue
        low, high = found
        covers += low <= truth <= high
        low_side, high_side = low_side + (truth < low), high_side + (truth > high)
        alarms, excludes = alarms + (high < 0), excludes + (high < 0 or low > 0)
        width += high - low
    unit = 1 if world.scores else 100
    share = 100 * covers / pairs
    mark = "" if 93 <= share <= 97 else "  outside 93 to 97"
    tail = f"alarms {100 * alarms / pairs:4.1f} %" if not world.effect else f"finds  {100 * excludes / pairs:4.1f} %"
    return (
        f"{cases:>5}  {trials:>6}  {share:6.1f} %  {100 * low_side / pairs:5.1f} %  {100 * high_side / pairs:5.1f} %"
        f"  {unit * width / max(pairs - none, 1):7.2f}  {tail}{mark}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--cases", type=int, nargs="+", default=[20, 30, 50, 200])
    parser.add_argument("--trials", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--only", default="", metavar="WORDS", help="populations whose name holds these words")
    given = parser.parse_args()
    for world in (one for one in WORLDS if given.only in one.name):
        truth = world.truth()
        print(f"\n{world.name} (truth {truth if world.scores else 100 * truth:+.2f} points)")
        print("cases  trials    covers    below    above    width")
        for trials in given.trials:
            for cases in given.cases:
                print(row(world, truth, cases, trials, given.pairs), flush=True)


if __name__ == "__main__":
    main()
