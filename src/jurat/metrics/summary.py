"""A tally's summary as plain data, and the one gate that a judging job has."""

from __future__ import annotations

from dataclasses import dataclass

from jurat.jsontext import Json
from jurat.metrics.rates import Rate
from jurat.metrics.tally import Tally
from jurat.vocabulary import Status

__all__ = ["Gate", "summarize"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """At least this share (0 to 1) of all verdicts has to pass."""

    minimum_pass_rate: float = 1.0

    def decide(self, rate: Rate) -> bool | None:
        """Whether it is met. None when what is undecided could tip it, or nothing was judged at all.

        A gate of 0 is met by any verdict, so it only reports.
        """
        if rate.bounds is None:
            return None
        worst, best = rate.bounds
        if worst >= self.minimum_pass_rate:
            return True
        return False if best < self.minimum_pass_rate else None


def summarize(tally: Tally, gate: Gate) -> dict[str, Json]:
    """The summary, as `jurat judge --format json` prints it. What is undecided is never mixed into a rate."""
    rate = tally.rate
    return {
        "schema_version": 1,
        "total": tally.total,
        "counts": {status.value: tally.statuses[status.value] for status in Status},
        "errors": dict(sorted(tally.errors.items())),
        "pass_rate": {
            "value": rate.value,
            "interval": _listed(rate.interval),
            "decided": rate.decided,
            "undecided": rate.undecided,
            "bounds": _listed(rate.bounds),
        },
        "scores": {"mean": tally.mean_score, "range": list(tally.score_range), "histogram": list(tally.scores)},
        "tokens": {"input": tally.input_tokens, "output": tally.output_tokens, "unknown": tally.without_usage},
        "cost_usd": {"known": tally.known_cost_usd, "unknown": tally.unpriced},
        "cached": tally.cached,
        "models": dict(sorted(tally.models.items())),
        "mixed_judge_models": len(tally.models) > 1,
        "latency_ms": {
            "n": tally.latency.n,
            "p50": tally.latency.quantile(0.5),
            "p95": tally.latency.quantile(0.95),
        },
        "gate": {"minimum_pass_rate": gate.minimum_pass_rate, "met": gate.decide(rate)},
    }


def _listed(pair: tuple[float, float] | None) -> list[float] | None:
    return None if pair is None else list(pair)
