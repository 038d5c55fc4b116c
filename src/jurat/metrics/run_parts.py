"""The parts of a run's tally: flips, durations, spending, assertions. Each is added to and never holds what it saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jurat.jsontext import Json
from jurat.judge import Spending
from jurat.metrics.exact import ExactSum, Moments
from jurat.metrics.quantiles import LogHistogram
from jurat.metrics.rates import Clusters, Rate
from jurat.vocabulary import Status

__all__ = ["AssertionKey", "AssertionTally", "Flips", "Latency", "Outcomes", "Stage", "count_bounded"]


@dataclass(slots=True)
class Flips:
    """How often repeats of the same contradict each other, over all groups of two or more.

    Attributes:
        groups: with at least two decided.
        decided: outcomes in those.
        minority: of them, those that differ from their group's majority.
        least, most: what the minority could be, were everything decided, in `total` outcomes.
    """

    groups: int = 0
    decided: int = 0
    minority: int = 0
    least: int = 0
    most: int = 0
    total: int = 0

    def add(self, passed: int, failed: int, undecided: int) -> None:
        """Add one group."""
        fewer, decided = min(passed, failed), passed + failed
        total = decided + undecided
        if decided >= 2:
            self.groups += 1
            self.decided += decided
            self.minority += fewer
        if total >= 2:
            self.total += total
            self.least += fewer
            self.most += min(total // 2, fewer + undecided)

    def include(self, other: Flips) -> None:
        """Add the groups of another."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def rate(self) -> float | None:
        """The share of the decided that differ from their group's majority, 0 to 0.5; None without a group."""
        return self.minority / self.decided if self.decided else None


@dataclass(slots=True)
class Outcomes:
    """Statuses of many of a kind (`unfinished` ones have none yet), and what rate they come to."""

    counts: Counter[Status] = field(default_factory=Counter)
    unfinished: int = 0

    @property
    def total(self) -> int:
        """How many there are, the unfinished ones too."""
        return self.counts.total() + self.unfinished

    @property
    def rate(self) -> Rate:
        """Passes among the decided, everything else undecided."""
        passed, failed = self.counts[Status.PASS], self.counts[Status.FAIL]
        return Rate(passed=passed, failed=failed, undecided=self.total - passed - failed)


class Latency:
    """Durations in milliseconds: mean, quantiles, and exactly how many keep a limit that a rule set beforehand."""

    __slots__ = ("_histogram", "at_most", "high", "sum", "unknown")

    def __init__(self, limits: tuple[float, ...] = ()) -> None:
        self._histogram = LogHistogram()
        self.sum = ExactSum()
        self.at_most = dict.fromkeys(limits, 0)
        self.high: float | None = None
        self.unknown = 0

    def add(self, milliseconds: float) -> None:
        """Count one duration."""
        self._histogram.add(milliseconds)
        self.sum.add(milliseconds)
        self.high = milliseconds if self.high is None else max(self.high, milliseconds)
        for limit in self.at_most:
            self.at_most[limit] += milliseconds <= limit

    @property
    def n(self) -> int:
        """How many are known."""
        return self._histogram.n

    def quantile(self, share: float) -> float | None:
        """Within one per cent, never above the largest; None of nothing."""
        found = self._histogram.quantile(share)
        return found if found is None or self.high is None else min(found, self.high)


MOST_MODELS = 20
"""How many names are counted apart; a provider that answers as more of them is counted under `OTHERS`."""
OTHERS = "(others)"


def count_bounded(counts: Counter[str], name: str) -> None:
    """Count a name that comes from outside, in bounded space."""
    counts[name if name in counts or len(counts) < MOST_MODELS else OTHERS] += 1


_KINDS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


@dataclass(slots=True)
class Stage:
    """What one side, the subject's or the evaluators', spent and how it fared.

    Attributes:
        asked: answers or verdicts for which requests were made.
        attempts: requests, failed ones too.
        retried: answers or verdicts that needed more than one attempt at some request.
        failed_attempts: why attempts failed, as far as it was recorded.
        cached: answers or verdicts of which every reply came out of the store, or from an identical call.
        tokens: sums by kind over all whose count of that kind is known.
        unmeasured: how many had an unknown count of input or output tokens.
        unpriced: how many cost something that is not known.
        answered: which models say that they answered, by who was asked; of each asked `MOST_MODELS` by name.
    """

    latency: Latency
    asked: int = 0
    attempts: int = 0
    retried: int = 0
    failed_attempts: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    unmeasured: int = 0
    cost: ExactSum = field(default_factory=ExactSum)
    unpriced: int = 0
    answered: dict[str, Counter[str]] = field(default_factory=dict)

    def add_models(self, asked: str, models: Iterable[str]) -> None:
        """Add the models of one answer or verdict, by the name that was asked."""
        for model in models:
            if asked in self.answered or len(self.answered) < MOST_MODELS:
                count_bounded(self.answered.setdefault(asked, Counter()), model)

    def add(self, spent: Spending, failed: Mapping[str, Json], calls: int | None, *, lost: bool = False) -> None:
        """Add what one answer or verdict spent.

        Args:
            failed: failed attempts by category, as far as recorded.
            calls: how many requests it would have taken without a failure; None: not known.
            lost: whether one of the failures was the end of it.
        """
        again = sum(map(int, failed.values())) > lost if calls is None else spent.attempts > calls
        self.asked += spent.attempts > 0
        self.attempts += spent.attempts
        self.cached += spent.cached
        self.retried += again
        for category, number in failed.items():
            self.failed_attempts[str(category)] += int(number)
        used = spent.usage
        for kind in _KINDS:
            count = getattr(used, kind)
            if count is not None:
                self.tokens[kind] += count
        self.unmeasured += used.input_tokens is None or used.output_tokens is None
        if spent.cost_usd is None:
            self.unpriced += 1
        else:
            self.cost.add(spent.cost_usd)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class AssertionKey:
    """What is counted together: verdicts of one name, kind and template, on one scale.

    `scale` is None for verdicts that never came to be, so that their judge's scale was not recorded with them.
    """

    name: str
    type: str
    template: str = ""
    scale: tuple[float, float] | None = (0.0, 100.0)


@dataclass(slots=True)
class AssertionTally:
    """What one assertion came to over all trials."""

    outcomes: Outcomes = field(default_factory=Outcomes)
    clusters: Clusters = field(default_factory=Clusters)
    scores: Moments = field(default_factory=Moments)
    errors: Counter[str] = field(default_factory=Counter)
    trial_flips: Flips = field(default_factory=Flips)
    judge_flips: Flips = field(default_factory=Flips)

    def include_undecided(self, other: AssertionTally) -> None:
        """Add a tally that has no scores: of verdicts of this assertion that never came to be."""
        self.outcomes.counts.update(other.outcomes.counts)
        self.errors.update(other.errors)
        self.trial_flips.include(other.trial_flips)
        self.judge_flips.include(other.judge_flips)
