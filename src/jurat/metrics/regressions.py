"""A run beside its baseline, case by case, as far as the rules about regressions need it: in constant space.

Only what both runs have, and what was measured alike, is held against each other. A case that was measured in another
way (another rubric revision, judge or threshold) could have changed by anything; one that asks something else than it
did is not better, and where it may be worse, that stays open; a new one, and one that is gone, say nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from jurat.metrics.comparison import CaseComparison, Change
from jurat.metrics.comparison_parts import Appearance, AssertionChange, Measured, share_at
from jurat.metrics.exact import as_written
from jurat.metrics.rules import Rule, RuleType
from jurat.vocabulary import Status

__all__ = ["Paired", "Regressions"]

_Ends = tuple[Fraction, Fraction]
_SHARE: _Ends = (Fraction(0), Fraction(1))
_PERCENT = (0.0, 100.0)
_MOST_UNPLACED = 2_000


@dataclass(slots=True)
class Paired:
    """What one rule looks at, in both runs: cases, or the verdicts of an assertion on a case.

    Attributes:
        decided: in both runs; `new` and `old` are the sums over these.
        undecided: in either run.
        apart: measured in another way.
        anew: of cases that ask something else now.
        low, high: the sum of all changes, at the worst and at the best.
        regressed, fixed, hidden: cases that passed and fail, failed and pass, or could have regressed unseen.
        scales: of the scores; one, where they have a mean.
    """

    decided: int = 0
    undecided: int = 0
    apart: int = 0
    anew: int = 0
    new: Fraction = Fraction(0)
    old: Fraction = Fraction(0)
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    regressed: int = 0
    fixed: int = 0
    hidden: int = 0
    scales: set[tuple[float, float]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    unplaced: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """How many there are."""
        return self.decided + self.undecided + self.apart + self.anew

    @property
    def change(self) -> Fraction | None:
        """The mean change of the decided; None of none."""
        return (self.new - self.old) / self.decided if self.decided else None

    @property
    def bounds(self) -> _Ends:
        """What the mean change could be, were everything decided and measured alike."""
        return self.low / self.total, self.high / self.total

    def add(self, old: _Ends, new: _Ends) -> None:
        """Count what was measured alike, each side with what it could be."""
        self.low += new[0] - old[1]
        self.high += new[1] - old[0]
        if old[0] == old[1] and new[0] == new[1]:
            self.decided += 1
            self.old += old[0]
            self.new += new[0]
        else:
            self.undecided += 1

    def add_apart(self, low: Fraction, high: Fraction) -> None:
        """Count what was measured in another way, by what its change could be."""
        self.apart += 1
        self.low += low
        self.high += high

    def add_anew(self, old: _Ends, new: _Ends) -> None:
        """Count what asks something else: never better, and perhaps worse."""
        self.anew += 1
        self.low += min(new[0] - old[1], Fraction(0))

    def settle(self) -> None:
        """Count the verdicts of which no run said by what they were to be judged with the assertions they are of."""
        for name in sorted(self.names & set(self.unplaced)):
            low, high = next(iter(self.scales), _PERCENT)
            self.undecided += self.unplaced[name]
            reach = (as_written(high) - as_written(low)) * self.unplaced.pop(name)
            self.low, self.high = self.low - reach, self.high + reach


class Regressions:
    """Two runs side by side, for the rules of a policy that compare them.

    Args:
        rules: those of a policy; the others are left aside.
        baseline: the id of the earlier run.

    Attributes:
        added, removed: cases that one run alone has.
    """

    def __init__(self, rules: Iterable[Rule], baseline: str) -> None:
        self.baseline = baseline
        self.added = self.removed = 0
        self._paired = {rule: Paired() for rule in rules if rule.type is RuleType.NO_REGRESSION}

    def add(self, found: CaseComparison) -> None:
        """Count one case of either run."""
        self.added += found.change is Change.ADDED
        self.removed += found.change is Change.REMOVED
        if found.base is None or found.candidate is None:
            return
        for rule, paired in self._paired.items():
            if rule.assertion is None and rule.template is None:
                _add_case(rule, paired, found, found.base, found.candidate)
            else:
                _add_scores(rule, paired, found, found.base.planned, found.candidate.planned)

    def of(self, rule: Rule) -> Paired:
        """What a rule looks at.

        Raises:
            ValueError: when it is none of those that were told.
        """
        if rule not in self._paired:
            raise ValueError("the rule was not told when the runs were compared")
        self._paired[rule].settle()
        return self._paired[rule]


def _add_case(rule: Rule, paired: Paired, found: CaseComparison, base: Appearance, candidate: Appearance) -> None:
    ends = _share_of_trials if rule.of == "trials" else _share_of_case
    old, new = ends(base), ends(candidate)
    paired.regressed += found.change is Change.REGRESSED
    paired.fixed += found.change is Change.FIXED
    paired.hidden += found.hides
    if found.change is Change.INCOMPATIBLE:
        paired.add_apart(-old[1], 1 - old[0])
    elif found.change is Change.CHANGED:
        paired.add_anew(old, new)
    else:
        paired.add(old, new)


def _share_of_case(seen: Appearance) -> _Ends:
    if not seen.status.decided:
        return _SHARE
    passed = Fraction(seen.status is Status.PASS)
    return passed, passed


def _share_of_trials(seen: Appearance) -> _Ends:
    return share_at(seen, best=False), share_at(seen, best=True)


# --- scores --------------------------------------------------------------------------------------------------------


def _add_scores(rule: Rule, paired: Paired, found: CaseComparison, old_trials: int, new_trials: int) -> None:
    for one in found.assertions:
        if one.base is None or one.candidate is None:
            continue
        template = one.facts.get("template")
        if template is None and rule.template is not None and one.facts["type"] == "rubric_judge":
            if len(paired.unplaced) < _MOST_UNPLACED:
                paired.unplaced[one.name] += 1
        elif rule.counts(one.name, template or ""):
            paired.names.add(one.name)
            _add_score(paired, one, old_trials, new_trials, anew=found.asks_anew is not False)


def _add_score(paired: Paired, one: AssertionChange, old_trials: int, new_trials: int, *, anew: bool) -> None:
    assert one.base is not None  # noqa: S101 - for the type checker
    assert one.candidate is not None  # noqa: S101
    scale = next(_scales(one.candidate, one.base), _PERCENT)
    paired.scales.add(scale)
    old, new = _mean(one.base, old_trials, scale), _mean(one.candidate, new_trials, scale)
    if one.scores_apart:
        reach = as_written(scale[1]) - as_written(scale[0])
        paired.add_apart(-reach, reach)
    elif anew:
        paired.add_anew(old, new)
    else:
        paired.add(old, new)


def _scales(*sides: Measured) -> Iterator[tuple[float, float]]:
    for side in sides:
        told = side.facts.get("scale")
        if told is not None:
            yield float(told[0]), float(told[1])


def _mean(side: Measured, trials: int, scale: tuple[float, float]) -> _Ends:
    """The mean score had everything undecided come out at the lower end of its scale, and at the upper one."""
    decided = side.passed + side.failed
    total = max(trials, decided + side.undecided)
    reached = (side.score or Fraction(0)) * decided
    low, high = ((reached + (total - decided) * as_written(end)) / total for end in scale)
    return low, high
