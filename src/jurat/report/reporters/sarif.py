"""SARIF 2.1.0 (OASIS): a result for each thing that did not pass, at the line of its assertion in the suite file.

The message leads with the quote that the judge based itself on. A poor answer has the level `error`; what is undecided
is a `warning` and says that it is, since a reader hides results of other kinds than `fail`. Results are written as the
cases come; what every assertion is called is known before. Only files of the suite are named, never a model's text.

In a message SARIF reads `[text](1)` as a link and `{0}` as a placeholder: where a text holds such, it is escaped as the
standard says (3.11.5, 3.11.6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

from jurat.jsontext import Json
from jurat.report.findings import Problem, problems, unasked
from jurat.report.record import RunRecord
from jurat.report.reporters.foreign import one_line
from jurat.report.reporters.reporter import ReportOptions, Sink, Told
from jurat.suite.case import Place
from jurat.vocabulary import Status

__all__ = ["MOST_RESULTS", "SCHEMA", "SarifReporter"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000
"""How many results of a run GitHub takes; beyond that they are counted in a notification."""
_HOME = "https://github.com/jurat-eval/jurat"
_TITLE = 200
_REASON = 1_000
_QUOTE = 300
_MOST_QUOTES = 3
_LINK = re.compile(r"\]\s*\(")
_PLACEHOLDER = re.compile(r"\{\d+\}")
_SUBJECT = "subject"
_CASE = "case"

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


class SarifReporter:
    """Writes SARIF; a run for each run."""

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        self._sink, self._version, self._located = sink, options.version, options.located
        self._run: RunRecord | None = None
        self._gate: Mapping[str, Json] | None = None
        self._rules: dict[str, Json] = {}
        self._written = self._left_out = self._runs = 0
        self._write(f'{{"$schema":{_encode(SCHEMA)},"version":"2.1.0","runs":[')

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """The run begins with its results."""
        self._run, self._gate, self._written, self._left_out = run, gate, 0, 0
        self._rules = dict(_rules(summary))
        self._write(("," if self._runs else "") + '\n{"results":[')
        self._runs += 1

    def case(self, told: Told) -> None:
        """What did not pass in a case that did not pass."""
        if told.outcome is Status.PASS or self._run is None:
            return
        found = problems(told.trials)
        for problem in found:
            rule = _SUBJECT if problem.assertion is None else _rule_id(problem)
            level = "error" if problem.status is Status.FAIL and told.outcome is Status.FAIL else "warning"
            self._result(told, rule, level, _message(told, problem, self._run.samples), problem.assertion)
        if not found:
            level = "error" if told.outcome is Status.FAIL else "warning"
            self._result(told, _CASE, level, f"{told.word}: {told.case.name}: {unasked(told.trials)}", None)

    def end(self) -> None:
        """The tool, what it took part in, and the end of the run."""
        if self._run is None:
            return
        tool = {"driver": _driver(self._version, self._rules)}
        self._write("\n]," + f'"tool":{_encode(tool)},"invocations":[{_encode(self._invocation(self._run))}]')
        self._write(f',"automationDetails":{_encode({"id": f"jurat/{self._run.suite}/{self._run.id}"})}')
        self._write(f',"properties":{_encode(_properties(self._run, self._gate))},"columnKind":"unicodeCodePoints"}}')

    def close(self) -> None:
        """The end."""
        self._write("\n]}\n")

    def _write(self, text: str) -> None:
        self._sink.write(text.encode("utf-8", "replace"))

    def _result(self, told: Told, rule: str, level: str, message: str, assertion: int | None) -> None:
        if self._written >= MOST_RESULTS:
            self._left_out += 1
            return
        self._rules.setdefault(rule, _rule(rule, rule))
        suite = "" if self._run is None else self._run.suite
        made: dict[str, Json] = {
            "ruleId": rule,
            "level": level,
            "message": {"text": _escaped(message)},
            "partialFingerprints": {"juratFinding/v1": _fingerprint(suite, told.case.name, rule, level)},
            "properties": {"case": one_line(told.case.name, _TITLE), "status": told.word},
        }
        if location := self._location(told.place_of(assertion)):
            made["locations"] = [location]
        self._write((",\n" if self._written else "\n") + _encode(made))
        self._written += 1

    def _location(self, place: Place) -> dict[str, Json] | None:
        if place.file is None:
            return None
        made: dict[str, Json] = {"artifactLocation": _artifact(self._located(place.file))}
        if place.line is not None:
            made["region"] = {"startLine": place.line}
        return {"physicalLocation": made}

    def _invocation(self, run: RunRecord) -> dict[str, Json]:
        made: dict[str, Json] = {
            "executionSuccessful": self._gate is not None,
            "startTimeUtc": run.created_at,
            "endTimeUtc": run.finished_at,
        }
        if self._left_out:
            text = f"{self._left_out:,} more results are not listed"
            made["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
        return {name: value for name, value in made.items() if value is not None}


# --- rules ---------------------------------------------------------------------------------------------------------


def _rules(summary: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    yield _SUBJECT, _rule(_SUBJECT, "The subject answers.")
    for one in summary["assertions"]:
        named = f"{one['name']} ({one['template'] or one['type']})"
        rule = _rule_of(one["name"], one["type"], one["template"] or "")
        yield rule, _rule(rule, f"The answer meets the assertion {named}.")


def _rule(rule: str, text: str) -> dict[str, Json]:
    return {"id": rule, "name": rule, "shortDescription": {"text": _escaped(one_line(text, _TITLE))}}


def _rule_id(problem: Problem) -> str:
    facts = problem.result.get("metadata")
    facts = facts if isinstance(facts, Mapping) else {}
    template = facts.get("template")
    named = f"{template}@{facts.get('template_revision')}" if isinstance(template, str) else ""
    return _rule_of(problem.name, problem.type, named)


def _rule_of(name: str, type_: str, template: str) -> str:
    parts = [type_] if name == type_ else [type_, one_line(name, _TITLE)]
    return "/".join([*parts, template] if template else parts)


# --- results -------------------------------------------------------------------------------------------------------


def _message(told: Told, problem: Problem, samples: int) -> str:
    """The quote first, then what it was held against, and why."""
    quotes = [f"“{one_line(text, _QUOTE)}”" for _, text in problem.quotes[:_MOST_QUOTES]]
    undecided = "" if problem.status is Status.FAIL else f"{problem.status.value}, not decided: "
    head = f"{undecided}{told.case.name}: {problem.head(samples)}"
    why = [one_line(text, _REASON) for text in problem.said]
    return one_line(" — ".join([*quotes, head, *why]), 4 * _REASON)


def _escaped(text: str) -> str:
    """As plain text of a message: no link, no placeholder."""
    if _LINK.search(text):
        text = re.sub(r"[\\\[\]]", r"\\\g<0>", text)
    return text.replace("{", "{{").replace("}", "}}") if _PLACEHOLDER.search(text) else text


def _artifact(file: str) -> dict[str, Json]:
    """The file as a URI reference, relative to where the run was begun."""
    windows = PureWindowsPath(file)
    if windows.drive:
        return {"uri": "file:///" + quote(windows.as_posix(), safe="/:", errors="replace")}
    path = PurePosixPath(file).as_posix()
    if path.startswith("/"):
        return {"uri": "file://" + quote(path, errors="replace")}
    return {"uri": quote(path, errors="replace"), "uriBaseId": "%SRCROOT%"}


def _fingerprint(suite: str, *parts: str) -> str:
    """Stays the same as long as suite, case and assertion are called alike, wherever they stand in the file."""
    return sha256("\0".join([suite, *parts]).encode("utf-8", "replace")).hexdigest()[:32]


def _driver(version: str, rules: Mapping[str, Json]) -> dict[str, Json]:
    return {"name": "jurat", "version": version, "informationUri": _HOME, "rules": [*rules.values()]}


def _properties(run: RunRecord, gate: Mapping[str, Json] | None) -> dict[str, Json]:
    made: dict[str, Json] = {"run": run.id, "suite": run.suite, "suiteHash": run.suite_hash, "status": run.status.value}
    return made if gate is None else {**made, "gate": gate["outcome"], "gateReason": gate["reason"]}
