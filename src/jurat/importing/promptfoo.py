"""Configurations of promptfoo: prompts, providers, tests with their variables and assertions, defaults.

A suite has one subject and one prompt, so of several the first is taken and the others stand beside it. Variables that
are lists become a case for each combination, as promptfoo runs them. What is computed, or stands in other files, is
listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import fitting, one_line
from jurat.importing.nunjucks import renamed, resolved, template
from jurat.importing.promptfoo_asserts import Asserts
from jurat.importing.promptfoo_head import read_head
from jurat.importing.source import Source
from jurat.importing.talk import OPEN, OPEN_BRACES
from jurat.jsontext import Json, type_name
from jurat.suite.template import assertion_texts, placeholders

__all__ = ["read", "recognises"]

_MOST_COMBINATIONS = 1_000
_OF_CONFIG = ("prompts", "providers", "targets", "tests", "defaultTest", "scenarios", "evaluateOptions", "description")
_READ = ("description", "vars", "assert", "threshold", "metadata", "providerOutput", "options")
_OPTIONS = ("provider", "disableVarExpansion", "disableDefaultAsserts")


def recognises(sample: Json, kind: str) -> bool:
    """Whether a document is such a configuration."""
    if kind != "document" or not isinstance(sample, Mapping):
        return False
    return "prompts" in sample and any(key in sample for key in ("providers", "targets", "tests", "defaultTest"))


def read(source: Source, draft: Draft) -> Iterator[Raw]:
    """The cases of a configuration."""
    config = source.value() if source.kind == "document" else None
    if not isinstance(config, Mapping) or not any(key in config for key in _OF_CONFIG):
        expected = "an object with prompts, providers and tests"
        fault = Fault(path="", expected=expected, found=type_name(config), file=source.name)
        raise AuthoringError("promptfoo", [fault])
    used = read_head(config, source, draft)
    default = _object(config.get("defaultTest"), "defaultTest", source)
    tests = config.get("tests")
    if not isinstance(tests, list):
        if tests is not None:
            source.note("tests", "tests of another file; only those that stand in the configuration are read")
        tests = []
    yield from _Tests(source, draft, config, default, used).cases(tests)


def _object(value: Any, path: str, source: Source) -> Mapping[str, Any]:
    if value is None or isinstance(value, Mapping):
        return value or {}
    source.note(path, "expected an object; what stands in another file is not read")
    return {}


class _Tests:
    """Makes cases of tests, in the light of the defaults."""

    def __init__(
        self, source: Source, draft: Draft, config: Mapping[str, Any], default: Mapping[str, Any], used: tuple[str, ...]
    ) -> None:
        self._source, self._draft, self._default, self._used = source, draft, default, used
        self._asserts = Asserts(source, draft, config.get("assertionTemplates"))
        self._everywhere: list[dict[str, Any]] = []
        self._defaults: list[dict[str, Any]] = []

    def cases(self, tests: list[Any]) -> Iterator[Raw]:
        """All cases."""
        self._read_defaults(tests)
        for index, test in enumerate(tests):
            path = f"tests[{index}]"
            if isinstance(test, Mapping):
                yield from self._expanded(test, path, index)
            else:
                self._source.note(path, "a test of another file; only those that stand in the configuration are read")

    def _read_defaults(self, tests: list[Any]) -> None:
        default, source = self._default, self._source
        self._others(default, "defaultTest")
        options = default.get("options")
        judge = options.get("provider") if isinstance(options, Mapping) else None
        made = self._asserts.read(default.get("assert"), "defaultTest.assert", judge)
        some = any(_option(test, "disableDefaultAsserts") for test in tests)
        for one in made:
            shared = not some and not any(placeholders(text) for _, text in assertion_texts(one))
            (self._everywhere if shared else self._defaults).append(one)
        raw = Raw(source=source, path="defaultTest", case={})
        fit = [one for one in self._everywhere if fitting(one, self._draft.provider, raw, {})]
        self._draft.head["assertions"] = fit
        self._draft.assertions += len(fit)

    def _others(self, test: Mapping[str, Any], path: str) -> None:
        """Tell what a test holds that no case can."""
        for key in test:
            if key not in _READ:
                self._source.note(f"{path}.{key}", "no counterpart in a case; left out")
        options = test.get("options")
        for key in options if isinstance(options, Mapping) else ():
            if key not in _OPTIONS:
                self._source.note(f"{path}.options.{key}", "no counterpart in a case; left out")

    def _expanded(self, test: Mapping[str, Any], path: str, index: int) -> Iterator[Raw]:
        self._others(test, path)
        variables = {**self._variables(self._default, "defaultTest"), **self._variables(test, path)}
        lists = {name: value for name, value in variables.items() if isinstance(value, list) and value}
        if _option(test, "disableVarExpansion") or _option(self._default, "disableVarExpansion"):
            lists = {}
        if math.prod(len(value) for value in lists.values()) > _MOST_COMBINATIONS:
            self._source.note(
                f"{path}.vars", f"more than {_MOST_COMBINATIONS:,} combinations; the lists stay as they are"
            )
            lists = {}
        judge = _option(test, "provider") or _option(self._default, "provider")
        own = self._asserts.read(test.get("assert"), f"{path}.assert", judge)
        if not _option(test, "disableDefaultAsserts"):
            own = [*self._defaults, *own]
        name = one_line(str(test.get("description") or "")) or f"test-{index + 1}"
        for values in itertools.product(*lists.values()):
            chosen = {**variables, **dict(zip(lists, values, strict=True))}
            yield self._raw(test, path, name, chosen, [dict(one) for one in own])

    def _variables(self, test: Mapping[str, Any], path: str) -> dict[str, Any]:
        made = dict(_object(test.get("vars"), f"{path}.vars", self._source))
        for name, value in list(made.items()):
            if isinstance(value, str) and value.startswith("file://"):
                made[name] = self._content(value, f"{path}.vars.{name}")
            elif isinstance(value, str) and OPEN in value:
                self._source.note(
                    f"{path}.vars.{name}", "a value that names others; a value is never filled in a suite"
                )
        return made

    def _content(self, value: str, path: str) -> str:
        """What a file beside the configuration says, where it is text."""
        found = self._source.beside(value.removeprefix("file://")) if value.endswith((".txt", ".md")) else None
        if found is None:
            self._source.note(path, "a value in another file; its name stands in its place")
        return value if found is None else found

    def _raw(
        self, test: Mapping[str, Any], path: str, name: str, variables: dict[str, Any], own: list[dict[str, Any]]
    ) -> Raw:
        case: dict[str, Any] = {"name": name, "variables": {renamed(key): part for key, part in variables.items()}}
        raw = Raw(source=self._source, path=path, case=case, literal=False)
        for key in variables:
            if renamed(key) != key:
                case["variables"][renamed(key)] = "***"
                raw.note(
                    f"vars.{key}", f"a variable by the name of a secret; it is {renamed(key)} now, and its value ***"
                )
        self._fill(case, own, variables, raw)
        metadata = {**_mapping(self._default.get("metadata")), **_mapping(test.get("metadata"))}
        if "providerOutput" in test:
            given = test["providerOutput"]
            case["output"] = given if isinstance(given, str) else template(str(given), lambda _: None)
        case.update(metadata=metadata, assertions=own, pass_threshold=self._threshold(test, raw))
        return raw

    def _fill(self, case: dict[str, Any], own: list[dict[str, Any]], variables: dict[str, Any], raw: Raw) -> None:
        """Give every placeholder of the prompt and the assertions a value of its own."""
        wanted = [
            *self._used,
            *(name for one in own for _, text in assertion_texts(one) for name in placeholders(text)),
        ]
        for name in dict.fromkeys(wanted):
            if name == OPEN_BRACES:
                case["variables"][name] = OPEN
            elif name not in case["variables"]:
                value = resolved(name, variables)
                if value is None:
                    raw.note("vars", f"nothing fills {{{{{name}}}}}; it stands for empty text")
                case["variables"][name] = "" if value is None else value

    def _threshold(self, test: Mapping[str, Any], raw: Raw) -> float | None:
        value = test.get("threshold", self._default.get("threshold"))
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raw.note(
                "threshold", "a threshold that is not above 0 and at most 1; left out, so every assertion has to pass"
            )
            return None
        return value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _option(test: Any, name: str) -> Any:
    return _mapping(_mapping(test).get("options")).get(name)
