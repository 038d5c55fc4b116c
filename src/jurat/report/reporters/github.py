"""GitHub Actions: a line for each case that did not pass, which the runner shows where the case stands in its file.

Of an assertion that is the case's own it is that one's line; one that many cases share would draw them all to one line.

A line is a workflow command (`::error file=…,line=…::message`), escaped by the runner's own rules, so that no text can
begin another command. The runner keeps ten errors, ten warnings and ten notices of a step and 4,096 characters of each;
what is beyond that is counted in a notice instead of being lost. A poor answer is an error, an undecided case a
warning, and the outcome of the run has a line kept for it.

The step's summary is Markdown, which `markdown` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from jurat.errors import Fault
from jurat.jsontext import Json
from jurat.report.digits import count
from jurat.report.findings import Problem, problems, unasked
from jurat.report.record import RunRecord
from jurat.report.reporters.foreign import cut, one_line, shown
from jurat.report.reporters.reporter import ReportOptions, Sink, Told
from jurat.vocabulary import Status

__all__ = ["MOST_OF_A_KIND", "GitHubReporter", "fault_commands"]

MOST_OF_A_KIND = 10
"""How many annotations of a kind the runner keeps of one step."""
_FOR_CASES = MOST_OF_A_KIND - 1
_MESSAGE = 2_000
"""The most characters of a message; escaped it may take three times as many, and the runner cuts the unescaped."""
_REASON = 400
_QUOTE = 200
_TITLE = 200
_MOST_PROBLEMS = 5
_MOST_QUOTES = 3
_KINDS = {"passed": "notice", "failed": "error", "undecided": "warning"}


class GitHubReporter:
    """Writes workflow commands; the limits hold for all runs of a report together."""

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        self._sink, self._located = sink, options.located  # answers are never part of an annotation
        self._given = {"error": 0, "warning": 0, "notice": 0}
        self._run: RunRecord | None = None
        self._gate: Mapping[str, Json] | None = None
        self._left_out = 0

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """Nothing is written before the first case."""
        del summary
        self._run, self._gate, self._left_out = run, gate, 0

    def case(self, told: Told) -> None:
        """An annotation where the case did not pass."""
        if told.outcome is Status.PASS:
            return
        kind = "error" if told.outcome is Status.FAIL else "warning"
        if self._given[kind] >= _FOR_CASES:
            self._left_out += 1
            return
        samples = self._run.samples if self._run else 1
        found = problems(told.trials)
        lines = [line for one in found[:_MOST_PROBLEMS] for line in _lines(one, samples)] or [unasked(told.trials)]
        if len(found) > _MOST_PROBLEMS:
            lines.append(f"and {count(len(found) - _MOST_PROBLEMS, 'more finding')}")
        place = told.own_place_of(found[0].assertion if found else None)
        self._give(kind, f"{told.word}: {told.case.name}", "\n".join(lines), place.file, place.line)

    def end(self) -> None:
        """What was left out, and the outcome."""
        run, gate = self._run, self._gate
        if run is None:
            return
        if self._left_out:
            more = f"{count(self._left_out, 'more case')} did not pass: see the step's summary, or jurat show {run.id}"
            self._give("notice", run.suite, more)
        outcome, reason = ("undecided", "the run is not completed")
        if gate is not None:
            outcome, reason = gate["outcome"], gate["reason"]
        self._give(_KINDS[outcome], f"{run.suite}: {outcome}", f"{reason} (run {run.id})")

    def close(self) -> None:
        """Nothing is left to say."""

    def _give(self, kind: str, title: str, message: str, file: str | None = None, line: int | None = None) -> None:
        if self._given[kind] >= MOST_OF_A_KIND:
            return
        self._given[kind] += 1
        named = None if file is None else self._located(file)
        where = {"file": named, "line": None if file is None or line is None else str(line)}
        properties = {**where, "title": one_line(title, _TITLE)}
        told = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value is not None)
        self._sink.write(f"::{kind} {told}::{_data(cut(shown(message), _MESSAGE))}\n".encode())


def fault_commands(faults: Sequence[Fault], located: Callable[[str], str] = str) -> Iterator[str]:
    """What is wrong with an author's input, as workflow commands: an error at the line of each fault.

    Args:
        located: as of `ReportOptions`.
    """
    for fault in faults[:_FOR_CASES]:
        where = {} if fault.file is None else {"file": located(fault.file)}
        if where and fault.line is not None:
            where["line"] = str(fault.line)
        said = cut(shown(str(replace(fault, file=None, line=None))), _MESSAGE)
        told = ",".join(f"{name}={_property(value)}" for name, value in {**where, "title": "wrong input"}.items())
        yield f"::error {told}::{_data(said)}"
    if len(faults) > _FOR_CASES:
        yield f"::error title=wrong input::{count(len(faults) - _FOR_CASES, 'more fault')}: see the log"


def _lines(problem: Problem, samples: int) -> Iterator[str]:
    yield one_line(f"{problem.status.value}: {problem.head(samples)}", _REASON)
    for text in problem.said:
        yield one_line(text, _REASON)
    for number, quote in problem.quotes[:_MOST_QUOTES]:
        yield f"“{one_line(quote, _QUOTE)}” (evidence {number})"


def _data(text: str) -> str:
    """As the runner reads a message (actions/toolkit, `command.ts`, `escapeData`)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """As the runner reads a property (`escapeProperty`)."""
    return _data(shown(text)).replace(":", "%3A").replace(",", "%2C")
