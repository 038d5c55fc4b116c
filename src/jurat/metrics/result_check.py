"""Whether the result of one assertion agrees with itself, with what it cost, and with those of the other trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jurat.jsontext import Json
from jurat.metrics.run_tally import scale_of
from jurat.report.record import AssessmentRecord
from jurat.vocabulary import Status

__all__ = ["contradictions", "same_measure"]

_Told = tuple[str, str, str]
"""A path within the result, what was expected there, and what was found."""

_SPENT = ("cost_usd", "attempts", "cached")
_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens")
_JUDGE = ("threshold", "rubric", "template", "template_revision", "score_range", "contract", "strategy", "judge")


def contradictions(made: AssessmentRecord) -> Iterator[_Told]:
    """What in a result contradicts something else in it."""
    result, status = made.result, made.status
    evaluator = result["evaluator"]
    if result["passed"] is not (status is Status.PASS):
        yield "passed", "what the status says", "something else"
    if (status is Status.ERROR) != ("error" in evaluator):
        yield "evaluator.error", "an error exactly with the status error", "something else"
    if (status is Status.ERROR) == (evaluator["status"] == "completed"):
        yield "evaluator.status", "what the status says", "something else"
    if evaluator.get("name", made.name) != made.name:
        yield "evaluator.name", "the assertion's name", "another one"
    yield from _of_score(made)
    if "provider" in evaluator:
        yield from _of_spending(made, evaluator)


def _of_score(made: AssessmentRecord) -> Iterator[_Told]:
    facts = made.result["metadata"]
    low, high = scale_of(made.result) or (0, 100)
    if made.type == "rubric_judge" and "score_range" in facts and scale_of(made.result) is None:
        yield "metadata.score_range", "two numbers, the lower one first", "others"
    elif made.score is not None and not low <= made.score <= high:
        yield "score", f"a number from {low:g} to {high:g}", "one outside"
    elif made.score is not None and _decides_alone(made):
        passed = made.score >= facts["threshold"]
        blocked = not passed or "criteria" in made.result  # a required criterion fails the whole
        if (made.status is Status.PASS) != passed and not (made.status is Status.FAIL and blocked):
            yield "status", "what the score says against its threshold", made.status.value


def _decides_alone(made: AssessmentRecord) -> bool:
    """Whether the score, held against the threshold, is what was decided by."""
    facts = made.result["metadata"]
    return "judge" in facts and "negate" not in facts and "repeats" not in made.result


def _of_spending(made: AssessmentRecord, evaluator: Mapping[str, Any]) -> Iterator[_Told]:
    spent = made.spending
    known = {name: getattr(spent, name) for name in _SPENT} | {name: getattr(spent.usage, name) for name in _TOKENS}
    known["duration_ms"] = round(spent.duration_ms, 3)
    others = spent.models and spent.models != (evaluator["model"],)
    known["response_model"] = ", ".join(spent.models) if others else None
    for name, value in known.items():
        if evaluator.get(name) != value:
            yield f"evaluator.{name}", "what the spending says", "something else"


def same_measure(one: AssessmentRecord, other: AssessmentRecord) -> Iterator[_Told]:
    """Where two trials of a case say otherwise of how one assertion measures; what either does not tell is left aside.

    The paths are those of an assessment, of which the result is a part.
    """
    for name in ("type", "weight", "required"):
        if getattr(one, name) != getattr(other, name):
            yield ("result.type" if name == "type" else name), "the same as in the case's other trials", "another one"
    for part, names in (("metadata", _JUDGE), ("evaluator", ("provider", "model", "revision"))):
        mine, others = (_told(made, part, names) for made in (one, other))
        for name in mine.keys() & others.keys():
            if mine[name] != others[name]:
                yield f"result.{part}.{name}", "the same as in the case's other trials", "another one"


def _told(made: AssessmentRecord, part: str, names: tuple[str, ...]) -> dict[str, Json]:
    return {name: made.result[part][name] for name in names if name in made.result[part]}
