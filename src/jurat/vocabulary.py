"""Closed words and identifiers. One word, one meaning; no word here means "unset".

The glossary in CONTRIBUTING.md explains each. Everything is pure data.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum

__all__ = [
    "MAX_CONCURRENCY",
    "Cache",
    "Contract",
    "EvaluatorState",
    "EvidenceRule",
    "Scope",
    "Status",
    "Strategy",
    "content_id",
    "nearest",
]


MAX_CONCURRENCY = 10_000
"""How many calls may be in flight at most, whoever says so: more than any machine has connections for."""


class Status(StrEnum):
    """What an evaluator found. `pass` and `fail` come from a validated verdict only."""

    PASS = "pass"
    FAIL = "fail"
    UNVERIFIED = "unverified"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def decided(self) -> bool:
        """Whether there is a verdict: only then is there a score."""
        return self in (Status.PASS, Status.FAIL)


class EvaluatorState(StrEnum):
    """How the asking went, apart from what was found."""

    COMPLETED = "completed"
    ERROR = "error"
    UNAVAILABLE = "unavailable"


class Scope(StrEnum):
    """What a rubric looks at."""

    CASE = "case"
    TURN = "turn"
    SESSION = "session"
    RUN = "run"


class Contract(StrEnum):
    """The shape of a judge's answer. A change of meaning is a new word.

    An author chooses among the first three. The last two are what the strategies `logprob` and `both` ask for.
    """

    SCORE_V1 = "score/v1"
    CRITERIA_V1 = "criteria/v1"
    REASONED_V1 = "reasoned/v1"
    YES_NO_V1 = "yes_no/v1"
    EXPLAINED_V1 = "explained/v1"


class Strategy(StrEnum):
    """Where a judge's score comes from.

    `answer`: from the model's structured answer. `logprob`: from the probability of "yes" as the one token asked for,
    per criterion. `both`: the score as in `logprob`, and beside it a structured answer for the reason and the quotes.
    """

    ANSWER = "answer"
    LOGPROB = "logprob"
    BOTH = "both"


class Cache(StrEnum):
    """Whether replies from earlier runs are used: `off` asks anew, `read` uses them, `refresh` replaces them."""

    OFF = "off"
    READ = "read"
    REFRESH = "refresh"


class EvidenceRule(StrEnum):
    """Whether a verdict without quotes counts."""

    OPTIONAL = "optional"
    REQUIRED = "required"


def content_id(data: bytes) -> str:
    """Name data by what it is: `sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def nearest(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """The known word that the author most likely meant, or None when nothing is close."""
    import difflib

    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return found[0] if found else None
