"""A comparison for a person to read on a terminal: what regressed first, then what else became of cases, then figures.

Cases are taken in one by one, and a bounded part of each class is kept. It ends as it began: with what came out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jurat.jsontext import Json
from jurat.report.comparison_words import (
    ASSERTION_HEAD,
    LEGEND,
    TITLES,
    assertion_rows,
    finding_of,
    headline,
    hidden_words,
    pass_rate_words,
    statuses_of,
    test_words,
    title_word,
    why_of,
)
from jurat.report.console_figures import table
from jurat.report.console_look import WORDS, Look
from jurat.report.plaintext import clipped, columns, padded, wrapped

__all__ = ["ComparisonPage", "Kept"]

_NAME = 200
_MOST_FINDINGS = 12
_MOST_ROWS = 30
_STYLES = {"found": "fail", "none": "pass", "undecided": "unverified"}


@dataclass(slots=True)
class Kept:
    """The first cases of each class that is listed, and how many there are.

    Args:
        most: how many regressions are kept; of every other class half as many.
    """

    most: int = 20
    cases: dict[str, list[Mapping[str, Json]]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, case: Mapping[str, Json]) -> None:
        """Take in one case, as a comparison tells it."""
        word = case["change"]
        self.counts[word] = self.counts.get(word, 0) + 1
        kept = self.cases.setdefault(word, [])
        if word in TITLES and len(kept) < (self.most if word == "regressed" else self.most // 2):
            kept.append(case)

    def title(self, word: str) -> str:
        """`3 cases regressed`."""
        number = self.counts[word]
        return f"{number:,} {TITLES[word][number != 1]}"

    def more(self, word: str) -> int:
        """How many were not kept."""
        return self.counts[word] - len(self.cases[word])


class ComparisonPage:
    """Gathers what there is to say of two runs.

    Args:
        look: how wide, in what colours.
    """

    def __init__(self, look: Look | None = None) -> None:
        self._look = look or Look()
        self._kept = Kept()

    def case(self, case: Mapping[str, Json]) -> None:
        """Take in one case (`CaseComparison.to_json()`)."""
        self._kept.add(case)

    def text(self, head: Mapping[str, Json]) -> str:
        """The whole, ending with a line break.

        Args:
            head: everything of the comparison but its cases.
        """
        summary = head["summary"]
        parts = [self._head(head), self._notes(summary), *map(self._class, TITLES), self._figures(summary)]
        return "\n\n".join(part for part in [*parts, self._outcome(head)] if part) + "\n"

    def _head(self, head: Mapping[str, Json]) -> str:
        base, candidate = head["base"], head["candidate"]
        word = self._word(head)
        names = f"{clipped(base['id'], 60)} → {clipped(candidate['id'], 60)}"
        return f"{self._look.paint(clipped(candidate['suite'], _NAME), 'bold')}  {word}  {names}"

    def _word(self, head: Mapping[str, Json]) -> str:
        return self._look.paint(title_word(head["regression"]), _STYLES[head["regression"]])

    def _notes(self, summary: Mapping[str, Json]) -> str:
        differs = summary["differs"]
        lines = [f"the runs differ in {', '.join(differs)}" if differs else "nothing that the runs rest on differs"]
        lines += [f"beware: {text}" for text in summary["warnings"]]
        return "\n".join(wrapped(line, self._look.width) for line in lines)

    # --- cases -----------------------------------------------------------------------------------------------------

    def _class(self, word: str) -> str:
        if not self._kept.counts.get(word):
            return ""
        cases, more = self._kept.cases[word], self._kept.more(word)
        full = word in ("regressed", "fixed")
        blocks = [self._block(case) if full else self._line(case) for case in cases]
        blocks += [f"  and {more:,} more"] if more else []
        title = self._look.paint(f"{self._kept.title(word)}:", "bold")
        return (("\n\n" if full else "\n").join([title, *blocks])).rstrip()

    def _block(self, case: Mapping[str, Json]) -> str:
        found = [told for one in case["assertions"] if (told := finding_of(one)) is not None]
        room = min(max((columns(clipped(title, _NAME)) for title, _ in found), default=0), 28)
        lines = [self._title(case)]
        for title, text in found[:_MOST_FINDINGS]:
            lines += self._finding(clipped(title, _NAME), clipped(text, 400), room)
        if len(found) > _MOST_FINDINGS:
            lines.append(f"  and {len(found) - _MOST_FINDINGS} more assertions")
        return "\n".join(lines)

    def _title(self, case: Mapping[str, Json]) -> str:
        side = case["candidate"]
        word = WORDS[side["status"]]
        lead = f"{self._look.paint(word, side['status'])}{' ' * max(6 - len(word), 1)} "
        place = "" if side["file"] is None else f"  {clipped(side['file'], _NAME)}:{side['line'] or '?'}"
        name = self._look.paint(clipped(case["name"], _NAME), "bold")
        return f"{lead}{name}{self._look.paint(place, 'dim') if place else ''}{self._trials(case)}"

    def _trials(self, case: Mapping[str, Json]) -> str:
        told = [side["passed"] + side["failed"] + side["undecided"] for side in (case["base"], case["candidate"])]
        if max(told) == 1:
            return ""
        old, new = (case[word]["passed"] for word in ("base", "candidate"))
        return f"  {old} of {told[0]} → {new} of {told[1]} trials passed"

    def _finding(self, title: str, text: str, room: int) -> list[str]:
        if 2 + max(room, columns(title)) + 2 + columns(text) > self._look.width:
            return [f"  {title}", wrapped(text, self._look.width, " " * 6)]
        return [f"  {padded(title, room)}  {text}"]

    def _line(self, case: Mapping[str, Json]) -> str:
        told, why = statuses_of(case), why_of(case)
        text = f"{clipped(case['name'], _NAME)}  {told}{'  ' + clipped(why, 400) if why else ''}"
        return wrapped(text, self._look.width, "      ").replace("      ", "  ", 1)

    # --- figures ---------------------------------------------------------------------------------------------------

    def _figures(self, summary: Mapping[str, Json]) -> str:
        lines = [line for text in pass_rate_words(summary["pass_rate"]) for line in self._hung("", text)]
        lines[0] = f"pass rate  {lines[0].lstrip()}"
        lines += self._hung("McNemar", test_words(summary["mcnemar"]))
        rows = assertion_rows(summary)
        cells = [(clipped(name, 80), *others) for name, *others in rows[:_MOST_ROWS]]
        made = table([ASSERTION_HEAD, *cells], self._look) if cells else []
        made += [f"  and {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
        if any(row[-1] for row in rows):
            made.append(self._look.paint(wrapped(LEGEND, self._look.width), "dim"))
        return "\n".join(lines) + ("\n\n" + "\n".join(made) if made else "")

    def _hung(self, word: str, text: str) -> Sequence[str]:
        margin = " " * 11
        first, *others = wrapped(text, self._look.width, margin).split("\n")
        return [f"{padded(word, 11)}{first.removeprefix(margin)}".rstrip(), *others]

    def _outcome(self, head: Mapping[str, Json]) -> str:
        word = title_word(head["regression"])
        text = " ".join(filter(None, (headline(head["summary"]), hidden_words(head["summary"]))))
        margin = " " * (len(word) + 2)
        return f"{self._word(head)}  {wrapped(text, self._look.width, margin).removeprefix(margin)}"
