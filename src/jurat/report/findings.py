"""What did not pass in a case, gathered over its trials: one problem for each assertion, status and category.

An error never hides a failure, nor another error; a trial without an answer is a problem of the subject, whose
assertions were never asked. Every face that tells of a case (console, JUnit, annotations, pages) tells these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jurat.jsontext import Json
from jurat.report.digits import short, told_apart
from jurat.report.record import AssessmentRecord, TrialRecord
from jurat.vocabulary import Status

__all__ = ["Problem", "held", "problems", "title_of", "unasked"]

_NOTHING_ASKED = "there are no assertions, so nothing could be decided"
_BELOW_THRESHOLD = "every assertion passed, but the mean of their scores is below the case's pass_threshold"
_NO_TRIALS = "no trial was made"
_MOST_SAID = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that did not pass.

    Attributes:
        status: what it is: `fail`, `error`, `unverified` or `skipped`.
        title: the assertion as its author called it, with its kind; `subject` for answers that never came.
        name, type: the assertion's own; both `subject` for answers that never came.
        held: the score against its threshold, as far as that decided; else empty.
        category, message: of the error; empty without one.
        trials: indexes of the trials that show it, from 0.
        assertion: its place among the case's assertions; None for the subject.
        result: the result map of the first trial that shows it; empty for the subject.
    """

    status: Status
    title: str
    name: str
    type: str
    held: str = ""
    category: str = ""
    message: str = ""
    trials: tuple[int, ...]
    assertion: int | None = None
    result: Mapping[str, Json]

    @property
    def error(self) -> str:
        """Category and message in one, or nothing."""
        return f"{self.category}: {self.message}" if self.category else ""

    @property
    def said(self) -> list[str]:
        """Why, in words: the error, findings, the reason; what there is of them."""
        found = [str(one.get("message", "")) for one in list(self.result.get("findings") or ())[:_MOST_SAID]]
        return [text for text in (self.error, *found, str(self.result.get("reason") or "")) if text]

    @property
    def quotes(self) -> list[tuple[int, str]]:
        """Evidence number and text of each quote."""
        return [(int(one["message_index"]), str(one["quote"])) for one in self.result.get("evidence") or ()]

    def head(self, samples: int) -> str:
        """`tone (correctness) score 5 < threshold 85 in trial 2 of 3`."""
        return " ".join(filter(None, (self.title, self.held, self.in_trials(samples))))

    def in_trials(self, samples: int) -> str:
        """`in trials 1, 3 of 5`; nothing where a case has one trial."""
        if samples == 1:
            return ""
        numbers = ", ".join(str(index + 1) for index in self.trials)
        return f"in trial{'s' if len(self.trials) > 1 else ''} {numbers} of {samples}"


def problems(trials: Sequence[TrialRecord]) -> list[Problem]:
    """What did not pass: answers that never came first, then assertions in their order."""
    return [*_lost(trials), *_unpassed(trials)]


def unasked(trials: Sequence[TrialRecord]) -> str:
    """Why a case did not pass of which no assertion says so."""
    if not trials:
        return _NO_TRIALS
    return _BELOW_THRESHOLD if any(trial.assessments for trial in trials) else _NOTHING_ASKED


def _lost(trials: Sequence[TrialRecord]) -> list[Problem]:
    found: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        if (error := trial.subject.error) is not None:
            found.setdefault(error.type.value, []).append(trial)
    return [_without_answer(category, records) for category, records in found.items()]


def _without_answer(category: str, records: Sequence[TrialRecord]) -> Problem:
    error = records[0].subject.error
    return Problem(
        status=Status.ERROR,
        title="subject",
        name="subject",
        type="subject",
        held="no answer",
        category=category,
        message="" if error is None else error.message,
        trials=tuple(trial.trial_index for trial in records),
        result={},
    )


def _unpassed(trials: Sequence[TrialRecord]) -> list[Problem]:
    found: dict[tuple[int, str, Status, str], list[TrialRecord]] = {}
    for trial in trials:
        if trial.subject.error is None:
            for index, made in enumerate(trial.assessments):
                if made.status is not Status.PASS:
                    key = (index, made.name, made.status, str(_error(made).get("type", "")))
                    found.setdefault(key, []).append(trial)
    return [_unmet(key[0], records) for key, records in found.items()]


def _unmet(index: int, records: Sequence[TrialRecord]) -> Problem:
    made = records[0].assessments[index]
    error = _error(made)
    return Problem(
        status=made.status,
        title=title_of(made),
        name=made.name,
        type=made.type,
        held=held(made),
        category=str(error.get("type", "")),
        message=str(error.get("message", "")),
        trials=tuple(trial.trial_index for trial in records),
        assertion=index,
        result=made.result,
    )


def title_of(made: AssessmentRecord) -> str:
    """`tone (correctness)`: the name, and the template or type where that is another word."""
    template = _part(made.result, "metadata").get("template")
    kind = template if isinstance(template, str) else made.type
    return made.name if made.name == kind else f"{made.name} ({kind})"


def held(made: AssessmentRecord) -> str:
    """The score against its threshold, as far as that decided; as many digits as it takes."""
    if made.score is None:
        return ""
    facts = _part(made.result, "metadata")
    threshold, repeats = facts.get("threshold"), _part(made.result, "repeats")
    mean = "mean score" if repeats else "score"
    if threshold is None and made.score in (0, 100) and not repeats:
        return ""  # a plain check, whose status says as much
    if not isinstance(threshold, int | float) or facts.get("negate"):
        return f"{mean} {short(made.score)}{' (negated)' if facts.get('negate') else ''}"
    score, limit = told_apart(made.score, threshold)
    sign = "<" if made.score < threshold else ">" if made.score > threshold else "="
    told = f"{mean} {score} {sign} threshold {limit}"
    if not repeats:
        return told
    passed = sum(one.get("status") == "pass" for one in repeats.get("attempts", ()))
    return f"{told}, {passed} of {len(repeats.get('attempts', ()))} repeats passed"


def _error(made: AssessmentRecord) -> Mapping[str, Json]:
    return _part(_part(made.result, "evaluator"), "error")


def _part(result: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    found = result.get(name)
    return found if isinstance(found, Mapping) else {}
