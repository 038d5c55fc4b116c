"""Two runs compared as a whole: counts of cases, mean differences with intervals, and whether there is a regression.

Fed case by case, it keeps a few numbers of each. Means are exact; a case counts as much as any other, however many
trials it has. What is compared was measured alike in both runs; everything else is counted beside it. A regression that
was found is one whatever else is not known, and where one could hide, nobody says that there is none.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from jurat.jsontext import Json
from jurat.metrics.comparison import CaseComparison, Change
from jurat.metrics.comparison_parts import AssertionChange, mean_ms, mean_usd, share_of
from jurat.metrics.exact import as_float
from jurat.metrics.paired import mcnemar, spread_of
from jurat.report.digits import count
from jurat.report.record import RunRecord

__all__ = ["SUMMARY_VERSION", "ComparisonTally", "Regression"]

SUMMARY_VERSION = 1
MOST_ASSERTIONS = 2_000
"""How many assertions are compared apart."""


class Regression(StrEnum):
    """Whether there is one."""

    FOUND = "found"
    NONE = "none"
    UNDECIDED = "undecided"


@dataclass(slots=True)
class _Pairs:
    """One measure of the cases of which both runs know it."""

    base: Fraction = Fraction(0)
    candidate: Fraction = Fraction(0)
    differences: array[float] = field(default_factory=lambda: array("d"))
    unknown: int = 0

    def add(self, old: Fraction | None, new: Fraction | None) -> None:
        if old is None or new is None:
            self.unknown += 1
            return
        self.base += old
        self.candidate += new
        self.differences.append(as_float(new - old))

    def to_json(self, *, shares: bool = False) -> dict[str, Json]:
        n = len(self.differences)
        spread = spread_of(self.differences, shares=shares)
        return {
            "cases": n,
            "unknown": self.unknown,
            "base": as_float(self.base / n) if n else None,
            "candidate": as_float(self.candidate / n) if n else None,
            "difference": as_float((self.candidate - self.base) / n) if n else None,
            "interval": None if spread.interval is None else list(spread.interval),
            "smallest_visible": spread.smallest_visible,
        }


@dataclass(slots=True)
class _Assertion:
    """One assertion over all cases."""

    type: str
    template: str | None
    scale: tuple[float, float] | None
    pairs: _Pairs = field(default_factory=_Pairs)
    incompatible: int = 0


class ComparisonTally:
    """Counts what became of the cases of two runs.

    Args:
        base, candidate: the runs.
    """

    def __init__(self, base: RunRecord, candidate: RunRecord) -> None:
        self.base, self.candidate = base, candidate
        self.changes: Counter[Change] = Counter()
        self.hidden = 0
        self._undecided: Counter[str] = Counter()
        self._passes, self._ms, self._usd = _Pairs(), _Pairs(), _Pairs()
        self._at_worst = array("d")
        self._assertions: dict[str, _Assertion] = {}
        self._left_out = 0

    def add(self, found: CaseComparison) -> None:
        """Count one case."""
        self.changes[found.change] += 1
        self.hidden += found.hides
        for word, seen in (("base", found.base), ("candidate", found.candidate)):
            self._undecided[word] += seen is not None and not seen.status.decided
        if found.base is None or found.candidate is None:
            return
        self._add_passes(found)
        if found.asks_anew is False:
            self._ms.add(mean_ms(found.base), mean_ms(found.candidate))
            self._usd.add(mean_usd(found.base), mean_usd(found.candidate))
            for one in found.assertions:
                self._add_assertion(one)

    def _add_passes(self, found: CaseComparison) -> None:
        if found.change not in (Change.INCOMPATIBLE, Change.CHANGED) and found.base and found.candidate:
            self._passes.add(share_of(found.base), share_of(found.candidate))
        worst = found.at_worst
        if worst is not None:
            self._at_worst.append(as_float(worst))

    def _add_assertion(self, one: AssertionChange) -> None:
        if one.base is None or one.candidate is None:
            return
        known = self._assertions.get(one.name)
        if known is None:
            if len(self._assertions) >= MOST_ASSERTIONS:
                self._left_out += 1
                return
            facts = one.facts
            scale = facts.get("scale") or ((0.0, 100.0) if facts["type"] != "rubric_judge" else None)
            known = _Assertion(
                type=facts["type"], template=facts.get("template"), scale=None if scale is None else (*scale,)
            )
            self._assertions[one.name] = known
        if one.scores_apart or (one.facts.get("template"), one.facts["type"]) != (known.template, known.type):
            known.incompatible += 1
        else:
            known.pairs.add(one.base.score, one.candidate.score)

    # --- what it comes to ------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Json]:
        """Everything that was counted, as plain data. Shares are 0 to 1, durations milliseconds, costs US dollars."""
        changes = self.changes
        test = mcnemar(changes[Change.REGRESSED], changes[Change.FIXED])
        both = changes.total() - changes[Change.ADDED] - changes[Change.REMOVED]
        return {
            "schema_version": SUMMARY_VERSION,
            "cases": {
                "both": both,
                "compared": sum(changes[change] for change in Change if change.compared),
                "counts": {change.value: changes[change] for change in Change},
                "hiding": self.hidden,
                "undecided": {word: self._undecided[word] for word in ("base", "candidate")},
            },
            "pass_rate": self._passes.to_json(shares=True),
            "mcnemar": {
                "regressed": test.regressed,
                "fixed": test.fixed,
                "exact_p": test.exact_p,
                "mid_p": test.mid_p,
            },
            "assertions": [_assertion(name, made) for name, made in sorted(self._assertions.items())],
            "left_out": self._left_out,
            "latency_ms": self._ms.to_json(),
            "cost_usd": self._usd.to_json(),
            "differs": self._differs(),
            "warnings": self._warnings(),
        }

    @property
    def regression(self) -> Regression:
        """Whether a case regressed: `undecided` where none was seen, and one could hide."""
        if self.changes[Change.REGRESSED]:
            return Regression.FOUND
        nothing = not any(self.changes[change] for change in Change if change.compared)
        return Regression.UNDECIDED if self.hidden or nothing else Regression.NONE

    @property
    def significant_regression(self) -> Regression:
        """Whether the pass rate fell by more than chance explains: its interval lies below 0.

        `undecided` where it would, had everything undecided and incompatible gone against the candidate, or where
        nothing could be compared.
        """
        if _below_zero(self._passes.differences):
            return Regression.FOUND
        if not self._passes.differences or (self.hidden and _below_zero(self._at_worst)):
            return Regression.UNDECIDED
        return Regression.NONE

    def _differs(self) -> list[str]:
        """What the runs rest on that is not the same."""
        old, new = self.base, self.candidate
        pairs = {
            "suite": (old.suite_hash, new.suite_hash),
            "prompt": (old.snapshots.get("prompt"), new.snapshots.get("prompt")),
            "subject": (old.provenance.get("subject"), new.provenance.get("subject")),
            "judges": (old.provenance.get("judges"), new.provenance.get("judges")),
            "samples": (old.samples, new.samples),
            "reducer": (old.reducer, new.reducer),
            "jurat": (old.provenance.get("jurat"), new.provenance.get("jurat")),
            "prices": (old.provenance.get("prices"), new.provenance.get("prices")),
        }
        return [word for word, (one, other) in pairs.items() if one != other]

    def _warnings(self) -> list[str]:
        found = []
        old, new = self.base, self.candidate
        if old.suite != new.suite:
            found.append("the runs are of suites of different names; cases are the same by their names alone")
        if (old.samples, old.reducer) != (new.samples, new.reducer):
            found.append(
                f"the base has {count(old.samples, 'trial')} a case and the candidate {new.samples:,}, or they become "
                "one outcome in another way: cases may differ for that alone. Go by the pass rate, which counts trials"
            )
        lost, missing = self._undecided["base"], self._undecided["candidate"]
        if lost != missing:
            found.append(
                f"the runs are not equally decided: {count(lost, 'case')} undecided in the base, {missing:,} in the "
                "candidate. What is undecided is in no difference"
            )
        return found


def _below_zero(differences: array[float]) -> bool:
    if sum(differences) >= 0:
        return False
    found = spread_of(differences, shares=True).interval
    return found is not None and found[1] < 0


def _assertion(name: str, made: _Assertion) -> dict[str, Json]:
    return {
        "name": name,
        "type": made.type,
        "template": made.template,
        "range": None if made.scale is None else list(made.scale),
        "incompatible": made.incompatible,
        **made.pairs.to_json(),
    }
