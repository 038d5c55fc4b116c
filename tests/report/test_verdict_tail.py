"""Lines of a verdict file that are reached anew, each in its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.report import VerdictFile
from jurat.report.verdict_tail import Tail, was_asked


def line(row: int, status: str = "pass", error: str | None = None, attempts: int = 0) -> dict[str, Any]:
    evaluator: dict[str, Any] = {"attempts": attempts}
    if error is not None:
        evaluator["error"] = {"type": error, "message": "…"}
    return {"row": row, "status": status, "evaluator": evaluator}


OLD = [line(1), line(2, "error", "budget_exhausted"), line(3), line(4, "error", "budget_exhausted"), line(5)]


@pytest.fixture
def out(tmp_path: Path) -> Iterator[VerdictFile]:
    with VerdictFile(tmp_path / "out.jsonl") as made:
        made.append(OLD)
        yield made


def tail_of(out: VerdictFile) -> Tail:
    """The tail from the second line on."""
    return Tail(out, len(json.dumps(OLD[0], separators=(",", ":"))) + 1, was_asked)


def rows(out: VerdictFile) -> list[tuple[int, str]]:
    lines = [json.loads(text) for text in out.path.read_text().splitlines()]
    return [(one["row"], one["status"]) for one in lines]


def test_lines_that_stand_come_back_word_for_word_between_the_new_ones(out: VerdictFile) -> None:
    tail = tail_of(out)
    assert rows(out) == [(1, "pass")]
    for row in (2, 4):
        tail.settle(row)
        out.append([line(row, "fail")])
    tail.close()
    assert rows(out) == [(1, "pass"), (2, "fail"), (3, "pass"), (4, "fail"), (5, "pass")]


def test_what_was_not_replaced_comes_back_as_it_was(out: VerdictFile) -> None:
    before = out.path.read_text()
    tail_of(out).close()
    assert out.path.read_text() == before


def test_a_job_that_ends_early_keeps_the_new_lines_and_the_old_ones_after_them(out: VerdictFile) -> None:
    tail = tail_of(out)
    tail.settle(2)
    out.append([line(2, "fail")])
    tail.close()
    assert rows(out) == [(1, "pass"), (2, "fail"), (3, "pass"), (4, "error"), (5, "pass")]


def test_rows_beyond_the_old_lines_come_after_them(out: VerdictFile) -> None:
    tail = tail_of(out)
    tail.settle(6)
    out.append([line(6)])
    tail.close()
    assert [row for row, _ in rows(out)] == [1, 2, 3, 4, 5, 6]


def test_lines_are_told_in_order_with_whether_they_stand(out: VerdictFile) -> None:
    tail = tail_of(out)
    told = list(iter(tail.following, None))
    assert [(one["row"], stands) for one, stands in told] == [(2, False), (3, True), (4, False), (5, True)]
    tail.close()


@pytest.mark.parametrize(
    ("error", "attempts", "asked"),
    [
        ("budget_exhausted", 0, False),
        ("budget_exhausted", 2, False),
        ("auth_error", 1, False),
        ("missing_api_key", 0, False),
        ("timeout", 0, False),
        ("timeout", 1, True),
        ("invalid_request", 0, False),
        ("invalid_request", 1, True),
        ("malformed_json", 1, True),
        ("request_invalid", 0, True),
        ("rate_limited", 4, False),
        ("overloaded", 4, True),
    ],
)
def test_a_row_was_asked_about_unless_no_call_was_made_or_let_in(error: str, attempts: int, asked: bool) -> None:
    assert was_asked(line(1, "error", error, attempts)) is asked
    assert was_asked(line(1, "pass"))
