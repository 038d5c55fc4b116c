"""A run's tally as plain data: the summary that reports hold, that tables show and that anybody can compute again.

Shares are 0 to 1, durations milliseconds, costs US dollars. What is not known is counted beside what is, never as 0.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from jurat.jsontext import Json
from jurat.metrics.exact import ExactSum, as_float
from jurat.metrics.rates import Rate
from jurat.metrics.run_parts import AssertionKey, AssertionTally, Flips, Latency, Outcomes, Stage
from jurat.vocabulary import Status

if TYPE_CHECKING:
    from jurat.metrics.run_tally import GroupTally, RunTally

__all__ = ["SUMMARY_VERSION", "summary_of"]

SUMMARY_VERSION = 1
Interval = tuple[float, float] | None


def summary_of(tally: RunTally) -> dict[str, Json]:
    """The summary of everything that was counted so far."""
    return {
        "schema_version": SUMMARY_VERSION,
        "cases": _outcomes(tally.cases, tally.cases.rate.interval),
        "trials": {
            **_outcomes(tally.trials, tally.trial_clusters.interval),
            "flip_rate": _flips(tally.trial_flips),
        },
        "errors": {"subject": _sorted(tally.subject_errors), "evaluators": _sorted(tally.judge_errors)},
        "assertions": [_assertion(key, made) for key, made in tally.assertions.items()],
        "labels": [_group(name, group) for name, group in sorted(tally.groups.items())],
        "metadata": [_group(name, group) for name, group in sorted(tally.metadata_groups.items())],
        "left_out": dict(tally.left_out),
        "tokens": _per_stage(tally, _tokens),
        "cost_usd": {**_per_stage(tally, _cost), "total": _total_cost(tally)},
        "attempts": _per_stage(tally, _attempts),
        "models": {**_per_stage(tally, _models), "mixed_judge_models": any(map(_mixed, tally.judge.answered.values()))},
        "latency_ms": {"subject": _latency(tally.subject.latency), "judge": _latency(tally.judge.latency)},
    }


def _per_stage(tally: RunTally, told: object) -> dict[str, Json]:
    return {"subject": told(tally.subject), "judge": told(tally.judge)}  # type: ignore[operator]


def _outcomes(outcomes: Outcomes, interval: Interval) -> dict[str, Json]:
    return {
        "total": outcomes.total,
        "counts": {status.value: outcomes.counts[status] for status in Status},
        "unfinished": outcomes.unfinished,
        "pass_rate": _rate(outcomes.rate, interval),
    }


def _rate(rate: Rate, interval: Interval) -> dict[str, Json]:
    return {
        "value": rate.value,
        "interval": None if interval is None else list(interval),
        "decided": rate.decided,
        "undecided": rate.undecided,
        "bounds": None if rate.bounds is None else list(rate.bounds),
    }


def _flips(flips: Flips) -> dict[str, Json]:
    return {"value": flips.rate, "groups": flips.groups, "decided": flips.decided}


def _sorted(counts: Counter[str]) -> dict[str, Json]:
    return dict(sorted(counts.items()))


def _assertion(key: AssertionKey, made: AssertionTally) -> dict[str, Json]:
    scores = made.scores
    return {
        "name": key.name,
        "type": key.type,
        "template": key.template or None,
        **_outcomes(made.outcomes, made.clusters.interval),
        "score": {
            "range": None if key.scale is None else list(key.scale),
            "n": scores.n,
            "mean": None if scores.mean is None else as_float(scores.mean),
            "spread": scores.spread,
            "lowest": scores.low if scores.n else None,
            "highest": scores.high if scores.n else None,
        },
        "errors": _sorted(made.errors),
        "flip_rate": {"trials": _flips(made.trial_flips), "judge": _flips(made.judge_flips)},
    }


def _group(name: str, group: GroupTally) -> dict[str, Json]:
    return {
        "name": name,
        "cases": _outcomes(group.cases, group.cases.rate.interval),
        "trials": _outcomes(group.trials, group.clusters.interval),
    }


def _tokens(stage: Stage) -> dict[str, Json]:
    told = {
        "input": "input_tokens",
        "output": "output_tokens",
        "cached_input": "cached_input_tokens",
        "cache_write": "cache_write_tokens",
        "reasoning": "reasoning_tokens",
    }
    return {**{word: stage.tokens[kind] for word, kind in told.items()}, "unknown": stage.unmeasured}


def _cost(stage: Stage) -> dict[str, Json]:
    return {"known": stage.cost.value, "unknown": stage.unpriced}


def _total_cost(tally: RunTally) -> dict[str, Json]:
    total = ExactSum()
    total.include(tally.subject.cost)
    total.include(tally.judge.cost)
    return {"known": total.value, "unknown": tally.subject.unpriced + tally.judge.unpriced}


def _attempts(stage: Stage) -> dict[str, Json]:
    return {
        "asked": stage.asked,
        "made": stage.attempts,
        "retried": stage.retried,
        "failed": _sorted(stage.failed_attempts),
        "cached": stage.cached,
    }


def _models(stage: Stage) -> dict[str, Json]:
    return {asked: _sorted(models) for asked, models in sorted(stage.answered.items())}


def _mixed(models: Counter[str]) -> bool:
    """Whether several models answered in the name of one: an alias that moved within the run, or a gateway's choice."""
    return len(models) > 1


def _latency(latency: Latency) -> dict[str, Json]:
    mean = as_float(latency.sum.exact / latency.n) if latency.n else None
    quantiles = {f"p{number}": latency.quantile(number / 100) for number in (50, 95, 99)}
    return {"n": latency.n, "unknown": latency.unknown, "mean": mean, **quantiles, "max": latency.high}
