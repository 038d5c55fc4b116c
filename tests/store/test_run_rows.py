"""Runs, cases and trials as rows: whatever they hold comes back equal, through a database and back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_samples import a_run, a_trial, assessed, some_cases

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.jsontext import canonical
from jurat.judge import Spending
from jurat.provider.protocol import Usage
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, RunStatus, Snapshot, SubjectRecord, TrialRecord
from jurat.store import Store
from jurat.store.run_rows import (
    case_row,
    error_category,
    read_case,
    read_run,
    run_row,
    snapshot_row,
    text_rows,
    trial_row,
)
from jurat.store.shared import KEY, shared_part
from jurat.store.texts import keep_canonical, keep_json, keep_text, read_json, read_text
from jurat.vocabulary import Status

TEXT = st.text(st.characters() | st.sampled_from("\\\x00\ud83d\ude00\n\x7f"), max_size=30)
WORD = TEXT | st.sampled_from(["\\packed:", "\\packed:\x00", "\ud83d\ude00", KEY])
COUNT = st.none() | st.integers(0, 2**63 - 1)
AMOUNT = st.floats(0, 1e9, allow_nan=False)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(WORD, JSON, max_size=3)
LONG = st.text("ab", min_size=250, max_size=260)
RESULT = OBJECT | st.fixed_dictionaries({"metadata": OBJECT | st.fixed_dictionaries({"rubric": LONG | JSON})})
SPENDING = st.builds(
    Spending,
    usage=st.builds(
        Usage,
        input_tokens=COUNT,
        output_tokens=COUNT,
        cached_input_tokens=COUNT,
        cache_write_tokens=COUNT,
        reasoning_tokens=COUNT,
    ),
    cost_usd=st.none() | AMOUNT,
    duration_ms=AMOUNT,
    attempts=st.integers(0, 100),
    cached=st.booleans(),
    models=st.lists(WORD, max_size=2).map(tuple),
)
ASSESSMENT = st.builds(
    AssessmentRecord,
    name=WORD,
    type=WORD,
    status=st.sampled_from(Status),
    result=RESULT,
    score=st.none() | st.floats(allow_nan=False),
    weight=AMOUNT,
    required=st.booleans(),
    spending=SPENDING,
)
SUBJECT = st.builds(
    SubjectRecord,
    output=st.none() | WORD,
    messages=st.lists(OBJECT, max_size=2).map(tuple),
    rendered_input=st.none() | WORD,
    execution=OBJECT,
    error=st.none() | st.builds(TypedError, type=st.sampled_from(ErrorCategory), message=WORD),
    recorded=st.booleans(),
    spending=SPENDING,
)
TRIAL = st.builds(
    TrialRecord,
    case_index=st.just(0),
    trial_index=st.integers(0, 19),
    status=st.sampled_from(Status),
    subject=SUBJECT,
    assessments=st.lists(ASSESSMENT, max_size=3).map(tuple),
    paid=st.lists(WORD, max_size=3).map(tuple),
)
CASE = st.builds(
    CaseRecord,
    case_index=st.integers(0, 2**31 - 1),
    name=WORD,
    case_hash=st.just("sha256:0"),
    labels=st.lists(WORD, max_size=3).map(tuple),
    metadata=OBJECT,
    file=st.none() | WORD,
    line=st.none() | st.integers(1, 2**31 - 1),
    status=st.none() | st.sampled_from(Status),
)
RUN = st.builds(
    RunRecord,
    id=WORD,
    suite=WORD,
    suite_hash=st.just("sha256:0"),
    status=st.sampled_from(RunStatus),
    created_at=st.just("2026-11-30T12:00:00Z"),
    samples=st.integers(1, 20),
    reducer=JSON,
    cases=st.integers(0, 2**31 - 1),
    finished_at=st.none() | st.just("2026-11-30T12:00:00Z"),
    options=OBJECT,
    provenance=OBJECT,
    snapshots=st.dictionaries(WORD, st.lists(WORD, max_size=2).map(tuple), max_size=2),
    parent=st.none() | WORD,
    gate=st.none() | OBJECT,
)


@given(WORD)
def test_text_comes_back_and_every_database_takes_it(text: str) -> None:
    kept = keep_text(text)
    assert read_text(kept) == text
    assert "\x00" not in kept
    assert kept.encode("utf-8").decode("utf-8") == kept


@given(JSON)
def test_json_comes_back_and_every_database_takes_it(value: object) -> None:
    kept = keep_json(value)
    assert read_json(kept) == value
    assert json.dumps(read_json(kept)) == json.dumps(value)  # the keys in their order, 1 no 1.0
    assert kept.encode("utf-8").decode("utf-8") == kept


@pytest.mark.parametrize("stored", ["", "{} {}", "[] ", '{"a":1', "nul"])
def test_what_is_no_json_value_in_a_column_is_told_and_not_read_in_part(stored: str) -> None:
    with pytest.raises(ValueError):
        read_json(stored)


@pytest.mark.parametrize("text", ["plain", "é 🦊\r\n", "back\\slash", '{"a": "\\u0000"}', ""])
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert keep_text(text) == text


@given(CASE)
def test_a_case_comes_back_equal(case: CaseRecord) -> None:
    assert read_case(case_row(case)) == case


@given(RUN)
def test_a_run_comes_back_equal(run: RunRecord) -> None:
    assert read_run(run_row(run)) == run


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(trials=st.lists(TRIAL, max_size=4, unique_by=lambda trial: trial.trial_index))
def test_trials_come_back_equal_through_the_database(
    trials: list[TrialRecord], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("store") / "store.db"

    async def through() -> list[TrialRecord]:
        store = await Store.open(place)
        await store.runs.begin(a_run(cases=1, samples=20), some_cases(1), [])
        await store.runs.commit_trials(a_run().id, trials)
        found = [trial async for trial in store.runs.trials(a_run().id, page=3)]
        assert sorted(await store.runs.borne(a_run().id)) == sorted(key for trial in trials for key in trial.paid)
        await store.aclose()
        return found

    wanted = sorted(trials, key=lambda trial: trial.trial_index)
    found = asyncio.run(through())
    assert found == wanted
    assert [trial.paid for trial in found] == [trial.paid for trial in wanted]
    for kept in place.parent.iterdir():
        kept.unlink()


def test_frozen_values_are_stored_like_their_plain_equals() -> None:
    frozen = MappingProxyType({"b": (1, MappingProxyType({"c": ()})), "a": None})
    assert keep_json(frozen) == '{"b":[1,{"c":[]}],"a":null}'
    assert keep_canonical(frozen) == canonical(frozen) == '{"a":null,"b":[1,{"c":[]}]}'


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.floats(-1e300, 1e300) | st.text(), max_size=4))
def test_a_snapshot_is_stored_in_the_form_that_its_hash_is_made_of(body: dict[str, Any]) -> None:
    assert keep_canonical(body) == canonical(body)


def test_a_token_count_that_no_model_can_have_is_unknown() -> None:
    spent = Spending(usage=Usage(input_tokens=2**63, output_tokens=2**63 - 1))
    trial = replace(a_trial(), subject=replace(a_trial().subject, spending=spent))
    assert trial_row(1, trial)[9:11] == (None, 2**63 - 1)


@pytest.mark.parametrize(("result", "category"), [
    ({}, None),
    ({"evaluator": None}, None),
    ({"evaluator": {"error": "late"}}, None),
    ({"evaluator": {"error": {"type": 1}}}, None),
    ({"evaluator": MappingProxyType({"error": {"type": "timeout"}})}, "timeout"),
])  # fmt: skip
def test_the_category_of_an_error_is_that_of_the_result_map(result: dict[str, Any], category: str | None) -> None:
    assert error_category(result) == category


@pytest.mark.parametrize(("rubric", "apart"), [
    ("x" * 256, False), ("x" * 257, True), (None, False), ({"a": 1}, False), ({KEY: "sha256:1"}, True), ([KEY], False),
])  # fmt: skip
def test_a_rubric_is_stored_apart_when_it_is_long_or_looks_like_a_name_of_ours(rubric: object, apart: bool) -> None:
    assert (shared_part({"metadata": {"rubric": rubric}}) is not None) is apart


def test_one_long_rubric_is_one_row_however_many_trials_name_it() -> None:
    shared = replace(assessed(), result={"metadata": {"rubric": "x" * 300}})
    (row,) = text_rows([a_trial(case, assessments=[shared, shared]) for case in range(3)])
    assert row[1:] == ("text", f'"{"x" * 300}"')


def test_snapshots_with_text_that_no_database_takes_come_back() -> None:
    row = snapshot_row(Snapshot(hash="sha256:1", kind="case", body={"name": "a\x00b"}))
    assert read_json(row[2]) == {"name": "a\x00b"}
