"""A run's tally: three kinds of bad apart, unknown never zero, and everything computable again from the rows."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.metrics import RunTally
from jurat.metrics.rates import Clusters, wilson_interval
from jurat.metrics.run_tally import MOST_GROUPS, Watch
from jurat.provider.protocol import Usage
from jurat.report.figure_words import spending
from jurat.report.record import AssessmentRecord, RunStatus
from jurat.vocabulary import Status
from run_records import case, check, mixed, run, skipped, spent, tallied, trial, verdict


def scored(*scores: float | str | None, **changes: Any) -> RunTally:
    """A run of one judge: a score for each case, an error's category, or None for what is unverified."""
    made = [verdict(error=one, **changes) if isinstance(one, str) else verdict(one, **changes) for one in scores]
    rows = [(case(index), [trial(one, case_index=index)]) for index, one in enumerate(made)]
    return tallied(run(cases=len(rows)), rows)


def figures(tally: RunTally) -> tuple[float | None, int, int]:
    """Mean, how many it rests on, errors: of the only assertion."""
    (one,) = tally.summary()["assertions"]
    return one["score"]["mean"], one["score"]["n"], one["counts"]["error"]


def test_several_models_that_answer_in_one_name_are_told_and_marked() -> None:
    def judged(*models: str) -> RunTally:
        made = [replace(verdict(1.0), spending=spent(models=(model,))) for model in models]
        return tallied(run(cases=len(made)), [(case(at), [trial(one, case_index=at)]) for at, one in enumerate(made)])

    steady, drifting = judged("m-05", "m-05").summary(), judged("m-05", "m-06", "m-06").summary()
    assert steady["models"]["judge"] == {"judge": {"m-05": 2}}
    assert steady["models"]["mixed_judge_models"] is False
    assert "models" not in spending(steady)
    assert drifting["models"]["judge"] == {"judge": {"m-05": 1, "m-06": 2}}
    assert drifting["models"]["mixed_judge_models"] is True
    assert spending(drifting)["models"] == "judge was answered for by 2 models: m-05 (1), m-06 (2)"


# --- scores --------------------------------------------------------------------------------------------------------


def test_a_judges_error_is_no_score_of_zero_so_that_two_arms_keep_their_order() -> None:
    one = scored(5, 4, 5, "malformed_json", scale=(1, 5), threshold=3)
    other = scored(4, 4, 4, 4, scale=(1, 5), threshold=3)

    assert figures(one) == (4.666666666666667, 3, 1)
    assert figures(other) == (4.0, 4, 0)


def test_what_is_unverified_is_not_in_the_mean_and_the_rows_say_the_same() -> None:
    tally = scored(1.0, None, scale=(0, 1), threshold=0.5)

    assert figures(tally) == (1.0, 1, 0)
    assert tally.summary()["assertions"][0]["pass_rate"]["undecided"] == 1


def test_a_failed_request_is_counted_by_its_category_and_never_averaged() -> None:
    tally = scored(8, "rate_limited", scale=(1, 10), threshold=5)

    assert figures(tally) == (8.0, 1, 1)
    assert tally.summary()["errors"] == {"subject": {}, "evaluators": {"rate_limited": 1}}


def test_equal_scores_have_exactly_themselves_as_their_mean() -> None:
    assert figures(scored(*[0.1] * 10, scale=(0, 1), threshold=0.05)) == (0.1, 10, 0)
    assert figures(scored(*[1] * 200, scale=(0, 1), threshold=0.5)) == (1.0, 200, 0)


def test_scores_on_different_scales_are_never_averaged_together() -> None:
    rows = [
        (case(0), [trial(verdict(90))]),
        (case(1), [trial(verdict(0.9, scale=(0, 1), threshold=0.5, template="toxicity"), case_index=1)]),
    ]

    found = tallied(run(cases=2), rows).summary()["assertions"]

    assert [(one["template"], one["score"]["mean"]) for one in found] == [
        ("correctness@v1", 90.0),
        ("toxicity@v1", 0.9),
    ]


