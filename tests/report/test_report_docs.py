"""The page on reports names every rule, every key of it, and every part of a report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jurat.metrics.rules import RULES, RuleType
from jurat.report.run_schema import head_schema

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reports.md").read_text("utf-8")


@pytest.mark.parametrize("kind", RuleType)
def test_every_rule_is_documented_with_all_of_its_keys_and_shown(kind: RuleType) -> None:
    rows = re.findall(rf"^\| `{kind.value}` \| ([^|]+) \| [^|]+ \|$", PAGE, re.MULTILINE)

    assert len(rows) == 1
    assert set(re.findall(r"`(\w+)`", rows[0])) == set(RULES[kind])
    assert f"type: {kind.value}" in PAGE


@pytest.mark.parametrize("word", [word for keys in RULES.values() for key in keys.values() for word in key.words[1:]])
def test_every_choice_that_a_rule_has_is_documented(word: str) -> None:
    assert re.search(rf"`(of: |stage: )?{word}`", PAGE)


def test_every_part_of_a_report_is_documented() -> None:
    schema = head_schema()["properties"]
    parts = [*schema, "cases", *schema["summary"]["properties"]]

    assert [part for part in parts if part != "schema_version" and f"`{part}`" not in PAGE] == []
