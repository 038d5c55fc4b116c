"""JUnit XML, as Jenkins and Maven Surefire read it: a `testsuite` for each run, a `testcase` for each case.

A reader of JUnit knows passed, failed, error and skipped, and shows a build whose tests were skipped as good. What is
undecided must not look so: only a case that passed has neither `<failure>` nor `<error>`. A poor answer is a
`<failure>`; errors, missing evidence and trials that were not made are an `<error>`, whose `type` says which. Nothing
is ever `<skipped>`. Each case has at most one of them, so that the counts add up everywhere; its text holds all that
did not pass. A policy's rules are test cases of their own.

The elements and attributes are those that both schemas know: Surefire's `surefire-test-report.xsd` and `junit-10.xsd`
of Jenkins' xUnit plugin. What XML cannot hold is written as a visible escape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jurat.jsontext import Json
from jurat.judge import Spending
from jurat.report.findings import Problem, problems, title_of, unasked
from jurat.report.record import AssessmentRecord, RunRecord, TrialRecord
from jurat.report.reporters.foreign import one_line, xml
from jurat.report.reporters.reporter import ReportOptions, Sink, Told
from jurat.vocabulary import Status

__all__ = ["JUnitReporter"]

_MESSAGE = 300
_PLACE = ("suite", "suite_hash", "id", "status", "created_at", "finished_at", "samples", "reducer", "parent")


class JUnitReporter:
    """Writes JUnit XML."""

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        self._sink, self._options = sink, options
        self._suite, self._samples = "", 1
        self._rules: list[str] = []
        self._write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """The suite's element with its counts, which are known before the first case."""
        self._suite, self._samples = run.suite, run.samples
        failed, undecided, self._rules = _rules(run.suite, gate)
        counts = summary["cases"]["counts"]
        tests = summary["cases"]["total"] + len(self._rules)
        failures = counts[Status.FAIL] + failed
        errors = tests - len(self._rules) - counts[Status.PASS] - counts[Status.FAIL] + undecided
        self._write(
            f'<testsuite name="{xml(run.suite)}" tests="{tests}" failures="{failures}" errors="{errors}" skipped="0">\n'
            f"  <properties>\n{''.join(_properties(run, gate))}  </properties>\n"
        )

    def case(self, told: Told) -> None:
        """One test case."""
        head = f'  <testcase classname="{xml(self._suite)}" name="{xml(told.case.name)}" time="{_seconds(told.trials)}"'
        inner = [*_bad(told, self._samples), *self._said(told)]
        self._write(f"{head}>\n{''.join(inner)}  </testcase>\n" if inner else f"{head}/>\n")

    def end(self) -> None:
        """The policy's rules, and the end of the suite."""
        self._write("".join(self._rules) + "</testsuite>\n")

    def close(self) -> None:
        """The end."""
        self._write("</testsuites>\n")

    def _write(self, text: str) -> None:
        self._sink.write(text.encode("utf-8"))

    def _said(self, told: Told) -> Iterator[str]:
        """What each assertion came to, and the answers where they were asked for."""
        lines = [line for trial in told.trials for line in _lines(trial, self._samples)]
        if self._options.include_output:
            lines += [line for trial in told.trials for line in _answer(trial, self._samples)]
        if lines:
            yield f"    <system-out>{xml(chr(10).join(lines))}</system-out>\n"


def _properties(run: RunRecord, gate: Mapping[str, Json] | None) -> Iterator[str]:
    told: dict[str, Json] = {name: getattr(run, name) for name in _PLACE}
    told |= {f"provenance.{name}": value for name, value in sorted(run.provenance.items())}
    if gate is not None:
        told |= {"gate": gate["outcome"], "gate.reason": gate["reason"]}
    for name, value in told.items():
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield f'    <property name="jurat.{xml(name)}" value="{xml(str(value))}"/>\n'


# --- cases ---------------------------------------------------------------------------------------------------------


def _seconds(trials: Sequence[TrialRecord]) -> str:
    """How long answers and verdicts took, all trials together."""
    spent = (one.duration_ms for trial in trials for one in _spendings(trial))
    return f"{sum(spent) / 1000:.3f}"


