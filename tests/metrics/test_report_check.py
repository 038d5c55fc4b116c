"""A report is believed only as a whole: figures, statuses and gate have to follow from its own rows."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
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
from run_records import Rows, case, check, mixed, run, trial, verdict

PLACED = {"jurat": "0.1.0", "python": "3.11.7", "platform": "Linux x86_64"}


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
