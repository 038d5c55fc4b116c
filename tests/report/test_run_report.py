"""Reports: one document of a known shape, the same for the same record, and no answer that nobody asked for."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st

from jurat.evaluation import Finding, Severity
from jurat.metrics import Policy, RunTally, read_policy
from jurat.report import comparable, report_schema, write_report
from jurat.report.record import CaseRecord, RunRecord, RunStatus, TrialRecord
from jurat.report.run_json import case_from_json, run_from_json, run_json, trial_from_json, trial_json
from jurat.report.run_schema import case_schema, head_schema
from jurat.report.sampling import sampling_of
from jurat.vocabulary import Status
from run_records import Rows, case, check, mixed, run, skipped, spent, tallied, trial, verdict

SCHEMA = jsonschema_rs.validator_for(report_schema())


def finished(record: RunRecord, rows: Rows, policy: Policy | None = None) -> tuple[Rows, RunTally]:
    """The rows with their cases' outcomes, as a completed run has them, and their tally."""
    made = policy or Policy()
    tally = RunTally(record, made.watch)
    return [(replace(place, status=tally.add(place, trials)), trials) for place, trials in rows], tally


def written(record: RunRecord, rows: Rows, policy: Policy | None = None, **options: Any) -> bytes:
    made, tally = finished(record, rows, policy)
    sink = io.BytesIO()
    write_report(sink, record, made, tally.summary(), (policy or Policy()).decide(tally).to_json(), **options)
    return sink.getvalue()


def report(record: RunRecord, rows: Rows, **options: Any) -> dict[str, Any]:
    return dict(json.loads(written(record, rows, **options)))


# --- shape ---------------------------------------------------------------------------------------------------------


def test_the_report_of_the_mixed_run_is_as_it_was_judged_good() -> None:
    policy = read_policy([{"type": "overall_pass_rate", "minimum": 0.9}], "policy", [])
    text = json.dumps(json.loads(written(*mixed(), policy)), ensure_ascii=False, indent=1) + "\n"

    assert text == golden("mixed.json", text)
    assert SCHEMA.is_valid(json.loads(text))


def test_two_reports_of_one_record_are_equal_byte_for_byte() -> None:
    assert written(*mixed()) == written(*mixed())


def test_a_report_is_utf_8_with_one_case_a_line() -> None:
    lines = written(*mixed()).decode("utf-8").split("\n")

    assert lines[0] == '{"jurat_report":1,'
    assert [line[:8] for line in lines[1:5]] == ['"run":{"', '"gate":{', '"summary', '"cases":']
    assert [json.loads(line.removesuffix(","))["case_index"] for line in lines[5:10]] == [0, 1, 2, 3, 4]
    assert lines[10:] == ["]}", ""]


def test_a_run_without_cases_has_a_report_too() -> None:
    assert report(run(cases=0), [])["cases"] == []


def test_emoji_and_broken_text_cost_nobody_a_report() -> None:
    judged = verdict(90, reason="❌ wrong 🍕 \ud800 \x00")

    found = report(run(), [(case(name="naïve\u2028"), [trial(judged)])])

    assert found["cases"][0]["name"] == "naïve\u2028"
    assert found["cases"][0]["trials"][0]["assessments"][0]["result"]["reason"] == "❌ wrong 🍕 \ufffd \x00"


@pytest.mark.parametrize("schema", [report_schema(), head_schema(), case_schema()])
def test_the_schemas_are_schemas(schema: dict[str, Any]) -> None:
    assert schema["$schema"].endswith("2020-12/schema")
    jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("jurat_report",), 2),
        (("run", "samples"), 0),
        (("run", "suite_hash"), "abc"),
        (("cases", 0, "status"), "passed"),
        (("cases", 0, "surprise"), 1),
        (("cases", 0, "trials", 0, "assessments", 0, "result", "score"), "C"),
        (("cases", 0, "trials", 0, "assessments", 0, "result", "score"), None),
        (("cases", 0, "trials", 0, "assessments", 1, "spending", "cost_usd"), -1),
        (("summary", "errors", "subject", "gremlins"), 1),
    ],
)
def test_what_is_not_of_the_shape_is_refused_by_the_schema(path: tuple[Any, ...], value: Any) -> None:
    found = report(*mixed())
    inner: Any = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value

    assert not SCHEMA.is_valid(found)