# --- statuses ------------------------------------------------------------------------------------------------------


def test_the_three_kinds_of_bad_are_counted_apart() -> None:
    lost = trial(skipped(), case_index=1, error="timeout")
    rows = [
        (case(0), [trial(verdict(10), check())]),
        (case(1), [lost]),
        (case(2), [trial(verdict(error="refusal"), check(), case_index=2)]),
        (case(3), [trial(verdict(90), check(), case_index=3)]),
    ]

    summary = tallied(run(cases=4), rows).summary()

    assert summary["cases"]["counts"] == {"pass": 1, "fail": 1, "unverified": 0, "error": 2, "skipped": 0}
    assert summary["errors"] == {"subject": {"timeout": 1}, "evaluators": {"refusal": 1}}
    assert summary["cases"]["pass_rate"] == {
        "value": 0.5,
        "interval": list(wilson_interval(1, 2)),
        "decided": 2,
        "undecided": 2,
        "bounds": [0.25, 0.75],
    }


def test_a_case_that_was_never_judged_counts_among_the_undecided_of_its_judge() -> None:
    rows = [
        (case(0), [trial(verdict(90, scale=(0, 100)))]),
        (case(1), [trial(skipped(), case_index=1, error="timeout")]),
    ]

    (one,) = tallied(run(cases=2), rows).summary()["assertions"]

    assert (one["total"], one["counts"]["skipped"], one["pass_rate"]["undecided"]) == (2, 1, 1)


def test_a_case_that_lacks_trials_is_unfinished_and_not_failed() -> None:
    rows = [(case(0), [trial(check())]), (case(1), [])]
    tally = tallied(run(cases=2, samples=2, status=RunStatus.INTERRUPTED), rows)

    summary = tally.summary()

    assert (summary["cases"]["unfinished"], summary["cases"]["counts"]["fail"]) == (2, 0)
    assert (summary["trials"]["unfinished"], summary["trials"]["counts"]["pass"]) == (3, 1)


def test_repeated_trials_say_how_often_they_contradict_each_other() -> None:
    good, bad = check(), check(status=Status.FAIL)
    trials = [trial(one, index=index) for index, one in enumerate((good, bad, good, good))]
    tally = tallied(run(samples=4, reducer="majority"), [(case(), trials)])

    summary = tally.summary()

    assert summary["cases"]["counts"]["pass"] == 1
    assert summary["trials"]["flip_rate"] == {"value": 0.25, "groups": 1, "decided": 4}
    assert summary["assertions"][0]["flip_rate"]["trials"]["value"] == 0.25


def test_repeats_of_a_judge_are_compared_within_one_verdict() -> None:
    attempts = [{"status": "pass", "score": 90}, {"status": "fail", "score": 10}, {"status": "error", "score": None}]
    repeats = {"mean": 50, "spread": 1, "flip_rate": 0.5, "decided": 2, "undecided": 1, "attempts": attempts}
    tally = tallied(run(), [(case(), [trial(verdict(50, repeats=repeats))])])

    (one,) = tally.summary()["assertions"]

    assert one["flip_rate"]["judge"] == {"value": 0.5, "groups": 1, "decided": 2}
    assert one["flip_rate"]["trials"]["value"] is None


def test_the_interval_of_trials_knows_that_trials_of_one_case_resemble_each_other() -> None:
    alike, apart = Clusters(), Clusters()
    for passed in (10, 10, 0, 0):
        alike.add(passed, 10)
    for _ in range(40):
        apart.add(1, 2)
    agreed = Clusters()
    for _ in range(5):
        agreed.add(4, 4)

    assert alike.interval == pytest.approx(wilson_interval(1, 2), abs=0.15)
    assert alike.interval is not None
    assert alike.interval[0] < wilson_interval(20, 40)[0]
    assert agreed.interval == wilson_interval(5, 5)
    assert apart.interval == wilson_interval(20, 40)
    assert Clusters().interval is None


# --- spending ------------------------------------------------------------------------------------------------------


