"""Markdown for people: a step's summary, a comment on a change, a page beside the release notes.

The outcome stands first, then figures as tables, then every case that did not pass, folded. What others wrote is shown
to the letter: it cannot become markup, a link, a mention or HTML. The whole is bounded to what GitHub shows of a step's
summary (1 MiB); cases beyond that are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jurat.jsontext import Json
from jurat.report.digits import count
from jurat.report.figure_words import ASSERTION_HEAD, DO, assertion_row, counts_words, rate_words, spending
from jurat.report.findings import Problem, problems, unasked
from jurat.report.record import RunRecord, TrialRecord
from jurat.report.reporters.foreign import cut, markdown, one_line, xml
from jurat.report.reporters.reporter import ReportOptions, Sink, Told
from jurat.vocabulary import Status

__all__ = ["MOST_BYTES", "MarkdownReporter"]

MOST_BYTES = 1_000_000
_TAIL = 4_000
"""Kept free for what comes after all runs."""
_FOOT = 2_000
"""Kept free for what comes after the cases of a run."""
_MOST_ROWS = 50
_NAME = 200
_REASON = 1_000
_QUOTE = 400
_OUTPUT = 4_000
_MOST_PROBLEMS = 12
_MOST_QUOTES = 8
_SIGNS = {"passed": "✅ passed", "failed": "❌ failed", "undecided": "⚠️ undecided"}
_FAILED = "❌ fail"


class MarkdownReporter:
    """Writes Markdown in GitHub's flavour."""

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        self._sink, self._options = sink, options
        self._room = min(MOST_BYTES, MOST_BYTES if options.room is None else options.room) - _TAIL
        self._samples = 1
        self._shown = self._left_out = 0
        self._run: RunRecord | None = None
        self._runs = self._untold = 0

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """The outcome and the figures, as far as there is room: the figures are the first to go."""
        self._samples, self._shown, self._left_out, self._run = run.samples, 0, 0, run
        head = ("\n" if self._runs else "") + _head(run, gate)
        tables = (_figures(summary), _policy(gate), _assertions(summary), _labels(summary), _errors(summary))
        whole = "\n\n".join(part for part in (head, *tables) if part) + "\n"
        text = next((text for text in (whole, head + "\n") if len(text.encode()) + _FOOT <= self._room), None)
        if text is None:
            self._untold += 1
            self._run = None
            return
        self._write(text)
        self._runs += 1

    def case(self, told: Told) -> None:
        """A case that did not pass, folded."""
        if told.outcome is Status.PASS or self._run is None:
            return
        text = "".join(_case(told, self._samples, include_output=self._options.include_output))
        title = "" if self._shown else "\n### Cases that did not pass\n"
        if len((title + text).encode()) + _FOOT > self._room:
            self._left_out += 1
            return
        self._shown += 1
        self._write(title + text)

    def end(self) -> None:
        """How many cases were left out, and which run it was."""
        if self._run is None:
            return
        if self._left_out:
            self._write(f"\n{count(self._left_out, 'more case')} did not pass: `jurat show {markdown(self._run.id)}`\n")
        times = " to ".join(filter(None, (self._run.created_at, self._run.finished_at)))
        versions = self._run.provenance.get("jurat")
        by = f", jurat {markdown(str(versions))}" if versions else ""
        self._write(f"\n<sub>run {markdown(self._run.id)}, {markdown(times)}{by}</sub>\n")

    def close(self) -> None:
        """How many runs there was no room for."""
        if self._untold:
            self._write(f"\n{count(self._untold, 'more run')}: no room is left here; `jurat runs` lists them\n")

    def _write(self, text: str) -> None:
        data = text.encode("utf-8")
        self._room -= len(data)
        self._sink.write(data)


# --- figures -------------------------------------------------------------------------------------------------------


