"""What a rubric needs and the first rows do not hold is told in one line, and nothing where they hold it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jurat.judge import Judge, JudgeSettings
from jurat.judge.evidencegap import evidence_gap
from jurat.provider import make_provider
from jurat.rubric import Rubric, find, rubric_from_json
from jurat.suite import Row, parse_mapping


def warned(
    tmp_path: Path, rubric: Rubric, rows: list[dict[str, Any]], mapping: str = "", **settings: Any
) -> str | None:
    (tmp_path / "replies.yaml").write_text("- '{}'\n")
    provider = make_provider({"name": "x", "kind": "scripted", "replies_file": "replies.yaml"}, base_dir=tmp_path)
    columns = parse_mapping(mapping)
    items = [columns.item(Row(number=n, digest="", values=row)) for n, row in enumerate(rows, 1)]
    return evidence_gap(Judge(rubric, provider, JudgeSettings(**settings)), columns, items)


UNMAPPED = (
    "warning: groundedness needs context, and no column is mapped to it: "
    "verdicts rest on less than they should (--map context=COLUMN)"
)


@pytest.mark.parametrize(
    ("rows", "mapping", "warning"),
    [
        ([{"output": "a"}], "", UNMAPPED),
        ([{"output": "a", "passage": "p"}], "", UNMAPPED),
        ([{"output": "a", "passage": "p"}], "context=passage", None),
        ([{"output": "a", "context": "p"}], "", None),
        ([{"output": "a", "documents": ["p"]}], "", None),
        (
            [{"output": "a", "context": ""}, {"output": "b", "context": None}],
            "",
            UNMAPPED.replace("and no column is mapped to it", "which the first rows do not have"),
        ),
        (
            [{"output": "a", "context": "p"}, {"output": "b"}, {"output": 3.5}],
            "",
            UNMAPPED.replace("and no column is mapped to it", "which 2 of the first 3 rows do not have"),
        ),
        ([{"id": "no output"}], "", None),
    ],
)
def test_a_rubric_about_sources_needs_sources(
    tmp_path: Path, rows: list[dict[str, Any]], mapping: str, warning: str | None
) -> None:
    assert warned(tmp_path, find("groundedness"), rows, mapping) == warning


def test_grounding_of_the_judges_own_will_do(tmp_path: Path) -> None:
    assert warned(tmp_path, find("groundedness"), [{"output": "a"}], grounding="The source.") is None


def test_several_needs_are_told_in_one_line(tmp_path: Path) -> None:
    value = {**find("groundedness").to_json(), "name": "own"}
    value["needs"] = ["output", "rendered_input", "messages", "expected", "documents"]
    rows = [{"output": "a", "messages": [{"role": "user", "content": "q"}]}]

    assert warned(tmp_path, rubric_from_json(value), rows) == (
        "warning: own needs expected, and no column is mapped to it, and documents, and no column is mapped to it: "
        "verdicts rest on less than they should (--map expected=COLUMN,documents=COLUMN)"
    )
