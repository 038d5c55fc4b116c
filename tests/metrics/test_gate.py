"""Gates: exact comparisons with words that show them, undecided that hides no failure, no success out of nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import Fault
from jurat.evaluation import Reducer, reduce_statuses
from jurat.evaluation.reducers import ReducerRule
from jurat.metrics import GateOutcome, RuleOutcome, RunTally
from jurat.metrics.comparison import compare_case
from jurat.metrics.comparison_parts import Appearance
from jurat.metrics.policy import Policy, read_policy
from jurat.metrics.regressions import Regressions
from jurat.provider.protocol import Usage
from jurat.report.content import Content
from jurat.report.record import AssessmentRecord, CaseRecord, RunStatus, TrialRecord
from jurat.vocabulary import Status
from run_records import Rows, case, check, mixed, run, skipped, spent, tallied, trial, verdict

PASS, FAIL, ERROR = check(), check(status=Status.FAIL), check(status=Status.ERROR)

OPEN = "33.33 to 66.67 % of 3 cases pass, with 1 undecided; at least {} % are needed"
UNPRICED = "judging cost $0.1, and an unknown amount for 1 answer or verdict; at most ${} may be spent"
UNSEEN = "1 could have regressed unseen; none may regress; 1 undecided in either run"
IN_BOTH = "% over 4 cases decided in both runs, in the baseline {} %"


def policy(*rules: dict[str, Any]) -> Policy:
    faults: list[Fault] = []
    made = read_policy(list(rules), "policy", faults)
    assert not faults, faults
    return made


def rows_of(*sets: list[AssessmentRecord], **changes: Any) -> Rows:
    """A case for each list, a trial for each assessment in it."""
    return [
        (case(index, **changes), [trial(one, index=number, case_index=index) for number, one in enumerate(found)])
        for index, found in enumerate(sets)
    ]


def decided(rule: dict[str, Any], rows: Rows, samples: int = 1, baseline: Rows | None = None) -> RuleOutcome:
    """What a policy of this one rule comes to."""
    made, record = policy(rule), run(cases=len(rows), samples=samples, reducer="majority")
    before = None if baseline is None else beside(baseline, rows, samples, made)
    return made.decide(tallied(record, rows, made), before).rules[0]


def beside(base: Rows, candidate: Rows, samples: int, rules: Policy) -> Regressions:
    """Two runs side by side, their cases by name."""
    sides = [{place.name: _seen(place, trials, samples) for place, trials in rows} for rows in (base, candidate)]
    found = Regressions(rules.rules, "2001")
    for name in dict.fromkeys((*sides[0], *sides[1])):
        found.add(compare_case(sides[0].get(name), sides[1].get(name)))
    return found


def _seen(place: CaseRecord, trials: Sequence[TrialRecord], samples: int) -> Appearance:
    status = reduce_statuses([one.status for one in trials], Reducer(rule=ReducerRule.MAJORITY))
    content = Content(asked=str(place.metadata.get("asked", "")), assertions={})
    return Appearance(case=place, trials=trials, status=status, planned=samples, content=content)


def told(outcome: RuleOutcome) -> tuple[str, str]:
    return outcome.outcome.value, outcome.reason


def without_policy(*sets: list[AssessmentRecord]) -> GateOutcome:
    return Policy().decide(tallied(run(cases=len(sets)), rows_of(*sets)))


# --- without a policy ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sets", "outcome", "reason"),
    [
        ([[PASS], [PASS]], "passed", "every case passed"),
        ([[PASS]], "passed", "the one case passed"),
        ([[PASS], [FAIL]], "failed", "1 case of 2 failed"),
        ([[PASS], [FAIL], [ERROR]], "failed", "1 case of 3 failed, 1 undecided"),
        ([[PASS], [ERROR]], "undecided", "1 case of 2 undecided, none failed"),
        ([[ERROR]], "undecided", "1 case of 1 undecided, none failed"),
        ([], "undecided", "there was no case"),
    ],
)
def test_every_case_has_to_pass_and_there_has_to_be_one(
    sets: list[list[AssessmentRecord]], outcome: str, reason: str
) -> None:
    gate = without_policy(*sets)

    assert (gate.outcome.value, gate.reason, gate.policy) == (outcome, reason, None)


# --- pass rates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minimum", "sets", "outcome", "reason"),
    [
        (0.5, [[PASS], [FAIL]], "passed", "50 % of 2 cases passed; at least 50 % are needed"),
        (0.51, [[PASS], [FAIL]], "failed", "50 % of 2 cases passed; at least 51 % are needed"),
        (0.5, [[PASS], [FAIL], [ERROR]], "undecided", OPEN.format(50)),
        (0.7, [[PASS], [FAIL], [ERROR]], "failed", OPEN.format(70)),
        (0.3, [[PASS], [FAIL], [ERROR]], "passed", OPEN.format(30)),
    ],
)
def test_a_pass_rate_is_decided_only_as_far_as_the_undecided_cannot_tip_it(
    minimum: float, sets: list[list[AssessmentRecord]], outcome: str, reason: str
) -> None:
    found = decided({"type": "overall_pass_rate", "minimum": minimum}, rows_of(*sets))

    assert told(found) == (outcome, reason)


def test_with_enough_decided_the_decided_alone_count() -> None:
    rows = rows_of(*[[PASS]] * 9, [ERROR])

    assert decided({"type": "overall_pass_rate", "minimum": 1}, rows).outcome == "undecided"
    assert told(decided({"type": "overall_pass_rate", "minimum": 1, "minimum_decided": 0.9}, rows)) == (
        "passed",
        "100 % of 9 decided cases passed; at least 100 % are needed",
    )


def test_seven_of_a_hundred_are_seven_per_cent_exactly() -> None:
    rows = rows_of(*[[PASS]] * 7, *[[FAIL]] * 93)

    assert decided({"type": "overall_pass_rate", "minimum": 0.07}, rows).outcome == "passed"
    assert decided({"type": "overall_pass_rate", "minimum": 0.0700001}, rows).outcome == "failed"


def test_a_rate_just_below_its_limit_is_not_shown_as_the_limit() -> None:
    rows = rows_of(*[[PASS]] * 1999, *[[FAIL]] * 1)

    assert told(decided({"type": "overall_pass_rate", "minimum": 1}, rows)) == (
        "failed",
        "99.95 % of 2,000 cases passed; at least 100 % are needed",
    )


def test_rates_of_labels_and_metadata_look_at_their_own_cases() -> None:
    rows = [
        (case(0, labels=("a",), metadata={"tier": "gold"}), [trial(PASS)]),
        (case(1, labels=("b",), metadata={"tier": "tin"}), [trial(FAIL, case_index=1)]),
    ]

    assert decided({"type": "label_pass_rate", "label": "a", "minimum": 1}, rows).outcome == "passed"
    assert told(decided({"type": "label_pass_rate", "metadata": {"tier": "tin"}, "minimum": 0.5}, rows)) == (
        "failed",
        "0 % of 1 case of tier=tin passed; at least 50 % are needed",
    )
    assert told(decided({"type": "label_pass_rate", "label": "c", "minimum": 0.5}, rows)) == (
        "undecided",
        "there is no case of c",
    )


def test_a_case_that_fails_every_repetition_does_not_hide_behind_the_overall_rate() -> None:
    rows = rows_of([PASS] * 10, [FAIL] * 10)

    overall = decided({"type": "overall_pass_rate", "of": "trials", "minimum": 0.5}, rows, samples=10)
    single = decided({"type": "case_pass_rate", "minimum": 0.8}, rows, samples=10)

    assert told(overall) == ("passed", "50 % of 20 trials passed; at least 50 % are needed")
    assert told(single) == (
        "failed",
        "1 case of 2 passed less often (case-1: 0 %); at least 80 % of each case's trials are needed",
    )


def test_of_single_cases_too_a_definite_failure_is_told_and_the_rest_is_undecided() -> None:
    rule = {"type": "case_pass_rate", "minimum": 0.5}

    assert decided(rule, rows_of([PASS, ERROR], [PASS, PASS]), samples=2).outcome == "passed"
    assert decided(rule, rows_of([FAIL, ERROR], [PASS, PASS]), samples=2).outcome == "undecided"
    assert decided(rule, rows_of([FAIL, ERROR], [FAIL, FAIL]), samples=2).outcome == "failed"


# --- scores --------------------------------------------------------------------------------------------------------


def test_a_mean_that_would_be_rounded_up_to_its_limit_does_not_meet_it() -> None:
    rows = rows_of([verdict(3.49524, scale=(1, 5), threshold=3)])

    found = decided({"type": "evaluator_score", "assertion": "rubric_judge", "minimum": 3.5}, rows)

    assert told(found) == (
        "failed",
        "the mean score of the assertion rubric_judge is 3.495 over 1 decided; at least 3.5 is needed",
    )
    assert found.actual == 3.49524


def test_ten_scores_of_a_tenth_meet_a_limit_of_a_tenth() -> None:
    rows = rows_of(*[[verdict(0.1, scale=(0, 1), threshold=0.05)] for _ in range(10)])

    assert decided({"type": "evaluator_score", "template": "correctness", "minimum": 0.1}, rows).outcome == "passed"


def test_errors_of_a_judge_leave_its_mean_undecided_unless_they_cannot_tip_it() -> None:
    rows = rows_of([verdict(90)], [verdict(80)], [verdict(error="malformed_json")])
    rule = {"type": "evaluator_score", "assertion": "rubric_judge"}

    assert told(decided({**rule, "minimum": 80}, rows)) == (
        "undecided",
        "the mean score of the assertion rubric_judge is 56.67 to 90, with 1 of 3 undecided; at least 80 is needed",
    )
    assert decided({**rule, "minimum": 56}, rows).outcome == "passed"
    assert decided({**rule, "minimum": 91}, rows).outcome == "failed"
    assert decided({**rule, "minimum": 80, "minimum_decided": 0.6}, rows).outcome == "passed"


def test_scores_on_different_scales_have_no_common_mean() -> None:
    rows = rows_of([verdict(90)], [verdict(0.9, scale=(0, 1), threshold=0.5)])

    assert told(decided({"type": "evaluator_score", "assertion": "rubric_judge", "minimum": 1}, rows)) == (
        "undecided",
        "the assertion rubric_judge scores on different scales, which have no common mean",
    )


def test_what_nobody_scored_is_undecided() -> None:
    assert told(decided({"type": "evaluator_score", "assertion": "tone", "minimum": 1}, rows_of([PASS]))) == (
        "undecided",
        "no verdict of the assertion tone was recorded",
    )


# --- against a baseline --------------------------------------------------------------------------------------------


def test_without_a_baseline_a_regression_is_undecided_and_says_why() -> None:
    assert told(decided({"type": "no_regression"}, rows_of([PASS]))) == (
        "undecided",
        "a baseline was not given, so there is nothing to compare with",
    )


@pytest.mark.parametrize(
    ("drop", "outcome", "allowed"),
    [
        (0, "failed", "no drop is allowed"),
        (0.2, "failed", "a drop of at most 20 percentage points is allowed"),
        (0.25, "passed", "a drop of at most 25 percentage points is allowed"),
    ],
)
def test_a_drop_is_held_against_what_is_allowed(drop: float, outcome: str, allowed: str) -> None:
    found = decided(
        {"type": "no_regression", "maximum_drop": drop},
        rows_of([PASS], [PASS], [FAIL], [FAIL]),
        baseline=rows_of([PASS], [PASS], [PASS], [FAIL]),
    )

    assert told(found) == (outcome, f"50 {IN_BOTH.format(75)}; {allowed}; 1 regressed, 0 fixed")
    assert (found.actual, found.limit, found.n) == (-0.25, -drop if drop else 0.0, 4)


def test_cases_that_one_run_alone_has_say_nothing() -> None:
    easy = rows_of([PASS], [PASS], [PASS])
    all_of_them = rows_of([FAIL], [PASS], [PASS], [FAIL])

    fewer = decided({"type": "no_regression"}, easy[1:], baseline=all_of_them)
    more = decided({"type": "no_regression"}, all_of_them, baseline=easy)

    assert told(fewer) == (
        "passed",
        "100 % over 2 cases decided in both runs, in the baseline 100 %; no drop is allowed; 2 cases gone",
    )
    assert told(more)[0] == "failed"
    assert more.actual == pytest.approx(-1 / 3)
    assert more.n == 3


@pytest.mark.parametrize("other", [{"threshold": 10}, {"template": "relevance"}, {"judge": "sha256:" + "1" * 64}])
def test_what_was_measured_in_another_way_is_not_better(other: dict[str, Any]) -> None:
    judge = other.pop("judge", None)
    made = verdict(95, **other)
    if judge:
        made.result["metadata"]["judge"] = judge

    found = decided({"type": "no_regression"}, rows_of([made]), baseline=rows_of([verdict(90)]))

    assert told(found) == (
        "undecided",
        "of 1 case in both runs none is decided in both; no drop is allowed; 1 measured in another way",
    )
    assert (found.bounds, found.n, found.undecided) == ((-1.0, 0.0), 0, 0)


def test_another_threshold_moves_no_score_and_another_judge_does() -> None:
    rule = {"type": "no_regression", "template": "correctness"}
    other = verdict(60)
    other.result["metadata"]["judge"] = "sha256:" + "1" * 64

    assert decided(rule, rows_of([verdict(60, threshold=10)]), baseline=rows_of([verdict(50)])).outcome == "passed"
    assert decided(rule, rows_of([other]), baseline=rows_of([verdict(50)])).outcome == "undecided"


@pytest.mark.parametrize(
    ("now", "before", "outcome"),
    [(PASS, PASS, "passed"), (PASS, FAIL, "passed"), (FAIL, FAIL, "passed"), (FAIL, PASS, "undecided")],
)
def test_a_case_that_asks_something_else_is_not_better_and_may_be_worse(
    now: AssessmentRecord, before: AssessmentRecord, outcome: str
) -> None:
    changed = [(replace(case(0), case_hash="sha256:" + "1" * 64, metadata={"asked": "anew"}), [trial(now)])]
    kept = [(case(1), [trial(FAIL, case_index=1)])]

    found = decided({"type": "no_regression"}, [*changed, *kept], baseline=rows_of([before], [FAIL]))

    assert told(found)[0] == outcome
    assert (found.n, found.actual) == (1, 0.0)
    assert found.reason.endswith("; 1 asking something else")


def test_an_error_in_either_run_leaves_open_what_could_have_been() -> None:
    rule = {"type": "no_regression"}

    assert decided(rule, rows_of([ERROR], [PASS]), baseline=rows_of([PASS], [PASS])).bounds == (-0.5, 0.0)
    assert decided(rule, rows_of([ERROR]), baseline=rows_of([FAIL])).outcome == "passed"
    assert decided(rule, rows_of([FAIL]), baseline=rows_of([ERROR])).outcome == "undecided"
    assert decided(rule, rows_of([FAIL], [ERROR]), baseline=rows_of([PASS], [FAIL])).outcome == "undecided"
    assert decided(rule, rows_of([FAIL], [ERROR]), baseline=rows_of([PASS], [PASS])).outcome == "failed"
    assert decided({**rule, "minimum_decided": 0.5}, rows_of([ERROR], [PASS]), baseline=rows_of([PASS], [PASS])).n == 1


def test_trials_count_within_their_case() -> None:
    rule = {"type": "no_regression", "of": "trials", "maximum_drop": 0.3}

    found = decided(rule, rows_of([PASS, FAIL, FAIL]), samples=3, baseline=rows_of([PASS, PASS, FAIL]))

    assert found.outcome == "failed"
    assert found.actual == pytest.approx(-1 / 3)


@pytest.mark.parametrize(
    ("most", "now", "outcome", "reason"),
    [
        (0, [PASS, PASS, PASS], "passed", "0 cases of 3 in both runs regressed, 1 fixed; none may regress"),
        (0, [PASS, FAIL, PASS], "failed", "1 case of 3 in both runs regressed, 1 fixed; none may regress"),
        (1, [PASS, FAIL, PASS], "passed", "1 case of 3 in both runs regressed, 1 fixed; at most 1 may regress"),
        (
            0,
            [PASS, ERROR, PASS],
            "undecided",
            f"0 cases of 3 in both runs regressed, 1 fixed; {UNSEEN}",
        ),
    ],
)
def test_a_number_of_cases_may_be_allowed_to_regress_whatever_was_fixed(
    most: int, now: list[AssessmentRecord], outcome: str, reason: str
) -> None:
    rule = {"type": "no_regression", "maximum_regressed": most}

    found = decided(rule, rows_of(*[[one] for one in now]), baseline=rows_of([PASS], [PASS], [FAIL]))

    assert told(found) == (outcome, reason)


def test_runs_without_a_case_in_common_cannot_be_compared() -> None:
    found = decided({"type": "no_regression"}, rows_of([PASS])[:1], baseline=[(case(0, name="x"), [trial(PASS)])])

    assert told(found) == ("undecided", "this run and the baseline 2001 have no case in common")


def test_scores_that_are_equal_as_written_are_no_regression_however_floats_add_up() -> None:
    one = rows_of(*[[verdict(score, scale=(0, 1), threshold=0.05)] for score in (0.1, 0.2, 0.3)])
    turned = rows_of(*[[verdict(score, scale=(0, 1), threshold=0.05)] for score in (0.3, 0.2, 0.1)])

    assert decided({"type": "no_regression", "template": "correctness"}, one, baseline=turned).outcome == "passed"


def test_a_score_that_is_missing_could_be_any_on_its_scale() -> None:
    scores = [verdict(one, scale=(1, 5), threshold=3) for one in (5, 4, 5)]
    arm = rows_of(*[[one] for one in scores], [verdict(error="malformed_json", scale=(1, 5), threshold=3)])
    other = rows_of(*[[verdict(4, scale=(1, 5), threshold=3)] for _ in range(4)])

    found = decided({"type": "no_regression", "assertion": "rubric_judge"}, arm, baseline=other)

    assert told(found) == (
        "undecided",
        "4.667 over 3 verdicts decided in both runs, in the baseline 4; no drop is allowed; 1 undecided in either run",
    )
    assert found.bounds == (-0.25, 0.75)


def test_verdicts_that_were_never_asked_for_in_either_run_are_not_forgotten() -> None:
    rule = {"type": "no_regression", "template": "correctness"}
    lost = (case(1), [trial(skipped(), case_index=1, error="timeout")])

    found = decided(rule, [*rows_of([verdict(90)]), lost], baseline=[*rows_of([verdict(90)]), lost])

    assert (found.outcome, found.n, found.undecided) == ("undecided", 1, 1)


# --- cost, time, errors, flips -------------------------------------------------------------------------------------


def costing(*costs: float | None) -> Rows:
    return [
        (case(index), [trial(verdict(90, spending=spent(cost)), case_index=index, spending=spent(0.5))])
        for index, cost in enumerate(costs)
    ]


@pytest.mark.parametrize(
    ("maximum", "costs", "outcome", "reason"),
    [
        (0.3, [0.1, 0.2], "passed", "judging cost $0.3; at most $0.3 may be spent"),
        (0.29, [0.1, 0.2], "failed", "judging cost $0.3; at most $0.29 may be spent"),
        (1, [0.1, None], "undecided", UNPRICED.format("1")),
        (0.05, [0.1, None], "failed", UNPRICED.format("0.05")),
    ],
)
def test_an_unknown_cost_is_no_zero_and_hides_no_overrun(
    maximum: float, costs: list[float | None], outcome: str, reason: str
) -> None:
    assert told(decided({"type": "judge_cost_usd", "maximum": maximum}, costing(*costs))) == (outcome, reason)


def test_the_total_takes_in_the_subject() -> None:
    assert decided({"type": "total_cost_usd", "maximum": 1}, costing(0, 0)).outcome == "passed"
    assert decided({"type": "total_cost_usd", "maximum": 1}, costing(0, 0.01)).outcome == "failed"


def timed(*milliseconds: float | None) -> Rows:
    made = [
        trial(PASS, index=0, case_index=index, execution={"latency_ms": one})
        if one is not None
        else trial(skipped("contains", "contains"), case_index=index, error="timeout")
        for index, one in enumerate(milliseconds)
    ]
    return [(case(index), [one]) for index, one in enumerate(made)]


@pytest.mark.parametrize(
    ("rule", "times", "outcome"),
    [
        ({"maximum": 100, "percentile": 95}, [*[50.0] * 95, *[500.0] * 5], "passed"),
        ({"maximum": 100, "percentile": 95}, [*[50.0] * 94, *[500.0] * 6], "failed"),
        ({"maximum": 100, "percentile": 95}, [100.0], "passed"),
        ({"maximum": 100, "percentile": 95}, [100.000001], "failed"),
        ({"maximum": 100, "percentile": 50}, [50.0, 50.0, None], "passed"),
        ({"maximum": 100, "percentile": 95}, [50.0, 50.0, None], "undecided"),
        ({"maximum": 100, "percentile": 95, "minimum_decided": 0.6}, [50.0, 50.0, None], "passed"),
        ({"maximum": 100, "percentile": 50}, [500.0, 500.0, None], "failed"),
        ({"maximum": 100}, [50.0, 150.0], "passed"),
        ({"maximum": 100}, [50.0, 150.1], "failed"),
        ({"maximum": 100}, [50.0, None], "undecided"),
        ({"maximum": 100}, [350.0, None], "failed"),
        ({"maximum": 100}, [None], "undecided"),
    ],
)
def test_a_limit_of_time_is_decided_exactly(rule: dict[str, Any], times: list[float | None], outcome: str) -> None:
    assert decided({"type": "latency_ms", **rule}, timed(*times)).outcome == outcome


def test_a_percentile_next_to_its_limit_is_never_shown_on_the_wrong_side() -> None:
    found = decided({"type": "latency_ms", "maximum": 100, "percentile": 95}, timed(100.000001))

    assert told(found) == (
        "failed",
        "the 95th percentile of 1 answer is just above 100 ms; at most 100 ms will do",
    )


def test_one_timeout_in_ten_is_held_against_the_share_of_errors_that_will_do() -> None:
    rows = timed(*[10.0] * 9, None)

    assert told(decided({"type": "error_rate", "maximum": 0.2}, rows)) == (
        "passed",
        "1 error in 10 trials (10 %); at most 20 % will do",
    )
    assert decided({"type": "error_rate", "maximum": 0.05}, rows).outcome == "failed"
    assert decided({"type": "error_rate", "maximum": 0, "of": "evaluators"}, rows).outcome == "passed"
    assert decided({"type": "error_rate", "maximum": 0.05, "of": "subject"}, rows).outcome == "failed"


def test_trials_that_were_not_made_leave_the_share_of_errors_open() -> None:
    rows = rows_of([PASS], [])

    assert decided({"type": "error_rate", "maximum": 0.5}, rows).outcome == "passed"
    assert decided({"type": "error_rate", "maximum": 0.4}, rows).outcome == "undecided"


def test_contradictions_are_held_against_their_limit_with_the_undecided_apart() -> None:
    rows = rows_of([PASS, FAIL, PASS, PASS], [PASS, PASS, PASS, ERROR])
    rule = {"type": "flip_rate"}

    assert decided({**rule, "maximum": 0.25}, rows, samples=4).outcome == "passed"
    assert decided({**rule, "maximum": 0.2}, rows, samples=4).outcome == "undecided"
    assert decided({**rule, "maximum": 0.1}, rows, samples=4).outcome == "failed"
    assert told(decided({**rule, "maximum": 0.1}, rows_of([PASS]))) == (
        "undecided",
        "there are no trials of a case to compare",
    )


def test_contradictions_of_a_judge_are_those_within_its_verdicts() -> None:
    attempts = [{"status": "pass"}, {"status": "fail"}, {"status": "pass"}, {"status": "pass"}]
    rows = rows_of([verdict(90, repeats={"attempts": attempts})])

    assert told(decided({"type": "flip_rate", "of": "judge", "maximum": 0.2}, rows)) == (
        "failed",
        "of 4 decided repeats 25 % differ from their judge's majority; at most 20 % will do",
    )


# --- all together --------------------------------------------------------------------------------------------------


def test_a_definite_failure_is_never_hidden_by_an_undecided_rule() -> None:
    rules = policy({"type": "no_regression"}, {"type": "total_cost_usd", "maximum": 0.001})

    gate = rules.decide(tallied(run(), costing(0.2), rules))

    assert [rule.outcome.value for rule in gate.rules] == ["undecided", "failed"]
    assert (gate.outcome.value, gate.reason) == ("failed", "1 of 2 rules is broken")


def test_nothing_passes_where_nothing_was_decided() -> None:
    rules = policy({"type": "total_cost_usd", "maximum": 1})

    gate = rules.decide(tallied(run(), rows_of([ERROR]), rules))

    assert [rule.outcome.value for rule in gate.rules] == ["passed"]
    assert (gate.outcome.value, gate.reason) == ("undecided", "not a single trial was decided")


def test_an_interrupted_run_passes_only_what_its_missing_trials_cannot_tip() -> None:
    rules = policy({"type": "overall_pass_rate", "minimum": 0.5})
    record = run(cases=4, status=RunStatus.INTERRUPTED)

    three = rules.decide(tallied(record, rows_of([PASS], [PASS], [], []), rules))
    one = rules.decide(tallied(record, rows_of([PASS], [], [], []), rules))

    assert (three.outcome.value, one.outcome.value) == ("passed", "undecided")


def test_a_tally_that_was_not_told_what_a_rule_needs_is_refused() -> None:
    rules = policy({"type": "case_pass_rate", "minimum": 0.5})

    with pytest.raises(ValueError, match="single cases"):
        rules.decide(RunTally(run()))


def test_the_outcome_is_told_as_plain_data() -> None:
    rules = policy({"type": "overall_pass_rate", "minimum": 0.9, "name": "nine in ten"})
    record, rows = mixed()

    assert rules.decide(tallied(record, rows, rules)).to_json() == {
        "schema_version": 1,
        "outcome": "failed",
        "reason": "1 of 1 rule is broken",
        "policy": rules.hash,
        "rules": [
            {
                "rule": {"type": "overall_pass_rate", "minimum": 0.9, "name": "nine in ten"},
                "outcome": "failed",
                "actual": pytest.approx(1 / 3),
                "bounds": [0.2, 0.6],
                "limit": 0.9,
                "n": 3,
                "undecided": 2,
                "reason": "20 to 60 % of 5 cases pass, with 2 undecided; at least 90 % are needed",
            }
        ],
    }


STATUSES = st.lists(st.sampled_from((PASS, FAIL, ERROR)), min_size=1, max_size=12)


@given(found=STATUSES, minimum=st.floats(0, 1))
def test_whatever_becomes_of_the_undecided_a_decided_rule_stays_as_it_is(
    found: list[AssessmentRecord], minimum: float
) -> None:
    rule = {"type": "overall_pass_rate", "minimum": minimum}
    outcome = decided(rule, rows_of(*[[one] for one in found])).outcome

    for settled in (PASS, FAIL):
        later = [settled if one is ERROR else one for one in found]
        final = decided(rule, rows_of(*[[one] for one in later])).outcome
        assert outcome in (final, "undecided")
        assert final != "undecided"


def test_tokens_that_nobody_counted_make_no_cost_known() -> None:
    rows = [(case(), [trial(verdict(90, spending=spent(None, usage=Usage())))])]

    assert told(decided({"type": "judge_cost_usd", "maximum": 5}, rows)) == (
        "undecided",
        "what judging cost is not known, for 1 answer or verdict; at most $5 may be spent",
    )
