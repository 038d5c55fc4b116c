"""A run's tally: everything that its summary and its gate need, kept in constant space.

It is fed case by case, each with all its trials, from whatever holds them: the store, a report. Its figures depend on
nothing else, so that whoever has the rows can compute them again. The subject's errors, the evaluators' errors and poor
answers are counted apart; what is undecided is no failure, and what is not known is counted as not known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction

from jurat.evaluation import Reducer, reduce_statuses, reducer_from_json
from jurat.jsontext import Json, canonical
from jurat.metrics.exact import as_written
from jurat.metrics.rates import Clusters
from jurat.metrics.run_parts import AssertionKey, AssertionTally, Flips, Latency, Outcomes, Stage
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, SubjectRecord, TrialRecord
from jurat.vocabulary import Status

__all__ = [
    "MOST_GROUPS",
    "CaseRates",
    "GroupTally",
    "RunTally",
    "Watch",
    "answer_ms",
    "metadata_group",
    "metadata_value",
]

MOST_GROUPS = 2_000
"""How many labels, and how many assertions, are counted apart; beyond that only those that a rule names."""
_MOST_NAMES = 20


def metadata_group(key: str, value: Json) -> str:
    """How the cases whose metadata have this value under this key are called together."""
    return f"{key}={value if isinstance(value, str) else canonical(value)}"


def metadata_value(value: Json) -> str:
    """A value of metadata as rules compare it: in canonical JSON, and 2.0 as 2."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return canonical(int(value) if whole else value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What a policy has to know beyond the ordinary: said before the first case is counted.

    Attributes:
        labels: counted however many labels there are.
        metadata: pairs of a key and a value in canonical JSON, counted like labels.
        assertions: names that are counted apart however many there are.
        case_rates: pass rates that every single case has to reach.
        subject_ms, judge_ms: limits of durations, so that a percentile is held against its limit exactly.
    """

    labels: frozenset[str] = frozenset()
    metadata: frozenset[tuple[str, str]] = frozenset()
    assertions: frozenset[str] = frozenset()
    case_rates: tuple[float, ...] = ()
    subject_ms: tuple[float, ...] = ()
    judge_ms: tuple[float, ...] = ()


NOTHING_WATCHED = Watch()


@dataclass(slots=True)
class GroupTally:
    """The cases and trials of one label."""

    cases: Outcomes = field(default_factory=Outcomes)
    trials: Outcomes = field(default_factory=Outcomes)
    clusters: Clusters = field(default_factory=Clusters)


@dataclass(slots=True)
class CaseRates:
    """How the single cases fare against a pass rate of their trials.

    Attributes:
        met, below: cases that reach it, or do not, whatever became of their undecided trials.
        undecided: cases for which those matter.
        lowest: the lowest rate there is among the decided trials of a case; None when nothing is decided.
        worst: the first cases below it, each with the most that it could have reached.
    """

    limit: Fraction
    met: int = 0
    below: int = 0
    undecided: int = 0
    lowest: Fraction | None = None
    worst: list[tuple[str, Fraction]] = field(default_factory=list)

    def add(self, name: str, passed: int, decided: int, planned: int) -> None:
        """Count one case."""
        if decided:
            rate = Fraction(passed, decided)
            self.lowest = rate if self.lowest is None else min(self.lowest, rate)
        if Fraction(passed, planned) >= self.limit:
            self.met += 1
        elif Fraction(passed + planned - decided, planned) < self.limit:
            self.below += 1
            if len(self.worst) < _MOST_NAMES:
                self.worst.append((name, Fraction(passed + planned - decided, planned)))
        else:
            self.undecided += 1


class RunTally:
    """Counts a run's cases and trials.

    Args:
        run: whose they are; says how many trials a case has, and how they become one outcome.
        watch: what a policy needs (`Policy.watch`).

    Attributes:
        cases, trials: by status; a case that lacks trials is unfinished.
        subject_errors, judge_errors: how many of each category.
        subject, judge: what each side spent.
        groups: by label, and by what the policy asks of the metadata.
        left_out: labels and assertions that were not counted apart, since there are too many.

    Raises:
        ValueError: when the run's reducer is none.
    """

    def __init__(self, run: RunRecord, watch: Watch = NOTHING_WATCHED) -> None:
        self.run, self.watch = run, watch
        self.reducer = _reducer(run)
        self.cases, self.trials = Outcomes(), Outcomes()
        self.trial_clusters, self.trial_flips = Clusters(), Flips()
        self.subject_errors: Counter[str] = Counter()
        self.judge_errors: Counter[str] = Counter()
        self.subject = Stage(Latency(watch.subject_ms))
        self.judge = Stage(Latency(watch.judge_ms))
        self.assessments = 0
        self._assertions: dict[AssertionKey, AssertionTally] = {}
        self.groups: dict[str, GroupTally] = {label: GroupTally() for label in sorted(watch.labels)}
        self._watched_metadata = {
            (key, value): metadata_group(key, _read(value)) for key, value in sorted(watch.metadata)
        }
        self.metadata_groups: dict[str, GroupTally] = {name: GroupTally() for name in self._watched_metadata.values()}
        self.case_rates = {limit: CaseRates(as_written(limit)) for limit in watch.case_rates}
        self.left_out = {"labels": 0, "assertions": 0}

    # --- cases -----------------------------------------------------------------------------------------------------

    def add(self, case: CaseRecord, trials: Sequence[TrialRecord]) -> Status | None:
        """Count one case with all of its trials; gives the case's outcome, None while it lacks trials."""
        statuses = [trial.status for trial in trials]
        missing = max(self.run.samples - len(statuses), 0)
        outcome = None if missing or not statuses else reduce_statuses(statuses, self.reducer)
        _count_case(self.cases, self.trials, outcome, statuses, missing)
        passed, failed = statuses.count(Status.PASS), statuses.count(Status.FAIL)
        planned = max(self.run.samples, len(statuses))
        self.trial_clusters.add(passed, passed + failed)
        self.trial_flips.add(passed, failed, planned - passed - failed)
        for rates in self.case_rates.values():
            rates.add(case.name, passed, passed + failed, planned)
        for group in self._groups_of(case):
            _count_case(group.cases, group.trials, outcome, statuses, missing)
            group.clusters.add(passed, passed + failed)
        for trial in trials:
            self._add_subject(trial.subject)
        self._add_assessments(trials)
        return outcome

    def summary(self) -> dict[str, Json]:
        """Everything that was counted, as plain data."""
        from jurat.metrics.run_summary import summary_of

        return summary_of(self)

    def _groups_of(self, case: CaseRecord) -> list[GroupTally]:
        found = []
        for label in dict.fromkeys(case.labels):
            if label not in self.groups and len(self.groups) >= MOST_GROUPS:
                self.left_out["labels"] += 1
                continue
            found.append(self.groups.setdefault(label, GroupTally()))
        for (key, value), name in self._watched_metadata.items():
            if key in case.metadata and metadata_value(case.metadata[key]) == value:
                found.append(self.metadata_groups[name])
        return found

    # --- stages ----------------------------------------------------------------------------------------------------

    def _add_subject(self, subject: SubjectRecord) -> None:
        if subject.error is not None:
            self.subject_errors[subject.error.type.value] += 1
        milliseconds = answer_ms(subject)
        if milliseconds is None:
            self.subject.latency.unknown += 1
        else:
            self.subject.latency.add(milliseconds)
        if not subject.recorded:
            failed = subject.execution.get("failed_attempts")
            self.subject.add(subject.spending, failed if isinstance(failed, Mapping) else {}, 1)
            self.subject.add_models("subject", subject.spending.models)

    def _add_assessments(self, trials: Sequence[TrialRecord]) -> None:
        """The assessments of one case: those of one name are one assertion's, over all trials together."""
        found: dict[tuple[str, str], list[AssessmentRecord]] = {}
        for trial in trials:
            for made in trial.assessments:
                self.assessments += 1
                self._add_judging(made)
                found.setdefault((made.name, made.type), []).append(made)
        for records in found.values():
            tally = self._assertion(_key_of(records))
            if tally is not None:
                _count_assessments(tally, records)

    def _assertion(self, key: AssertionKey) -> AssertionTally | None:
        known = self._assertions.get(key)
        if known is None and (len(self._assertions) < MOST_GROUPS or key.name in self.watch.assertions):
            known = self._assertions[key] = AssertionTally()
        self.left_out["assertions"] += known is None
        return known

    @property
    def assertions(self) -> dict[AssertionKey, AssertionTally]:
        """What each assertion came to, sorted. Verdicts without a scale are counted with the only one that has one."""
        made = {key: deepcopy(tally) for key, tally in self._assertions.items() if key.scale is not None}
        for bare in (key for key in self._assertions if key.scale is None):
            alike = [key for key in made if (key.name, key.type) == (bare.name, bare.type)]
            if len(alike) == 1:
                made[alike[0]].include_undecided(self._assertions[bare])
            else:
                made[bare] = self._assertions[bare]
        return dict(sorted(made.items(), key=lambda item: (item[0].name, item[0].type, item[0].template)))

    def _add_judging(self, made: AssessmentRecord) -> None:
        category = _error_of(made)
        if category is not None:
            self.judge_errors[category] += 1
        spent = made.spending
        failed = _failed_attempts(made)
        self.judge.add(spent, failed, _calls_of(made), lost=category in failed)
        if spent.models:
            self.judge.add_models(str(_part(made.result, "evaluator").get("provider")), spent.models)
        if spent.attempts:
            self.judge.latency.add(spent.duration_ms)


