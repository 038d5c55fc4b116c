"""The verdict file: what is kept, what is refused, what is believed of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import AuthoringError, StoreError
from jurat.report import VerdictFile

RANGE = (0.0, 1.0)


def verdict(**changes: Any) -> dict[str, Any]:
    evaluator = {
        "status": "completed",
        "model": "judge-model",
        "attempts": 1,
        "input_tokens": 3,
        "output_tokens": None,
        "cost_usd": 0.5,
        "duration_ms": 2.0,
        "cached": False,
    }
    evaluator |= changes.pop("evaluator", {})
    line = {"row": 1, "row_sha256": "a", "job": "j", "status": "pass", "passed": True, "score": 1.0, "metadata": {}}
    return {**line, "evaluator": evaluator, **changes}


def held(path: Path) -> list[Any]:
    with VerdictFile(path) as file:
        return list(file.lines(RANGE))


def test_opening_changes_nothing_and_clearing_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(json.dumps(verdict()) + "\n")

    with VerdictFile(path):
        pass
    assert held(path) == [verdict()]

    with VerdictFile(path) as file:
        file.clear()
        file.append([verdict(row=2)])
    assert held(path) == [verdict(row=2)]


@pytest.mark.parametrize("content", ["my thesis\n", "{}\n", "my thesis", '{"row": 1}\n'])
def test_a_file_that_holds_something_else_is_not_started_anew(tmp_path: Path, content: str) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(content)

    with VerdictFile(path) as file, pytest.raises(AuthoringError, match="a file that holds something else"):
        file.clear()

    assert path.read_text() == content


@pytest.mark.parametrize("content", ["", '{"row":1,"id"', '{"ro'])
def test_an_empty_file_or_a_half_written_first_verdict_is_started_anew(tmp_path: Path, content: str) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(content)

    with VerdictFile(path) as file:
        file.clear()

    assert path.read_text() == ""


@pytest.mark.parametrize("path", ["/dev/null", "/dev/full", "/"])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(AuthoringError, match="expected a file, found a d"):
        VerdictFile(Path(path))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": "great"}, "status: expected one of pass, fail"),
        ({"status": []}, "status: expected one of"),
        ({"score": None}, "score: expected a number from 0 to 1"),
        ({"score": True}, "score: expected a number from 0 to 1"),
        ({"score": 7}, "score: expected a number from 0 to 1"),
        ({"score": 10**400}, "score: expected a number from 0 to 1"),
        ({"status": "unverified", "passed": False}, "score: expected null"),
        ({"passed": False}, "passed: expected what the status says"),
        ({"row": "1"}, "row: expected a number from 1"),
        ({"job": None}, "job: expected text"),
        ({"metadata": []}, "metadata: expected an object"),
        ({"evaluator": {"attempts": "1"}}, "evaluator.attempts: expected a count"),
        ({"evaluator": {"input_tokens": -1}}, "evaluator.input_tokens: expected a count or null"),
        ({"evaluator": {"output_tokens": 10**400}}, "evaluator.output_tokens: expected a count or null"),
        ({"evaluator": {"cost_usd": "1"}}, "evaluator.cost_usd: expected an amount or null"),
        ({"evaluator": {"duration_ms": None}}, "evaluator.duration_ms: expected a duration"),
        ({"evaluator": {"cached": 0}}, "evaluator.cached: expected a boolean"),
        ({"status": "error", "passed": False, "score": None}, "evaluator.error: expected an object"),
        (
            {"status": "error", "passed": False, "score": None, "evaluator": {"error": {"type": "bad_luck"}}},
            "evaluator.error.type: expected a known category",
        ),
    ],
)
def test_a_line_that_cannot_be_a_verdict_is_named_and_not_believed(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(json.dumps(verdict()) + "\n" + json.dumps(verdict(**changes)) + "\n")

    with pytest.raises(AuthoringError) as caught:
        held(path)

    assert f"{path}:2: {told}" in str(caught.value)


@pytest.mark.parametrize("line", ["[]", "nonsense", '{"row":1,"row":2}', '{"row":NaN}', "[" * 5000])
def test_a_line_that_is_no_object_is_no_verdict(tmp_path: Path, line: str) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(line + "\n")

    with pytest.raises(AuthoringError, match=r"v\.jsonl:1: line: expected a verdict"):
        held(path)


def _write(path: Path, harm: Callable[[], object], then: list[Any] | None) -> None:
    with VerdictFile(path) as file:
        file.append([verdict()])
        harm()
        if then is not None:
            file.append(then)


def test_a_file_that_is_deleted_replaced_or_cut_meanwhile_is_a_fault_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    for harm, told in (
        (path.unlink, "was deleted"),
        (lambda: path.rename(tmp_path / "old") and path.write_text(""), "was replaced"),
        (lambda: path.write_text(""), "was cut short"),
    ):
        with pytest.raises(StoreError, match=told):
            _write(path, harm, [verdict(row=2)])
        path.unlink(missing_ok=True)


def test_a_file_that_is_deleted_after_the_last_verdict_is_missed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"

    with pytest.raises(StoreError, match="was deleted"):
        _write(path, path.unlink, None)


@pytest.mark.parametrize(
    "value",
    [
        10**30,
        -(2**63) - 1,
        2**64 - 1,
        0.1 + 0.2,
        1e-05,
        1.7976931348623157e308,
        -0.0,
        '\x00\x1f\x7f\u2028\ud7ff 😀 "\\/',
        [{"deep": [None, True, {"": 1}]}],
    ],
    ids=repr,
)
def test_a_column_that_is_passed_through_comes_back_as_it_was_whatever_its_value(tmp_path: Path, value: object) -> None:
    path = tmp_path / "verdicts.jsonl"
    with VerdictFile(path) as file:
        file.append([{"row": 1, "kept": {"column": value}}, {"row": 2}])
    first, second = path.read_text("utf-8").split("\n")[:2]
    found = json.loads(first)["kept"]["column"]
    assert (found, type(found), repr(found)) == (value, type(value), repr(value))
    assert second == '{"row":2}'


def test_a_line_has_one_form_without_spaces_and_with_its_text_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    with VerdictFile(path) as file:
        file.append([{"row": 1, "score": 0.5, "reason": "Täglich “gut”\n"}])
    assert path.read_bytes() == '{"row":1,"score":0.5,"reason":"Täglich “gut”\\n"}\n'.encode()
