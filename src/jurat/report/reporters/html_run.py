"""A run's head in a page: the outcome, the figures, the policy, assertions, labels and errors, and who made it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from jurat.jsontext import Json, canonical
from jurat.report.digits import count, money, percent
from jurat.report.figure_words import (
    ASSERTION_HEAD,
    DO,
    assertion_row,
    cost_words,
    counts_words,
    rate_words,
    spending,
)
from jurat.report.record import RunRecord
from jurat.report.reporters.foreign import one_line, xml
from jurat.report.reporters.reporter import ReportOptions

__all__ = ["TONES", "columns_html", "footer_html", "foreign", "run_html"]

TONES = ("fail", "error", "unverified", "unfinished", "skipped", "pass")
"""The statuses, as the page paints them; the worst first."""
_NAME = 300
_MOST_ROWS = 200
_UNIT = re.compile(r" (?=(?:%|ms|s)(?:\W|$))")
_OUTCOMES = {"passed": "pass", "failed": "fail", "undecided": "unverified"}
_BESIDE = ("", "tokens", "cached", "retries")
_SORTS = (
    ("status", "Status", ""),
    ("name", "Case", ""),
    ("", "", ""),
    ("score", "Lowest score", "right"),
    ("cost", "Cost", "right"),
    ("time", "Time", "right"),
)


def foreign(text: str, most: int = _NAME) -> str:
    """Text of others on one line, isolated, so that its direction of writing stays its own."""
    return f"<bdi>{xml(one_line(text, most))}</bdi>"


def run_html(run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None, number: int) -> str:
    """Everything of a run that comes before its cases."""
    parts = [
        f'<section class="run" aria-labelledby="r{number}">\n',
        *_verdict(run, gate, number),
        *_tiles(summary),
        *_policy(gate),
        *_assertions(summary),
        *_labels(summary),
        *_errors(summary),
    ]
    return "".join(parts)


def _verdict(run: RunRecord, gate: Mapping[str, Json] | None, number: int) -> Iterator[str]:
    word = run.status.value if gate is None else str(gate["outcome"])
    reason = "The gate is decided when the run is complete." if gate is None else f"{gate['reason']}."
    trials = f" × {run.samples} trials, {_reducer(run)}" if run.samples > 1 else ""
    facts = [
        f'<span>run <span class="mono">{foreign(run.id)}</span></span>',
        f"<span>{xml(' – '.join(filter(None, (run.created_at, run.finished_at))))}</span>",
        f"<span>{count(run.cases, 'case')}{trials}</span>",
    ]
    if run.parent is not None:
        facts.append(f"<span>answers of run {foreign(run.parent)}</span>")
    yield f'<div class="verdict" data-tone="{_OUTCOMES.get(word, "unfinished")}"><div>'
    yield f'<h1 id="r{number}">{foreign(run.suite)}</h1><p class="reason">{xml(reason[:1].upper() + reason[1:])}</p>'
    yield f'<p class="facts">{"".join(facts)}</p></div><div class="seal">{xml(word)}</div></div>\n'


def _reducer(run: RunRecord) -> str:
    return foreign(run.reducer if isinstance(run.reducer, str) else canonical(run.reducer))


# --- tiles ---------------------------------------------------------------------------------------------------------


def _counts(outcomes: Mapping[str, Json]) -> dict[str, int]:
    found = {**outcomes["counts"], "unfinished": outcomes["unfinished"]}
    return {tone: found[tone] for tone in TONES if found[tone]}


def _tiles(summary: Mapping[str, Json]) -> Iterator[str]:
    cases, rate = summary["cases"], summary["cases"]["pass_rate"]
    value = "–" if rate["value"] is None else percent(rate["value"])
    parts = [_bar(_counts(cases), cases["total"]), _legend(_counts(cases)), _strip(rate)]
    parts += [f"<p>{_kept(text)}</p>" for text in rate_words(rate)]
    yield '<div class="tiles">\n' + _tile("Cases that passed", value, "".join([*parts, _trials(summary)]))
    told = spending(summary)
    words = ("cost", *_BESIDE) if summary["cost_usd"]["total"]["unknown"] else _BESIDE
    sides = [part for word in words for part in told.get(word, "").split("; ") if part]
    yield _tile("Cost", _cost(summary["cost_usd"]["total"]), "".join(f"<p>{_kept(text)}</p>" for text in sides))
    yield _tile("Latency", *_latency(summary)) + "</div>\n"


def _kept(text: str) -> str:
    """A number and its unit stay on one line."""
    return xml(_UNIT.sub("\u00a0", text))


def _strip(rate: Mapping[str, Json]) -> str:
    """The rate on a line from 0 to 100 %: a point, its interval, and around it what it could be."""
    if rate["value"] is None:
        return ""
    parts = ['<rect class="rail" x="0" y="7" width="1000" height="2"/>']
    for name, pair, top, height in (("could", rate["bounds"], 3, 10), ("interval", rate["interval"], 6, 4)):
        if pair and pair[0] < pair[1]:
            start, width = pair[0] * 1000, (pair[1] - pair[0]) * 1000
            parts.append(f'<rect class="{name}" x="{start:.1f}" y="{top}" width="{width:.1f}" height="{height}"/>')
    parts.append(f'<rect class="point" x="{rate["value"] * 1000 - 2.5:.1f}" y="0" width="5" height="16"/>')
    return (
        f'<svg class="strip" viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'
    )


def _cost(cost: Mapping[str, Json]) -> str:
    """In short: what is known of it, as a lower bound where some is not."""
    return f"≥ {money(cost['known'])}" if cost["unknown"] and cost["known"] else cost_words(cost)


def _latency(summary: Mapping[str, Json]) -> tuple[str, str]:
    """The median of the side that is told first, and both sides below it."""
    told = spending(summary).get("latency", "")
    lines = [_kept(line) for line in told.split("; ") if line]
    first = next((line.partition("p50 ")[2].partition(",")[0] for line in told.split("; ") if "p50 " in line), "–")
    return first, "".join(f"<p>{line}</p>" for line in lines) or "<p>nobody was asked</p>"


def _tile(title: str, big: str, more: str) -> str:
    return f'<div class="tile"><h3>{title}</h3><div class="big">{xml(big)}</div>{more}</div>\n'


def _bar(counts: Mapping[str, int], total: int) -> str:
    """The statuses as shares of a bar: the good ones first."""
    if not total:
        return ""
    words = ", ".join(f"{number:,} {tone}" for tone, number in counts.items())
    rects, reached = [], 0
    for tone in reversed(TONES):
        if number := counts.get(tone, 0):
            start, width = reached * 1000 / total, number * 1000 / total
            rects.append(
                f'<rect data-tone="{tone}" x="{start:.2f}" y="0" width="{max(width - 4, 3):.2f}" height="12"/>'
            )
            reached += number
    box = f'viewBox="0 0 1000 12" preserveAspectRatio="none" role="img" aria-label="{words}"'
    return f'<svg class="bar" {box}>{"".join(rects)}</svg>'


def _legend(counts: Mapping[str, int]) -> str:
    items = "".join(
        f'<li data-tone="{tone}">{counts[tone]:,} {tone}</li>' for tone in reversed(TONES) if tone in counts
    )
    return f'<ul class="legend">{items}</ul>'


def _trials(summary: Mapping[str, Json]) -> str:
    trials = summary["trials"]
    if trials["total"] <= summary["cases"]["total"]:
        return ""
    flips = trials["flip_rate"]["value"]
    told = f"trials: {counts_words(trials)}" + (f"; {percent(flips)} flip" if flips is not None else "")
    return f"<p>{xml(told)}</p>"


# --- tables --------------------------------------------------------------------------------------------------------


def _sheet(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table whose cells are HTML already."""
    if not rows:
        return
    heads = "".join(f'<th scope="col">{name}</th>' for name in head)
    yield f'<h2>{title}</h2>\n<div class="sheet" tabindex="0" role="region" aria-label="{title}">'
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>\n"
    for first, *others in rows[:_MOST_ROWS]:
        # On a phone a row is a card, whose cells are told by their column's head.
        cells = "".join(f'<td data-head="{name}">{cell}</td>' for name, cell in zip(head[1:], others, strict=True))
        yield f'<tr><td class="cell-name">{first}</td>{cells}</tr>\n'
    yield "</tbody></table></div>\n"
    if len(rows) > _MOST_ROWS:
        yield f'<p class="soft">and {len(rows) - _MOST_ROWS:,} more</p>\n'


