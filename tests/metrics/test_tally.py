"""Tallies and quantiles: exact counts, constant space, and unknown that never becomes zero."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.metrics import Gate, LogHistogram, Tally, summarize


def result(status: str = "pass", score: float | None = None, error: str | None = None, **spent: Any) -> dict[str, Any]:
    asked = {
        "model": "judge-model",
        "input_tokens": 10,
        "output_tokens": 2,
        "cost_usd": 0.1,
        "duration_ms": 5.0,
        "attempts": 1,
        "cached": False,
    }
    evaluator: dict[str, Any] = {**asked, **spent}
    if error:
        evaluator["error"] = {"type": error, "message": "x"}
    return {"status": status, "score": score, "evaluator": evaluator}


def tally(*results: dict[str, Any], score_range: tuple[float, float] = (0.0, 1.0)) -> Tally:
    made = Tally(score_range)
    for one in results:
        made.add(one)
    return made


def test_statuses_and_errors_are_counted_and_errors_never_enter_the_rate_or_the_mean() -> None:
    made = tally(
        result("pass", 0.9),
        result("fail", 0.2),
        result("error", error="malformed_json"),
        result("error", error="malformed_json"),
        result("error", error="timeout"),
        result("unverified"),
    )

    assert made.statuses == {"pass": 1, "fail": 1, "error": 3, "unverified": 1}
    assert made.errors == {"malformed_json": 2, "timeout": 1}
    assert (made.total, made.rate.value, made.rate.undecided) == (6, 0.5, 4)
    assert made.mean_score == pytest.approx(0.55)


def test_a_score_of_zero_is_a_score() -> None:
    made = tally(result("fail", 0), result("pass", 1))

    assert (made.mean_score, made.scores) == (0.5, [1, 0, 0, 0, 0, 0, 0, 0, 0, 1])


@pytest.mark.parametrize(
    ("score", "place"), [(0, 0), (9.99, 0), (10, 1), (55, 5), (89.9, 8), (90, 9), (100, 9), (-0.0, 0)]
)
def test_scores_fall_into_ten_equal_parts_the_last_one_closed(score: float, place: int) -> None:
    assert tally(result("pass", score), score_range=(0, 100)).scores.index(1) == place


def test_the_parts_follow_the_range_of_the_judge() -> None:
    assert tally(result("pass", 3), score_range=(1, 5)).scores.index(1) == 5
    assert tally(result("fail", -5), score_range=(-5, 5)).scores.index(1) == 0


def test_unknown_usage_and_unknown_cost_are_counted_beside_what_is_known() -> None:
    made = tally(
        result("pass", 1),
        result("pass", 1, cost_usd=0.0),
        result("pass", 1, input_tokens=None),
        result("error", error="timeout", input_tokens=None, output_tokens=None, cost_usd=None),
    )

    assert (made.input_tokens, made.output_tokens, made.without_usage) == (20, 4, 2)
    assert (made.known_cost_usd, made.unpriced) == (0.2, 1)


def test_what_was_never_sent_is_neither_unknown_nor_slow() -> None:
    made = tally(result("unverified", attempts=0, cost_usd=0.0, input_tokens=0, output_tokens=0, duration_ms=0.0))

    assert (made.without_usage, made.unpriced, made.latency.n) == (0, 0, 0)


def test_an_evaluator_that_makes_no_calls_has_no_spending() -> None:
    made = tally({"status": "pass", "score": 1.0, "evaluator": {"status": "completed"}})

    assert (made.total, made.input_tokens, made.unpriced) == (1, 0, 0)


def test_cached_verdicts_are_counted() -> None:
    assert tally(result("pass", 1, cached=True, cost_usd=0.0), result("pass", 1)).cached == 1


@given(costs=st.lists(st.floats(0, 1e6), max_size=30))
def test_sums_do_not_depend_on_the_order(costs: list[float]) -> None:
    made = tally(*(result("pass", 1, cost_usd=cost) for cost in costs))
    turned = tally(*(result("pass", 1, cost_usd=cost) for cost in reversed(costs)))

    assert made.known_cost_usd == turned.known_cost_usd == math.fsum(costs)


def test_a_hundred_thousand_tenths_sum_up_exactly() -> None:
    made = Tally((0.0, 1.0))
    for _ in range(100_000):
        made.add(result("pass", 0.1, cost_usd=0.1))

    assert (made.known_cost_usd, made.mean_score) == (10_000.0, 0.1)


def test_a_job_that_judged_nothing_has_no_rate_no_mean_and_meets_no_gate() -> None:
    summary = summarize(Tally((0.0, 1.0)), Gate())

    assert summary["total"] == 0
    assert summary["pass_rate"] == {"value": None, "interval": None, "decided": 0, "undecided": 0, "bounds": None}
    assert summary["scores"]["mean"] is None
    assert summary["latency_ms"] == {"n": 0, "p50": None, "p95": None}
    assert summary["gate"]["met"] is None


def test_a_summary_counts_errors_by_category_and_undecided_apart() -> None:
    summary = summarize(
        tally(result("pass", 1), result("error", error="empty_reason"), result("error", error="empty_reason")),
        Gate(minimum_pass_rate=0.5),
    )

    assert summary["errors"] == {"empty_reason": 2}
    assert summary["counts"] == {"pass": 1, "fail": 0, "unverified": 0, "error": 2, "skipped": 0}
    assert summary["pass_rate"]["value"] == 1.0
    assert summary["gate"]["met"] is None


# --- Quantiles -------------------------------------------------------------------------------------------------------


def histogram(*values: float) -> LogHistogram:
    made = LogHistogram()
    for value in values:
        made.add(value)
    return made


def test_of_nothing_there_is_no_quantile() -> None:
    assert LogHistogram().quantile(0.5) is None


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.01, 1), (0.5, 50), (0.501, 51), (0.95, 95), (1.0, 100)])
def test_quantiles_are_known_within_one_per_cent(share: float, value: float) -> None:
    assert histogram(*range(100, 0, -1)).quantile(share) == pytest.approx(value, rel=0.01)


def test_zero_and_below_count_as_the_smallest() -> None:
    made = histogram(0.0, -3.0, 5e-324, 1e300)

    assert (made.n, made.quantile(0.5)) == (4, 0.0)
    assert made.quantile(1.0) == pytest.approx(1e300, rel=0.01)


@given(values=st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=60), share=st.floats(0, 1))
def test_any_quantile_of_any_values_is_within_one_per_cent(values: list[float], share: float) -> None:
    exact = sorted(values)[max(1, math.ceil(share * len(values))) - 1]

    assert histogram(*values).quantile(share) == pytest.approx(exact, rel=0.01)


def test_models_that_answer_in_one_name_are_counted_and_mixed_ones_are_said() -> None:
    one = summarize(tally(result(), result(response_model="judge-model"), result(error="timeout")), Gate())
    assert (one["models"], one["mixed_judge_models"]) == ({"judge-model": 2}, False)

    drifting = [result(response_model="judge-2026-05"), result(response_model="judge-2026-06"), result()]
    several = summarize(tally(*drifting, result(response_model="judge-2026-05, judge-2026-06")), Gate())
    assert several["models"] == {"judge-2026-05": 2, "judge-2026-06": 2, "judge-model": 1}
    assert several["mixed_judge_models"] is True


def test_names_of_models_without_end_take_no_room_without_end() -> None:
    many = summarize(tally(*(result(response_model=f"m{number}") for number in range(1000))), Gate())
    assert len(many["models"]) == 21
    assert many["models"]["(others)"] == 980