def _reducer(run: RunRecord) -> Reducer:
    reducer = reducer_from_json(run.reducer, "reducer", [])
    if reducer is None:
        raise ValueError(f"run {run.id}: the reducer is none that is known")
    return reducer


def _read(text: str) -> Json:
    from jurat.jsontext import parse_strict

    return parse_strict(text)


def _count_case(
    cases: Outcomes, trials: Outcomes, outcome: Status | None, statuses: Sequence[Status], missing: int
) -> None:
    if outcome is None:
        cases.unfinished += 1
    else:
        cases.counts[outcome] += 1
    trials.counts.update(statuses)
    trials.unfinished += missing


def answer_ms(subject: SubjectRecord) -> float | None:
    """How long the answer took, in milliseconds; None where that is not known, or there is none."""
    if subject.error is not None:
        return None
    told = subject.execution.get("latency_ms")
    if isinstance(told, int | float) and not isinstance(told, bool) and told >= 0:
        return float(told)
    return subject.spending.duration_ms if subject.spending.attempts and not subject.recorded else None


# --- assessments ---------------------------------------------------------------------------------------------------


def _key_of(records: Sequence[AssessmentRecord]) -> AssertionKey:
    """The key of one assertion's verdicts in one case, from the first that tells the scale."""
    first = records[0]
    for made in records:
        scale, facts = scale_of(made.result), _part(made.result, "metadata")
        if scale is not None:
            template, revision = facts.get("template"), facts.get("template_revision")
            named = f"{template}@{revision}" if isinstance(template, str) else ""
            return AssertionKey(name=first.name, type=first.type, template=named, scale=scale)
    if first.type == "rubric_judge":
        return AssertionKey(name=first.name, type=first.type, scale=None)
    return AssertionKey(name=first.name, type=first.type)