# --- what is told --------------------------------------------------------------------------------------------------


def test_answers_conversations_and_tool_calls_are_told_only_where_they_were_asked_for() -> None:
    told = trial(
        verdict(90, reason="A reason.", quotes=["a quote"]),
        output="SECRET-OUTPUT",
        rendered_input="SECRET-PROMPT",
        messages=({"role": "user", "content": "SECRET-TURN"},),
        execution={"latency_ms": 5.0, "tool_calls": [{"name": "x", "arguments": "SECRET-ARGUMENT"}]},
    )
    rows = [(case(), [told])]

    kept, everything = written(run(), rows), written(run(), rows, include_output=True)

    assert b"SECRET" not in kept
    assert b"A reason." in kept
    assert b"a quote" in kept
    assert everything.count(b"SECRET") == 4
    assert SCHEMA.is_valid(json.loads(everything))


def test_an_unknown_cost_is_null_and_nothing_spent_is_no_spending() -> None:
    found = report(run(), [(case(), [trial(verdict(90, spending=spent(None)), check())])])

    judged, checked = found["cases"][0]["trials"][0]["assessments"]
    assert judged["spending"]["cost_usd"] is None
    assert checked["spending"] is None
    assert found["summary"]["cost_usd"]["judge"] == {"known": 0.0, "unknown": 1}


def test_a_tie_is_told_as_a_tie() -> None:
    good, bad = check(), check(status=Status.FAIL)
    trials = [trial(one, index=index) for index, one in enumerate((good, bad, good, bad))]

    assert sampling_of(trials, 4) == {
        "planned": 4,
        "made": 4,
        "passed": 2,
        "failed": 2,
        "undecided": 0,
        "pass_rate": 0.5,
        "bounds": [0.5, 0.5],
        "flip_rate": 0.5,
        "tied": True,
    }


def test_a_case_without_trials_has_no_rate_and_may_still_come_out_either_way() -> None:
    found = sampling_of([], 3)

    assert (found["pass_rate"], found["bounds"], found["undecided"], found["tied"]) == (None, [0.0, 1.0], 3, False)


# --- comparing -----------------------------------------------------------------------------------------------------


def test_two_runs_that_came_out_alike_are_equal_but_for_when_and_where() -> None:
    record, rows = mixed()
    again = replace(record, id="other", created_at="2027-01-01T00:00:00Z", provenance={"jurat": "9"})
    policy = read_policy([{"type": "latency_ms", "maximum": 300, "percentile": 50}], "policy", [])
    slower = [
        (place, [replace(one, subject=replace(one.subject, spending=spent(duration_ms=1.0))) for one in trials])
        for place, trials in rows
    ]
    quick = [
        (place, [replace(one, subject=replace(one.subject, spending=spent(duration_ms=2.0))) for one in trials])
        for place, trials in rows
    ]

    one, other = (json.loads(written(at, given_, policy)) for at, given_ in ((record, slower), (again, quick)))

    assert one != other
    assert comparable(one) == comparable(other)


def test_a_changed_verdict_a_cost_or_a_reason_is_a_difference() -> None:
    plain = comparable(report(run(), [(case(), [trial(verdict(90))])]))

    for other in (verdict(91), verdict(90, reason="Another."), verdict(90, spending=spent(0.002))):
        assert comparable(report(run(), [(case(), [trial(other)])])) != plain


# --- there and back ------------------------------------------------------------------------------------------------

