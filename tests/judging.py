"""What several tests of judges share: a small rubric, texts to quote from, and answers to break."""

from __future__ import annotations

import json
from typing import Any

from jurat.rubric import Criterion, Rubric

TEXTS = ("When do you open?", "We open at 9 – “sharp”.")
VALID: dict[str, Any] = {
    "evidence": [{"message_index": 1, "quote": "at 9"}],
    "reason": "It gives the hour.",
    "score": 0.75,
}


def answer(**changes: Any) -> str:
    """A valid answer of `score/v1` about TEXTS as JSON text, with some members changed or added."""
    return json.dumps({**VALID, **changes}, ensure_ascii=False)


def without(key: str) -> str:
    """A valid answer without one of its members."""
    return json.dumps({name: value for name, value in VALID.items() if name != key})


def rubric(*criteria: Criterion, **fields: Any) -> Rubric:
    """A small rubric; one criterion from 0 to 1 unless others are given."""
    given = criteria or (Criterion(id="clarity", description="It says the hour."),)
    return Rubric(**{"name": "hours", "definition": "Does it say when we open?", "criteria": given, **fields})
