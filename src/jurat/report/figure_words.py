"""The figures of a run in words: what every face says of a summary, so that all of them say the same.

A rate says what it rests on and what it could be; a cost that is not known is called unknown, never $0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from jurat.jsontext import Json
from jurat.report.digits import count, money, percent, short

__all__ = [
    "ASSERTION_HEAD",
    "DO",
    "TELLING",
    "assertion_row",
    "cost_words",
    "counts_words",
    "rate_words",
    "span",
    "spending",
]

_COUNTED = (("pass", "passed"), ("fail", "failed"), ("unverified", "unverified"), ("skipped", "skipped"))
ASSERTION_HEAD = ("assertion", "decided", "passed", "mean score", "errors")
"""The columns of `assertion_row`."""
DO: Mapping[str, str] = {
    "auth_error": "check the key, the account and the access to the model",
    "missing_api_key": "set the environment variable",
    "rate_limited": "lower --concurrency, then resume with --retry-errors",
    "overloaded": "resume later with --retry-errors",
    "timeout": "raise the timeout, or resume with --retry-errors",
    "network_error": "check address, proxy and network, then resume with --retry-errors",
    "budget_exhausted": "resume with --retry-errors and a larger --budget-usd",
    "truncated": "raise max_output_tokens",
    "empty_response": "raise max_output_tokens if the model reasons",
    "malformed_json": "take a judge with strict structured output",
    "schema_violation": "take a judge with strict structured output",
    "quote_not_found": "read the case; where it is frequent, take another judge",
    "context_too_large": "shorten the evidence, or take a model with a larger context",
    "unsupported_structured_output": "take another model, or choose the contract reasoned/v1",
    "provider_not_found": "declare the provider, or correct its name",
    "evaluator_exception": "run your function by itself to see what it raises",
    "invalid_result": "see what your function may return",
    "refusal": "read the case; take a judge that may read such text",
}
"""What a person may do about an error, by category."""
TELLING = ("auth_error", "missing_api_key")
"""Whose messages say themselves what to do, with the name of the variable."""


def counts_words(outcomes: Mapping[str, Json]) -> str:
    """`3 passed, 1 failed, 2 errors`."""
    counts = outcomes["counts"]
    told = [f"{counts[status]:,} {name}" for status, name in _COUNTED if counts[status] or status in ("pass", "fail")]
    if counts["error"]:
        told.append(count(counts["error"], "error"))
    if outcomes["unfinished"]:
        told.append(f"{outcomes['unfinished']:,} unfinished")
    return ", ".join(told)


def rate_words(rate: Mapping[str, Json]) -> list[str]:
    """The pass rate with its interval, and what it could be, each in a sentence."""
    if rate["value"] is None:
        return ["nothing was decided"]
    interval = f" (95 % interval {span(rate['interval'])})" if rate["interval"] else ""
    told = [f"{percent(rate['value'])} of {rate['decided']:,} decided passed{interval}"]
    if rate["undecided"]:
        worst, best = (percent(bound) for bound in rate["bounds"])
        told.append(f"with the {rate['undecided']:,} undecided: {worst} had they failed, {best} had they passed")
    return told


def span(pair: Sequence[float]) -> str:
    """`9.5–90.5 %`."""
    return f"{percent(pair[0]).removesuffix(' %')}–{percent(pair[1])}"


def assertion_row(one: Mapping[str, Json]) -> tuple[str, ...]:
    """One assertion's figures, as text by column."""
    rate, score = one["pass_rate"], one["score"]
    name = one["name"] if one["name"] == one["type"] else f"{one['name']} ({one['type']})"
    if one["template"] is not None:
        name = f"{one['name']} ({one['template']})"
    passed = "–" if rate["value"] is None else percent(rate["value"])
    return (
        name,
        f"{rate['decided']:,} of {one['total']:,}",
        passed,
        _score(score, rate["value"]),
        f"{one['counts']['error']:,}" if one["counts"]["error"] else "",
    )