def pill(tone: str, word: str) -> str:
    """A status as a small sign."""
    return f'<span class="pill" data-tone="{tone}">{xml(word)}</span>'


def _policy(gate: Mapping[str, Json] | None) -> Iterator[str]:
    rules = [] if gate is None or gate["policy"] is None else gate["rules"]
    rows = [
        (
            foreign(str(rule["rule"].get("name") or rule["rule"].get("type", ""))),
            pill(_OUTCOMES[rule["outcome"]], rule["outcome"]),
            foreign(rule["reason"], 1_000),
        )
        for rule in rules
    ]
    yield from _sheet("Policy", ("Rule", "Outcome", "Why"), rows)


def _assertions(summary: Mapping[str, Json]) -> Iterator[str]:
    rows = []
    for one in summary["assertions"]:
        name, *others = assertion_row(one)
        rows.append([foreign(name), *(f'<span class="number">{xml(cell)}</span>' for cell in others)])
    yield from _sheet("Assertions", [word.capitalize() for word in ASSERTION_HEAD], rows)


def _labels(summary: Mapping[str, Json]) -> Iterator[str]:
    rows = [
        (foreign(one["name"]), xml(counts_words(one["cases"])), _kept(rate_words(one["cases"]["pass_rate"])[0]))
        for one in summary["labels"]
    ]
    yield from _sheet("Labels", ("Label", "Cases", "Pass rate"), rows)


