"""Verdicts and their summary as plain text, for a terminal of any width. Foreign text is made harmless first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from jurat.cli._stdout import coloured, columns
from jurat.cli._text import visible, wrapped
from jurat.engine import Judged
from jurat.jsontext import Json
from jurat.judge import Judge
from jurat.report.digits import told_apart

__all__ = ["VerdictTexts", "summary_text"]

_WORDS = {"pass": "PASS", "fail": "FAIL", "unverified": "UNVERIFIED", "error": "ERROR", "skipped": "SKIPPED"}
_COLOURS = {"pass": "32", "fail": "31", "unverified": "33", "error": "35", "skipped": "2"}
_COUNTED = {"pass": "passed", "fail": "failed", "unverified": "unverified"}
_INDENT = " " * 6
_BAR = 30
_ALIKE = "reason_unchecked"
"""The finding that says the same of every verdict of a job."""


def _width() -> int:
    return min(columns(100), 120)


class VerdictTexts:
    """The verdicts of one job as text. What would stand under every one of them stands under the first.

    Args:
        judge: who reached them.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._room = len(_passing("0.0000", f"{judge.rubric.score_range[1]:g}", told_apart(0, judge.threshold)[1]))
        self._said = False

    def text(self, judged: Judged, result: Mapping[str, Json]) -> str:
        """One verdict: its word, score and threshold, what was judged, why, and the quotes with where they stand."""
        item = judged.item
        name = visible(item.id) if item.id is not None else f"row {item.row.number}"
        head = f"{_painted(result['status'])} {_score(result):<{self._room}} {name}"
        output = _excerpt(item.context.output if item.context else "", _width() - self._room - 15 - len(name))
        lines = [f"{head}  {output}".rstrip()]
        if result["reason"]:
            lines.append(wrapped(result["reason"], _width(), _INDENT))
        for quote in result["evidence"]:
            where = visible(judged.place(quote["message_index"], self._judge))
            lines.append(wrapped(f"“{quote['quote']}” — {where}", _width(), _INDENT + "  "))
        if error := result["evaluator"].get("error"):
            lines.append(wrapped(f"{error['type']}: {error['message']}", _width(), _INDENT))
        lines += [wrapped(message, _width(), _INDENT) for message in self._findings(result)]
        return "\n".join(lines) + "\n"

    def _findings(self, result: Mapping[str, Json]) -> Iterator[str]:
        for finding in result.get("findings", ()):
            alike = finding["code"] == _ALIKE
            if not (alike and self._said):
                yield finding["message"]
            self._said |= alike


def _score(result: Mapping[str, Json]) -> str:
    """The score with as many digits as it takes to see on which side of the threshold it lies."""
    if result["score"] is None:
        return ""
    facts = result["metadata"]
    limit = facts["threshold"]
    shown, threshold = f"{result['score']:.3g}", told_apart(result["score"], limit)[1]
    if (float(shown) >= limit) != (result["score"] >= limit):
        shown = told_apart(result["score"], limit)[0]
    return _passing(shown, f"{facts['score_range'][1]:g}", threshold)


def _passing(score: str, best: str, threshold: str) -> str:
    return f"{score} of {best} (passes from {threshold})"


def _painted(status: str) -> str:
    word = f"{_WORDS[status]:<5}"
    return f"\x1b[{_COLOURS[status]}m{word}\x1b[0m" if coloured() else word


def _excerpt(text: str, room: int) -> str:
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= room else flat[: max(room - 1, 0)] + "…"


# --- the summary ---------------------------------------------------------------------------------------------------


def summary_text(summary: Mapping[str, Json], out: Path | None) -> str:
    """The end of a job in words: what was decided and what was not, how the scores lie, and what it took."""
    lines = ["", *_counts(summary), *_histogram(summary), *_spending(summary), *_gate(summary)]
    if out is not None:
        lines.append(f"verdicts: {out}")
    return "\n".join(lines) + "\n"


def _counts(summary: Mapping[str, Json]) -> list[str]:
    counts, rate = summary["counts"], summary["pass_rate"]
    errors = "1 error" if counts["error"] == 1 else f"{counts['error']} errors"
    found = ", ".join([*(f"{counts[status]} {word}" for status, word in _COUNTED.items()), errors])
    lines = [f"{summary['total']} judged: {found}"]
    if rate["value"] is not None:
        low, high = rate["interval"]
        lines.append(
            f"pass rate of the {rate['decided']} decided: {rate['value']:.1%} (95 % interval {low:.1%}–{high:.1%})"
        )
    if rate["undecided"]:
        worst, best = rate["bounds"]
        lines.append(
            f"  with {rate['undecided']} undecided: {worst:.1%} if they had failed, {best:.1%} if they had passed"
        )
    lines += [f"  {number} × {category}" for category, number in summary["errors"].items()]
    return lines


def _histogram(summary: Mapping[str, Json]) -> list[str]:
    scores = summary["scores"]
    if scores["mean"] is None:
        return []
    most = max(scores["histogram"])
    low, high = scores["range"]
    step = (high - low) / len(scores["histogram"])
    lines = [f"scores (mean {scores['mean']:.3g}):"]
    for place, number in enumerate(scores["histogram"]):
        bar = "█" * round(number / most * _BAR) or ("▏" if number else "")
        lines.append(f"  {low + place * step:>6g}–{low + (place + 1) * step:<6g} {number:>7}  {bar}".rstrip())
    return lines


def _spending(summary: Mapping[str, Json]) -> list[str]:
    tokens, cost, latency = summary["tokens"], summary["cost_usd"], summary["latency_ms"]
    if not latency["n"]:
        return []
    if tokens["unknown"] and not tokens["input"]:
        counted = "unknown"
    else:
        counted = f"{'at least ' if tokens['unknown'] else ''}{tokens['input']:,} in, {tokens['output']:,} out"
    cached = f", {summary['cached']} out of the store" if summary["cached"] else ""
    lines = [
        f"tokens: {counted}{cached}",
        f"latency: p50 {latency['p50'] / 1000:.2f} s, p95 {latency['p95'] / 1000:.2f} s",
    ]
    price = f"cost: ${cost['known']:.4f}"
    if cost["unknown"]:
        price += f" and an unknown amount for {cost['unknown']} verdicts without a known price or usage"
    return [*lines, price, *_mixed_models(summary)]


def _mixed_models(summary: Mapping[str, Json]) -> list[str]:
    """A warning where one judge was several models: its name has moved meanwhile, or a gateway chooses."""
    if not summary["mixed_judge_models"]:
        return []
    found = ", ".join(f"{visible(model)} ({number:,})" for model, number in summary["models"].items())
    return [wrapped(f"warning: the judge was answered for by {len(summary['models'])} models: {found}", _width(), "")]


def _gate(summary: Mapping[str, Json]) -> list[str]:
    gate = summary["gate"]
    words = {True: "met", False: "missed", None: "undecided"}
    return [f"gate: pass rate of at least {gate['minimum_pass_rate']:g}: {words[gate['met']]}"]