def scale_of(result: Mapping[str, Json]) -> tuple[float, float] | None:
    """The scale that a result tells, lower end first; None where it tells none, or what no scale can be."""
    told = _part(result, "metadata").get("score_range")
    if not isinstance(told, list | tuple) or len(told) != 2:
        return None
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in told):
        return None
    low, high = float(told[0]), float(told[1])
    return (low, high) if math.isfinite(low) and math.isfinite(high) and low < high else None


def _part(result: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    found = result.get(name)
    # What comes out of a store or a report is a dict; an abstract class takes its time to say so.
    return found if type(found) is dict or isinstance(found, Mapping) else {}


def _error_of(made: AssessmentRecord) -> str | None:
    if made.status is not Status.ERROR:
        return None
    error = _part(_part(made.result, "evaluator"), "error")
    return str(error.get("type", "unknown"))


def _failed_attempts(made: AssessmentRecord) -> Mapping[str, Json]:
    return _part(_part(made.result, "evaluator"), "failed_attempts")


def _calls_of(made: AssessmentRecord) -> int | None:
    """How many requests the verdict takes when none fails, where that can be told."""
    if _part(made.result, "metadata").get("strategy", "answer") != "answer":
        return None
    return max(len(_repeats(made)), 1)


def _repeats(made: AssessmentRecord) -> Sequence[Mapping[str, Json]]:
    found = _part(made.result, "repeats").get("attempts")
    return found if isinstance(found, list | tuple) else ()


def _count_assessments(tally: AssertionTally, records: Sequence[AssessmentRecord]) -> None:
    statuses = [made.status for made in records]
    tally.outcomes.counts.update(statuses)
    passed, failed = statuses.count(Status.PASS), statuses.count(Status.FAIL)
    tally.clusters.add(passed, passed + failed)
    tally.trial_flips.add(passed, failed, len(statuses) - passed - failed)
    for made in records:
        if made.score is not None:
            tally.scores.add(made.score)
        if (category := _error_of(made)) is not None:
            tally.errors[category] += 1
        asked = [one.get("status") for one in _repeats(made)]
        passed, failed = asked.count(Status.PASS), asked.count(Status.FAIL)
        tally.judge_flips.add(passed, failed, len(asked) - passed - failed)
