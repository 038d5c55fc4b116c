"""A run as a dataset: one row for each trial, with what was asked, what was answered, and every verdict on it.

A row has the members of a case, so that a suite's `cases_file` reads it back with its output, by a mapping of
columns; `verdicts` and what else the run found stand beside them. Every row has every member. Answers are what a
dataset is for, so they are always in it. `{{` in what was said is text, and a variable stands in its place (`literal`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jurat.evidence import message_from_json, message_to_json
from jurat.jsontext import Json, thaw
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, TrialRecord
from jurat.suite.braces import OPEN, OPEN_BRACES, literal

__all__ = ["dataset_rows"]

_FIGURES = ("latency_ms", "cost_usd", "tool_calls", "input_tokens", "output_tokens")


def dataset_rows(
    run: RunRecord, case: CaseRecord, body: Mapping[str, Json], trials: Sequence[TrialRecord]
) -> Iterator[dict[str, Any]]:
    """The rows of one case.

    Args:
        body: the case as its snapshot holds it.
    """
    for trial in trials:
        found = trial.subject
        said = thaw(found.messages)
        told = literal(said)
        known: dict[str, Any] = {
            "name": case.name,
            "variables": body.get("variables"),
            "documents": [_document(document) for document in body.get("documents", ())],
            "expected": body.get("expected"),
            "rendered_input": found.rendered_input,
            "messages": told or _recorded(body.get("messages", ())),
            "output": found.output,
            "execution": {key: found.execution[key] for key in _FIGURES if key in found.execution},
            "labels": case.labels,
            "metadata": case.metadata,
        }
        row: dict[str, Any] = {key: thaw(part) for key, part in known.items()}
        if told is not said:
            row["variables"] = {**(row["variables"] or {}), OPEN_BRACES: OPEN}
        row.update(run=run.id, suite=run.suite, trial=trial.trial_index, status=trial.status.value)
        error = found.error
        row["error"] = None if error is None else {"type": error.type.value, "message": error.message}
        row["verdicts"] = [_verdict(one) for one in trial.assessments]
        yield row


def _document(document: Mapping[str, Json]) -> dict[str, Json]:
    """A document as a case may have it: by the text that was shown, which needs no file, or else by its file."""
    if document.get("text") is not None:
        return {"name": document["name"], "text": document["text"]}
    return {key: document[key] for key in ("name", "path", "attach") if document.get(key) is not None}


def _recorded(messages: Sequence[Json]) -> list[Json]:
    """A case's messages without the bytes of pictures."""
    read = (message_from_json(message, "message", []) for message in messages)
    return [message_to_json(message) for message in read if message is not None]


def _verdict(one: AssessmentRecord) -> dict[str, Any]:
    metadata, evaluator = one.result.get("metadata", {}), one.result.get("evaluator", {})
    made = {
        "assertion": one.name,
        "type": one.type,
        "status": one.status.value,
        "score": one.score,
        "score_range": metadata.get("score_range"),
        "threshold": metadata.get("threshold"),
        "reason": one.result.get("reason"),
        "evidence": one.result.get("evidence"),
        "judge": metadata.get("judge"),
        "error": (evaluator.get("error") or {}).get("type"),
    }
    return {key: thaw(part) for key, part in made.items() if part is not None}
