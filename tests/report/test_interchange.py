"""`report/v1`: nothing that was kept back is in it, there is one way to write it, and reading is as strict."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st
from told_runs import run_of

from jurat.errors import AuthoringError
from jurat.metrics import Policy, RunTally, check_report
from jurat.report import InterchangeReader, InterchangeWriter, Withheld, interchange_head, report_schema
from jurat.report.record import RunRecord, RunStatus
from jurat.report.redaction import EVERYTHING, redacted
from jurat.report.run_json import case_json
from run_records import HASH, Rows, case, check, mixed, run, trial, verdict

SCHEMA = jsonschema_rs.validator_for(report_schema())
PLACED = {"jurat": "0.1.0", "python": "3.11.7", "platform": "Linux x86_64", "judges": [HASH], "subject": None}


def written(record: RunRecord, rows: Rows, withheld: frozenset[Withheld] = EVERYTHING) -> bytes:
    policy = Policy()
    placed, tally = replace(record, provenance=PLACED), RunTally(record, policy.watch)
    made = [(replace(place, status=tally.add(place, trials)), trials) for place, trials in rows]
    gate = policy.decide(tally).to_json() if record.status is RunStatus.COMPLETED else None
    sink = io.BytesIO()
    head = interchange_head(placed, tally.summary(), gate, withheld)
    writer = InterchangeWriter(sink, head, record.samples, withheld)
    for place, trials in made:
        writer.case(place, trials)
    writer.end()
    return sink.getvalue()


def read(data: bytes) -> Any:
    return check_report(io.BytesIO(data), "r.json", InterchangeReader)


def faults(data: bytes) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        read(data)
    return [str(fault) for fault in caught.value.faults]


def secretive() -> tuple[RunRecord, Rows]:
    """A run with a secret wherever a model or a subject may have put one."""
    judged = verdict(
        20,
        reason="SECRET-REASON",
        quotes=["SECRET-QUOTE"],
        criteria=[
            {
                "id": "c",
                "score": 1,
                "reason": "SECRET-REASON",
                "evidence": [{"message_index": 0, "quote": "SECRET-QUOTE"}],
            }
        ],
        findings=[{"code": "f", "severity": "error", "message": "SECRET-REASON"}],
        repeats={
            "mean": 20.0,
            "spread": 0.0,
            "flip_rate": 0.0,
            "decided": 1,
            "undecided": 0,
            "attempts": [
                {
                    "status": "fail",
                    "score": 20.0,
                    "reason": "SECRET-REASON",
                    "evidence": [{"message_index": 1, "quote": "SECRET-QUOTE"}],
                    "error": None,
                }
            ],
        },
    )
    compared = check(reason="SECRET-REASON")
    compared.result["metadata"]["differences"] = ["SECRET-QUOTE"]
    one = trial(
        judged,
        compared,
        output="SECRET-TALK",
        rendered_input="SECRET-TALK",
        messages=({"role": "user", "content": "SECRET-TALK"},),
        execution={"latency_ms": 5.0, "tool_calls": [{"name": "SECRET-TALK"}]},
    )
    return run(), [(case(), [one])]


def test_the_mixed_run_is_handed_on_as_it_was_judged_good() -> None:
    text = written(*mixed()).decode()

    assert text == golden("mixed.report.json", text)
    assert SCHEMA.is_valid(json.loads(text))
    assert read(text.encode()).tally.cases.counts["pass"] == 1


def test_nothing_of_models_and_subjects_is_told() -> None:
    data = written(*secretive())

    assert b"SECRET" not in data
    assert SCHEMA.is_valid(json.loads(data))
    assert read(data).run.suite == "capital-cities"


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        (Withheld.REASONS, {"REASON"}),
        (Withheld.EXCERPTS, {"QUOTE"}),
        (Withheld.CONVERSATION, {"TALK"}),
    ],
)
def test_each_part_is_told_where_it_was_asked_for_and_no_other(asked: Withheld, there: set[str]) -> None:
    data = written(*secretive(), EVERYTHING - {asked})

    assert {word for word in ("REASON", "QUOTE", "TALK") if f"SECRET-{word}".encode() in data} == there
    assert json.loads(data)["withheld"] == sorted(EVERYTHING - {asked})
    read(data)


def test_what_is_kept_back_changes_no_figure() -> None:
    everything, nothing = (json.loads(written(*mixed(), kept)) for kept in (frozenset[Withheld](), EVERYTHING))

    assert everything["summary"] == nothing["summary"]
    assert everything["gate"] == nothing["gate"]


# --- reading is as strict as writing -------------------------------------------------------------------------------

DATA = written(*secretive())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.replace(b'"score":20.0', b'"score": 20.0', 1), "expected JSON in its canonical form"),
        (lambda data: data.replace(b'"score":20.0', b'"score":2e1', 1), "expected JSON in its canonical form"),
        (lambda data: data.replace(b'"samples":1', b'"samples" :1', 1), "expected JSON in its canonical form"),
        (lambda data: data.replace(b'"status":', b'"st\\u0061tus":', 1), "expected JSON in its canonical form"),
        (lambda data: json.dumps(json.loads(data)).encode(), "expected a report as it was handed on, in lines"),
        (
            lambda data: data.replace(b'"withheld":["conversation","excerpts","reasons"],\n', b"", 1),
            "withheld: expected",
        ),
        (
            lambda data: data.replace(b'["conversation","excerpts",', b'["excerpts","conversation",', 1),
            "withheld: expected",
        ),
        (lambda data: data.replace(b'"reason":null', b'"reason":"x"', 1), "expected nothing of what is kept back"),
        (lambda data: data.replace(b'"quote":""', b'"quote":"x"', 1), "expected nothing of what is kept back"),
        (lambda data: data.replace(b"\n]}", b",\n]}"), "expected another case after a comma"),
        (lambda data: data + b"\n", "expected nothing after the report's end"),
        (lambda data: data.removesuffix(b"]}\n"), "cut off"),
        (lambda data: data.replace(b'"jurat_report":1', b'"jurat_report":2'), "jurat_report: expected 1"),
        (lambda data: data.replace(b'"score":20,', b'"score":90,'), "something else"),
        (lambda data: data.replace(b'"labels":[],"line"', b'"labels":[],"laterals":1,"line"'), "schema"),
    ],
)
def test_whatever_the_writer_would_not_write_is_refused(change: Callable[[bytes], bytes], said: str) -> None:
    changed = change(DATA)
    assert changed != DATA

    assert any(said in fault for fault in faults(changed)), faults(changed)


def test_a_report_that_is_not_handed_on_says_nothing_of_what_it_keeps_back() -> None:
    head = DATA.replace(b'"withheld":["conversation","excerpts","reasons"],\n', b"", 1)

    assert check_report(io.BytesIO(head)).run.suite == "capital-cities"


@given(cut=st.integers(0, len(DATA) - 1), sign=st.sampled_from([b"", b" ", b"0", b'"', b",", b"}", b"\n", b"\xff"]))
def test_no_change_of_a_byte_goes_unnoticed_or_crashes(cut: int, sign: bytes) -> None:
    changed = DATA[:cut] + sign + DATA[cut + 1 :]
    try:
        found = read(changed)
    except AuthoringError:
        return
    # A digit of a hash or a time may stand for another; then what is read is what is written, to the byte.
    assert found.run.suite
    assert len(changed) in (len(DATA), len(DATA) - 1)


@given(text=st.text(max_size=40), withheld=st.sets(st.sampled_from(Withheld)).map(frozenset))
def test_whatever_stands_in_a_run_it_is_read_back(text: str, withheld: frozenset[Withheld]) -> None:
    record, rows = run_of(text)
    data = written(replace(record, suite="s", id="r"), rows, withheld)

    assert read(data).tally.cases.counts["fail"] == 1


@given(text=st.text(max_size=40), withheld=st.sets(st.sampled_from(Withheld)))
def test_redacting_twice_is_redacting_once(text: str, withheld: set[Withheld]) -> None:
    _, rows = run_of(text)
    once = redacted(case_json(*rows[0], 1, include_output=True), withheld)

    assert redacted(once, withheld) == once
