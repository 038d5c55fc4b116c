"""The figures of a run for a person: rates with intervals and bounds, errors with what to do, costs, times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from jurat.jsontext import Json
from jurat.report.console_look import Look
from jurat.report.digits import count, money, percent, short
from jurat.report.plaintext import clipped, columns, padded, wrapped

__all__ = ["figures"]

_MARGIN = " " * 11
_MOST_ROWS = 30
_MOST_LABELS = 12
_DO = {
    "auth_error": "check the key, the account and the access to the model",
    "missing_api_key": "set the environment variable",
    "rate_limited": "lower --concurrency, then resume with --retry-errors",
    "overloaded": "resume later with --retry-errors",
    "timeout": "raise the timeout, or resume with --retry-errors",
    "network_error": "check address, proxy and network, then resume with --retry-errors",
    "budget_exhausted": "raise the budget, then resume with --retry-errors",
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
_TELLING = ("auth_error", "missing_api_key")
"""Whose messages say themselves what to do, with the name of the variable."""


def figures(summary: Mapping[str, Json], messages: Mapping[str, str], look: Look) -> str:
    """The figures as lines, without a line break at the end.

    Args:
        summary: `RunTally.summary()`.
        messages: for each error category a message that was recorded under it.
    """
    parts = [
        _outcomes(summary, look),
        _assertions(summary, look),
        _labels(summary, look),
        _errors(summary, messages, look),
        _spending(summary, look),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


# --- rates ---------------------------------------------------------------------------------------------------------

_COUNTED = (("pass", "passed"), ("fail", "failed"), ("unverified", "unverified"), ("skipped", "skipped"))


def _outcomes(summary: Mapping[str, Json], look: Look) -> list[str]:
    lines = _rate_lines("cases", summary["cases"], look)
    trials = summary["trials"]
    if trials["total"] > summary["cases"]["total"]:
        lines += _rate_lines("trials", trials, look)
        if trials["flip_rate"]["value"] is not None:
            told = percent(trials["flip_rate"]["value"])
            lines += _hung("", f"{told} of the decided trials differ from their case's majority", look)
    return lines


def _hung(word: str, text: str, look: Look) -> list[str]:
    """A word in the margin, and the text beside it, broken where it has to be."""
    first, *others = wrapped(text, look.width, _MARGIN).split("\n")
    return [f"{padded(word, len(_MARGIN))}{first.removeprefix(_MARGIN)}".rstrip(), *others]


def _rate_lines(word: str, outcomes: Mapping[str, Json], look: Look) -> list[str]:
    counts, rate = outcomes["counts"], outcomes["pass_rate"]
    told = [f"{counts[status]:,} {name}" for status, name in _COUNTED if counts[status] or status in ("pass", "fail")]
    if counts["error"]:
        told.append(count(counts["error"], "error"))
    if outcomes["unfinished"]:
        told.append(f"{outcomes['unfinished']:,} unfinished")
    lines = _hung(word, ", ".join(told), look)
    if rate["value"] is None:
        return [*lines, *_hung("", "nothing was decided", look)]
    interval = f" (95 % interval {_range(rate['interval'])})" if rate["interval"] else ""
    lines += _hung("", f"{percent(rate['value'])} of {rate['decided']:,} decided passed{interval}", look)
    if rate["undecided"]:
        worst, best = (percent(bound) for bound in rate["bounds"])
        told_bounds = f"with the {rate['undecided']:,} undecided: {worst} had they failed, {best} had they passed"
        lines += _hung("", told_bounds, look)
    return lines


def _range(pair: Sequence[float]) -> str:
    return f"{percent(pair[0]).removesuffix(' %')}–{percent(pair[1])}"


def _assertions(summary: Mapping[str, Json], look: Look) -> list[str]:
    found = summary["assertions"]
    if not found:
        return []
    head = ("assertion", "decided", "passed", "mean score", "errors")
    rows = [_assertion_row(one) for one in found[:_MOST_ROWS]]
    lines = _table([head, *rows], look)
    return lines + ([f"  and {len(found) - _MOST_ROWS} more"] if len(found) > _MOST_ROWS else [])


def _assertion_row(one: Mapping[str, Json]) -> tuple[str, ...]:
    rate, score = one["pass_rate"], one["score"]
    name = one["name"] if one["name"] == one["type"] else f"{one['name']} ({one['type']})"
    if one["template"] is not None:
        name = f"{one['name']} ({one['template']})"
    passed = "–" if rate["value"] is None else percent(rate["value"])
    return (
        clipped(name, 80),
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


def _labels(summary: Mapping[str, Json], look: Look) -> list[str]:
    """The labels, the worst first where they are many."""
    found = summary["labels"]
    if len(found) > _MOST_LABELS:
        found = sorted(found, key=lambda one: (one["cases"]["pass_rate"]["bounds"] or [1.0])[0])
    rows = [("label", "decided", "passed")]
    for one in found[:_MOST_LABELS]:
        rate = one["cases"]["pass_rate"]
        passed = "–" if rate["value"] is None else percent(rate["value"])
        rows.append((clipped(one["name"], 80), f"{rate['decided']:,} of {one['cases']['total']:,}", passed))
    lines = _table(rows, look) if found else []
    return lines + ([f"  and {len(found) - _MOST_LABELS:,} more"] if len(found) > _MOST_LABELS else [])


def _table(rows: Sequence[Sequence[str]], look: Look) -> list[str]:
    """Columns as wide as they need to be, but for the first one, which gives way where the lines would be too long."""
    widths = [max(columns(row[place]) for row in rows) for place in range(len(rows[0]))]
    used = [place for place in range(len(widths)) if place == 0 or any(row[place] for row in rows[1:])]
    rows, widths = [[row[place] for place in used] for row in rows], [widths[place] for place in used]
    spare = look.width - 2 * len(widths) - sum(widths[1:])
    widths[0] = min(widths[0], max(spare, 12))
    lines = []
    for number, row in enumerate(rows):
        cells = [padded(_fitted(row[0], widths[0]), widths[0])]
        cells += [padded(cell, width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        text = "  ".join(cells).rstrip()
        lines.append(look.paint(text, "bold") if number == 0 else f"{text}")
    return lines


def _fitted(text: str, width: int) -> str:
    if columns(text) <= width:
        return text
    while columns(text) > width - 1:
        text = text[:-1]
    return text + "…"


# --- errors --------------------------------------------------------------------------------------------------------


def _errors(summary: Mapping[str, Json], messages: Mapping[str, str], look: Look) -> list[str]:
    lines = []
    for side, words in (("subject", "of the subject"), ("evaluators", "of evaluators")):
        for category, number in sorted(summary["errors"][side].items(), key=lambda item: -item[1]):
            lines.append(f"  {number:,} × {category} {words}")
            if category in messages:
                lines.append(wrapped(clipped(messages[category], 500), look.width, "      "))
            if category in _DO and not (category in _TELLING and category in messages):
                lines.append(wrapped(f"to do: {_DO[category]}", look.width, "      "))
    return [look.paint("errors", "bold"), *lines] if lines else []


# --- spending ------------------------------------------------------------------------------------------------------


def _spending(summary: Mapping[str, Json], look: Look) -> list[str]:
    asked = {side: summary["attempts"][side]["asked"] for side in ("subject", "judge")}
    timed = {side: summary["latency_ms"][side]["n"] for side in asked}
    always = dict.fromkeys(asked, 1)
    parts = {
        "cost": _cost(summary["cost_usd"]["total"]) + _only_side(summary["cost_usd"]),
        "": "" if _only_side(summary["cost_usd"]) else _sides(summary["cost_usd"], always, _cost_of_side),
        "tokens": _sides(summary["tokens"], asked, _tokens),
        "retries": _sides(summary["attempts"], asked, _retries),
        "cached": _sides(summary["attempts"], always, _cached),
        "latency": _sides(summary["latency_ms"], timed, _latency),
    }
    return [line for word, text in parts.items() if text for line in _hung(word, text, look)]


def _sides(found: Mapping[str, Json], shown: Mapping[str, int], told: Callable[[Mapping[str, Json]], str]) -> str:
    words = {side: told(found[side]) for side, number in shown.items() if number}
    names = {"subject": "subject", "judge": "judges"}
    return "; ".join(f"{names[side]} {text}" for side, text in words.items() if text)


def _only_side(cost: Mapping[str, Json]) -> str:
    """The side that everything was spent by, in brackets; nothing where both did or none."""
    sides = [name for side, name in (("subject", "subject"), ("judge", "judges")) if _cost_of_side(cost[side])]
    return f" ({sides[0]})" if len(sides) == 1 else ""


def _cost_of_side(cost: Mapping[str, Json]) -> str:
    return _cost(cost) if cost["known"] or cost["unknown"] else ""


def _cost(cost: Mapping[str, Json]) -> str:
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
    return f"{attempts['retried']:,} of {attempts['asked']:,} needed more than one attempt" + (
        f" ({why})" if why else ""
    )


def _cached(attempts: Mapping[str, Json]) -> str:
    return f"{attempts['cached']:,} out of the store" if attempts["cached"] else ""


def _latency(latency: Mapping[str, Json]) -> str:
    return f"p50 {_duration(latency['p50'])}, p95 {_duration(latency['p95'])}"


def _duration(milliseconds: float) -> str:
    return f"{short(milliseconds, 3)} ms" if milliseconds < 1000 else f"{short(milliseconds / 1000, 3)} s"
