"""A comparison in Markdown: a comment on a change, a step's summary. What others wrote cannot become markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jurat.jsontext import Json
from jurat.report.comparison_page import Kept
from jurat.report.comparison_words import (
    ASSERTION_HEAD,
    TITLES,
    assertion_rows,
    finding_of,
    headline,
    hidden_words,
    pass_rate_words,
    statuses_of,
    test_words,
    why_of,
)
from jurat.report.reporters.foreign import markdown, one_line

__all__ = ["ComparisonMarkdown"]

_NAME = 200
_MOST_ROWS = 50
_MOST_FINDINGS = 12
_SIGNS = {"found": "❌ regressed", "none": "✅ no regression", "undecided": "⚠️ undecided"}


class ComparisonMarkdown:
    """Gathers what there is to say of two runs; `case` once for each, then `text`."""

    def __init__(self) -> None:
        self._kept = Kept(most=50)

    def case(self, case: Mapping[str, Json]) -> None:
        """Take in one case (`CaseComparison.to_json()`)."""
        self._kept.add(case)

    def text(self, head: Mapping[str, Json]) -> str:
        """The whole; `head` is everything of the comparison but its cases."""
        summary = head["summary"]
        said = " ".join(filter(None, (headline(summary), hidden_words(summary))))
        parts = [
            f"## {_text(head['candidate']['suite'])}: {_SIGNS[head['regression']]}",
            markdown(said),
            *(f"> ⚠️ {markdown(text[:1].upper() + text[1:])}." for text in summary["warnings"]),
            *(self._class(word) for word in TITLES),
            _figures(summary),
            _measurements(summary),
            _foot(head),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _class(self, word: str) -> str:
        if not self._kept.counts.get(word):
            return ""
        items = [line for case in self._kept.cases[word] for line in _item(case)]
        more = self._kept.more(word)
        body = "\n".join([*items, *([f"- and {more:,} more"] if more else [])])
        if word == "regressed":
            return f"### {self._kept.title(word)}\n\n{body}"
        return f"<details><summary>{self._kept.title(word)}</summary>\n\n{body}\n\n</details>"


def _item(case: Mapping[str, Json]) -> list[str]:
    place, why = case["candidate"] or case["base"], why_of(case)
    where = "" if place["file"] is None else f" {_code(place['file'])}:{place['line'] or '?'}"
    lines = [f"- {_code(case['name'])}{where} {statuses_of(case)}{': ' + _text(why) if why else ''}"]
    if case["change"] in ("regressed", "fixed"):
        found = [told for one in case["assertions"] if (told := finding_of(one)) is not None]
        lines += [f"  - {_code(title)} {_text(text)}" for title, text in found[:_MOST_FINDINGS]]
    return lines


def _figures(summary: Mapping[str, Json]) -> str:
    lines = [f"**pass rate** {markdown(' '.join(pass_rate_words(summary['pass_rate'])))}"]
    lines.append(f"**McNemar** {markdown(test_words(summary['mcnemar']))}")
    return "\n\n".join(lines)


def _measurements(summary: Mapping[str, Json]) -> str:
    rows = assertion_rows(summary)
    return _table(ASSERTION_HEAD, rows) if rows else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(_text(cell) for cell in row)} |" for row in rows[:_MOST_ROWS]]
    return "\n".join(lines) + (f"\n\nand {len(rows) - _MOST_ROWS:,} more" if len(rows) > _MOST_ROWS else "")


def _foot(head: Mapping[str, Json]) -> str:
    named = " → ".join(f"{_text(run['id'])} ({_text(run['created_at'])})" for run in (head["base"], head["candidate"]))
    differs = head["summary"]["differs"]
    return f"<sub>{named}{'; they differ in ' + ', '.join(differs) if differs else ''}</sub>"


def _text(text: str) -> str:
    return markdown(one_line(str(text), 400))


def _code(text: str) -> str:
    return f"<code>{markdown(one_line(str(text), _NAME))}</code>"