def test_costs_of_subject_and_judges_stand_apart_and_an_unknown_one_is_no_zero() -> None:
    judged = verdict(90, spending=spent(None))
    rows = [(case(), [trial(judged, verdict(90, name="other"), spending=spent(0.25))])]

    summary = tallied(run(), rows).summary()

    assert summary["cost_usd"] == {
        "subject": {"known": 0.25, "unknown": 0},
        "judge": {"known": 0.001, "unknown": 1},
        "total": {"known": 0.251, "unknown": 1},
    }


def test_what_was_recorded_cost_nothing_and_is_no_answer_of_this_run() -> None:
    rows = [(case(), [trial(check(), recorded=True, spending=spent(None))])]

    summary = tallied(run(), rows).summary()

    assert summary["cost_usd"]["total"] == {"known": 0.0, "unknown": 0}
    assert summary["attempts"]["subject"]["asked"] == 0


def test_a_total_is_the_exact_sum_of_its_rows() -> None:
    rows = [(case(index), [trial(verdict(90, spending=spent(0.1)), case_index=index)]) for index in range(10)]

    assert tallied(run(cases=10), rows).summary()["cost_usd"]["judge"]["known"] == 1.0


def test_verdicts_that_needed_another_attempt_are_counted_with_why() -> None:
    rescued = verdict(4, scale=(1, 5), threshold=3, spending=spent(attempts=2))
    told = {**rescued.result, "evaluator": {**rescued.result["evaluator"], "failed_attempts": {"rate_limited": 1}}}
    rows = [
        (case(0), [trial(replace(rescued, result=told))]),
        (case(1), [trial(verdict(4, scale=(1, 5), threshold=3), case_index=1)]),
    ]

    summary = tallied(run(cases=2), rows).summary()

    assert summary["attempts"]["judge"] == {
        "asked": 2,
        "made": 3,
        "retried": 1,
        "failed": {"rate_limited": 1},
        "cached": 0,
    }
    assert summary["assertions"][0]["score"]["mean"] == 4.0


def test_more_attempts_than_a_verdict_takes_are_retries_even_where_nobody_noted_why() -> None:
    repeats = {"attempts": [{"status": "pass"}] * 3}
    rows = [
        (case(0), [trial(verdict(90, spending=spent(attempts=2)))]),
        (case(1), [trial(verdict(90, spending=spent(attempts=3), repeats=repeats), case_index=1)]),
    ]

    attempts = tallied(run(cases=2), rows).summary()["attempts"]["judge"]

    assert (attempts["retried"], attempts["failed"]) == (1, {})


def test_replies_out_of_the_store_are_counted_and_not_timed_as_requests() -> None:
    cached = spent(0.0, attempts=0, cached=True, duration_ms=0.0)

    summary = tallied(run(), [(case(), [trial(verdict(90, spending=cached))])]).summary()

    assert summary["attempts"]["judge"]["cached"] == 1
    assert summary["latency_ms"]["judge"]["n"] == 0


def test_tokens_are_summed_by_kind_and_what_was_not_counted_is_told() -> None:
    usage = Usage(input_tokens=50, output_tokens=7, cached_input_tokens=40, reasoning_tokens=5)
    rows = [
        (case(0), [trial(verdict(90, spending=spent(usage=usage)))]),
        (case(1), [trial(verdict(90, spending=spent(usage=Usage())), case_index=1)]),
    ]

    assert tallied(run(cases=2), rows).summary()["tokens"]["judge"] == {
        "input": 50,
        "output": 7,
        "cached_input": 40,
        "cache_write": 0,
        "reasoning": 5,
        "unknown": 1,
    }


def test_an_answer_is_timed_by_what_its_execution_tells_and_an_error_is_not_timed() -> None:
    rows = [
        (case(0), [trial(check(), execution={"latency_ms": 120.0})]),
        (case(1), [trial(check(), case_index=1, spending=spent(duration_ms=80.0))]),
        (case(2), [trial(skipped(), case_index=2, error="timeout")]),
    ]

    found = tallied(run(cases=3), rows).summary()["latency_ms"]["subject"]

    assert (found["n"], found["unknown"], found["mean"], found["max"]) == (2, 1, 100.0, 120.0)
    assert found["p95"] == pytest.approx(120.0, rel=0.01)


