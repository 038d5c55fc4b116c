"""What several tests of judges share: a small rubric, texts to quote from, and answers to break."""

from __future__ import annotations

import json
from typing import Any

from jurat.evidence import Context
from jurat.provider import Capabilities, ProviderSettings, ScriptedProvider
from jurat.rubric import Criterion, Rubric

TEXTS = ("When do you open?", "We open at 9 – “sharp”.")
CONTEXT = Context(output="We open at 9 – “sharp”.", rendered_input="When do you open?")
PRICED = {"input": 1.0, "output": 10.0}
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


def provider_with(
    *replies: Any, prices: dict[str, float] | None = None, default_strategy: str = "answer", **able: Any
) -> ScriptedProvider:
    """A scripted provider with some prices and capabilities; it gives a valid answer unless others are given."""
    settings = ProviderSettings(
        name="oracle",
        kind="openai_compatible",
        model="oracle-1",
        capabilities=Capabilities(**{"top_logprobs": 20, **able}),
        prices=prices,
        default_strategy=default_strategy,
    )
    return ScriptedProvider(list(replies) or [answer()], settings=settings)
