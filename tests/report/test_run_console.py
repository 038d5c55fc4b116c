"""A run on a terminal: what did not pass and why, figures that do not mislead, and foreign text that cannot act."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st

from jurat.metrics import RunTally, read_policy
from jurat.report import Look, RunConsole
from jurat.report.console_look import in_colour, paint_for, plain
from jurat.report.plaintext import columns
from jurat.report.record import RunRecord, RunStatus
from jurat.vocabulary import Status
from run_records import Rows, case, check, mixed, run, skipped, spent, trial, verdict

RULES: list[dict[str, Any]] = [
    {"type": "overall_pass_rate", "minimum": 0.9, "name": "nine in ten"},
    {"type": "evaluator_score", "template": "tone", "minimum": 0.85, "minimum_decided": 0.5},
    {"type": "total_cost_usd", "maximum": 1},
    {"type": "no_regression"},
]


def shown(record: RunRecord, rows: Rows, *rules: dict[str, Any], show: int = 20, **look: Any) -> str:
    policy = read_policy(list(rules), "policy", [])
    tally, console = RunTally(record, policy.watch), RunConsole(record, Look(**look), show)
    for place, trials in rows:
        console.case(place, trials, tally.add(place, trials))
    gate = policy.decide(tally).to_json() if record.status is RunStatus.COMPLETED else None
    return console.text(tally.summary(), gate)


def one(*assessments: Any, **subject: Any) -> str:
    return shown(run(), [(case(name="france"), [trial(*assessments, **subject)])])


# --- as a whole ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 160])
def test_the_mixed_run_is_shown_as_it_was_judged_good(width: int) -> None:
    text = shown(*mixed(), *RULES, width=width)

    assert text == golden(f"mixed-{width}.txt", text)
    assert all(columns(line) <= width for line in text.splitlines())


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("name", ["word " * 60, "long-name-" * 40, "漢字" * 100])
@pytest.mark.parametrize("samples", [1, 3])
def test_no_name_breaks_a_line(width: int, name: str, samples: int) -> None:
    record = run(suite=name, samples=samples)
    place = case(name=name, labels=(name,), file=f"{name}.yaml", line=7)
    found = [trial(check(name, Status.FAIL), index=index) for index in range(samples)]
    rules = {"type": "overall_pass_rate", "minimum": 0.9, "name": name[:40]}

    text = shown(record, [(place, found)], rules, width=width)

    assert [line for line in text.splitlines() if columns(line) > width] == []
    assert f"run {record.id}" in text
    assert ".yaml:7" in text.replace("\n      ", "") or "…" in text


def test_a_run_that_passed_is_shown_as_it_was_judged_good() -> None:
    rows = [(case(index), [trial(check(), verdict(90 + index), case_index=index)]) for index in range(3)]
    text = shown(run(cases=3), rows)

    assert text == golden("passed.txt", text)


def test_a_run_that_could_not_ask_anybody_is_shown_as_it_was_judged_good() -> None:
    refused = verdict(
        error="missing_api_key",
        message="no API key: expected one in the environment variable JUDGE_API_KEY, found it unset. Set it, or name "
        "another variable with api_key_env",
        spending=spent(0.0, attempts=0),
    )
    rows = [(case(index), [trial(refused, recorded=True, case_index=index)]) for index in range(2)]
    text = shown(run(cases=2), rows)

    assert text == golden("nobody-asked.txt", text)


def test_an_interrupted_run_says_how_to_go_on_and_nothing_of_success() -> None:
    record = run(cases=4, status=RunStatus.INTERRUPTED, finished_at=None)
    text = shown(record, [(case(0), [trial(check())]), (case(1), []), (case(2), []), (case(3), [])])

    assert text == golden("interrupted.txt", text)
    assert "PASSED" not in text


def test_colours_only_repeat_what_words_say() -> None:
    bare, painted = shown(*mixed(), *RULES), shown(*mixed(), *RULES, paint=in_colour)

    assert "\x1b[1;31mFAIL\x1b[0m" in painted
    assert _unpainted(painted) == bare


@pytest.mark.parametrize(
    ("environment", "terminal", "paint"),
    [
        ({}, True, in_colour),
        ({}, False, plain),
        ({"NO_COLOR": "1"}, True, plain),
        ({"NO_COLOR": ""}, True, in_colour),
        ({"TERM": "dumb"}, True, plain),
    ],
)
def test_colours_are_for_terminals_that_want_them(environment: dict[str, str], terminal: bool, paint: Any) -> None:
    assert paint_for(environment, terminal=terminal) is paint


def _unpainted(text: str) -> str:
    parts = text.split("\x1b[")
    return parts[0] + "".join(part.partition("m")[2] for part in parts[1:])


# --- success is said where there is one ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "assessments", [[], [check(status=Status.UNVERIFIED)], [verdict(error="timeout")], [skipped()]]
)
def test_no_word_of_success_where_nothing_was_decided(assessments: list[Any]) -> None:
    text = one(*assessments)

    assert "UNDECIDED" in text
    assert "nothing was decided" in text
    assert "PASSED" not in text
    assert "100 %" not in text


def test_a_case_without_assertions_says_so() -> None:
    assert "there are no assertions, so nothing could be decided" in one()


def test_a_case_that_failed_by_its_pass_threshold_alone_says_so() -> None:
    made = replace(trial(verdict(85)), status=Status.FAIL)

    text = shown(run(), [(case(), [made])])

    assert "every assertion passed, but the mean of their scores is below the case's pass_threshold" in text


def test_of_many_labels_the_worst_are_shown() -> None:
    rows = [
        (case(index, labels=(f"label-{index:02}",)), [trial(check(status=status), case_index=index)])
        for index, status in enumerate([*[Status.PASS] * 20, Status.FAIL])
    ]

    text = shown(run(cases=21), rows)

    assert "label-20  1 of 1   0 %" in text
    assert "label-19" not in text
    assert "and 9 more" in text


# --- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "threshold", "scale", "told"),
    [
        (0.7966, 0.8, (0, 1), "score 0.7966 < threshold 0.8"),
        (79.9999, 80, (0, 100), "score 79.9999 < threshold 80"),
        (3.49524, 3.5, (1, 5), "score 3.495 < threshold 3.5"),
        (0, 80, (0, 100), "score 0 < threshold 80"),
    ],
)
def test_a_score_is_told_against_its_threshold_with_digits_enough(
    score: float, threshold: float, scale: tuple[float, float], told: str
) -> None:
    assert told in one(verdict(score, threshold=threshold, scale=scale))


def test_repeats_of_a_judge_are_told_where_they_and_not_the_mean_decided() -> None:
    repeats = {"attempts": [{"status": "pass"}, {"status": "fail"}, {"status": "pass"}]}
    made = verdict(85, repeats=repeats)
    failed = replace(made, status=Status.FAIL, result={**made.result, "status": "fail", "passed": False})

    assert "mean score 85 > threshold 80, 2 of 3 repeats passed" in one(failed)


def test_a_negated_score_is_not_held_against_a_threshold_that_it_was_turned_from() -> None:
    made = verdict(10)
    negated = replace(made, result={**made.result, "metadata": {**made.result["metadata"], "negate": True}})

    assert "score 10 (negated)" in one(negated)


def test_an_unknown_cost_is_called_unknown_and_never_nothing() -> None:
    unknown = spent(None)

    text = one(verdict(90, spending=unknown), spending=unknown)

    assert "cost       unknown" in text
    assert "$0" not in text


def test_what_is_partly_known_is_a_lower_bound() -> None:
    assert "cost       at least $0.5000, as 1 cost is unknown" in one(
        verdict(90, spending=spent(None)), spending=spent(0.5)
    )


def test_retries_are_told_with_why() -> None:
    made = verdict(90, spending=spent(attempts=2))
    told = {**made.result, "evaluator": {**made.result["evaluator"], "failed_attempts": {"rate_limited": 1}}}

    text = one(replace(made, result=told))

    assert "retries    judges 1 of 1 needed more than one attempt (1 × rate_limited)" in text


def test_attempts_that_failed_and_were_not_tried_again_are_no_retries() -> None:
    lost = verdict(error="rate_limited", spending=spent(0.0, attempts=1))
    told = {**lost.result, "evaluator": {**lost.result["evaluator"], "failed_attempts": {"rate_limited": 1}}}

    text = one(replace(lost, result=told))

    assert "retries    judges none; 1 attempt failed (1 × rate_limited)" in text
    assert "needed more than one attempt" not in text


# --- three kinds of bad --------------------------------------------------------------------------------------------


def test_an_error_of_the_subject_is_not_told_as_one_of_its_judges() -> None:
    text = one(skipped("tone"), error="timeout")

    assert "  error      subject  no answer" in text
    assert "1 × timeout of the subject" in text
    assert "tone  " not in text.partition("cases  ")[0]


def test_a_failure_an_error_and_another_error_of_one_judge_all_have_their_lines() -> None:
    trials = [
        trial(verdict(10, name="tone"), index=0),
        trial(verdict(error="timeout", name="tone"), index=1),
        trial(verdict(error="refusal", name="tone"), index=2),
    ]

    text = shown(run(samples=3), [(case(), trials)])

    assert [line.split()[0] for line in text.splitlines() if "tone (correctness)" in line and "in trial" in line] == [
        "fail",
        "error",
        "error",
    ]


@pytest.mark.parametrize(
    ("category", "advice"),
    [
        ("rate_limited", "lower --concurrency"),
        ("truncated", "raise max_output_tokens"),
        ("timeout", "raise the timeout"),
    ],
)
def test_an_error_says_what_to_do(category: str, advice: str) -> None:
    assert f"to do: {advice}" in one(verdict(error=category))


def test_a_refused_key_names_its_variable() -> None:
    text = one(verdict(error="auth_error", message="api.example refused the key (401). It came from JUDGE_API_KEY"))

    assert text.count("JUDGE_API_KEY") == 2
    assert "to do" not in text


# --- bounds and foreign text ---------------------------------------------------------------------------------------


def test_an_error_that_was_told_is_not_told_again_in_full() -> None:
    rows = [(case(index), [trial(verdict(error="timeout"), case_index=index)]) for index in range(3)]

    text = shown(run(cases=3), rows).partition("cases  ")[0]

    assert text.count("timeout: the judge did not answer") == 1
    assert text.count("timeout, as above") == 2


def test_only_so_many_cases_are_shown_and_the_rest_is_counted() -> None:
    rows = [(case(index), [trial(verdict(10), case_index=index)]) for index in range(30)]

    text = shown(run(cases=30), rows, show=3)

    assert text.count("score 10 < threshold 80") == 3
    assert "30 cases did not pass, the first 3 of them:" in text
    assert "27 more: jurat show 01JDZQ0000000000000000000A" in text


def test_answers_are_never_shown() -> None:
    assert "SECRET" not in one(verdict(10), output="SECRET", rendered_input="SECRET", messages=({"content": "SECRET"},))


HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\u202egnp\u2066 [bold]not bold[/] \x9b31m"


def test_what_a_model_wrote_cannot_move_hide_or_colour_anything() -> None:
    made = verdict(10, name=HOSTILE, reason=HOSTILE, quotes=[HOSTILE], template=HOSTILE)
    broken = verdict(error="timeout", message=HOSTILE, name=f"{HOSTILE}2")
    place = case(name=HOSTILE, labels=(HOSTILE,), file=HOSTILE, line=3)
    finding = [{"code": "x", "severity": "info", "message": HOSTILE}]
    noted = replace(made, name="noted", result={**made.result, "findings": finding})

    text = shown(run(suite=HOSTILE), [(place, [trial(made, broken, noted)])])

    assert not {char for char in text if unicodedata.category(char) in ("Cc", "Cf") and char != "\n"}
    assert "[bold]not bold[/]" in text
    assert r"\x1b[2J" in text


def test_endless_text_is_cut() -> None:
    made = verdict(10, reason="\x1b]" * 50_000, quotes=["x" * 100_000] * 50, name="n" * 100_000)

    assert len(one(made)) < 12_000


@given(text=st.text(max_size=80))
def test_no_text_breaks_a_line_that_it_has_not_got(text: str) -> None:
    made = verdict(10, reason=text, name="judge", quotes=[text])

    shown_text = shown(run(suite=text), [(case(name=f"a{text}"), [trial(made)])], width=80)

    assert not {char for char in shown_text if unicodedata.category(char) == "Cc" and char != "\n"}


def test_all_that_is_not_foreign_can_be_shown_on_a_western_windows_console() -> None:
    record, rows = mixed()

    shown(record, rows[:4], *RULES).encode("cp1252")
