"""The table of a run: safe to open in a spreadsheet, complete, and its columns add up."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.cli._csv import COLUMNS, csv_text, trial_rows
from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.judge import Spending
from jurat.provider.protocol import Usage
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, RunStatus, SubjectRecord, TrialRecord
from jurat.vocabulary import Status

RUN = RunRecord(
    id="r1",
    suite="s",
    suite_hash="sha256:0",
    status=RunStatus.COMPLETED,
    created_at="2026-01-01T00:00:00Z",
    samples=1,
    reducer="all",
    cases=1,
)
CASE = CaseRecord(case_index=0, name="=cmd()", case_hash="sha256:0", labels=("a", "b"), metadata={"tier": "gold"})


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def spent(cost: float | None) -> Spending:
    return Spending(usage=Usage(input_tokens=10, output_tokens=2), cost_usd=cost, duration_ms=3.5, attempts=1)


def trial(*, output: str | None = "fine", error: TypedError | None = None) -> TrialRecord:
    result: dict[str, Any] = {
        "reason": "-1 is wrong",
        "evidence": [{"message_index": 0, "quote": "@here"}],
        "metadata": {"score_range": [0, 100], "threshold": 80},
        "evaluator": {"provider": "judge", "model": "m"},
    }
    one = AssessmentRecord(
        name="kind", type="rubric_judge", status=Status.FAIL, score=-1.5, result=result, spending=spent(0.25)
    )
    subject = SubjectRecord(output=output, error=error, spending=spent(None))
    return TrialRecord(case_index=0, trial_index=0, status=Status.FAIL, subject=subject, assessments=(one,))


def test_a_trial_has_a_row_for_its_subject_and_one_for_each_assertion() -> None:
    rows = table(csv_text(trial_rows(RUN, CASE, [trial()], include_output=False), heading=True))

    assert [(row["stage"], row["assertion"], row["cost_usd"]) for row in rows] == [
        ("subject", "", ""),
        ("assertion", "kind", "0.25"),
    ]
    assert rows[1]["score"] == "-1.5"
    assert rows[1]["metadata"] == '{"tier":"gold"}'
    assert rows[0]["output"] == ""


def test_what_was_answered_stands_there_on_demand() -> None:
    rows = table(csv_text(trial_rows(RUN, CASE, [trial()], include_output=True), heading=True))

    assert rows[0]["output"] == "fine"


def test_a_subject_without_an_answer_says_why() -> None:
    error = TypedError(type=ErrorCategory.TIMEOUT, message="too late")

    (row, _) = table(
        csv_text(trial_rows(RUN, CASE, [trial(output=None, error=error)], include_output=True), heading=True)
    )

    assert (row["status"], row["error"], row["error_message"]) == ("error", "timeout", "too late")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_text_is_taken_for_a_formula(start: str) -> None:
    text = csv_text([{"case": f"{start}1+1", "reason": f"{start}x"}], heading=True)

    (row,) = table(text)
    assert (row["case"], row["reason"]) == (f"'{start}1+1", f"'{start}x")


@pytest.mark.parametrize(
    "text", [" =1+1", "\ufeff=1+1", "\u200b\u00a0 @x", "-b c", "-", "-5-5", "+1 234", "-1\n", "\x1b=1", "\u3000＝1"]
)
def test_what_stands_before_a_formula_hides_it_from_nobody(text: str) -> None:
    (row,) = table(csv_text([{"case": text}], heading=True))
    assert row["case"] == f"'{text}"


@pytest.mark.parametrize("text", ["-5", "+0.5", "-1.5e-3", "5", "a=1", "b -c", "1-1", " x", "it's"])
def test_numbers_and_plain_words_are_left_as_they_are(text: str) -> None:
    (row,) = table(csv_text([{"case": text}], heading=True))
    assert row["case"] == text


def test_what_no_table_can_hold_is_seen_to_be_missing() -> None:
    (row,) = table(csv_text([{"case": "a\0b\ud83dc"}], heading=True))
    assert row["case"] == "a\ufffdb\ufffdc"


def test_a_number_stays_a_number() -> None:
    (row,) = table(csv_text([{"score": -1.5, "trial": -1, "required": True}], heading=True))

    assert (row["score"], row["trial"], row["required"]) == ("-1.5", "-1", "true")


def test_no_zero_has_a_sign() -> None:
    (row,) = table(csv_text([{"score": -0.0, "cost_usd": 0.0, "trial": 0, "cached": False}], heading=True))

    assert (row["score"], row["cost_usd"], row["trial"], row["cached"]) == ("0.0", "0.0", "0", "false")


@given(st.text(st.characters(exclude_characters="\0")))
def test_every_other_text_comes_back_as_it_was(text: str) -> None:
    (row,) = table(csv_text([{"case": "x", "reason": text}], heading=True))

    written = re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert row["reason"] in (written, f"'{written}")


def test_lines_end_as_rfc_4180_wants_them_and_every_column_is_there() -> None:
    text = csv_text(trial_rows(RUN, CASE, [trial()], include_output=False), heading=True)

    assert text.count("\r\n") == 3
    assert text.splitlines()[0].split(",") == list(COLUMNS)
