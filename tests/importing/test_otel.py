"""Traces in OTLP JSON become cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from importfiles import FILES, Made, command, imported, told_of


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}


def trace(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def call(**attributes: Any) -> dict[str, Any]:
    kind = attribute("gen_ai.operation.name", "chat")
    given = [attribute(f"gen_ai.{name.replace('__', '.')}", value) for name, value in attributes.items()]
    return {"name": "chat", "attributes": [kind, *given]}


def test_calls_of_models_become_cases_in_every_convention(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "otel.jsonl")

    assert "subject" not in suite
    assert [case["name"] for case in suite["cases"]] == ["chat gpt-x", "llm", "older", "events"]
    assert suite["cases"][0]["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Do you sell pots?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_call", "id": "c1", "name": "stock", "arguments": {"item": "pot"}}],
        },
        {"role": "tool", "content": [{"type": "tool_result", "tool_call_id": "c1", "content": "12"}]},
    ]
    assert suite["cases"][0]["output"] == "Yes, 12 kinds."
    assert suite["cases"][0]["execution"] == {"latency_ms": 1250.0, "input_tokens": 31, "output_tokens": 7}
    assert suite["cases"][1]["execution"] == {
        "tool_calls": [{"name": "look", "arguments": {"zoom": 2}}],
        "latency_ms": 2.0,
        "cost_usd": 0.004,
    }
    assert suite["cases"][1]["variables"] == {"open_braces": "{{"}
    assert [case["output"] for case in suite["cases"][2:]] == ["At nine.", "In Bern."]
    assert told == told_of("otel.jsonl")


def test_a_document_is_read_as_its_lines_are() -> None:
    lines = (FILES / "otel.jsonl").read_bytes().splitlines()
    batches = [json.loads(line) for line in lines[:3]]

    whole = Made(batches, "trace.json")

    assert whole.cases == Made((FILES / "otel.jsonl").read_bytes(), "trace.jsonl").cases
    assert whole.notes[0].path == "[0].resourceSpans[0].scopeSpans[0].spans[1]"


def test_structured_attributes_are_read_as_their_texts_are() -> None:
    parts = {"arrayValue": {"values": [_record(type={"stringValue": "text"}, content={"stringValue": "Hi"})]}}
    messages = {"arrayValue": {"values": [_record(role={"stringValue": "user"}, parts=parts)]}}
    answer = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Ho"}]}
    ]
    span = call(output__messages=answer)
    span["attributes"].append({"key": "gen_ai.input.messages", "value": messages})

    (case,) = Made(trace(span)).cases

    assert case["messages"] == [{"role": "user", "content": "Hi"}]
    assert case["output"] == "Ho"


def _record(**members: Any) -> dict[str, Any]:
    return {"kvlistValue": {"values": [{"key": key, "value": value} for key, value in members.items()]}}


def test_of_several_answers_the_first_is_taken_and_the_others_are_told() -> None:
    answers = [{"role": "assistant", "content": text} for text in ("one", "two")]

    made = Made(trace(call(output__messages=answers)))

    assert made.cases[0]["output"] == "one"
    assert "several answers" in made.reasons[0]


def test_one_reason_is_told_twenty_times_and_then_counted() -> None:
    made = Made(
        trace(*({"name": "x"} for _ in range(45)), call(output__messages=[{"role": "assistant", "content": "a"}]))
    )

    assert len(made.notes) == 21
    assert made.reasons[-1] == "25 more: a span that is no call of a model; left out"


def test_many_calls_stand_in_a_file_of_rows_beside_the_suite(tmp_path: Path) -> None:
    line = json.dumps(trace(call(output__messages=[{"role": "assistant", "content": "yes"}])))
    (tmp_path / "t.jsonl").write_text(f"{line}\n" * 2_100, "utf-8")

    code, told = command("otel", str(tmp_path / "t.jsonl"), "--out", str(tmp_path / "s.yaml"))

    assert code == 0
    assert (tmp_path / "s.yaml").read_text("utf-8") == "schema_version: 1\nsuite: t\ncases_file: s.cases.jsonl\n"
    rows = [json.loads(row) for row in (tmp_path / "s.cases.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 2_100
    assert rows[2_099] == {"name": "chat (2100)", "output": "yes"}
    from jurat.suitecheck import checked_suite

    assert len(checked_suite(tmp_path / "s.yaml").cases) == 2_100
    code, told = command("otel", str(tmp_path / "t.jsonl"))
    assert code == 2
    assert "--out with so many cases" in told


SAID = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
ANSWERED = [{"role": "assistant", "parts": [{"type": "text", "content": "At nine."}]}]


@pytest.mark.parametrize(
    ("trace_id", "span_id", "found"),
    [
        ("0AF7651916CD43DD8448EB211C80319C", "B7AD6B7169203331", True),
        ("CvdlGRbNQ92ESOshHIAxnA==", "t61rcWkgMzE=", True),
        ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", True),
        ("odd", "t61rcWkg", False),
    ],
)
def test_ids_become_hexadecimal_from_either_spelling(trace_id: str, span_id: str, found: bool) -> None:
    span = {**call(output__messages=ANSWERED), "traceId": trace_id, "spanId": span_id}

    metadata = Made(trace(span)).cases[0]["metadata"]

    hexadecimal = {"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"}
    assert metadata == (hexadecimal if found else {"trace_id": trace_id, "span_id": span_id})


def test_the_ids_of_response_and_conversation_are_kept() -> None:
    made = Made(trace(call(output__messages=ANSWERED, response__id="r-1", conversation__id="c-1")))

    assert made.cases[0]["metadata"] == {"response_id": "r-1", "session_id": "c-1"}
    assert made.notes == []


def test_events_in_logs_that_tell_a_whole_call_become_cases() -> None:
    details = "gen_ai.client.inference.operation.details"
    contents = call(input__messages=SAID, output__messages=ANSWERED)["attributes"]
    body = {"kvlistValue": {"values": contents}}
    ids = {"traceId": "CvdlGRbNQ92ESOshHIAxnA==", "spanId": "t61rcWkgMzE="}
    records = [
        {"eventName": details, **ids, "attributes": contents},
        {"attributes": [attribute("event.name", details)], "body": body},
        {"eventName": "gen_ai.user.message", "body": body},
    ]

    made = Made({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})

    assert [(case["name"], case["messages"], case["output"]) for case in made.cases] == [
        ("chat", [{"role": "user", "content": "hi"}], "At nine."),
        ("chat (2)", [{"role": "user", "content": "hi"}], "At nine."),
    ]
    assert made.cases[0]["metadata"]["span_id"] == "b7ad6b7169203331"
    assert made.reasons == [
        "resourceLogs[0].scopeLogs[0].logRecords[2]: a log record that tells no whole call of a model; left out"
    ]


REPLIES = [
    {"id": "x", "choices": [{"message": {"role": "assistant", "content": "At nine."}}]},
    {"id": "x", "choices": [{"text": "At nine."}]},
    {
        "object": "response",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At nine."}]}],
    },
    {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "At nine."}]},
]


@pytest.mark.parametrize("reply", REPLIES)
def test_of_a_vendors_whole_reply_the_answer_is_taken(reply: dict[str, Any]) -> None:
    attributes = [attribute("openinference.span.kind", "LLM"), attribute("output.value", reply)]

    assert Made(trace({"name": "llm", "attributes": attributes})).cases[0]["output"] == "At nine."
