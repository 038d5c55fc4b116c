"""What becomes of a case from one run to the next, and what two runs come to together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.metrics.comparison import CaseComparison, Change, compare_case
from jurat.metrics.comparison_parts import Appearance
from jurat.metrics.comparison_tally import ComparisonTally, Regression
from jurat.report.comparison_schema import CHANGES
from jurat.report.content import Content, content_of
from jurat.report.record import AssessmentRecord, TrialRecord
from jurat.vocabulary import Status
from run_records import case, check, run, spent, trial, verdict

OTHER = "sha256:" + "1" * 64


def seen(
    status: Status, *trials: TrialRecord, name: str = "a", content: Content | None = None, **place: Any
) -> Appearance:
    made = trials or (_trial_of(status),)
    record = replace(case(0, name), **place)
    return Appearance(case=record, trials=made, status=status, planned=len(made), content=content)


def _trial_of(status: Status) -> TrialRecord:
    return trial(check(status=status), spending=spent())


def judged(score: float | None, **changes: Any) -> AssessmentRecord:
    made = verdict(
        score, **{key: value for key, value in changes.items() if key in ("threshold", "error", "template", "scale")}
    )
    facts = {
        **made.result["metadata"],
        **{key: value for key, value in changes.items() if key in ("judge", "template_revision")},
    }
    return replace(made, result={**made.result, "metadata": facts})


def both(old: AssessmentRecord, new: AssessmentRecord) -> CaseComparison:
    one, other = trial(old), trial(new)
    return compare_case(seen(one.status, one), seen(other.status, other))


# --- classification ------------------------------------------------------------------------------------------------

PASS, FAIL, ERROR, UNVERIFIED, SKIPPED = Status.PASS, Status.FAIL, Status.ERROR, Status.UNVERIFIED, Status.SKIPPED


@pytest.mark.parametrize(
    ("old", "new", "change", "hides"),
    [
        (PASS, PASS, Change.UNCHANGED, False),
        (FAIL, FAIL, Change.UNCHANGED, False),
        (PASS, FAIL, Change.REGRESSED, False),
        (FAIL, PASS, Change.FIXED, False),
        (PASS, ERROR, Change.ERRORED, True),
        (ERROR, FAIL, Change.ERRORED, True),
        (ERROR, PASS, Change.ERRORED, False),
        (FAIL, ERROR, Change.ERRORED, False),
        (ERROR, ERROR, Change.ERRORED, True),
        (PASS, UNVERIFIED, Change.UNVERIFIED, True),
        (UNVERIFIED, PASS, Change.UNVERIFIED, False),
        (ERROR, UNVERIFIED, Change.ERRORED, True),
    ],
)
def test_a_case_is_classified_by_its_two_outcomes(old: Status, new: Status, change: Change, hides: bool) -> None:
    found = compare_case(seen(old), seen(new))

    assert (found.change, found.hides, found.why) == (change, hides, ())


def test_a_case_of_one_run_alone_is_added_or_removed() -> None:
    assert compare_case(None, seen(FAIL)).change is Change.ADDED
    assert compare_case(seen(PASS), None).change is Change.REMOVED
    with pytest.raises(ValueError, match="one run at least"):
        compare_case(None, None)


def test_a_better_verdict_of_another_judge_is_incompatible_and_not_better() -> None:
    found = both(judged(5), judged(95, judge=OTHER))

    assert found.change is Change.INCOMPATIBLE
    assert found.why == ("rubric_judge: another judge identity",)
    assert found.assertions[0].difference is None
    assert found.rose is None
    assert not found.hides  # it failed before


def test_a_verdict_by_another_rubric_revision_is_incompatible() -> None:
    found = both(judged(95), judged(95, template_revision="v2"))

    assert found.change is Change.INCOMPATIBLE
    assert found.why == ("rubric_judge: another rubric: correctness@v1 before, correctness@v2 now",)
    assert found.hides  # under the old revision it might fail now


def test_another_threshold_makes_outcomes_incompatible_and_leaves_scores_comparable() -> None:
    found = both(judged(82), judged(82, threshold=85))

    assert found.change is Change.INCOMPATIBLE
    assert found.why == ("rubric_judge: another threshold: 80 before, 85 now",)
    assert found.assertions[0].difference == 0


def test_an_assertion_of_one_run_alone_makes_outcomes_incompatible() -> None:
    one, other = trial(check()), trial(check(), check("regex", FAIL))

    found = compare_case(seen(PASS, one), seen(FAIL, other))

    assert found.change is Change.INCOMPATIBLE
    assert found.why == ("regex: only the candidate has it",)


def test_a_judge_that_was_never_asked_is_not_another_judge() -> None:
    skipped = replace(judged(None), status=SKIPPED, result={"metadata": {}, "evaluator": {"status": "completed"}})
    lost = replace(trial(skipped), status=ERROR)
    assert compare_case(seen(PASS, trial(judged(95))), seen(ERROR, lost)).change is Change.ERRORED


BODY: dict[str, Any] = {"name": "a", "variables": {"x": 1}, "assertions": [{"type": "contains", "value": "Paris"}]}


@pytest.mark.parametrize(
    ("changes", "change", "why"),
    [
        ({"variables": {"x": 2}}, Change.CHANGED, "the case asks something else"),
        ({"expected": "Rome"}, Change.CHANGED, "the case asks something else"),
        (
            {"assertions": [{"type": "contains", "value": "paris"}]},
            Change.INCOMPATIBLE,
            "contains: it says something else",
        ),
        ({"pass_threshold": 0.5}, Change.INCOMPATIBLE, "another pass_threshold: none before, 0.5 now"),
        ({"labels": ["new"]}, Change.REGRESSED, None),
        ({"output": "Rome", "execution": {"latency_ms": 5}}, Change.REGRESSED, None),
    ],
)
def test_a_case_of_another_content_is_looked_into(changes: dict[str, Any], change: Change, why: str | None) -> None:
    old = seen(PASS, content=content_of(BODY))
    new = seen(FAIL, content=content_of({**BODY, **changes}), case_hash=OTHER)

    found = compare_case(old, new)

    assert found.change is change
    assert found.why == (() if why is None else (why,))


def test_a_changed_case_hides_a_regression_only_if_it_fails_now() -> None:
    old, new = content_of(BODY), content_of({**BODY, "expected": "Rome"})

    assert compare_case(seen(PASS, content=old), seen(FAIL, content=new, case_hash=OTHER)).hides
    assert not compare_case(seen(PASS, content=old), seen(PASS, content=new, case_hash=OTHER)).hides


def test_of_a_case_that_is_known_by_its_hash_alone_it_is_said_that_nobody_knows() -> None:
    found = compare_case(seen(PASS), seen(FAIL, case_hash=OTHER))

    assert found.change is Change.CHANGED
    assert found.asks_anew is None
    assert "does not say" in found.why[0]


def test_what_verdicts_tell_of_a_judge_is_no_part_of_the_contents_of_its_assertion() -> None:
    def of(**judge: Any) -> Content:
        return content_of({"name": "a", "assertions": [{"type": "rubric_judge", **judge}]})

    assert of(template="correctness", provider="one") == of(template="correctness@v1", provider="two")
    assert of(expected="Paris") != of(expected="Rome")


def test_assertions_without_names_are_called_as_in_the_record() -> None:
    given = [
        {"type": "contains", "value": "a"},
        {"type": "contains", "value": "b"},
        {"type": "regex", "name": "contains#3"},
    ]

    assert [*content_of({"name": "a", "assertions": given}).assertions] == ["contains", "contains#2", "contains#3"]


def test_means_and_differences_are_exact() -> None:
    old = [trial(judged(score), index=index) for index, score in enumerate((0.1, 0.2, 0.3))]
    new = [trial(judged(0.2), index=index) for index in range(3)]

    found = compare_case(seen(FAIL, *old), seen(FAIL, *new))

    assert found.assertions[0].difference == Fraction(0)
    assert found.to_json()["assertions"][0]["difference"] == 0.0


def test_the_words_of_the_schema_are_those_of_the_comparison() -> None:
    assert tuple(change.value for change in Change) == CHANGES


# --- two runs ------------------------------------------------------------------------------------------------------


def tallied(pairs: Sequence[tuple[Appearance | None, Appearance | None]], **candidate: Any) -> ComparisonTally:
    tally = ComparisonTally(run(), run(**candidate))
    for old, new in pairs:
        tally.add(compare_case(old, new))
    return tally


def numbered(*words: str) -> list[tuple[Appearance, Appearance]]:
    """Pairs from words such as `pf`: passed in the base, failed in the candidate."""
    letters = {"p": PASS, "f": FAIL, "e": ERROR}
    return [
        (seen(letters[word[0]], name=str(index)), seen(letters[word[1]], name=str(index)))
        for index, word in enumerate(words)
    ]


def test_a_regression_is_one_whatever_else_is_not_known() -> None:
    assert tallied(numbered("pp", "pf", "pe")).regression is Regression.FOUND
    assert tallied(numbered("pp", "pe")).regression is Regression.UNDECIDED
    assert tallied(numbered("pp", "fe", "ep")).regression is Regression.NONE
    assert tallied(numbered("fe")).regression is Regression.UNDECIDED  # nothing was compared


def test_a_significant_regression_needs_more_than_one_case() -> None:
    assert tallied(numbered(*["pp"] * 30, "pf")).significant_regression is Regression.NONE
    assert tallied(numbered(*["pp"] * 30, *["pf"] * 8)).significant_regression is Regression.FOUND
    assert tallied(numbered(*["pp"] * 30, *["pf"] * 8, *["fp"] * 8)).significant_regression is Regression.NONE


def test_errors_that_could_be_a_significant_regression_leave_it_undecided() -> None:
    assert tallied(numbered(*["pp"] * 30, *["pe"] * 8)).significant_regression is Regression.UNDECIDED
    assert tallied(numbered(*["pp"] * 30, "pe")).significant_regression is Regression.NONE


def test_the_pass_rate_is_over_cases_each_with_its_decided_trials() -> None:
    old = seen(PASS, *[trial(check(status=word), index=at) for at, word in enumerate((PASS, PASS, PASS, PASS))])
    new = seen(FAIL, *[trial(check(status=word), index=at) for at, word in enumerate((PASS, FAIL, ERROR, ERROR))])
    pairs = [(old, new), *numbered("fp")]

    found = tallied(pairs).summary()["pass_rate"]

    assert (found["cases"], found["base"], found["candidate"], found["difference"]) == (2, 0.5, 0.75, 0.25)


def test_runs_that_are_not_equally_decided_are_warned_of() -> None:
    (warning,) = tallied(numbered("pp", "pe", "ff")).summary()["warnings"]

    assert warning.startswith("the runs are not equally decided: 0 cases undecided in the base, 1 in the candidate")


def test_runs_of_other_samples_are_warned_of() -> None:
    found = tallied(numbered("pp"), samples=3).summary()

    assert found["differs"] == ["samples"]
    assert found["warnings"][0].startswith("the base has 1 trial a case and the candidate 3")


def test_latency_and_cost_are_compared_where_both_are_known() -> None:
    def taking(milliseconds: float, cost: float | None, name: str) -> Appearance:
        one = trial(check(), spending=spent(cost), execution={"latency_ms": milliseconds})
        return seen(PASS, one, name=name)

    pairs = [
        (taking(100, 0.01, "a"), taking(150, 0.02, "a")),
        (taking(200, 0.01, "b"), taking(250, None, "b")),
    ]

    found = tallied(pairs).summary()

    assert (found["latency_ms"]["base"], found["latency_ms"]["candidate"], found["latency_ms"]["cases"]) == (
        150,
        200,
        2,
    )
    assert (found["cost_usd"]["difference"], found["cost_usd"]["cases"], found["cost_usd"]["unknown"]) == (0.01, 1, 1)


def test_scores_of_an_incompatible_judge_are_in_no_mean() -> None:
    pairs: list[tuple[Appearance | None, Appearance | None]] = [
        (seen(PASS, trial(judged(90)), name="a"), seen(PASS, trial(judged(80)), name="a")),
        (seen(PASS, trial(judged(90)), name="b"), seen(FAIL, trial(judged(0, judge=OTHER)), name="b")),
    ]

    (found,) = tallied(pairs).summary()["assertions"]

    assert (found["cases"], found["difference"], found["incompatible"]) == (1, -10.0, 1)


WORDS = st.lists(
    st.sampled_from(["".join(pair) for pair in itertools.product("pfe", repeat=2)]), min_size=1, max_size=25
)


@given(WORDS)
def test_with_the_runs_exchanged_regressed_is_fixed_and_differences_are_turned_round(words: list[str]) -> None:
    one, other = tallied(numbered(*words)).summary(), tallied(numbered(*(word[::-1] for word in words))).summary()

    assert one["cases"]["counts"]["regressed"] == other["cases"]["counts"]["fixed"]
    assert one["cases"]["compared"] == other["cases"]["compared"]
    assert one["mcnemar"]["exact_p"] == other["mcnemar"]["exact_p"]
    if one["pass_rate"]["difference"] is not None:
        assert one["pass_rate"]["difference"] == -other["pass_rate"]["difference"]
        assert one["pass_rate"]["smallest_visible"] == other["pass_rate"]["smallest_visible"]


@given(WORDS, st.randoms(use_true_random=False))
def test_the_order_of_cases_changes_no_figure(words: list[str], shuffler: Any) -> None:
    shuffled = list(words)
    shuffler.shuffle(shuffled)

    assert tallied(numbered(*words)).summary() == tallied(numbered(*shuffled)).summary()


@given(WORDS)
def test_a_run_held_against_itself_shows_nothing(words: list[str]) -> None:
    found = tallied(numbered(*(word[0] * 2 for word in words)))
    summary = found.summary()

    assert summary["cases"]["counts"]["regressed"] == summary["cases"]["counts"]["fixed"] == 0
    assert found.regression is not Regression.FOUND
    interval = summary["pass_rate"]["interval"]
    assert interval is None or interval[0] <= 0 <= interval[1]
