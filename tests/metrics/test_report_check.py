"""A report is believed only as a whole: figures, statuses and gate have to follow from its own rows."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from fnmatch import fnmatch
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError
from jurat.metrics import Policy, RunTally, read_policy
from jurat.metrics.report_check import check_report
from jurat.report import write_report
from jurat.report.record import RunRecord, RunStatus
from jurat.vocabulary import Status
from run_records import HASH, Rows, case, check, mixed, run, trial, verdict

PLACED = {"jurat": "0.1.0", "python": "3.11.7", "platform": "Linux x86_64", "judges": [HASH], "subject": None}


def written(record: RunRecord, rows: Rows, policy: Policy | None = None) -> bytes:
    rules = policy or Policy()
    placed, tally = replace(record, provenance=PLACED), RunTally(record, rules.watch)
    made = [(replace(place, status=tally.add(place, trials)), trials) for place, trials in rows]
    gate = rules.decide(tally).to_json() if record.status is RunStatus.COMPLETED else None
    sink = io.BytesIO()
    write_report(sink, placed, made, tally.summary(), gate)
    return sink.getvalue()


def told(data: bytes) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        check_report(io.BytesIO(data), "report.json")
    return [str(fault) for fault in caught.value.faults]


def changed(change: Callable[[dict[str, Any]], object]) -> list[str]:
    """The faults of the mixed run's report after a change."""
    value = json.loads(written(*mixed()))
    change(value)
    return told(json.dumps(value).encode())


RULES = [
    {"type": "overall_pass_rate", "minimum": 0.9},
    {"type": "latency_ms", "maximum": 300, "percentile": 95},
    {"type": "label_pass_rate", "metadata": {"tier": 1}, "minimum": 0.5},
    {"type": "no_regression"},
]

CUT = "one that is cut off, or another document"


@pytest.mark.parametrize("rules", [[], RULES[:3], RULES])
def test_a_report_as_it_was_written_holds_together(rules: list[dict[str, Any]]) -> None:
    record, rows = mixed()

    found = check_report(io.BytesIO(written(record, rows, read_policy(rules, "policy", []))))

    assert (found.run.id, found.tally.cases.total) == (record.id, 5)


def test_one_that_another_tool_laid_out_anew_is_read_too() -> None:
    again = json.dumps(json.loads(written(*mixed())), indent=2).encode()

    assert check_report(io.BytesIO(again)).tally.trials.total == 15


def test_an_interrupted_run_has_a_report_without_a_gate() -> None:
    record = run(cases=2, samples=2, status=RunStatus.INTERRUPTED, finished_at=None)

    found = check_report(io.BytesIO(written(record, [(case(0), [trial(check())]), (case(1), [])])))

    assert found.gate is None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda value: value["summary"]["cases"]["counts"].update({"pass": 5}),
            "summary.cases.counts.pass: expected what the cases come to, found something else",
        ),
        (
            lambda value: value["summary"]["cost_usd"]["total"].update({"known": 0.0}),
            "summary.cost_usd.total.known: expected what the cases come to, found something else",
        ),
        (
            lambda value: value["cases"][1].update({"status": "pass"}),
            "cases[1].status: expected fail, found pass",
        ),
        (
            lambda value: value["cases"][2]["trials"][0].update({"status": "unverified"}),
            "cases[2].trials[0].status: expected error or pass, as its parts say, found unverified",
        ),
        (
            lambda value: value["cases"][3]["trials"][0].update({"status": "fail"}),
            "cases[3].trials[0].status: expected error, as its parts say, found fail",
        ),
        (
            lambda value: value["cases"][0]["sampling"].update({"passed": 2}),
            "cases[0].sampling: expected what the trials come to, found something else",
        ),
        (
            lambda value: value["cases"][0]["trials"][0]["assessments"][0]["result"].update({"passed": False}),
            "cases[0].trials[0].assessments[0].result.passed: expected what the status says, found something else",
        ),
        (
            lambda value: value["cases"][0]["trials"][0]["assessments"][1]["result"].update({"score": 1.5}),
            "cases[0].trials[0].assessments[1].result.score: expected a number from 0 to 1, found one outside",
        ),
        (lambda value: value["cases"].pop(), "run.cases: expected 4, as many as there are, found 5"),
        (
            lambda value: value["cases"][1].update({"case_index": 0}),
            "cases[1].case_index: expected 1, its place, found 0",
        ),
        (
            lambda value: value["cases"][1].update({"name": "france"}),
            "cases[1].name: expected a name of its own, found that of another case",
        ),
        (
            lambda value: value["cases"][0]["trials"].reverse(),
            "cases[0].trials: expected trials in order, at most 3, found others",
        ),
        (
            lambda value: value["gate"].update({"outcome": "passed"}),
            "gate.outcome: expected what the policy comes to, found something else",
        ),
        (
            lambda value: value.update({"gate": None}),
            "gate: expected an outcome exactly of a completed run, found none",
        ),
        (lambda value: value["run"]["provenance"].pop("python"), "run.provenance.python: expected text, found nothing"),
        (
            lambda value: value["run"]["snapshots"].clear(),
            "run.snapshots.suite: expected the suite's hash, found another one, or none",
        ),
    ],
)
def test_what_does_not_agree_is_found(change: Callable[[dict[str, Any]], object], fault: str) -> None:
    assert f"report.json: {fault}" in changed(change)


