"""The JSON Schema of suite files: it accepts what the reader accepts, and refuses what that refuses for its shape."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suitetexts import CAPITALS, Folder

from jurat.cli.schema import _SCHEMAS, Schema
from jurat.errors import AuthoringError, Fault
from jurat.suite.manifest import read_suite
from jurat.suite.manifest_keys import SUITE
from jurat.yamltext import parse_yaml

SCHEMA = _SCHEMAS[Schema.SUITE]()
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA)

EVERYTHING: dict[str, Any] = {
    "schema_version": 1,
    "suite": "s",
    "description": "All that there is.",
    "providers": [{"name": "p", "kind": "local", "model": "default"}],
    "prompts": {"a": "x {{v}}", "b": {"system": "s", "text": "t", "messages": [{"role": "user", "content": "u"}]}},
    "subject": {"provider": "p", "prompt": "a", "temperature": 0, "max_output_tokens": 5, "extra": {"x": [1]}},
    "sampling": {"samples": 2, "reducer": {"minimum_pass_rate": 0.5}},
    "policy": [{"type": "overall_pass_rate", "minimum": 0.5}],
    "limits": {
        "concurrency": 1,
        "subject_timeout_s": 1,
        "evaluator_timeout_s": 1.5,
        "run_timeout_s": 2,
        "budget_usd": 0.5,
    },
    "assertions": [{"type": "contains", "value": "{{v}}", "name": "n", "weight": 2, "required": True}],
    "cases": [
        {
            "name": "a",
            "variables": {"v": "x", "n": 1, "o": {"a": [None]}},
            "messages": [
                {"role": "system", "content": "s"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "t"},
                        {"type": "thinking", "text": "t"},
                        {"type": "tool_call", "id": "1", "name": "f", "arguments": {"a": 1}},
                    ],
                },
                {
                    "role": "tool",
                    "content": [
                        {"type": "tool_result", "tool_call_id": "1", "content": [{"type": "text", "text": ""}]}
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "image", "path": "a.png", "media_type": "image/png"},
                        {"type": "image", "data": "iVBORw=="},
                        {"type": "image", "sha256": "0" * 64, "size_bytes": 7},
                    ],
                },
            ],
            "documents": [
                "a.txt",
                {"path": "b.pdf", "name": "b", "media_type": "application/pdf", "attach": True},
                {"text": "c"},
            ],
            "expected": None,
            "output": "",
            "execution": {"latency_ms": 1},
            "labels": ["l"],
            "metadata": {"m": 1},
            "assertions": [{"type": "rubric_judge", "rubric": "r", "provider": "p"}],
            "pass_threshold": 0.5,
        }
    ],
    "cases_file": {"path": "t.csv", "format": "csv", "columns": {"name": "id"}, "values": "typed", "delimiter": ";"},
    "include": ["more.json"],
}
FILES = {"t.csv": "id\nr\n", "more.json": '{"cases": [{"name": "m", "variables": {"v": 1}}]}'}
FILES["t.csv"] = "id;v\nr;1\n"
EVERYTHING["cases_file"]["columns"]["variables.v"] = "v"

SAMPLES: dict[str, dict[str, Any]] = {
    "the example": parse_yaml(CAPITALS).value,
    "everything": EVERYTHING,
    "short forms": {
        "suite": "s",
        "prompt": "p",
        "subject": "local",
        "cases_file": "t.csv",
        "include": "more.json",
        "cases": [{"name": "x"}],
    },
    "a function": {"suite": "s", "subject": {"python": "a:b", "timeout_s": 1}, "cases": [{"name": "x"}]},
    "a server": {
        "suite": "s",
        "subject": {
            "http": {
                "url": "https://host/ask",
                "method": "POST",
                "headers": {"X-A": "b"},
                "api_key_env": "ASK_KEY",
                "api_key_header": "X-Api-Key",
                "request": {"q": "{{input}}"},
                "output": "a.b",
                "tool_calls": "t",
                "timeout_s": 5,
                "allow_plain_http": False,
            },
            "prompt": "a",
        },
        "prompts": [{"name": "a", "text": "x"}],
        "cases": [{"name": "x"}],
    },
    "recorded outputs": {"suite": "s", "prompt": {"system": "only"}, "cases": [{"name": "x", "output": "y"}]},
}


def reader_faults(value: Any) -> tuple[Fault, ...]:
    try:
        read_suite(json.dumps(value).encode(), "suite.json", Folder(FILES))
    except AuthoringError as error:
        return error.faults
    return ()


def test_the_schema_is_a_schema() -> None:
    jsonschema_rs.meta.validate(SCHEMA)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_suite_that_can_be_read_is_valid(sample: dict[str, Any]) -> None:
    assert reader_faults(sample) == ()
    assert [str(error) for error in VALIDATOR.iter_errors(sample)] == []


def test_everything_that_a_suite_may_hold_is_in_the_sample() -> None:
    subjects = {"provider", "python", "http"}

    assert set(SUITE.keys) - set(EVERYTHING) == {"prompt"}
    assert {
        key for sample in SAMPLES.values() if isinstance(sample.get("subject"), dict) for key in sample["subject"]
    } >= (subjects)


BAD: list[Any] = [None, True, 7, 1.5, "", " ", "x", [], {}, [7], {"x": 7}, ["x"]]


def holders(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value within a value."""
    found = [path]
    if isinstance(value, dict):
        for key, part in value.items():
            found += holders(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            found += holders(part, (*path, index))
    return found


def put(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    made = deepcopy(value)
    if not path:
        return part
    place = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = part
    return made


NOT_OF_SHAPE = (
    "name of its own",
    "a value for {{",
    "{{name}}",
    "key, token",
    "shown as it is written",
    "circle",
    "once",
)
"""What no schema can say: names that differ, placeholders, keys, other files, how parts fit together."""
FITTING = (
    "who answers",
    "messages, or a prompt",
    "which prompt",
    "a prompt of the suite",
    "at least one case",
    "an output",
)


def of_shape(fault: Fault) -> bool:
    if fault.file != "suite.json" or fault.path.startswith("include") or fault.path.startswith("cases_file"):
        return False
    return not any(words in fault.expected for words in (*NOT_OF_SHAPE, *FITTING))


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_what_the_reader_refuses_for_its_shape_the_schema_refuses_too(sample: dict[str, Any]) -> None:
    refused, missed = 0, []
    for path in holders(sample):
        for part in BAD:
            changed = put(sample, path, part)
            faults = [fault for fault in reader_faults(changed) if of_shape(fault)]
            refused += bool(faults)
            if faults and VALIDATOR.is_valid(changed):
                missed.append(f"{path} = {part!r}: {faults[0]}")
    assert missed == []
    assert refused > 5 * len(holders(sample))


@pytest.mark.parametrize(
    "path",
    [
        *((), ("prompts", "b"), ("subject",), ("sampling",), ("limits",), ("cases", 0), ("cases", 0, "documents", 1)),
        *(("cases", 0, "messages", 0), ("cases", 0, "messages", 1, "content", 0), ("cases_file",)),
        ("cases", 0, "messages", 3, "content", 0),
    ],
)
def test_a_key_that_nobody_knows_is_refused_by_both(path: tuple[Any, ...]) -> None:
    changed = put(EVERYTHING, (*path, "unheard_of"), 1)

    assert reader_faults(changed)
    assert not VALIDATOR.is_valid(changed)


def test_a_misconfigured_assertion_is_refused_by_the_schema() -> None:
    for assertion in ({"type": "contians", "value": "x"}, {"type": "contains"}, {"type": "rubric_judge"}):
        assert not VALIDATOR.is_valid(put(EVERYTHING, ("cases", 0, "assertions", 0), assertion))


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([*SAMPLES.values()]), st.randoms(use_true_random=False), st.sampled_from(BAD))
def test_whatever_is_put_wherever_the_schema_is_no_milder_than_the_reader(sample: Any, random: Any, part: Any) -> None:
    first = put(sample, random.choice(holders(sample)[1:]), part)
    changed = put(first, random.choice(holders(first)[1:]), random.choice(BAD))

    if any(of_shape(fault) for fault in reader_faults(changed)):
        assert not VALIDATOR.is_valid(changed)
