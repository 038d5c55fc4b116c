"""Nothing that the program can do is missing from the documentation, and nothing is told that it cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

import jurat.pytest_plugin
from docpages import DOCS, EVERY_BLOCK, PAGES, ROOT, sections, text_of
from jurat.assertions.table import COMMON, JUDGE, TYPES
from jurat.cli.app import app
from jurat.cli.schema import _SCHEMAS as SCHEMAS
from jurat.cli.schema import Schema
from jurat.errors import ErrorCategory
from jurat.judge import JudgeSettings
from jurat.provider import Capabilities
from jurat.provider.rows import _BY_KIND as SETTINGS
from jurat.provider.rows import KINDS
from jurat.pytest_plugin.options import DEFAULT_PATTERNS, add_options
from jurat.rubric import catalog
from jurat.rubric.check import ANCHOR_KEYS, CRITERION_KEYS, RUBRIC_KEYS
from jurat.suite import FIELDS
from jurat.vocabulary import EvaluatorState, Status, Strategy

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


PYTESTS_OWN = {"--maxfail", "--sw"}


def test_no_option_is_documented_that_does_not_exist() -> None:
    own = {option for _, command in commands() for parameter in command.params for option in parameter.opts}
    own |= {option for _, command in commands() for parameter in command.params for option in parameter.secondary_opts}
    in_use = [line for block in EVERY_BLOCK if block.language == "console" for line in block.text.splitlines()]
    text = "\n".join(line for line in in_use if line.startswith(("$ jurat", "    --")))
    own |= set(plugin_names())
    spoken = set(re.findall(r"`(--[a-z][a-z-]+)", EVERYTHING)) | set(re.findall(r" (--[a-z][a-z-]+)", text))

    assert spoken - own - {"--help", "--version"} - PYTESTS_OWN == set()


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