def result(value: dict[str, Any], case_: int, trial_: int, assessment: int) -> dict[str, Any]:
    found: dict[str, Any] = value["cases"][case_]["trials"][trial_]["assessments"][assessment]["result"]
    return found


AT = "cases[1].trials[{}].assessments[1]"
OTHER = "sha256:" + "1" * 64
SPENT_OTHERWISE = "expected what the spending says, found something else"
UNLIKE = "expected the same as in the case's other trials, found another one"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda value: result(value, 1, 2, 1)["metadata"].update(threshold=0.96),
            f"{AT.format(2)}.result.status: expected what the score says against its threshold, found pass",
        ),
        (
            lambda value: result(value, 1, 0, 1)["metadata"].update(threshold=0.5),
            f"{AT.format(0)}.result.status: expected what the score says against its threshold, found fail",
        ),
        (
            lambda value: result(value, 1, 0, 1)["evaluator"].update(input_tokens=99),
            f"{AT.format(0)}.result.evaluator.input_tokens: {SPENT_OTHERWISE}",
        ),
        (
            lambda value: result(value, 1, 0, 1)["evaluator"].update(cost_usd=0.0),
            f"{AT.format(0)}.result.evaluator.cost_usd: {SPENT_OTHERWISE}",
        ),
        (
            lambda value: result(value, 1, 0, 1)["evaluator"].update(response_model="judge-2"),
            f"{AT.format(0)}.result.evaluator.response_model: {SPENT_OTHERWISE}",
        ),
        (
            lambda value: result(value, 1, 2, 1)["metadata"].update(template_revision="v2"),
            f"{AT.format(2)}.result.metadata.template_revision: {UNLIKE}",
        ),
        (
            lambda value: value["cases"][1]["trials"][1]["assessments"][1].update(weight=2.0),
            f"{AT.format(1)}.weight: {UNLIKE}",
        ),
        (
            lambda value: value["cases"][1]["trials"][1]["assessments"][0].update(name="tone"),
            "cases[1].trials[1].assessments: expected assertions with names of their own, found two of one name",
        ),
        (
            lambda value: result(value, 0, 0, 1)["metadata"].update(judge=OTHER),
            (
                "cases[0].trials[0].assessments[1].result.metadata.judge: "
                "expected a judge of run.provenance.judges, found another one"
            ),
        ),
        (
            lambda value: value["run"]["provenance"].update(judges=[HASH, 7]),
            "run.provenance.judges: expected the judges' identities, sorted, found something else",
        ),
        (
            lambda value: value["run"]["provenance"].pop("subject"),
            "run.provenance.subject: expected who answered, or null, found something else, or nothing",
        ),
        (
            lambda value: value["run"]["options"].update(samples=4),
            "run.options.samples: expected 3, as run.samples says, found another number",
        ),
    ],
)
def test_what_a_verdict_tells_twice_is_the_same_both_times(
    change: Callable[[dict[str, Any]], object], fault: str
) -> None:
    assert f"report.json: {fault}" in changed(change)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: result(value, 1, 0, 1)["metadata"].update(score_range=[0]),
        lambda value: result(value, 1, 0, 1)["metadata"].update(score_range=[1, 0]),
        lambda value: result(value, 1, 0, 1)["metadata"].update(note="a member of nobody's"),
        lambda value: result(value, 1, 0, 1)["metadata"].pop("judge"),
        lambda value: result(value, 1, 0, 1)["metadata"].update(judge="sha256:ab"),
        lambda value: result(value, 1, 0, 1)["evaluator"].update(attempts=-1),
        lambda value: result(value, 1, 0, 1)["evaluator"].update(cost_usd="0.001"),
        lambda value: result(value, 1, 0, 1)["evaluator"].pop("model"),
        lambda value: result(value, 1, 0, 1)["evaluator"].update(confidence=1),
        lambda value: result(value, 1, 0, 1).update(verdict="pass"),
        lambda value: result(value, 0, 0, 0)["evaluator"].pop("revision"),
    ],
)
def test_a_result_has_no_member_too_few_or_too_many_and_none_of_another_kind(
    change: Callable[[dict[str, Any]], object],
) -> None:
    assert changed(change)


@pytest.mark.parametrize("scale", [[0], {"from": 0}, ["a", "b"], [1, 0], "0-1", None])
def test_what_an_evaluator_of_somebodys_own_calls_its_range_is_no_scale_of_ours(scale: Any) -> None:
    made = check()
    made.result["metadata"]["score_range"] = scale

    assert check_report(io.BytesIO(written(run(), [(case(), [trial(made)])]))).tally.cases.counts[Status.PASS] == 1


