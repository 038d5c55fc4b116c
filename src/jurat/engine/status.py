"""What the assessments of one trial come to. Pure.

Without a pass threshold every assertion has to pass, so that one failure settles it. With one, the weighted mean of the
normalised scores decides, in exact decimal arithmetic: 0.7 is seven tenths, however a float spells it. What nobody
decided is neither a pass nor a failure: it counts once as the worst and once as the best, and only where both come to
the same is the trial decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from jurat.report.record import AssessmentRecord
from jurat.vocabulary import Status

__all__ = ["trial_status"]


def trial_status(assessments: Sequence[AssessmentRecord], pass_threshold: float | None = None) -> Status:
    """The status of a trial whose subject answered.

    `pass` or `fail` when it is settled; `error` when an error stands in the way, else `unverified`; `unverified` too
    when there are no assertions at all.
    """
    if not assessments:
        return Status.UNVERIFIED
    if pass_threshold is not None:
        return _by_mean(assessments, pass_threshold)
    statuses = [found.status for found in assessments]
    if Status.FAIL in statuses:
        return Status.FAIL
    return Status.PASS if all(status is Status.PASS for status in statuses) else _undecided(assessments)


def _undecided(assessments: Sequence[AssessmentRecord]) -> Status:
    return Status.ERROR if any(found.status is Status.ERROR for found in assessments) else Status.UNVERIFIED


def _by_mean(assessments: Sequence[AssessmentRecord], pass_threshold: float) -> Status:
    required = [found for found in assessments if found.required]
    if any(found.status is Status.FAIL for found in required):
        return Status.FAIL
    worst, best = _bounds(assessments)
    threshold = _exact(pass_threshold)
    if best < threshold:
        return Status.FAIL
    open_ = [found for found in required if not found.status.decided]
    if open_:
        return _undecided(open_)
    return Status.PASS if worst >= threshold else _undecided(assessments)


def _bounds(assessments: Sequence[AssessmentRecord]) -> tuple[Fraction, Fraction]:
    """The weighted mean, 0 to 1, with what is undecided at its worst and at its best."""
    total = known = unknown = Fraction(0)
    for found in assessments:
        weight = _exact(found.weight)
        total += weight
        if found.score is None or not found.status.decided:
            unknown += weight
        else:
            known += weight * _normalised(found)
    return known / total, (known + unknown) / total


def _normalised(found: AssessmentRecord) -> Fraction:
    low, high = found.result.get("metadata", {}).get("score_range", (0, 100))
    return (_exact(found.score or 0.0) - _exact(low)) / (_exact(high) - _exact(low))


def _exact(number: float) -> Fraction:
    return Fraction(repr(float(number)))