# --- groups --------------------------------------------------------------------------------------------------------


def test_cases_are_counted_by_their_labels_and_by_the_metadata_that_a_policy_asks_for() -> None:
    rows = [
        (case(0, labels=("a", "b"), metadata={"tier": "gold", "n": 1}), [trial(check())]),
        (case(1, labels=("b", "b"), metadata={"tier": "gold", "n": True}), [trial(check(status=Status.FAIL))]),
    ]
    tally = RunTally(run(cases=2), Watch(labels=frozenset({"z"}), metadata=frozenset({("n", "1")})))
    for place, trials in rows:
        tally.add(place, trials)

    summary = tally.summary()

    assert {one["name"]: one["cases"]["total"] for one in summary["labels"]} == {"a": 1, "b": 2, "z": 0}
    assert {one["name"]: one["cases"]["total"] for one in summary["metadata"]} == {"n=1": 1}


def test_too_many_labels_are_left_out_and_counted_but_never_those_of_a_rule() -> None:
    tally = RunTally(run(cases=MOST_GROUPS + 2), Watch(labels=frozenset({"wanted"})))
    for index in range(MOST_GROUPS + 1):
        tally.add(case(index, labels=(f"label-{index}",)), [trial(check())])
    tally.add(case(MOST_GROUPS + 1, labels=("wanted",)), [trial(check())])

    summary = tally.summary()

    assert len(summary["labels"]) == MOST_GROUPS
    assert summary["left_out"]["labels"] == 2
    assert tally.groups["wanted"].cases.total == 1


def test_a_tally_takes_no_more_room_for_more_cases() -> None:
    def peak(cases: int) -> int:
        tally = RunTally(run(cases=cases))
        tracemalloc.start()
        for index in range(cases):
            tally.add(case(index, labels=("a",)), [trial(verdict(index % 101), check(), case_index=index)])
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(50)  # whatever is made once

    assert peak(2_000) < peak(200) + 40_000


# --- the rows decide -----------------------------------------------------------------------------------------------

ASSESSMENTS = st.one_of(
    st.floats(0, 100).map(verdict),
    st.sampled_from(("timeout", "malformed_json")).map(lambda word: verdict(error=word)),
    st.just(verdict()),
    st.sampled_from(Status).filter(lambda word: word is not Status.SKIPPED).map(lambda word: check(status=word)),
)


@given(sets=st.lists(st.lists(ASSESSMENTS, max_size=2), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_the_figures_do_not_depend_on_the_order_of_the_cases(sets: list[list[AssessmentRecord]], seed: int) -> None:
    rows = [(case(index), [trial(*_named(found), case_index=index)]) for index, found in enumerate(sets)]
    shuffled = random.Random(seed).sample(rows, len(rows))  # noqa: S311 - no secret

    assert tallied(run(cases=len(rows)), rows).summary() == tallied(run(cases=len(rows)), shuffled).summary()


def _named(found: list[AssessmentRecord]) -> list[AssessmentRecord]:
    return [replace(one, name=f"{one.name}-{index}") for index, one in enumerate(found)]


def test_the_mixed_run_comes_out_as_counted_by_hand() -> None:
    record, rows = mixed()

    summary = tallied(record, rows).summary()

    assert summary["cases"]["counts"] == {"pass": 1, "fail": 2, "unverified": 0, "error": 2, "skipped": 0}
    assert summary["trials"]["counts"] == {"pass": 6, "fail": 4, "unverified": 0, "error": 5, "skipped": 0}
    assert summary["errors"] == {"subject": {"timeout": 2}, "evaluators": {"auth_error": 1, "malformed_json": 2}}
    assert [(one["name"], one["pass_rate"]["decided"], one["total"]) for one in summary["assertions"]] == [
        ("contains", 13, 15),
        ("tone", 10, 15),
    ]


def test_a_reducer_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="reducer"):
        RunTally(run(reducer="most"))