def _head(run: RunRecord, gate: Mapping[str, Json] | None) -> str:
    suite = markdown(one_line(run.suite, _NAME))
    if gate is None:
        return f"## {suite}: ⚠️ {run.status.value}\n\nThe gate is decided when the run is complete."
    return f"## {suite}: {_SIGNS[gate['outcome']]}\n\n{markdown(_sentence(gate['reason']))}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], most: int = _MOST_ROWS) -> str:
    """A table; its cells are escaped already."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows[:most]]
    return "\n".join(lines) + (f"\n\nand {len(rows) - most:,} more" if len(rows) > most else "")


def _figures(summary: Mapping[str, Json]) -> str:
    cases, trials = summary["cases"], summary["trials"]
    rows = [("cases", counts_words(cases)), ("", "; ".join(rate_words(cases["pass_rate"])))]
    if trials["total"] > cases["total"]:
        rows += [("trials", counts_words(trials)), ("", "; ".join(rate_words(trials["pass_rate"])))]
    rows += list(spending(summary).items())
    return _table(("", ""), [(f"**{word}**" if word else "", markdown(text)) for word, text in rows])


def _policy(gate: Mapping[str, Json] | None) -> str:
    if gate is None or gate["policy"] is None:
        return ""
    rows = [
        (
            _code(rule["rule"].get("name") or rule["rule"].get("type", "")),
            _SIGNS[rule["outcome"]],
            markdown(rule["reason"]),
        )
        for rule in gate["rules"]
    ]
    return _table(("rule", "", ""), rows)


def _assertions(summary: Mapping[str, Json]) -> str:
    rows = [[markdown(one_line(cell, _NAME)) for cell in assertion_row(one)] for one in summary["assertions"]]
    return _table(ASSERTION_HEAD, rows) if rows else ""


def _labels(summary: Mapping[str, Json]) -> str:
    rows = [
        (
            markdown(one_line(one["name"], _NAME)),
            markdown(counts_words(one["cases"])),
            markdown(rate_words(one["cases"]["pass_rate"])[0]),
        )
        for one in summary["labels"]
    ]
    return _table(("label", "cases", ""), rows) if rows else ""


def _errors(summary: Mapping[str, Json]) -> str:
    rows = [
        (f"{number:,}", markdown(category), words, markdown(DO.get(category, "")))
        for side, words in (("subject", "subject"), ("evaluators", "evaluators"))
        for category, number in sorted(summary["errors"][side].items(), key=lambda item: -item[1])
    ]
    return _table(("errors", "", "of", "to do"), rows) if rows else ""


# --- cases ---------------------------------------------------------------------------------------------------------


def _case(told: Told, samples: int, *, include_output: bool) -> Iterator[str]:
    place = told.place_of(None)
    where = "" if place.file is None else f" {_code(f'{place.file}:{place.line}' if place.line else place.file)}"
    word = _FAILED if told.outcome is Status.FAIL else f"⚠️ {told.word}"
    yield f"\n<details><summary>{word} {_code(told.case.name)}{where}</summary>\n\n"
    found = problems(told.trials)
    for problem in found[:_MOST_PROBLEMS]:
        yield from _problem(problem, samples)
    if len(found) > _MOST_PROBLEMS:
        yield f"- and {count(len(found) - _MOST_PROBLEMS, 'more finding')}\n"
    if not found:
        yield f"- {markdown(unasked(told.trials))}\n"
    if include_output:
        for trial in told.trials:
            yield from _output(trial, samples)
    yield "\n</details>\n"


def _problem(problem: Problem, samples: int) -> Iterator[str]:
    yield f"- **{problem.status.value}** {markdown(one_line(problem.head(samples), _NAME))}\n"
    for text in problem.said:
        yield f"  - {_quoted(text, _REASON)}\n"
    for number, quote in problem.quotes[:_MOST_QUOTES]:
        yield f"  - “{_quoted(quote, _QUOTE)}” (evidence {number})\n"


def _quoted(text: str, most: int) -> str:
    """At the beginning of an item: an empty comment keeps a dash or a number from beginning another list."""
    return f"<!-- -->{markdown(one_line(text, most))}"


def _code(text: str) -> str:
    """A name, in which GitHub looks for no mentions."""
    return f"<code>{markdown(one_line(str(text), _NAME))}</code>"


def _output(trial: TrialRecord, samples: int) -> Iterator[str]:
    if trial.subject.output is None:
        return
    which = f" of trial {trial.trial_index + 1}" if samples > 1 else ""
    yield f"\noutput{which}:\n\n<pre>{xml(cut(trial.subject.output, _OUTPUT))}</pre>\n"
