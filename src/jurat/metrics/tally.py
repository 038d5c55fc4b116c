"""A tally: the summary of any number of verdicts, kept in constant space.

It is fed result maps, fresh ones and ones read back from a file alike, so that a resumed job sums up to the same as an
undisturbed one. Errors are counted by category and never enter the rate; unknown costs are counted, never taken for 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from jurat.jsontext import Json
from jurat.metrics.quantiles import LogHistogram
from jurat.metrics.rates import Rate
from jurat.metrics.run_parts import count_bounded

__all__ = ["Tally"]

BINS = 10
"""Into how many equal parts the score range is divided for the histogram."""


@dataclass(slots=True)
class Tally:
    """Counts of verdicts.

    Attributes:
        score_range: of the judge, for the histogram.
        statuses: how many verdicts of each status.
        errors: how many of each error category.
        scores: how many decided scores in each of the `BINS` equal parts of the range, the last one closed.
        input_tokens, output_tokens: sums over the verdicts whose usage is known.
        without_usage: verdicts that made calls whose usage is not known.
        unpriced: verdicts that made calls whose cost is not known.
        cached: verdicts of which every reply came out of the store.
        latency: of the verdicts that made calls, in milliseconds.
        models: which models say that they answered, over the verdicts that were no error.
    """

    score_range: tuple[float, float]
    statuses: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    scores: list[int] = field(default_factory=lambda: [0] * BINS)
    input_tokens: int = 0
    output_tokens: int = 0
    without_usage: int = 0
    unpriced: int = 0
    cached: int = 0
    latency: LogHistogram = field(default_factory=LogHistogram)
    models: Counter[str] = field(default_factory=Counter)
    _cost: list[float] = field(default_factory=lambda: [0.0])
    _score_sum: list[float] = field(default_factory=lambda: [0.0])

    def add(self, result: Mapping[str, Json]) -> None:
        """Count one result map."""
        status, evaluator = result["status"], result["evaluator"]
        self.statuses[status] += 1
        if status == "error":
            self.errors[evaluator["error"]["type"]] += 1
        if (score := result["score"]) is not None:
            self.scores[self._bin(score)] += 1
            _add_exactly(self._score_sum, score)
        if evaluator.get("attempts"):
            self._add_spending(evaluator)

    def _bin(self, score: float) -> int:
        low, high = self.score_range
        return min(BINS - 1, max(0, int((score - low) / (high - low) * BINS)))

    def _add_spending(self, evaluator: Mapping[str, Json]) -> None:
        given, written = evaluator["input_tokens"], evaluator["output_tokens"]
        if given is None or written is None:
            self.without_usage += 1
        else:
            self.input_tokens += given
            self.output_tokens += written
        if evaluator["cost_usd"] is None:
            self.unpriced += 1
        else:
            _add_exactly(self._cost, evaluator["cost_usd"])
        self.cached += bool(evaluator["cached"])
        if "error" not in evaluator:
            for model in (evaluator.get("response_model") or evaluator["model"]).split(", "):
                count_bounded(self.models, model)
        self.latency.add(evaluator["duration_ms"])

    @property
    def total(self) -> int:
        """How many verdicts were counted."""
        return sum(self.statuses.values())

    @property
    def rate(self) -> Rate:
        """The pass rate, undecided verdicts apart."""
        passed, failed = self.statuses["pass"], self.statuses["fail"]
        return Rate(passed=passed, failed=failed, undecided=self.total - passed - failed)

    @property
    def mean_score(self) -> float | None:
        """The mean of the decided scores; None when there are none."""
        decided = self.rate.decided
        return math.fsum(self._score_sum) / decided if decided else None

    @property
    def known_cost_usd(self) -> float:
        """What is known to have been spent; `unpriced` says for how many verdicts nothing is known."""
        return math.fsum(self._cost)


def _add_exactly(partials: list[float], value: float) -> None:
    """Add to a running sum without rounding error: Shewchuk's non-overlapping partials, as `math.fsum` keeps them."""
    kept = 0
    for partial in partials:
        larger, smaller = (value, partial) if abs(value) >= abs(partial) else (partial, value)
        high = larger + smaller
        low = smaller - (high - larger)
        if low:
            partials[kept] = low
            kept += 1
        value = high
    partials[kept:] = [value]