def _score(score: Mapping[str, Json], rate: float | None) -> str:
    """Mean and spread, with the scale; of checks that only know all and nothing, the rate says as much."""
    if score["mean"] is None or score["range"] is None:
        return "–"
    low, high = score["range"]
    ends = {score["lowest"], score["highest"]} <= {low, high}
    if ends and rate is not None and math.isclose(score["mean"], low + rate * (high - low)):
        return ""
    spread = f" ± {short(score['spread'], 3)}" if score["spread"] is not None else ""
    return f"{short(score['mean'])}{spread} ({low:g}–{high:g})"


def spending(summary: Mapping[str, Json]) -> dict[str, str]:
    """What was spent, by word: cost, tokens, retries, cached, latency; and models, where one name stood for several.

    What there is nothing to say of is left out.
    """
    asked = {side: summary["attempts"][side]["asked"] for side in ("subject", "judge")}
    timed = {side: summary["latency_ms"][side]["n"] for side in asked}
    always = dict.fromkeys(asked, 1)
    parts = {
        "cost": cost_words(summary["cost_usd"]["total"]) + _only_side(summary["cost_usd"]),
        "": "" if _only_side(summary["cost_usd"]) else _sides(summary["cost_usd"], always, _cost_of_side),
        "tokens": _sides(summary["tokens"], asked, _tokens),
        "retries": _sides(summary["attempts"], asked, _retries),
        "cached": _sides(summary["attempts"], always, _cached),
        "latency": _sides(summary["latency_ms"], timed, _latency),
        "models": _mixed_models(summary["models"]),
    }
    return {word: text for word, text in parts.items() if text}


def _sides(found: Mapping[str, Json], shown: Mapping[str, int], told: Callable[[Mapping[str, Json]], str]) -> str:
    words = {side: told(found[side]) for side, number in shown.items() if number}
    names = {"subject": "subject", "judge": "judges"}
    return "; ".join(f"{names[side]} {text}" for side, text in words.items() if text)


def _only_side(cost: Mapping[str, Json]) -> str:
    """The side that everything was spent by, in brackets; nothing where both did or none."""
    sides = [name for side, name in (("subject", "subject"), ("judge", "judges")) if _cost_of_side(cost[side])]
    return f" ({sides[0]})" if len(sides) == 1 else ""


def _cost_of_side(cost: Mapping[str, Json]) -> str:
    return cost_words(cost) if cost["known"] or cost["unknown"] else ""


def cost_words(cost: Mapping[str, Json]) -> str:
    """A sum of money as far as it is known."""
    if not cost["unknown"]:
        return money(cost["known"])
    if not cost["known"]:
        return "unknown"
    return f"at least {money(cost['known'])}, as {count(cost['unknown'], 'cost is', 'costs are')} unknown"


def _tokens(tokens: Mapping[str, Json]) -> str:
    if tokens["unknown"] and not tokens["input"] and not tokens["output"]:
        return "unknown"
    told = f"{tokens['input']:,} in, {tokens['output']:,} out"
    return f"at least {told}" if tokens["unknown"] else told


def _retries(attempts: Mapping[str, Json]) -> str:
    if not attempts["retried"] and not attempts["failed"]:
        return ""
    why = ", ".join(f"{number:,} × {category}" for category, number in attempts["failed"].items())
    if not attempts["retried"]:  # what failed was not tried again
        return f"none; {count(sum(attempts['failed'].values()), 'attempt')} failed ({why})"
    return f"{attempts['retried']:,} of {attempts['asked']:,} needed more than one attempt" + (
        f" ({why})" if why else ""
    )


def _cached(attempts: Mapping[str, Json]) -> str:
    return f"{attempts['cached']:,} out of the store" if attempts["cached"] else ""


def _latency(latency: Mapping[str, Json]) -> str:
    return f"p50 {_duration(latency['p50'])}, p95 {_duration(latency['p95'])}"


def _mixed_models(models: Mapping[str, Json]) -> str:
    """Whoever was answered for by several models: an alias that moved, or a gateway that chooses. Else nothing."""
    return "; ".join(
        f"{asked} was answered for by {len(found)} models: "
        + ", ".join(f"{model} ({number:,})" for model, number in found.items())
        for side in ("subject", "judge")
        for asked, found in models[side].items()
        if len(found) > 1
    )


def _duration(milliseconds: float) -> str:
    return f"{short(milliseconds, 3)} ms" if milliseconds < 1000 else f"{short(milliseconds / 1000, 3)} s"
