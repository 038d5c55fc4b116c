"""Whether a report holds together as a whole: its figures are those of its cases, its statuses follow from each other.

A report may have been edited, or cut, or come from elsewhere. Everything in it that can be computed from something else
in it is computed again and compared; what cannot (a judge's score, a price) has to be of its kind and in its bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import IO

from jurat.errors import AuthoringError, Fault
from jurat.evaluation import reduce_statuses
from jurat.jsontext import Json, canonical
from jurat.metrics.exact import as_written
from jurat.metrics.policy import Policy, read_policy
from jurat.metrics.result_check import contradictions, same_measure
from jurat.metrics.run_tally import RunTally, scale_of
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, RunStatus, TrialRecord
from jurat.report.run_json import case_from_json, trial_from_json
from jurat.report.run_reader import ReportReader
from jurat.report.sampling import sampling_of
from jurat.vocabulary import Status

__all__ = ["CheckedReport", "check_report", "differences"]

_MOST_FAULTS = 20
_MOST_EVALUATORS = 10_000
_PROVENANCE = ("jurat", "python", "platform")
_REGRESSION = "no_regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedReport:
    """A report that holds together: the run, what its rows come to, and its gate as it was told."""

    run: RunRecord
    tally: RunTally
    gate: Mapping[str, Json] | None


def check_report(
    stream: IO[bytes], file: str | None = None, reader: type[ReportReader] = ReportReader
) -> CheckedReport:
    """Read a whole report in constant space.

    Args:
        stream: a binary stream.
        file: its name, for the messages.
        reader: what it is read by; `InterchangeReader` admits reports as they are handed on, and no other bytes.

    Raises:
        AuthoringError: with its faults, the first twenty of them; at once for what cannot be read at all.
    """
    check = _Check(reader(stream, file))
    check.rows()
    check.whole()
    if check.faults:
        raise AuthoringError("report", check.faults[:_MOST_FAULTS])
    return CheckedReport(run=check.reader.run, tally=check.tally, gate=check.reader.gate)


class _Check:
    """Walks a report once and gathers what does not agree."""

    def __init__(self, reader: ReportReader) -> None:
        self.reader, self.run = reader, reader.run
        self.faults: list[Fault] = []
        self.policy = self._policy()
        self.tally = RunTally(self.run, self.policy.watch)
        self._names: set[str] = set()
        judges = self.run.provenance.get("judges")
        self._judges = {one for one in judges if isinstance(one, str)} if isinstance(judges, list | tuple) else set()
        self._revisions: dict[tuple[str, str], str] = {}

    def say(self, path: str, expected: str, found: str) -> None:
        self.faults.append(Fault(path=path, expected=expected, found=found, file=self.reader.file))

    def _policy(self) -> Policy:
        """The policy that the gate was decided by, as the gate itself tells it."""
        gate = self.reader.gate
        if gate is None or gate["policy"] is None:
            return Policy()
        policy = read_policy([rule["rule"] for rule in gate["rules"]], "gate.rules", self.faults)
        if policy.hash != gate["policy"]:
            self.say("gate.policy", "the hash of the rules", "another one")
        return policy

    # --- rows ------------------------------------------------------------------------------------------------------

    def rows(self) -> None:
        count = 0
        for index, told in enumerate(self.reader.cases()):
            case = case_from_json(told)
            trials = [trial_from_json(trial, case.case_index) for trial in told["trials"]]
            if len(self.faults) < _MOST_FAULTS:
                self._case(f"cases[{index}]", index, case, trials, told)
            self.tally.add(case, trials)
            count += 1
        if count != self.run.cases:
            self.say("run.cases", f"{count:,}, as many as there are", f"{self.run.cases:,}")

    def _case(
        self, path: str, index: int, case: CaseRecord, trials: Sequence[TrialRecord], told: Mapping[str, Json]
    ) -> None:
        if case.case_index != index:
            self.say(f"{path}.case_index", f"{index}, its place", f"{case.case_index}")
        if case.name in self._names:
            self.say(f"{path}.name", "a name of its own", "that of another case")
        self._names.add(case.name)
        numbers = [trial.trial_index for trial in trials]
        if numbers != sorted(set(numbers)) or (numbers and numbers[-1] >= self.run.samples):
            self.say(f"{path}.trials", f"trials in order, at most {self.run.samples}", "others")
        firsts: dict[str, AssessmentRecord] = {}
        for place, trial in enumerate(trials):
            self._trial(f"{path}.trials[{place}]", trial, firsts)
        if canonical(told["sampling"]) != canonical(sampling_of(trials, self.run.samples)):
            self.say(f"{path}.sampling", "what the trials come to", "something else")
        self._case_status(path, case, trials)

    def _case_status(self, path: str, case: CaseRecord, trials: Sequence[TrialRecord]) -> None:
        complete = trials and len(trials) == self.run.samples
        outcome = reduce_statuses([trial.status for trial in trials], self.tally.reducer) if complete else None
        told = case.status
        # Until the run is completed, outcomes may not be written down yet.
        if told is not outcome and (told is not None or self.run.status is RunStatus.COMPLETED):
            self.say(f"{path}.status", _word(outcome), _word(told))

    def _trial(self, path: str, trial: TrialRecord, firsts: dict[str, AssessmentRecord]) -> None:
        """One trial; `firsts` are the case's assertions by name, each as its first trial tells it."""
        if len({made.name for made in trial.assessments}) < len(trial.assessments):
            self.say(f"{path}.assessments", "assertions with names of their own", "two of one name")
        for place, made in enumerate(trial.assessments):
            at = f"{path}.assessments[{place}]"
            for name, expected, found in (*contradictions(made), *self._other_revisions(made)):
                self.say(f"{at}.result.{name}", expected, found)
            for name, expected, found in same_measure(firsts.setdefault(made.name, made), made):
                self.say(f"{at}.{name}", expected, found)
            judge = made.result["metadata"].get("judge") if made.type == "rubric_judge" else None
            if judge is not None and judge not in self._judges:
                self.say(f"{at}.result.metadata.judge", "a judge of run.provenance.judges", "another one")
        if trial.status not in _possible(trial):
            words = " or ".join(sorted(word.value for word in _possible(trial)))
            self.say(f"{path}.status", f"{words}, as its parts say", trial.status.value)

    def _other_revisions(self, made: AssessmentRecord) -> Iterator[tuple[str, str, str]]:
        """An evaluator has one revision in a run, and a judge's identity stands for one model, scale and contract."""
        evaluator, facts = made.result["evaluator"], made.result["metadata"]
        named = ("evaluator.revision", "evaluator", evaluator.get("name"), evaluator.get("revision"))
        judged = [evaluator.get("model"), *(facts.get(name) for name in ("contract", "strategy", "score_range"))]
        for path, kind, name, revision in (named, ("metadata.judge", "judge", facts.get("judge"), canonical(judged))):
            if isinstance(name, str) and isinstance(revision, str):
                known = self._revisions.get((kind, name), revision)
                if len(self._revisions) < _MOST_EVALUATORS:
                    self._revisions[kind, name] = known
                if known != revision:
                    yield path, f"one revision of {kind} {name[:80]!r}", "another one than before"

    # --- the whole -------------------------------------------------------------------------------------------------

    def whole(self) -> None:
        if not self.faults:  # the figures of rows that are wrong themselves would say nothing new
            for path in differences(self.tally.summary(), self.reader.summary, "summary"):
                self.say(path, "what the cases come to", "something else")
        self._gate()
        self._provenance()

    def _gate(self) -> None:
        gate = self.reader.gate
        if (gate is None) != (self.run.status is not RunStatus.COMPLETED):
            self.say("gate", "an outcome exactly of a completed run", "one" if gate else "none")
        if gate is None or self.faults:
            return
        if self.policy.wants_baseline:
            self._rules_without_baseline(gate)
            return
        for path in differences(self.policy.decide(self.tally).to_json(), gate, "gate"):
            self.say(path, "what the policy comes to", "something else")

    def _rules_without_baseline(self, gate: Mapping[str, Json]) -> None:
        """What was compared with another run cannot be computed again; the rest can."""
        again = self.policy.decide(self.tally).to_json()["rules"]
        for index, (mine, told) in enumerate(zip(again, gate["rules"], strict=True)):
            if mine["rule"].get("type") != _REGRESSION:
                for path in differences(mine, told, f"gate.rules[{index}]"):
                    self.say(path, "what the policy comes to", "something else")
        outcomes = {rule["outcome"] for rule in gate["rules"]}
        worst = next((word for word in ("failed", "undecided") if word in outcomes), "passed")
        if worst != gate["outcome"] and not (worst == "passed" and gate["outcome"] == "undecided"):
            self.say("gate.outcome", worst, str(gate["outcome"]))

    def _provenance(self) -> None:
        for name in _PROVENANCE:
            if not isinstance(self.run.provenance.get(name), str):
                self.say(f"run.provenance.{name}", "text", "nothing")
        judges = self.run.provenance.get("judges")
        listed = list(judges) if isinstance(judges, list | tuple) else None
        if listed is None or listed != sorted(one for one in listed if isinstance(one, str)):
            self.say("run.provenance.judges", "the judges' identities, sorted", "something else")
        if not isinstance(self.run.provenance.get("subject", ""), Mapping | None):
            self.say("run.provenance.subject", "who answered, or null", "something else, or nothing")
        samples = self.run.options.get("samples", self.run.samples)
        if samples != self.run.samples or isinstance(samples, bool):
            self.say("run.options.samples", f"{self.run.samples}, as run.samples says", "another number")
        if self.run.suite_hash not in self.run.snapshots.get("suite", ()):
            self.say("run.snapshots.suite", "the suite's hash", "another one, or none")


