"""The documentation is run, and what it shows is true."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docpages import DOCS, EVERY_BLOCK, PAGES, ROOT, Block, Desk, blocks, matches, sections, text_of
from jurat.assertions.build import build_assertion
from jurat.assertions.plugins import GROUP as EVALUATORS
from jurat.evaluation import run_evaluator
from jurat.evidence import as_context, context_from_json
from jurat.provider import Capabilities, make_provider
from jurat.provider.models import model_path
from jurat.report.reporters.registry import GROUP as REPORTERS
from jurat.yamltext import parse_document


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def of(language: str, *, remark: str | None = None) -> list[Any]:
    """The blocks of one language, each a parameter under its place; with a remark, those alone that bear it."""
    found = [one for one in EVERY_BLOCK if one.language == language and (remark is None or remark in one.remarks)]
    return [pytest.param(block, id=block.place) for block in found]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_commands_and_programs_of_a_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    desk = Desk(tmp_path, local_model=False)
    for block in blocks(page):
        desk.carry_out(block)


def _with_model() -> list[Path]:
    return [page for page in PAGES if any(block.remarks.get("needs") == "local-model" for block in blocks(page))]


@pytest.mark.slow
@pytest.mark.model_large
@pytest.mark.parametrize("page", _with_model(), ids=named)
def test_with_the_embedded_model_a_page_does_what_it_shows(page: Path, tmp_path: Path) -> None:
    model_path("default")
    desk = Desk(tmp_path, local_model=True)
    for block in blocks(page):
        desk.carry_out(block)


@pytest.mark.model_large
def test_the_first_command_of_the_readme_sets_up_and_judges(tmp_path: Path) -> None:
    command = next(block for block in blocks(ROOT / "README.md") if block.language == "bash")
    clone = tmp_path / "jurat"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)

    done = subprocess.run(
        ["bash", "-c", command.text],
        cwd=clone,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "8 judged: " in done.stdout
    assert "gate: pass rate of at least 0: met" in done.stdout


@pytest.mark.parametrize("block", of("json"))
def test_a_json_block_is_json(block: Block) -> None:
    for line in block.text.splitlines() if block.remarks.get("file", "").endswith("l") else [block.text]:
        json.loads(line)


def _of_distributions(block: Block) -> bool:
    return "[project." in block.text


PROVIDER_ROWS = [row for row in of("toml") if not _of_distributions(row.values[0])]
DISTRIBUTIONS = [one for one in of("toml") if _of_distributions(one.values[0])]


@pytest.mark.parametrize("block", DISTRIBUTIONS)
def test_an_entry_point_in_the_docs_is_in_a_group_that_is_looked_at(block: Block) -> None:
    groups = tomllib.loads(block.text)["project"]["entry-points"]

    assert groups
    assert set(groups) <= {REPORTERS, EVALUATORS}


@pytest.mark.parametrize("block", PROVIDER_ROWS)
def test_a_provider_row_in_the_docs_makes_a_provider(block: Block, tmp_path: Path) -> None:
    rows = tomllib.loads(block.text).get("providers", [])
    (tmp_path / "replies.yaml").write_text("- '{}'\n", "utf-8")
    (tmp_path / "my_model.py").write_text("def answer(messages): return ''\n", "utf-8")
    (tmp_path / "recording.jsonl").write_text(_empty_recording(), "utf-8")

    assert rows
    for row in rows:
        assert make_provider(row, base_dir=tmp_path).settings.name == row["name"]


def _empty_recording() -> str:
    able = {name: getattr(Capabilities(), name) for name in Capabilities.__slots__}
    told = {"name": "x", "kind": "local", "model": "m", "endpoint": "", "default_strategy": "answer"}
    provider = {**told, "capabilities": able, "prices": None, "extra": {}}
    return json.dumps({"jurat_recording": 1, "provider": provider}) + "\n"


@pytest.mark.parametrize("block", of("yaml"))
def test_a_yaml_block_can_be_read(block: Block) -> None:
    assert parse_document(block.text, block.place).value


OUTCOME = re.compile(r"^# (pass|fail|unverified|error): (.+)$", re.MULTILINE)


@pytest.mark.parametrize("block", of("yaml", remark="assertion"))
async def test_an_assertion_in_the_docs_decides_as_it_says(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "assertions"))
    made = build_assertion(parse_document(block.text, block.place).value)

    said = OUTCOME.findall(block.text)
    assert said, f"{block.place} shows an assertion and no outcome"
    for status, given in said:
        context = context_from_json(json.loads(given)) if given.startswith("{") else as_context(given)
        found = await run_evaluator(made, context)
        assert found.status.value == status, f"{block.place}: {status} is said of {given}: {found}"


def test_every_remark_is_one_that_is_understood() -> None:
    known = {"file", "in", "exit", "needs", "assertion"}

    assert [block.place for block in EVERY_BLOCK if not set(block.remarks) <= known] == []
    assert {block.remarks.get("needs") for block in EVERY_BLOCK} <= {None, "local-model", "network"}


def test_every_block_is_of_a_language_that_is_checked() -> None:
    known = {"console", "bash", "python", "toml", "yaml", "json", "text"}

    assert [block.place for block in EVERY_BLOCK if block.language not in known] == []


def test_an_ellipsis_stands_for_text_in_a_line_or_for_lines_and_nothing_else_is_lenient() -> None:
    assert matches("a … c\n…\nz\n", "a bb c\n1\n2\nz\n")
    assert matches("a\n…\n", "a\n")
    assert not matches("a\nz\n", "a\n1\nz\n")
    assert not matches("a.c\n", "abc\n")


LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
LINKING = (*PAGES, ROOT / "CHANGELOG.md")


@pytest.mark.parametrize("page", LINKING, ids=named)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert list(dead_links(page, text_of(page))) == []


def dead_links(page: Path, text: str) -> Iterator[str]:
    """The links of a text that lead nowhere, or out of the repository, when it stands as that page."""
    for target, anchor in LINK.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        there = (page.parent / target).resolve() if target else page
        if target and (target.startswith("http") or not there.is_relative_to(ROOT) or not there.exists()):
            yield target
        elif anchor and anchor not in {_anchor(title) for title in (sections(there) if target else _titles(text))}:
            yield f"{target}#{anchor}"


def _titles(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)


def test_a_dead_link_is_found_whether_page_or_heading_is_missing() -> None:
    text = "# Here\n[a](#here) [b](#there) [c](suites.md#prompts) [d](suites.md#cakes) [e](no.md) [f](../../x) [g](http://x)"

    found = list(dead_links(DOCS / "subjects.md", text))

    assert found == ["#there", "suites.md#cakes", "no.md", "../../x", "http://x"]


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
