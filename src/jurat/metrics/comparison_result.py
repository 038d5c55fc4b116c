"""A comparison as a program of somebody's own has it: what `jurat compare --format json` tells, with types.

It is a view of the document and computes nothing anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jurat.jsontext import Json
from jurat.metrics.comparison import Change
from jurat.metrics.comparison_tally import Regression
from jurat.vocabulary import Status

__all__ = ["ComparedCase", "Comparison", "Difference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One measure in both runs, over the cases of which both know it.

    Attributes:
        cases: over how many; `unknown` how many more there are of which a run does not know it.
        base, candidate, difference: means, and the second less the first; None of no case.
        interval: 95 %, of the difference; None where there is none.
        smallest_visible: the smallest true difference that so many cases show four times out of five.
    """

    cases: int
    unknown: int
    base: float | None
    candidate: float | None
    difference: float | None
    interval: tuple[float, float] | None
    smallest_visible: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCase:
    """What became of a case.

    Attributes:
        why: what keeps its outcomes from being compared, in words; empty where they are.
        hides: whether it could be a regression that cannot be seen.
        base, candidate: its outcome; None where the run does not have it.
        difference: by how much the share of passes rose; None where it cannot be said.
        told: everything about it, as the document has it.
    """

    name: str
    change: Change
    why: tuple[str, ...]
    hides: bool
    base: Status | None
    candidate: Status | None
    difference: float | None
    told: Mapping[str, Json]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two runs, compared.

    Attributes:
        document: all of it, as `jurat compare --format json` writes it and `jurat schema comparison` describes it.
    """

    document: Mapping[str, Any]

    @property
    def regression(self) -> Regression:
        """Whether a case regressed: `found`, `none`, or `undecided` where one could hide."""
        return Regression(self.document["regression"])

    @property
    def significant_regression(self) -> Regression:
        """Whether the pass rate fell by more than chance explains; `undecided` where it could have, unseen."""
        return Regression(self.document["significant_regression"])

    @cached_property
    def cases(self) -> tuple[ComparedCase, ...]:
        """Every case of either run, in the order in which the runs have them; those of one run alone come last."""
        return tuple(map(_case, self.document["cases"]))

    def named(self, *changes: Change | str) -> tuple[str, ...]:
        """The names of the cases of which this became."""
        wanted = {Change(one) for one in changes}
        return tuple(one.name for one in self.cases if one.change in wanted)

    @property
    def counts(self) -> dict[Change, int]:
        """How many cases became what."""
        return {Change(word): number for word, number in self.document["summary"]["cases"]["counts"].items()}

    @property
    def pass_rate(self) -> Difference:
        """The pass rate of decided trials, each case counting as much as any other, 0 to 1."""
        return _difference(self.document["summary"]["pass_rate"])

    @property
    def assertions(self) -> dict[str, Difference]:
        """The mean score of each assertion, on its own scale."""
        return {one["name"]: _difference(one) for one in self.document["summary"]["assertions"]}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind about these two runs."""
        return tuple(self.document["summary"]["warnings"])


def _difference(told: Mapping[str, Any]) -> Difference:
    interval = told["interval"]
    return Difference(
        cases=told["cases"],
        unknown=told["unknown"],
        base=told["base"],
        candidate=told["candidate"],
        difference=told["difference"],
        interval=None if interval is None else (interval[0], interval[1]),
        smallest_visible=told["smallest_visible"],
    )


def _case(told: Mapping[str, Any]) -> ComparedCase:
    base, candidate = told["base"], told["candidate"]
    return ComparedCase(
        name=told["name"],
        change=Change(told["change"]),
        why=tuple(told["why"]),
        hides=told["hides"],
        base=None if base is None else Status(base["status"]),
        candidate=None if candidate is None else Status(candidate["status"]),
        difference=told["difference"],
        told=told,
    )
