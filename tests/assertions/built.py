"""What the tests of building share: a judge that costs nothing, and the faults of what an author wrote."""

from __future__ import annotations

from typing import Any

import pytest

from jurat.assertions import build_assertion
from jurat.errors import AuthoringError
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.vocabulary import Status


def faults_of(value: object, **options: Any) -> list[tuple[str, str, str]]:
    """Where each fault of an assertion is, what was expected there, and what was found."""
    with pytest.raises(AuthoringError) as caught:
        build_assertion(value, **options)
    return [(fault.path, fault.expected, fault.found) for fault in caught.value.faults]


class Judge:
    """A judge that ships nothing: it passes with a score in its own range."""

    revision = "sha256:0"
    score_range = (0.0, 1.0)

    def __init__(self, name: str = "rubric_judge", status: Status = Status.PASS) -> None:
        self.name, self.status = name, status

    def evaluate(self, context: Context) -> Assessment:
        assert isinstance(context, Context)
        score = 0.875 if self.status.decided else None
        return Assessment(evaluator=self.name, revision=self.revision, status=self.status, score=score)
