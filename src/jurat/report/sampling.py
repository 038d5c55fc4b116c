"""What the trials of one case come to, beside the case's one status: how many passed, how often they contradict."""

from __future__ import annotations

from collections.abc import Sequence

from jurat.jsontext import Json
from jurat.report.record import TrialRecord
from jurat.vocabulary import Status

__all__ = ["sampling_of"]


def sampling_of(trials: Sequence[TrialRecord], samples: int) -> dict[str, Json]:
    """The sampling summary of a case.

    `pass_rate` is that of the decided trials, `bounds` what it could be, were all of them decided; `tied` says that
    exactly half of the decided passed, so that there is no majority. `flip_rate` is the share of the decided that
    differ from the majority, 0 to 0.5. What cannot be said is null.
    """
    statuses = [trial.status for trial in trials]
    passed, failed = statuses.count(Status.PASS), statuses.count(Status.FAIL)
    decided, planned = passed + failed, max(samples, len(statuses))
    undecided = planned - decided
    return {
        "planned": planned,
        "made": len(statuses),
        "passed": passed,
        "failed": failed,
        "undecided": undecided,
        "pass_rate": passed / decided if decided else None,
        "bounds": [passed / planned, (passed + undecided) / planned] if planned else None,
        "flip_rate": min(passed, failed) / decided if decided else None,
        "tied": decided > 0 and passed == failed,
    }