TEXT = st.text(max_size=12)
ASSESSMENT = st.one_of(
    st.builds(verdict, st.floats(0, 100), reason=TEXT, quotes=st.lists(TEXT, max_size=2)),
    st.builds(verdict, error=st.sampled_from(("timeout", "refusal", "quote_not_found")), message=TEXT),
    st.builds(verdict, findings=st.just([{"code": "no_quotes", "severity": "warning", "message": "none"}])),
    st.builds(check, status=st.sampled_from((Status.PASS, Status.FAIL, Status.ERROR)), reason=TEXT),
)
COST = st.none() | st.floats(0, 10)


@st.composite
def trials(draw: st.DrawFn, case_index: int, samples: int) -> list[TrialRecord]:
    made = []
    for index in range(draw(st.integers(0, samples))):
        found = [replace(one, name=f"a{place}") for place, one in enumerate(draw(st.lists(ASSESSMENT, max_size=3)))]
        subject: dict[str, Any] = {"spending": spent(draw(COST)), "recorded": draw(st.booleans())}
        if draw(st.booleans()):
            made.append(trial(skipped(), index=index, case_index=case_index, error="timeout", **subject))
        else:
            subject |= {"output": draw(TEXT), "execution": {"latency_ms": draw(st.floats(0, 1e4))}}
            made.append(trial(*found, index=index, case_index=case_index, **subject))
    return made


@st.composite
def records(draw: st.DrawFn) -> tuple[RunRecord, list[tuple[CaseRecord, Sequence[TrialRecord]]]]:
    samples, cases = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    rows: list[tuple[CaseRecord, Sequence[TrialRecord]]] = []
    for index in range(cases):
        labels = tuple(draw(st.lists(TEXT, max_size=2)))
        place = case(index, f"{index}{draw(TEXT)}", labels=labels, metadata={"k": draw(TEXT)})
        rows.append((place, draw(trials(index, samples))))
    reducer = draw(st.sampled_from(("all", "any", "majority")))
    complete = all(len(found) == samples for _, found in rows)
    record = run(samples=samples, cases=cases, reducer=reducer)
    return (record if complete else replace(record, status=RunStatus.INTERRUPTED)), rows


@given(made=records(), include_output=st.booleans())
def test_any_records_report_is_of_the_shape(made: tuple[RunRecord, Rows], include_output: bool) -> None:
    found = report(*made, include_output=include_output)

    assert [error.message for error in SCHEMA.iter_errors(found)] == []


@given(made=records())
def test_the_summary_computed_again_from_the_rows_of_a_report_is_the_same(made: tuple[RunRecord, Rows]) -> None:
    found = report(*made)
    again = run_from_json(found["run"], found["gate"])
    rows = [
        (case_from_json(told), [trial_from_json(one, told["case_index"]) for one in told["trials"]])
        for told in found["cases"]
    ]

    assert json.loads(json.dumps(tallied(again, rows).summary())) == found["summary"]


@given(made=records())
def test_records_are_read_back_as_they_were(made: tuple[RunRecord, Rows]) -> None:
    record, rows = made

    assert run_from_json(run_json(record), record.gate) == record
    for _, found in rows:
        for one in found:
            assert trial_from_json(trial_json(one, include_output=True), one.case_index) == one


def test_writing_takes_no_more_room_for_more_cases() -> None:
    class Nowhere(io.BytesIO):
        def write(self, data: Any) -> int:
            return len(data)

    def rows(number: int) -> Iterator[tuple[CaseRecord, list[TrialRecord]]]:
        return ((case(index), [trial(verdict(index % 101), check(), case_index=index)]) for index in range(number))

    def peak(number: int) -> int:
        tracemalloc.start()
        write_report(Nowhere(), run(cases=number), rows(number), {}, None)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(20)

    assert peak(2_000) < peak(200) + 40_000


def test_findings_of_an_unverified_check_are_told() -> None:
    finding = Finding(code="empty_output", message="the output is empty", severity=Severity.WARNING)

    found = report(run(), [(case(), [trial(check(status=Status.UNVERIFIED))])])

    told = found["cases"][0]["trials"][0]["assessments"][0]["result"]["findings"][0]
    assert told == {"code": finding.code, "severity": "warning", "message": finding.message}