RESULT = "cases.trials.assessments.result"
FREE = (
    *("run.id", "run.suite", "run.parent", "run.options*", "run.provenance*", "run.snapshots*"),
    *(f"cases.{name}*" for name in ("file", "line", "labels", "metadata", "name", "case_hash")),
    *("cases.trials.subject.recorded", "cases.trials.subject.execution*", "cases.trials.subject.spending.models*"),
    *(f"cases.trials.assessments.{name}" for name in ("weight", "required", "spending.models*")),
    *(f"{RESULT}.{name}" for name in ("reason", "evidence*", "evaluator.provider", "evaluator.model", "metadata")),
    *(f"{RESULT}.metadata.{name}" for name in ("rubric", "threshold", "truncated_fields*", "schema_version")),
    *(f"{RESULT}.{name}" for name in ("metadata.template", "metadata.template_revision", "evaluator.revision")),
)
"""What nothing else in a report tells: that it is of its kind is all that can be asked of it."""


def parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from parts(value[key], (*path, key))


def otherwise(value: Any) -> list[Any]:
    """Other values: of the same kind, and of another."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int | float):
        return [value + 1, -value - 1, str(value), [value]]
    if isinstance(value, str):
        return [value + "x", 7]
    if isinstance(value, dict):
        return [{**value, "more": 1}, [value]]
    return [[*value, {}], {}] if isinstance(value, list) else ["x", 0]


def test_no_part_of_a_report_can_be_changed_unseen_that_something_else_in_it_tells() -> None:
    rows = [(case(labels=("a",), file="x.yaml", line=3), [trial(verdict(90, quotes=["Paris"]), check())])]
    whole = json.loads(written(run(), rows, read_policy(RULES[:1], "policy", [])))
    unseen = set()
    for path in parts(whole):
        *way, last = path
        for other in otherwise(reduce(getitem, path, whole)):
            value = deepcopy(whole)
            reduce(getitem, way, value)[last] = other
            with contextlib.suppress(AuthoringError):
                check_report(io.BytesIO(json.dumps(value).encode()))
                unseen.add(".".join(step for step in path if isinstance(step, str)))

    assert [name for name in sorted(unseen) if not any(fnmatch(name, free) for free in FREE)] == []


def test_a_score_that_is_a_letter_never_reaches_a_mean() -> None:
    def letter(value: dict[str, Any]) -> None:
        value["cases"][0]["trials"][0]["assessments"][1]["result"]["score"] = "C"

    assert any(".result.score: expected what the schema says" in fault for fault in changed(letter))


def test_a_report_that_is_cut_off_says_after_how_many_cases() -> None:
    data = written(*mixed())
    cut = data[: data.index(b'{"case_hash"', data.index(b'"case_index":2'))]

    assert told(cut) == ["report.json:9: cases: expected the end of the report, found it is cut off after 3 cases"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "report.json:1: (top level): expected JSON, found a value was expected"),
        (b"[]", "report.json:1: jurat_report: expected 1, found nothing"),
        (b'{"jurat_report": 2}', "report.json:1: jurat_report: expected 1, found another version"),
        (b'{"jurat_report":1,\n', f"report.json:2: (top level): expected a report, found {CUT}"),
        (b'{"jurat_report": 1, "cases": 3}', "report.json:1: cases: expected a list, found a number"),
        (b"\xff", "report.json:1: (top level): expected UTF-8, found other bytes"),
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused(data: bytes, fault: str) -> None:
    assert told(data) == [fault]


def test_a_pass_threshold_may_have_decided_a_trial() -> None:
    made = trial(check(status=Status.FAIL), verdict(90))
    rows = [(case(), [replace(made, status=Status.PASS)])]

    assert check_report(io.BytesIO(written(run(), rows))).tally.cases.counts[Status.PASS] == 1


def test_no_pass_threshold_excuses_a_required_failure() -> None:
    made = trial(replace(check(status=Status.FAIL), required=True), verdict(90))

    faults = told(written(run(), [(case(), [replace(made, status=Status.PASS)])]))

    assert faults == ["report.json: cases[0].trials[0].status: expected fail, as its parts say, found pass"]


@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_bytes_make_the_reader_crash(data: bytes) -> None:
    with pytest.raises(AuthoringError):
        check_report(io.BytesIO(data))


@given(place=st.integers(0, 3000), byte=st.integers(0, 255))
def test_a_changed_byte_is_found_or_changes_nothing_that_counts(place: int, byte: int) -> None:
    data = bytearray(written(run(), [(case(), [trial(verdict(90), check())])]))
    data[place % len(data)] = byte

    try:
        found = check_report(io.BytesIO(bytes(data)))
    except AuthoringError:
        return
    assert found.tally.cases.counts[Status.PASS] == 1