def _spendings(trial: TrialRecord) -> list[Spending]:
    return [trial.subject.spending, *(made.spending for made in trial.assessments)]


def _bad(told: Told, samples: int) -> Iterator[str]:
    """Why the case did not pass: one element, or none."""
    if told.outcome is Status.PASS:
        return
    found = problems(told.trials)
    kind = "failure" if told.outcome is Status.FAIL else "error"
    first = next((one for one in found if one.status is told.outcome), found[0] if found else None)
    message = unasked(told.trials) if first is None else _message(first, samples)
    if told.outcome is None:
        message = f"the run did not come to an end; {message}"
    word = first.category if kind == "error" and first is not None and first.category else told.word
    text = "\n".join([*_where(told), *(line for one in found for line in _told(one, samples))] or [message])
    yield f'    <{kind} type="{xml(word)}" message="{xml(one_line(message, _MESSAGE))}">{xml(text)}</{kind}>\n'


def _message(problem: Problem, samples: int) -> str:
    return ": ".join([problem.head(samples), *problem.said[:1]])


def _where(told: Told) -> list[str]:
    place = told.place_of(None)
    return [] if place.file is None else [f"{place.file}{f':{place.line}' if place.line else ''}"]


def _told(problem: Problem, samples: int) -> Iterator[str]:
    yield f"{problem.status.value}: {problem.head(samples)}"
    for text in problem.said:
        yield f"  {text}"
    for number, quote in problem.quotes:
        yield f"  “{quote}” (evidence {number})"


def _lines(trial: TrialRecord, samples: int) -> Iterator[str]:
    which = f"trial {trial.trial_index + 1} of {samples}: " if samples > 1 else ""
    if trial.subject.error is not None:
        yield f"{which}no answer: {trial.subject.error.type.value}"
    for made in trial.assessments:
        yield f"{which}{made.status.value}: {title_of(made)}{_score(made)}"


def _score(made: AssessmentRecord) -> str:
    if made.score is None:
        return ""
    facts = made.result.get("metadata")
    threshold = facts.get("threshold") if isinstance(facts, Mapping) else None
    return f" score {made.score:g}" + (f", threshold {threshold:g}" if isinstance(threshold, int | float) else "")


def _answer(trial: TrialRecord, samples: int) -> Iterator[str]:
    if trial.subject.output is not None:
        yield f"output{f' of trial {trial.trial_index + 1}' if samples > 1 else ''}:"
        yield trial.subject.output


# --- the policy ----------------------------------------------------------------------------------------------------


def _rules(suite: str, gate: Mapping[str, Json] | None) -> tuple[int, int, list[str]]:
    """How many rules failed and how many are undecided, and every rule as a test case.

    Without a policy the cases say it all; a run without cases, which does not pass, is told by its one rule, and so is
    a run that did not come to its end.
    """
    if gate is None:
        return 0, 1, [_rule(suite, "the run comes to its end", "undecided", "the run is not completed")]
    rules = gate["rules"]
    if gate["policy"] is None and any(rule["n"] or rule["undecided"] for rule in rules):
        return 0, 0, []
    outcomes = [rule["outcome"] for rule in rules]
    made = [
        _rule(suite, f"{number}. {_name_of(rule['rule'])}", rule["outcome"], rule["reason"])
        for number, rule in enumerate(rules, 1)
    ]
    return outcomes.count("failed"), outcomes.count("undecided"), made


def _name_of(rule: Mapping[str, Json]) -> str:
    return str(rule.get("name") or rule.get("type") or "every case passes")


def _rule(suite: str, name: str, outcome: str, reason: str) -> str:
    head = f'  <testcase classname="{xml(suite)}.policy" name="{xml(name)}" time="0.000"'
    kind = {"failed": "failure", "undecided": "error"}.get(outcome)
    if kind is None:
        return f"{head}/>\n"
    said = f'type="{outcome}" message="{xml(one_line(reason, _MESSAGE))}"'
    return f"{head}>\n    <{kind} {said}>{xml(reason)}</{kind}>\n  </testcase>\n"
