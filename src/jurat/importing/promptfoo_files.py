"""Where the tests of a promptfoo configuration stand: in itself, in scenarios, and in files beside it.

Files are read where they are data: CSV with promptfoo's columns, YAML, JSON and JSON Lines. What is fetched, made by
code or named by a pattern is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jurat.errors import AuthoringError
from jurat.importing.finish import one_line
from jurat.importing.promptfoo_csv import test_of
from jurat.importing.source import Source
from jurat.jsontext import Json, canonical

__all__ = ["Found", "as_tree", "content", "object_of", "tests_of", "variables_of"]

_TEXTS = (".txt", ".md", ".json", ".csv", ".html", ".xml")
_TREES = (".yaml", ".yml", ".json")
_ROWS = (".csv", ".jsonl")
_ELSEWHERE = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[\]{}]")
_OF_SCENARIO = ("description", "config", "tests")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A test, and where it stands.

    Attributes:
        base: what a scenario says for it, which stands at `base_path`.
        name: what it is called where it says nothing itself.
    """

    source: Source
    path: str
    test: Mapping[str, Any]
    name: str
    base: Mapping[str, Any] = field(default_factory=dict)
    base_path: str = ""


def tests_of(config: Mapping[str, Any], source: Source) -> Iterator[Found]:
    """All tests of a configuration, those of scenarios at the end."""
    yield from _tests(config.get("tests"), "tests", source)
    scenarios = config.get("scenarios")
    for index, value in enumerate(scenarios if isinstance(scenarios, list) else []):
        yield from _scenario(value, f"scenarios[{index}]", source)
    if scenarios is not None and not isinstance(scenarios, list):
        source.note("scenarios", "expected a list; left out")


def _tests(value: Any, path: str, source: Source) -> Iterator[Found]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    for index, one in enumerate(values):
        at = f"{path}[{index}]" if isinstance(value, list) else path
        if isinstance(one, str):
            yield from _tests_of_file(one, at, source)
        elif isinstance(one, Mapping) and isinstance(one.get("path"), str) and "vars" not in one:
            source.note(at, "tests that code makes; left out")
        elif isinstance(one, Mapping):
            yield Found(source=source, path=at, test=one, name=f"test-{index + 1}")
        else:
            source.note(at, "expected a test; left out")


def _tests_of_file(name: str, path: str, source: Source) -> Iterator[Found]:
    inner = _opened(name, path, source, "tests", (*_TREES, *_ROWS))
    if inner is None:
        return
    if inner.kind == "document":
        value = inner.value()
        if isinstance(value, Mapping) and isinstance(value.get("tests"), list):
            value = value["tests"]
        for index, one in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(one, Mapping):
                at = f"[{index}]" if isinstance(value, list) else ""
                yield Found(source=inner, path=at, test=one, name=f"test-{index + 1}")
            else:
                inner.note(f"[{index}]", "expected a test; left out")
        return
    for row in inner.rows():
        placed = inner.at(row.number)
        values: Mapping[str, Any] = row.values or {}
        test = test_of(values, placed.note) if inner.kind == "csv" else values
        yield Found(source=placed, path="", test=test, name=f"{inner.name} row {row.number}")


def _scenario(value: Any, path: str, source: Source) -> Iterator[Found]:
    scenario = object_of(value, path, source)
    for key in scenario:
        if key not in _OF_SCENARIO:
            source.note(f"{path}.{one_line(str(key))}", "no counterpart in a suite; left out")
    rows = scenario.get("config")
    tests = list(_tests(scenario.get("tests"), f"{path}.tests", source))
    name = one_line(str(scenario.get("description") or "")) or path
    for index, row in enumerate(rows if isinstance(rows, list) else [{}]):
        at = f"{path}.config[{index}]"
        base = object_of(row, at, source)
        for found in tests:
            yield Found(source=found.source, path=found.path, test=found.test, name=name, base=base, base_path=at)


# --- values that stand in files ------------------------------------------------------------------------------------


def object_of(value: Any, path: str, source: Source) -> Mapping[str, Any]:
    """An object, or that of a YAML or JSON file beside the configuration; empty where there is none."""
    if isinstance(value, str):
        inner = _opened(value, path, source, "an object", _TREES)
        value = None if inner is None else inner.value()
        if inner is not None and not isinstance(value, Mapping):
            inner.note("", "expected an object; left out")
            value = None
    if value is None or isinstance(value, Mapping):
        return value or {}
    source.note(path, "expected an object; left out")
    return {}


def variables_of(value: Any, path: str, source: Source) -> dict[str, Any]:
    """Variables: an object, a file of them, or a list of such files."""
    if not isinstance(value, list):
        return dict(object_of(value, path, source))
    made: dict[str, Any] = {}
    for index, one in enumerate(value):
        made.update(object_of(one, f"{path}[{index}]", source))
    return made


def content(value: str, source: Source) -> str | None:
    """What a file that a value names says, as promptfoo puts it into a text: YAML as JSON, all else as it is."""
    name = value.removeprefix("file://")
    lower = name.lower()
    if lower.endswith((".yaml", ".yml")):
        inner = source.inner(name)
        try:
            return None if inner is None else canonical(inner.value())
        except AuthoringError:
            return None
    return source.beside(name) if lower.endswith(_TEXTS) else None


def _opened(name: str, path: str, source: Source, what: str, endings: tuple[str, ...]) -> Source | None:
    """A file beside the configuration; None, with a note, where it is none that can be read."""
    bare = name.removeprefix("file://")
    if _ELSEWHERE.match(bare):
        reason = "in another place, and nothing is fetched"
    elif _PATTERN.search(bare) or bare.endswith("/"):
        reason = "in files that a pattern or a folder names; name them one by one"
    elif not bare.lower().endswith(endings):
        reason = "in a file that is code, or of a kind that is not read"
    else:
        inner = source.inner(bare)
        if inner is not None:
            return inner
        reason = "in a file that is not in the configuration's folder, or cannot be read"
    source.note(path, f"{what} {reason}; left out")
    return None


def as_tree(value: Any, path: str, source: Source, what: str) -> Json:
    """A value, or what a YAML or JSON file says that stands in its place."""
    if not isinstance(value, str) or not value.startswith("file://") or not value.lower().endswith(_TREES):
        return value
    inner = _opened(value, path, source, what, _TREES)
    return None if inner is None else inner.value()