def _errors(summary: Mapping[str, Json]) -> Iterator[str]:
    rows = [
        (f'<span class="mono">{xml(category)}</span>', words, f"{number:,}", xml(DO.get(category, "")))
        for side, words in (("subject", "subject"), ("evaluators", "evaluators"))
        for category, number in sorted(summary["errors"][side].items(), key=lambda item: -item[1])
    ]
    yield from _sheet("Errors", ("Category", "Of", "Times", "What to do"), rows)


# --- around the cases ----------------------------------------------------------------------------------------------


def columns_html(summary: Mapping[str, Json]) -> str:
    """The tools and the columns' heads, and the beginning of the list."""
    counts = _counts(summary["cases"])
    chips = "".join(
        f'<button type="button" class="chip" data-tone="{tone}" aria-pressed="false">{tone}<b>{number:,}</b></button>'
        for tone, number in counts.items()
    )
    heads = "".join(
        f'<button type="button" data-sort="{key}" class="{side}">{word}</button>' if key else "<span></span>"
        for key, word, side in _SORTS
    )
    none = '<p class="none" hidden>No case fits.</p>' if counts else '<p class="none">There are no cases.</p>'
    return (
        '<h2>Cases</h2>\n<div class="tools"><input type="search" aria-label="Filter cases" placeholder="Filter: name, '
        f'label, reason, quote …" autocomplete="off"><div class="chips" role="group" aria-label="Status">{chips}</div>'
        '<button type="button" class="quiet every">Expand all</button>'
        '<span class="soft told" role="status"></span></div>\n'
        f'<div class="grid heads" role="group" aria-label="Sort by">{heads}</div>\n<div class="cases">{none}\n'
    )


def footer_html(run: RunRecord, options: ReportOptions) -> str:
    """Who made the run, with what, from what."""
    facts: dict[str, Json] = {
        "suite": run.suite_hash,
        **run.provenance,
        **{f"option {name}": value for name, value in run.options.items()},
    }
    rows = "".join(
        f'<dt>{foreign(name)}</dt><dd class="mono">{foreign(_plain(value), 2_000)}</dd>'
        for name, value in facts.items()
    )
    left_out = "" if options.include_output else " Answers and conversations are not part of this page."
    return (
        f"<footer><p>Written by jurat {xml(options.version)}.{left_out} Keys: <kbd>/</kbd> filter, <kbd>j</kbd> "
        "<kbd>k</kbd> next and previous case, <kbd>Enter</kbd> open.</p>"
        f"<details><summary>Provenance</summary><dl>{rows}</dl></details></footer>\n"
    )


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value)
