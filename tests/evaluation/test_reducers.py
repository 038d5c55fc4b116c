"""Repeated attempts: what they come to as a whole, and what repeats say of a judge."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import Fault
from jurat.evaluation import (
    Reducer,
    ReducerRule,
    reduce_statuses,
    reducer_from_json,
    reducer_schema,
    reducer_to_json,
    summarize_repeats,
)
from jurat.vocabulary import Status

PASS, FAIL, UNVERIFIED, ERROR, SKIPPED = Status
RATES = (0.01, 1 / 3, 0.5, 2 / 3, 0.8, 1.0)
REDUCERS = [
    Reducer(),
    Reducer(rule=ReducerRule.ANY),
    Reducer(rule=ReducerRule.MAJORITY),
    *(Reducer(rule=ReducerRule.MINIMUM_PASS_RATE, rate=rate) for rate in RATES),
]


def plainly(decided: tuple[Status, ...], reducer: Reducer) -> Status:
    """The rule on decided attempts, in other words than those of the code."""
    passes, count = decided.count(PASS), len(decided)
    enough = {
        ReducerRule.ALL: FAIL not in decided,
        ReducerRule.ANY: PASS in decided,
        ReducerRule.MAJORITY: passes > count - passes,
        ReducerRule.MINIMUM_PASS_RATE: passes / count >= (reducer.rate or 0),
    }
    return PASS if enough[reducer.rule] else FAIL


@pytest.mark.parametrize("reducer", REDUCERS, ids=lambda reducer: f"{reducer.rule}-{reducer.rate}")
@pytest.mark.parametrize("count", range(1, 7))
def test_a_reducer_decides_exactly_when_every_completion_of_the_undecided_agrees(reducer: Reducer, count: int) -> None:
    for statuses in itertools.combinations_with_replacement(Status, count):
        options = [(status,) if status.decided else (PASS, FAIL) for status in statuses]
        outcomes = {plainly(completion, reducer) for completion in itertools.product(*options)}
        found = reduce_statuses(statuses, reducer)
        if len(outcomes) == 1:
            assert found is outcomes.pop(), statuses
        else:
            assert not found.decided, statuses
            assert (found is ERROR) == (ERROR in statuses), statuses


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((PASS, PASS, ERROR), ERROR),
        ((PASS, FAIL, ERROR), FAIL),
        ((PASS, UNVERIFIED), UNVERIFIED),
        ((PASS, SKIPPED), UNVERIFIED),
        ((UNVERIFIED, ERROR, SKIPPED), ERROR),
        ((SKIPPED, SKIPPED), SKIPPED),
        ((FAIL, ERROR, ERROR), FAIL),
    ],
)
def test_what_stands_in_the_way_names_the_whole(statuses: tuple[Status, ...], expected: Status) -> None:
    assert reduce_statuses(statuses, Reducer()) is expected


def test_half_is_no_majority() -> None:
    assert reduce_statuses([PASS, FAIL, PASS, FAIL], Reducer(rule=ReducerRule.MAJORITY)) is FAIL
    assert reduce_statuses([PASS, PASS, PASS, FAIL], Reducer(rule=ReducerRule.MAJORITY)) is PASS


def test_errored_attempts_are_no_failures_to_a_majority_that_is_reached_without_them() -> None:
    assert reduce_statuses([PASS, PASS, PASS, ERROR, ERROR], Reducer(rule=ReducerRule.MAJORITY)) is PASS
    assert reduce_statuses([PASS, PASS, ERROR, ERROR, FAIL], Reducer(rule=ReducerRule.MAJORITY)) is ERROR


def test_a_rate_that_is_met_exactly_is_met() -> None:
    for passes, count in itertools.combinations_with_replacement(range(1, 101), 2):
        reducer = Reducer(rule=ReducerRule.MINIMUM_PASS_RATE, rate=passes / count)
        assert reducer.met(passes, count)
        assert not reducer.met(passes - 1, count)


def test_seven_of_a_hundred_meet_a_rate_of_seven_hundredths() -> None:
    assert Reducer(rule=ReducerRule.MINIMUM_PASS_RATE, rate=0.07).met(7, 100)


def test_no_attempts_come_to_nothing_at_all() -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        reduce_statuses([], Reducer())


@pytest.mark.parametrize(("rule", "rate"), [(ReducerRule.ALL, 0.5), (ReducerRule.MINIMUM_PASS_RATE, None)])
def test_a_rate_stands_exactly_with_its_rule(rule: ReducerRule, rate: float | None) -> None:
    with pytest.raises(ValueError, match="a rate stands exactly with minimum_pass_rate"):
        Reducer(rule=rule, rate=rate)


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.01, math.nan, math.inf])
def test_a_rate_lies_above_nothing_and_at_most_at_everything(rate: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        Reducer(rule=ReducerRule.MINIMUM_PASS_RATE, rate=rate)


@pytest.mark.parametrize("reducer", REDUCERS, ids=lambda reducer: f"{reducer.rule}-{reducer.rate}")
def test_a_reducer_is_read_back_as_it_was_written_and_fits_its_schema(reducer: Reducer) -> None:
    written = reducer_to_json(reducer)
    faults: list[Fault] = []
    assert reducer_from_json(written, "reducer", faults) == reducer
    assert faults == []
    assert jsonschema_rs.is_valid(reducer_schema(), written)


@pytest.mark.parametrize(
    ("value", "path", "found", "hint"),
    [
        ("majorty", "reducer", "'majorty'", "Did you mean majority?"),
        ("minimum_pass_rate", "reducer", "'minimum_pass_rate'", None),
        (3, "reducer", "a number", None),
        (None, "reducer", "null", None),
        ({"minimum_pass_rate": 0.5, "other": 1}, "reducer", "an object", None),
        ({"minimum_pass_rate": True}, "reducer.minimum_pass_rate", "a boolean", None),
        ({"minimum_pass_rate": "0.5"}, "reducer.minimum_pass_rate", "text", None),
        ({"minimum_pass_rate": 10**400}, "reducer.minimum_pass_rate", "one outside", None),
        ({"minimum_pass_rate": math.nan}, "reducer.minimum_pass_rate", "one outside", None),
    ],
)
def test_what_is_no_reducer_is_a_fault(value: object, path: str, found: str, hint: str | None) -> None:
    faults: list[Fault] = []
    assert reducer_from_json(value, "reducer", faults) is None
    (fault,) = faults
    assert (fault.path, fault.found, fault.hint) == (path, found, hint)


@dataclass(frozen=True)
class Attempt:
    status: Status
    score: float | None = None


def test_repeats_are_summed_up_over_the_decided_alone() -> None:
    summary = summarize_repeats([Attempt(PASS, 90.0), Attempt(ERROR), Attempt(FAIL, 70.0), Attempt(PASS, 80.0)])
    assert (summary.decided, summary.undecided, summary.passes) == (3, 1, 2)
    assert (summary.mean, summary.spread) == (80.0, 10.0)
    assert summary.flip_rate == 1 / 3
    assert not summary.tied


def test_undecided_repeats_alone_have_no_numbers_rather_than_zeros() -> None:
    summary = summarize_repeats([Attempt(ERROR), Attempt(UNVERIFIED)])
    assert (summary.decided, summary.undecided) == (0, 2)
    assert (summary.mean, summary.spread, summary.flip_rate, summary.tied) == (None, None, None, False)


def test_one_score_has_no_spread_and_never_flips() -> None:
    summary = summarize_repeats([Attempt(FAIL, 0.25)])
    assert (summary.mean, summary.spread, summary.flip_rate) == (0.25, None, 0.0)


def test_a_tie_is_said() -> None:
    summary = summarize_repeats([Attempt(PASS, 1.0), Attempt(FAIL, 0.0)])
    assert (summary.flip_rate, summary.tied) == (0.5, True)


def test_ten_tenths_have_the_mean_of_a_tenth() -> None:
    summary = summarize_repeats([Attempt(FAIL, 0.1)] * 10)
    assert (summary.mean, summary.spread) == (0.1, 0.0)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_the_mean_never_leaves_the_range_of_the_scores(scores: list[float]) -> None:
    summary = summarize_repeats([Attempt(PASS, score) for score in scores])
    assert summary.mean is not None
    assert min(scores) <= summary.mean <= max(scores)


def test_scores_at_both_ends_of_all_floats_have_a_mean_and_no_spread() -> None:
    summary = summarize_repeats([Attempt(PASS, 1.7e308), Attempt(FAIL, -1.7e308)])
    assert (summary.mean, summary.spread) == (0.0, None)


def test_a_rule_may_be_written_as_text() -> None:
    assert Reducer(rule="majority") == Reducer(rule=ReducerRule.MAJORITY)  # type: ignore[arg-type]
    assert reducer_to_json(Reducer(rule="majority")) == "majority"  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="often"):
        Reducer(rule="often")  # type: ignore[arg-type]
