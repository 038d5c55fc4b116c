"""A run as a table: one row for what the subject did in a trial, and one for each assertion on it.

So that every cost stands in one row alone, and columns add up. A text that a spreadsheet may take for a formula gets an
apostrophe in front, as spreadsheets themselves write it; numbers stay numbers. What counts as such is OWASP's rule
("CSV Injection"): a text that begins with one of its signs, even where spaces or invisible characters stand before it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jurat.jsontext import Json, canonical
from jurat.judge import Spending
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, TrialRecord

__all__ = ["COLUMNS", "csv_text", "trial_rows"]

COLUMNS = (
    *("run", "suite", "case_index", "case", "labels", "metadata", "trial", "trial_status", "stage", "assertion"),
    *("type", "status", "score", "score_min", "score_max", "threshold", "weight", "required", "reason", "quotes"),
    *("error", "error_message", "provider", "model", "input_tokens", "output_tokens", "cost_usd", "duration_ms"),
    *("attempts", "cached", "rendered_input", "output"),
)
_FORMULA = re.compile(
    r"[\t\r\n]|[\s\x00-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*[=+\-@＝＋－＠]"
)
"""What makes a spreadsheet read a text as a formula, or strip it and then do so; the full-width forms too."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
"""A text that is a number and nothing else computes nothing."""
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


def csv_text(rows: Iterable[Mapping[str, Json]], *, heading: bool = False) -> str:
    """Rows as RFC 4180 wants them: CRLF, quoted where needed, missing values empty."""
    page = io.StringIO()
    writer = csv.writer(page)
    if heading:
        writer.writerow(COLUMNS)
    writer.writerows([_cell(row.get(name)) for name in COLUMNS] for row in rows)
    return page.getvalue()


def _cell(value: Json) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value or abs(value)  # a zero below zero is a zero
    text = value if isinstance(value, str) else canonical(value)
    text = _NO_CHARACTER.sub("\ufffd", text)
    risky = _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None
    return f"'{text}" if risky else text


def trial_rows(
    run: RunRecord, case: CaseRecord, trials: Sequence[TrialRecord], *, include_output: bool
) -> Iterator[dict[str, Any]]:
    """The rows of one case's trials. What was asked and answered is told only on request."""
    for trial in trials:
        known: dict[str, Any] = {
            "run": run.id,
            "suite": run.suite,
            "case_index": case.case_index,
            "case": case.name,
            "labels": " ".join(case.labels),
            "metadata": case.metadata or None,
            "trial": trial.trial_index,
            "trial_status": trial.status.value,
        }
        yield {**known, **_subject(trial, include_output=include_output)}
        for one in trial.assessments:
            yield {**known, **_assertion(one)}


def _subject(trial: TrialRecord, *, include_output: bool) -> dict[str, Any]:
    found = trial.subject
    made: dict[str, Any] = {"stage": "subject", "status": "error" if found.error else "completed"}
    made.update(_spending(found.spending))
    if found.error is not None:
        made.update(error=found.error.type.value, error_message=found.error.message)
    if include_output:
        made.update(rendered_input=found.rendered_input, output=found.output)
    return made


def _assertion(one: AssessmentRecord) -> dict[str, Any]:
    result, metadata, evaluator = one.result, one.result.get("metadata", {}), one.result.get("evaluator", {})
    low, high = metadata.get("score_range") or (None, None)
    error = evaluator.get("error") or {}
    return {
        "stage": "assertion",
        "assertion": one.name,
        "type": one.type,
        "status": one.status.value,
        "score": one.score,
        "score_min": low,
        "score_max": high,
        "threshold": metadata.get("threshold"),
        "weight": one.weight,
        "required": one.required,
        "reason": result.get("reason"),
        "quotes": " | ".join(quote["quote"] for quote in result.get("evidence", ())) or None,
        "error": error.get("type"),
        "error_message": error.get("message"),
        "provider": evaluator.get("provider"),
        "model": evaluator.get("model"),
        **_spending(one.spending),
    }


def _spending(spent: Spending) -> dict[str, Any]:
    return {
        "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens,
        "cost_usd": spent.cost_usd,
        "duration_ms": round(spent.duration_ms, 3),
        "attempts": spent.attempts,
        "cached": spent.cached,
    }
