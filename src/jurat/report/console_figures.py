"""The figures of a run for a person: rates with intervals and bounds, errors with what to do, costs, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jurat.jsontext import Json
from jurat.report.console_look import Look
from jurat.report.digits import percent
from jurat.report.figure_words import ASSERTION_HEAD, DO, TELLING, assertion_row, counts_words, rate_words, spending
from jurat.report.plaintext import clipped, columns, fitted, padded, wrapped

__all__ = ["figures", "table"]

_MARGIN = " " * 11
_MOST_ROWS = 30
_MOST_LABELS = 12


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
    lines = _hung(word, counts_words(outcomes), look)
    return lines + [line for told in rate_words(outcomes["pass_rate"]) for line in _hung("", told, look)]


def _assertions(summary: Mapping[str, Json], look: Look) -> list[str]:
    found = summary["assertions"]
    if not found:
        return []
    rows = [assertion_row(one) for one in found[:_MOST_ROWS]]
    lines = table([ASSERTION_HEAD, *((clipped(name, 80), *others) for name, *others in rows)], look)
    return lines + ([f"  and {len(found) - _MOST_ROWS} more"] if len(found) > _MOST_ROWS else [])


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
    lines = table(rows, look) if found else []
    return lines + ([f"  and {len(found) - _MOST_LABELS:,} more"] if len(found) > _MOST_LABELS else [])


def table(rows: Sequence[Sequence[str]], look: Look) -> list[str]:
    """Columns as wide as they need to be, but for the first one, which gives way where the lines would be too long."""
    widths = [max(columns(row[place]) for row in rows) for place in range(len(rows[0]))]
    used = [place for place in range(len(widths)) if place == 0 or any(row[place] for row in rows[1:])]
    rows, widths = [[row[place] for place in used] for row in rows], [widths[place] for place in used]
    spare = look.width - 2 * len(widths) - sum(widths[1:])
    widths[0] = min(widths[0], max(spare, 12))
    lines = []
    for number, row in enumerate(rows):
        cells = [padded(fitted(row[0], widths[0]), widths[0])]
        cells += [padded(cell, width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        text = "  ".join(cells).rstrip()
        lines.append(look.paint(text, "bold") if number == 0 else f"{text}")
    return lines


# --- errors --------------------------------------------------------------------------------------------------------


def _errors(summary: Mapping[str, Json], messages: Mapping[str, str], look: Look) -> list[str]:
    lines = []
    for side, words in (("subject", "of the subject"), ("evaluators", "of evaluators")):
        for category, number in sorted(summary["errors"][side].items(), key=lambda item: -item[1]):
            lines.append(f"  {number:,} × {category} {words}")
            if category in messages:
                lines.append(wrapped(clipped(messages[category], 500), look.width, "      "))
            if category in DO and not (category in TELLING and category in messages):
                lines.append(wrapped(f"to do: {DO[category]}", look.width, "      "))
    return [look.paint("errors", "bold"), *lines] if lines else []


# --- spending ------------------------------------------------------------------------------------------------------


def _spending(summary: Mapping[str, Json], look: Look) -> list[str]:
    return [line for word, text in spending(summary).items() for line in _hung(word, text, look)]
