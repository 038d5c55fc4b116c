"""What the assessments of a trial come to."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.engine import trial_status
from jurat.report.record import AssessmentRecord
from jurat.vocabulary import Status

P, F, U, E, S = Status.PASS, Status.FAIL, Status.UNVERIFIED, Status.ERROR, Status.SKIPPED


def found(
    status: Status,
    score: float | None = None,
    *,
    weight: float = 1.0,
    required: bool = False,
    score_range: tuple[float, float] | None = None,
) -> AssessmentRecord:
    """An assessment; a decided one scores 100 or 0 unless a score is given."""
    if status.decided and score is None:
        score = 100.0 if status is P else 0.0
    metadata = {} if score_range is None else {"score_range": list(score_range)}
    return AssessmentRecord(
        name="a",
        type="contains",
        status=status,
        score=score,
        weight=weight,
        required=required,
        result={"metadata": metadata},
    )


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], U),
        ([P], P),
        ([P, P], P),
        ([P, F], F),
        ([F, E], F),
        ([P, E], E),
        ([U, E], E),
        ([P, U], U),
        ([P, S], U),
        ([S, S], U),
        ([E, U, F], F),
    ],
)
def test_without_a_threshold_one_failure_settles_it_and_an_error_is_no_failure(
    statuses: list[Status], expected: Status
) -> None:
    assert trial_status([found(status) for status in statuses]) is expected


@pytest.mark.parametrize(
    ("assessments", "threshold", "expected"),
    [
        ([found(P), found(F)], 0.5, P),
        ([found(P), found(F)], 0.51, F),
        ([found(P, weight=3), found(F)], 0.75, P),
        # What is undecided counts at its worst and at its best.
        ([found(P), found(P), found(E)], 0.6, P),
        ([found(P), found(E)], 0.6, E),
        ([found(P), found(U)], 0.6, U),
        ([found(P), found(U), found(E)], 0.9, E),
        ([found(F), found(F), found(E)], 0.5, F),
        ([found(E), found(E)], 0.5, E),
        # What is required.
        ([found(P, weight=9), found(F, required=True)], 0.5, F),
        ([found(P, weight=9), found(E, required=True)], 0.5, E),
        ([found(P, weight=9), found(U, required=True)], 0.5, U),
        ([found(P, weight=9), found(U, required=True), found(E, required=True)], 0.5, E),
        ([found(P, weight=9), found(U, required=True), found(E)], 0.5, U),
        ([found(F, weight=9), found(U, required=True)], 0.5, F),
        ([found(P, required=True), found(F)], 0.5, P),
        ([found(S)], 0.5, U),
        # Scores in other ranges.
        ([found(P, 0.75, score_range=(0, 1)), found(F, 25.0)], 0.5, P),
        ([found(P, 4.0, score_range=(1, 5))], 0.75, P),
        ([found(P, 0.0, score_range=(-1, 1))], 0.5, P),
        # Tenths are tenths, however a float spells them.
        ([found(P, 70.0, weight=3)], 0.7, P),
        ([found(P, 80.0)], 0.8, P),
        ([found(P, 10.0)] * 10, 0.1, P),
        ([found(P, 0.1, score_range=(0, 1)), found(P, 0.2, score_range=(0, 1))], 0.15, P),
        ([found(F, 79.66)], 0.8, F),
        ([], 0.5, U),
    ],
)
def test_with_a_threshold_the_weighted_mean_decides(
    assessments: list[AssessmentRecord], threshold: float, expected: Status
) -> None:
    assert trial_status(assessments, threshold) is expected


def test_the_order_of_the_assessments_changes_nothing() -> None:
    for combination in product((P, F, U, E), repeat=3):
        made = [found(status, required=place == 0) for place, status in enumerate(combination)]
        for threshold in (None, 0.3, 0.7):
            assert trial_status(made, threshold) is trial_status(made[::-1], threshold)


def settled(made: list[AssessmentRecord], turn: Status) -> list[AssessmentRecord]:
    """The same, with everything that was undecided come out in one way."""
    return [one if one.status.decided else found(turn, weight=one.weight, required=one.required) for one in made]


@given(
    st.lists(st.tuples(st.sampled_from([P, F, U, E]), st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=1),
    st.sampled_from([None, 0.2, 0.5, 0.9]),
)
def test_what_is_decided_stays_so_however_the_undecided_would_have_come_out(
    parts: list[tuple[Status, bool, float]], threshold: float | None
) -> None:
    made = [found(status, weight=weight, required=required) for status, required, weight in parts]
    whole = trial_status(made, threshold)
    if not whole.decided:
        return
    for turn in (P, F):
        settled = [
            found(turn, weight=one.weight, required=one.required) if not one.status.decided else one for one in made
        ]
        assert trial_status(settled, threshold) is whole


@given(
    st.lists(st.tuples(st.sampled_from([P, F, U, E]), st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=1),
    st.sampled_from([None, 0.2, 0.5, 0.9]),
)
def test_what_is_undecided_could_have_come_out_either_way(
    parts: list[tuple[Status, bool, float]], threshold: float | None
) -> None:
    made = [found(status, weight=weight, required=required) for status, required, weight in parts]
    if trial_status(made, threshold).decided:
        return
    assert {trial_status(settled(made, turn), threshold) for turn in (P, F)} == {P, F}
