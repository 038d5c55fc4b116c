"""What a report may keep back: conversations, reasons, excerpts. What decides a figure is never kept back.

A redacted case holds every status, score, threshold, identity, error and cost, so that all of its figures can be
computed again. Kept back are texts of models and subjects, and whatever repeats some: reasons, findings' words, quotes
(their places stay), and what an evaluator noted beside its verdict. Redacting twice is redacting once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any

from jurat.jsontext import Json

__all__ = ["EVERYTHING", "Withheld", "redacted", "withheld_from_json"]


class Withheld(StrEnum):
    """What may be kept back."""

    CONVERSATION = "conversation"
    EXCERPTS = "excerpts"
    REASONS = "reasons"


EVERYTHING = frozenset(Withheld)
_FACTS = (
    *("schema_version", "threshold", "rubric", "template", "template_revision", "score_range", "contract", "strategy"),
    *("judge", "truncated_fields", "unseen_fields", "negate"),
)
"""What of a result's metadata says how was judged, and nothing of what was."""
_EXECUTION = ("latency_ms", "cost_usd", "finish_reason", "refused", "failed_attempts")
_TALK = ("output", "rendered_input", "messages")


def withheld_from_json(value: Json) -> frozenset[Withheld] | None:
    """What a report says that it keeps back; None where that is no sorted list of it, each once."""
    if not isinstance(value, list) or value != sorted({one for one in value if one in {*Withheld}}):
        return None
    return frozenset(Withheld(one) for one in value)


def redacted(case: Mapping[str, Any], withheld: Collection[Withheld]) -> dict[str, Json]:
    """A case as `case_json` tells it, without what is kept back."""
    return {**case, "trials": [_trial(trial, withheld) for trial in case["trials"]]}


def _trial(trial: Mapping[str, Any], withheld: Collection[Withheld]) -> dict[str, Json]:
    made = dict(trial)
    if Withheld.CONVERSATION in withheld:
        subject = {name: value for name, value in trial["subject"].items() if name not in _TALK}
        subject["execution"] = {name: value for name, value in subject["execution"].items() if name in _EXECUTION}
        made["subject"] = subject
    made["assessments"] = [{**one, "result": _result(one["result"], withheld)} for one in trial["assessments"]]
    return made


def _result(result: Mapping[str, Any], withheld: Collection[Withheld]) -> dict[str, Json]:
    made = _opinion(result, withheld)
    if Withheld.EXCERPTS in withheld:  # what an evaluator notes beside its verdict may repeat what it looked at
        made["metadata"] = {name: value for name, value in result["metadata"].items() if name in _FACTS}
    if "criteria" in made:
        made["criteria"] = [_opinion(one, withheld) for one in _objects(result["criteria"])]
    if isinstance(repeats := made.get("repeats"), Mapping):
        attempts = [_opinion(one, withheld) for one in _objects(repeats.get("attempts"))]
        made["repeats"] = {**repeats, "attempts": attempts}
    if "findings" in made and (Withheld.REASONS in withheld or Withheld.EXCERPTS in withheld):
        kept = ("code", "severity")
        made["findings"] = [{name: one[name] for name in kept if name in one} for one in _objects(result["findings"])]
    return made


def _opinion(value: Mapping[str, Any], withheld: Collection[Withheld]) -> dict[str, Any]:
    """Reason and quotes of a result, a criterion or a repeat."""
    made = dict(value)
    if Withheld.REASONS in withheld and made.get("reason") is not None:
        made["reason"] = None
    if Withheld.EXCERPTS in withheld and "evidence" in made:
        made["evidence"] = [{**one, "quote": ""} for one in _objects(made["evidence"])]
    return made


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []
