"""The documentation is run, and nothing that the program can do is missing from it."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import jurat.pytest_plugin
from docpages import PAGES, ROOT, Block, Desk, blocks, matches, sections, text_of
from jurat.assertions.build import build_assertion
from jurat.assertions.plugins import GROUP as EVALUATORS
from jurat.assertions.table import COMMON, JUDGE, TYPES
from jurat.cli.app import app
from jurat.cli.schema import _SCHEMAS as SCHEMAS
from jurat.cli.schema import Schema
from jurat.errors import ErrorCategory
from jurat.evaluation import run_evaluator
from jurat.evidence import as_context, context_from_json
from jurat.judge import JudgeSettings
from jurat.provider import Capabilities, make_provider
from jurat.provider.models import model_path
from jurat.provider.rows import _BY_KIND as SETTINGS
from jurat.provider.rows import KINDS
from jurat.pytest_plugin.options import DEFAULT_PATTERNS, add_options
from jurat.report.reporters.registry import GROUP as REPORTERS
from jurat.rubric import catalog
from jurat.rubric.check import ANCHOR_KEYS, CRITERION_KEYS, RUBRIC_KEYS
from jurat.suite import FIELDS
from jurat.vocabulary import EvaluatorState, Status, Strategy
from jurat.yamltext import parse_document

DOCS = ROOT / "docs"
EVERY_BLOCK = [block for page in PAGES for block in blocks(page)]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def of(language: str, *, remark: str | None = None) -> list[Any]:
    """The blocks of one language, each a parameter under its place; with a remark, those alone that bear it."""
    found = [one for one in EVERY_BLOCK if one.language == language and (remark is None or remark in one.remarks)]
    return [pytest.param(block, id=block.place) for block in found]


# --- what is shown is true -----------------------------------------------------------------------------------------


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


# --- nothing is missing --------------------------------------------------------------------------------------------

EVERYTHING = "\n".join(text_of(page) for page in PAGES)


def commands() -> Iterator[tuple[str, Any]]:
    """Every command of the program that does something, by its full name."""

    def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        inner = getattr(command, "commands", {})
        if not inner or getattr(command, "invoke_without_command", False):
            yield name, command
        for word, part in inner.items():
            yield from walk(part, f"{name} {word}")

    yield from walk(get_command(app), "jurat")


@pytest.mark.parametrize(("name", "command"), [pytest.param(*pair, id=pair[0]) for pair in commands()])
def test_every_command_has_a_section_that_names_all_of_its_options(name: str, command: Any) -> None:
    told = [text for page in DOCS.glob("*.md") for title, text in sections(page).items() if f"`{name}`" in title]

    assert told, f"no heading in docs/ names `{name}`"
    for parameter in command.params:
        if parameter.param_type_name == "option":
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert re.search(rf"`{option}\b", told[0]), f"the section on `{name}` does not name `{option}`"


def test_no_option_is_documented_that_does_not_exist() -> None:
    own = {option for _, command in commands() for parameter in command.params for option in parameter.opts}
    own |= {option for _, command in commands() for parameter in command.params for option in parameter.secondary_opts}
    in_use = [line for block in EVERY_BLOCK if block.language == "console" for line in block.text.splitlines()]
    text = "\n".join(line for line in in_use if line.startswith(("$ jurat", "    --")))
    own |= set(plugin_names())
    spoken = set(re.findall(r"`(--[a-z][a-z-]+)", EVERYTHING)) | set(re.findall(r" (--[a-z][a-z-]+)", text))

    assert spoken - own - {"--help", "--version"} == set()


class Names:
    """Stands in for pytest's parser, and keeps the names that it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def getgroup(self, name: str, description: str) -> Names:
        return self

    def addoption(self, name: str, **told: object) -> None:
        self.told.append(name)

    def addini(self, name: str, help_: str, **told: object) -> None:
        self.told.append(name)


def plugin_names() -> list[str]:
    """The options of the pytest plugin, and its keys of the ini file."""
    names = Names()
    add_options(names)  # type: ignore[arg-type]
    return names.told


@pytest.mark.parametrize("name", [*plugin_names(), *jurat.pytest_plugin.__all__, *DEFAULT_PATTERNS])
def test_everything_in_the_pytest_plugin_is_documented(name: str) -> None:
    assert re.search(rf"`{re.escape(name)}\b", text_of(DOCS / "pytest.md"))


@pytest.mark.parametrize("type_", TYPES)
def test_every_assertion_has_a_section_that_names_its_keys_and_shows_it(type_: str) -> None:
    told = sections(DOCS / "assertions.md").get(f"`{type_}`")

    assert told, f"docs/assertions.md has no heading `{type_}`"
    keys = {word for key, known in TYPES[type_].keys.items() for word in (key, *known.also)}
    assert [key for key in sorted(keys) if f"`{key}`" not in told] == []
    assert "```yaml" in told
    assert type_ == JUDGE or "<!-- assertion -->" in told


def test_the_keys_that_all_assertions_share_are_documented() -> None:
    told = sections(DOCS / "assertions.md")["Keys of every assertion"]

    assert [key for key in COMMON if f"`{key}`" not in told] == []


@pytest.mark.parametrize("category", ErrorCategory)
def test_every_error_category_says_what_to_do(category: ErrorCategory) -> None:
    rows = re.findall(rf"^\| `{category.value}` \|(.+)\|(.+)\|$", text_of(DOCS / "verdicts.md"), re.MULTILINE)

    assert len(rows) == 1
    assert all(cell.strip() for cell in rows[0])


@pytest.mark.parametrize("word", [*Status, *EvaluatorState, *Strategy])
def test_every_status_and_strategy_is_explained(word: str) -> None:
    assert f"`{word}`" in text_of(DOCS / "verdicts.md") + text_of(DOCS / "judge.md")


@pytest.mark.parametrize("rubric", catalog(), ids=lambda rubric: rubric.reference)
def test_every_rubric_of_the_catalog_is_listed_with_its_range_and_threshold(rubric: Any) -> None:
    low, high = rubric.score_range
    row = rf"^\| `{rubric.name}` \| {rubric.scope} \| {low:g}–{high:g} \| {rubric.pass_threshold:g} \| (.+) \| (.+) \|$"
    found = re.findall(row, text_of(DOCS / "rubrics.md"), re.MULTILINE)

    assert len(found) == 1, row
    assert [need for need in rubric.needs if f"`{need}`" not in found[0][0]] == []


def test_every_key_of_a_rubric_file_is_documented() -> None:
    told = text_of(DOCS / "rubrics.md")

    assert [key for key in (*RUBRIC_KEYS, *CRITERION_KEYS, *ANCHOR_KEYS) if f"`{key}`" not in told] == []


def test_every_key_of_a_suite_file_is_documented() -> None:
    told = text_of(DOCS / "suites.md")
    schema = SCHEMAS[Schema.SUITE]()
    own = {**schema, "$defs": {name: schema["$defs"][name] for name in ("case", "message", "block")}}

    assert [key for key in sorted(set(_properties(own))) if not re.search(rf"\b{key}\b", told)] == []
    assert [key for key in schema["properties"] if f"| `{key}` |" not in told] == []
    assert [key for key in schema["$defs"]["case"]["properties"] if f"| `{key}` |" not in told] == []


def _properties(schema: Any) -> Iterator[str]:
    """Every key that a schema knows, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for part in schema.values():
            yield from _properties(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _properties(part)


def test_every_provider_kind_and_setting_is_documented() -> None:
    told = text_of(DOCS / "providers.md")
    settings = {name for names in SETTINGS.values() for name in names}

    assert [kind for kind in KINDS if f"`{kind}`" not in told] == []
    assert [name for name in sorted(settings) if f"`{name}`" not in told] == []
    assert [name for name in Capabilities.__slots__ if f"`{name}`" not in told] == []


def test_every_field_that_a_column_can_be_is_documented() -> None:
    told = text_of(DOCS / "judge.md")

    assert [field for field in FIELDS if f"`{field}`" not in told] == []


def test_every_public_name_and_judge_setting_is_documented() -> None:
    import jurat

    told = text_of(DOCS / "python.md")
    names = [name for name in jurat.__all__ if not name.startswith("__")]

    assert [name for name in names if not re.search(rf"\b{name}\b", told)] == []
    assert [name for name in JudgeSettings.__slots__ if f"`{name}`" not in told] == []


def test_every_word_of_the_glossary_that_is_code_is_a_name_in_the_code() -> None:
    glossary = sections(ROOT / "CONTRIBUTING.md")["Glossary"]
    names = re.findall(r"^\| [^|]+ \| `(\w+)` \|", glossary, re.MULTILINE)
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))

    assert len(names) > 15
    assert [name for name in names if not re.search(rf"^class {name}\b", source, re.MULTILINE)] == []


NUMBERS = {"Fourteen": 14, "Seventeen": 17, "28": 28}


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        (r"(\w+) rubrics are built in", len(catalog())),
        (r"(\w+) kinds of assertions, each", len(TYPES)),
        (r"one of (\w+)\s+stable categories", len(ErrorCategory)),
    ],
)
def test_numbers_in_prose_are_right(sentence: str, count: int) -> None:
    said = re.findall(sentence, text_of(ROOT / "README.md") + text_of(ROOT / "CHANGELOG.md"))

    assert [NUMBERS[word] for word in said] == [count]


def test_every_command_is_found_by_the_tests_above() -> None:
    # A command that cannot be listed would be missing from them without a word.
    known = {"jurat judge", "jurat rubrics", "jurat rubrics show", "jurat models pull", "jurat doctor", "jurat schema"}

    assert known <= {name for name, _ in commands()}