def _word(status: Status | None) -> str:
    return "null" if status is None else status.value


# --- statuses ------------------------------------------------------------------------------------------------------


def _possible(trial: TrialRecord) -> set[Status]:
    """What the trial's status may be. A case's pass threshold is not in the report, so that any is allowed for."""
    if trial.subject.error is not None:
        asked = any(made.status is not Status.SKIPPED for made in trial.assessments)
        return set() if asked else {Status.ERROR}
    statuses = [made.status for made in trial.assessments]
    if not statuses:
        return {Status.UNVERIFIED, Status.ERROR}
    undecided = {Status.ERROR if word is Status.ERROR else Status.UNVERIFIED for word in statuses if not word.decided}
    if all(word is Status.PASS for word in statuses):
        return {Status.PASS} | _by_some_threshold(trial.assessments)
    strict = Status.FAIL if Status.FAIL in statuses else Status.ERROR if Status.ERROR in statuses else Status.UNVERIFIED
    return {strict} | _by_some_threshold(trial.assessments) | (undecided if Status.FAIL in statuses else set())


def _by_some_threshold(assessments: Sequence[AssessmentRecord]) -> set[Status]:
    """What a pass threshold between 0 and 1 could make of it."""
    required = [made.status for made in assessments if made.required]
    if Status.FAIL in required:
        return {Status.FAIL}
    best = _best_mean(assessments)
    found = {Status.FAIL} if best < 1 else set()
    if all(word is Status.PASS for word in required) and any(made.status.decided for made in assessments):
        found.add(Status.PASS)
    return found


def _best_mean(assessments: Sequence[AssessmentRecord]) -> Fraction:
    """The weighted mean of the scores, 0 to 1, had everything undecided come out best."""
    total = sum((as_written(made.weight) for made in assessments), Fraction(0))
    reached = Fraction(0)
    for made in assessments:
        low, high = (as_written(end) for end in scale_of(made.result) or (0, 100))
        share = Fraction(1) if made.score is None else (as_written(made.score) - low) / (high - low)
        reached += as_written(made.weight) * share
    return reached / total


def differences(mine: Json, told: Json, path: str) -> Iterator[str]:
    """The paths at which two plain values differ, the deepest that can be named."""
    if isinstance(mine, Mapping) and isinstance(told, Mapping) and mine.keys() == told.keys():
        for key in mine:
            yield from differences(mine[key], told[key], f"{path}.{key}")
    elif isinstance(mine, list) and isinstance(told, list) and len(mine) == len(told):
        for index, (one, other) in enumerate(zip(mine, told, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif mine != told:
        yield path
