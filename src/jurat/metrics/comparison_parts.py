"""The parts of a comparison: a case in one run, what was measured of it, and one assertion in both runs.

Means are exact. What decided (rubric, judge identity, threshold, weight) is taken from the verdicts themselves; what no
verdict tells is not held to be another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from jurat.jsontext import Json
from jurat.metrics.exact import as_float, as_written
from jurat.metrics.run_tally import answer_ms
from jurat.report.content import Content
from jurat.report.record import AssessmentRecord, CaseRecord, TrialRecord
from jurat.vocabulary import Status

__all__ = [
    "Appearance",
    "AssertionChange",
    "Measured",
    "appearance_json",
    "assertion_changes",
    "mean_ms",
    "mean_usd",
    "share_at",
    "share_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """A case in one run.

    Attributes:
        status: its outcome over all trials.
        planned: how many trials it was to have.
        content: None where all that is known of it is the hash of the whole.
    """

    case: CaseRecord
    trials: Sequence[TrialRecord]
    status: Status
    planned: int
    content: Content | None = None


# --- what was measured of it ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One assertion over the trials of a case in one run. `score` is the exact mean of the decided, None of none."""

    passed: int
    failed: int
    undecided: int
    score: Fraction | None
    facts: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        """As a comparison tells it."""
        return {
            "passed": self.passed,
            "failed": self.failed,
            "undecided": self.undecided,
            "score": None if self.score is None else as_float(self.score),
            "threshold": self.facts.get("threshold"),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionChange:
    """One assertion of a case in both runs.

    Attributes:
        base, candidate: None where the run does not have it.
        why: what makes its outcomes incompatible; empty where nothing does.
        scores_apart: whether the scores, too, may not be held against each other. (A threshold moves no score.)
    """

    name: str
    base: Measured | None
    candidate: Measured | None
    why: tuple[str, ...] = ()
    scores_apart: bool = False

    @property
    def difference(self) -> Fraction | None:
        """By how much the mean score rose; None where it cannot be said."""
        if self.scores_apart or self.base is None or self.candidate is None:
            return None
        if self.base.score is None or self.candidate.score is None:
            return None
        return self.candidate.score - self.base.score

    @property
    def facts(self) -> Mapping[str, Json]:
        """What is known of the assertion, by the candidate first."""
        found = [one.facts for one in (self.base, self.candidate) if one is not None]
        return {key: value for facts in found for key, value in facts.items() if value is not None}

    def to_json(self) -> dict[str, Json]:
        """As a comparison tells it."""
        facts, rose = self.facts, self.difference
        return {
            "name": self.name,
            "type": facts["type"],
            "template": facts.get("template"),
            "base": None if self.base is None else self.base.to_json(),
            "candidate": None if self.candidate is None else self.candidate.to_json(),
            "difference": None if rose is None else as_float(rose),
            "why": list(self.why),
        }


def _measured(trials: Sequence[TrialRecord]) -> dict[str, Measured]:
    found: dict[str, list[AssessmentRecord]] = {}
    for trial in trials:
        for made in trial.assessments:
            found.setdefault(made.name, []).append(made)
    return {name: _of_records(records) for name, records in found.items()}


def _of_records(records: Sequence[AssessmentRecord]) -> Measured:
    counts = Counter(made.status for made in records)
    scores = [as_written(made.score) for made in records if made.score is not None]
    return Measured(
        passed=counts[Status.PASS],
        failed=counts[Status.FAIL],
        undecided=len(records) - counts[Status.PASS] - counts[Status.FAIL],
        score=sum(scores, Fraction(0)) / len(scores) if scores else None,
        facts=_facts(records),
    )


def _facts(records: Sequence[AssessmentRecord]) -> dict[str, Json]:
    """What decided, as far as any of the verdicts tells: one that was never asked tells nothing of its judge."""
    found: dict[str, Json] = {"type": records[0].type}
    for made in records:
        told, evaluator = _part(made.result, "metadata"), _part(made.result, "evaluator")
        template, revision = told.get("template"), told.get("template_revision")
        named = f"{template}@{revision}" if isinstance(template, str) else None
        scale = told.get("score_range")
        new = {
            "template": named,
            "judge": told.get("judge"),
            "revision": evaluator.get("revision") if made.type != "rubric_judge" else None,
            "threshold": told.get("threshold"),
            "scale": list(scale) if isinstance(scale, list | tuple) else None,
            "weight": made.weight,
            "required": made.required,
        }
        found.update({key: value for key, value in new.items() if value is not None and found.get(key) is None})
    return found


def _part(result: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    part = result.get(name)
    return part if isinstance(part, Mapping) else {}


_WORDS = {
    "type": ("kind of assertion", True),
    "template": ("rubric", True),
    "judge": ("judge identity", True),
    "revision": ("revision of the evaluator", True),
    "scale": ("scale", True),
    "threshold": ("threshold", False),
    "weight": ("weight", False),
    "required": ("word on whether it is required", False),
}
"""For each fact: what it is called, and whether scores hang on it."""
_TOLD = ("type", "template", "threshold", "weight")


def assertion_changes(base: Appearance, candidate: Appearance) -> list[AssertionChange]:
    """Every assertion of either, in the base's order first."""
    olds, news = _measured(base.trials), _measured(candidate.trials)
    said = [{} if seen.content is None else seen.content.assertions for seen in (base, candidate)]
    return [
        _change(name, olds.get(name), news.get(name), said[0].get(name), said[1].get(name))
        for name in dict.fromkeys((*olds, *news))
    ]


def _change(
    name: str, old: Measured | None, new: Measured | None, old_hash: str | None, new_hash: str | None
) -> AssertionChange:
    if old is None or new is None:
        why = ("only the candidate has it" if old is None else "only the base has it",)
        return AssertionChange(name=name, base=old, candidate=new, why=why, scores_apart=True)
    unlike = [key for key in _WORDS if _differ(old.facts.get(key), new.facts.get(key))]
    said = [_said(key, old.facts[key], new.facts[key]) for key in unlike]
    anew = _differ(old_hash, new_hash)
    if anew and not unlike:
        said.append("it says something else")
    apart = anew or any(_WORDS[key][1] for key in unlike)
    return AssertionChange(name=name, base=old, candidate=new, why=tuple(said), scores_apart=apart)


def _differ(old: Json, new: Json) -> bool:
    """Whether both are known, and not the same."""
    return old is not None and new is not None and old != new


def _said(key: str, old: Json, new: Json) -> str:
    between = f": {_shown(old)} before, {_shown(new)} now" if key in _TOLD else ""
    return f"another {_WORDS[key][0]}{between}"


def _shown(value: Json) -> str:
    return f"{value:g}" if isinstance(value, float) and f"{value:g}" == f"{value!r}".removesuffix(".0") else f"{value}"


# --- a case in one run ---------------------------------------------------------------------------------------------


def _counts(seen: Appearance) -> tuple[int, int]:
    statuses = [trial.status for trial in seen.trials]
    return statuses.count(Status.PASS), statuses.count(Status.FAIL)


def share_of(seen: Appearance) -> Fraction | None:
    """The share of passes among the decided trials; None of none."""
    passed, failed = _counts(seen)
    return Fraction(passed, passed + failed) if passed + failed else None


def share_at(seen: Appearance, *, best: bool) -> Fraction:
    """The share of passes, had everything undecided passed (`best`), or failed."""
    passed, failed = _counts(seen)
    planned = max(seen.planned, len(seen.trials), 1)
    return Fraction(planned - failed if best else passed, planned)


def mean_ms(seen: Appearance) -> Fraction | None:
    """The mean duration of the answers that were timed; None of none."""
    found = [told for trial in seen.trials if (told := answer_ms(trial.subject)) is not None]
    return sum(map(as_written, found), Fraction(0)) / len(found) if found else None


def mean_usd(seen: Appearance) -> Fraction | None:
    """What a trial cost on average, subject and judges together; None where any part of it is not known."""
    costs = [trial.subject.spending.cost_usd for trial in seen.trials]
    costs += [made.spending.cost_usd for trial in seen.trials for made in trial.assessments]
    if not seen.trials or None in costs:
        return None
    return sum((as_written(cost) for cost in costs if cost is not None), Fraction(0)) / len(seen.trials)


def appearance_json(seen: Appearance) -> dict[str, Json]:
    """As a comparison tells it."""
    passed, failed = _counts(seen)
    milliseconds, usd = mean_ms(seen), mean_usd(seen)
    return {
        "case_index": seen.case.case_index,
        "case_hash": seen.case.case_hash,
        "file": seen.case.file,
        "line": seen.case.line,
        "status": seen.status.value,
        "passed": passed,
        "failed": failed,
        "undecided": max(seen.planned, len(seen.trials)) - passed - failed,
        "errors": sorted(set(_errors(seen.trials))),
        "latency_ms": None if milliseconds is None else as_float(milliseconds),
        "cost_usd": None if usd is None else as_float(usd),
    }


def _errors(trials: Sequence[TrialRecord]) -> Iterator[str]:
    for trial in trials:
        if trial.subject.error is not None:
            yield trial.subject.error.type.value
        for made in trial.assessments:
            if made.status is Status.ERROR:
                yield str(_part(_part(made.result, "evaluator"), "error").get("type", "internal_error"))
