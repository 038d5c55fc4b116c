"""Exports of Langfuse become cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from importfiles import FILES, Made, imported, told_of


def test_traces_become_cases_by_their_own_words_or_those_of_their_last_generation(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "langfuse.json")

    assert suite["cases"] == [
        {
            "name": "ask",
            "messages": [{"role": "user", "content": "When do you open?"}],
            "output": "At nine.",
            "execution": {"latency_ms": 1500.0, "cost_usd": 0.003},
            "labels": ["web", "helpful: 0.5", "tone: kind"],
            "metadata": {
                "tier": "gold",
                "password_hash": "x",
                "authorization": "***",
                "trace_id": "t-1",
                "session_id": "s-1",
            },
        },
        {
            "name": "agent",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Pots?"}],
            "output": "",
            "execution": {
                "tool_calls": [{"name": "stock", "arguments": {"item": "pot"}}],
                "latency_ms": 250.0,
                "input_tokens": 20,
                "output_tokens": 4,
            },
            "metadata": {"trace_id": "t-2", "model": "gpt-x"},
        },
        {
            "name": "plain",
            "messages": [{"role": "user", "content": "Roses?"}],
            "output": '{"answer":"Yes.","sure":true}',
            "metadata": {"trace_id": "t-3"},
        },
    ]
    assert told == told_of("langfuse.json")


def test_rows_of_observations_become_cases_where_they_are_generations(tmp_path: Path) -> None:
    suite, told = imported(tmp_path, "langfuse.jsonl")

    assert [(case["name"], case["output"]) for case in suite["cases"]] == [("llm", "At nine."), ("llm (2)", "b")]
    assert suite["cases"][0]["execution"] == {"latency_ms": 250.0, "cost_usd": 0.001}
    assert suite["cases"][0]["metadata"] == {"trace_id": "t-1", "model": "m"}
    assert told == told_of("langfuse.jsonl")


@pytest.mark.parametrize("name", ["langfuse.json", "langfuse.jsonl"])
def test_who_the_user_was_stays_behind(name: str) -> None:
    assert "u-17" not in str(Made((FILES / name).read_bytes(), name).cases)


def test_a_trace_as_it_is_downloaded_is_one_case() -> None:
    trace = {"id": "t", "name": "one", "input": "a", "output": "b"}

    made = Made({"trace": trace, "observations": [], "scores": [{"name": "s", "value": 1}]})

    assert made.cases == [
        {
            "name": "one",
            "messages": [{"role": "user", "content": "a"}],
            "output": "b",
            "labels": ["s: 1"],
            "metadata": {"trace_id": "t"},
        }
    ]


def test_a_page_of_the_api_is_read_by_its_data() -> None:
    row = {"id": "o", "traceId": "t", "type": "GENERATION", "name": "n", "input": "a", "output": "b"}

    assert [case["name"] for case in Made({"data": [row], "meta": {}}).cases] == ["n"]


TABLE = (
    "id,traceId,type,name,input,output,latency,totalCost,tags,level,promptTokens\r\n"
    'o1,7,GENERATION,chat,"[{""role"": ""user"", ""content"": ""When?""}]",'
    'At 9.,1.5,0.02,"[""a"", ""b""]",DEFAULT,12\r\n'
    "o2,7,SPAN,step,x,y,,,,,\r\n"
    "o3,8,GENERATION,12,Where?,12,,,,,\r\n"
)


def test_a_table_is_read_with_the_numbers_that_its_cells_spell() -> None:
    made = Made(TABLE, "traces.csv")

    assert made.cases == [
        {
            "name": "chat",
            "messages": [{"role": "user", "content": "When?"}],
            "output": "At 9.",
            "execution": {"latency_ms": 1500.0, "cost_usd": 0.02, "input_tokens": 12},
            "labels": ["a", "b"],
            "metadata": {"trace_id": "7"},
        },
        {
            "name": "12",
            "messages": [{"role": "user", "content": "Where?"}],
            "output": "12",
            "metadata": {"trace_id": "8"},
        },
    ]
    assert [note.line for note in made.notes] == [3, None]
