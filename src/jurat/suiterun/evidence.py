"""What a judge saw of a trial, numbered again from the record: so that every face can show a quote where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jurat.evidence import Context, Evidence, number_evidence
from jurat.jsontext import Json
from jurat.report.record import TrialRecord
from jurat.suite.template import fill_assertion

__all__ = ["trial_evidence"]


def trial_evidence(case: Mapping[str, Json], trial: TrialRecord) -> tuple[Evidence, ...]:
    """What each assertion's judge was shown, in the order of the assertions; nothing when there was no answer.

    Args:
        case: the snapshot of the trial's case.
    """
    if trial.subject.output is None:
        return ()
    context = _context(case, trial)
    written: Sequence[Any] = case.get("assertions") or ()
    variables: Mapping[str, Json] = case.get("variables") or {}
    filled = [fill_assertion(assertion, variables) for assertion in written]
    return tuple(number_evidence(context, expected=one.get("expected"), grounding=one.get("context")) for one in filled)


def _context(case: Mapping[str, Json], trial: TrialRecord) -> Context:
    documents: Sequence[Any] = case.get("documents") or ()
    shown = [
        {
            "text": one.get("text") or "",
            "name": one.get("name") or "",
            "media_type": one.get("media_type") or "text/plain",
        }
        for one in documents
    ]
    given: dict[str, Any] = {
        "expected": case.get("expected"),
        "rendered_input": trial.subject.rendered_input,
        "messages": list(trial.subject.messages),
        "documents": shown,
        "metadata": case.get("metadata") or {},
    }
    return Context(output=trial.subject.output or "", **given)
